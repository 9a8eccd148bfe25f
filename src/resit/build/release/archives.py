"""The images of a release in other layouts: a folder a class, and tar files that WebDataset reads."""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

from resit.build.release.examples import Contents, Example
from resit.data.benchmark import ClassInfo
from resit.data.guard import MIB

SHARD_BYTES = 256 * MIB
SHARD_ROWS = 10_000
SAFE = re.compile(r"[A-Za-z0-9_][\w. -]{0,99}(?<![. ])", re.ASCII)


def folder_names(classes: tuple[ClassInfo, ...]) -> list[str]:
    """Names of class folders: the ids, where they fit every file system, differ in more than case, and sort as the classes.

    Else the numbers of the classes, padded with zeros, since many tools number classes by the sorted names of their folders.
    """
    ids = [info.id for info in classes]
    fit = all(SAFE.fullmatch(key) and not key.isdecimal() for key in ids) and len({key.lower() for key in ids}) == len(ids)
    if fit and ids == sorted(ids):
        return ids
    width = len(str(max(len(ids) - 1, 0)))
    return [f"{place:0{width}d}" for place in range(len(ids))]


def write_imagefolder(contents: Contents, folder: Path) -> None:
    """Write each image into the folder of its class; a class without images has an empty one.

    Raises
    ------
    InputError
        If an image cannot be read.
    """
    names = folder_names(contents.classes)
    for name in names:
        (folder / name).mkdir(parents=True)
    for row in contents.rows:
        (folder / names[row.label] / row.name).write_bytes(row.read())


def write_webdataset(contents: Contents, folder: Path) -> None:
    """Write shards ``test-000000.tar`` and so on: of each image its file, ``.cls`` (the label) and ``.json`` (all else).

    Raises
    ------
    InputError
        If an image cannot be read.
    """
    folder.mkdir(parents=True)
    shard: tarfile.TarFile | None = None
    number = rows = 0
    try:
        for row in contents.rows:
            content = row.read()
            if shard is None or rows == SHARD_ROWS or shard.offset + len(content) > SHARD_BYTES:
                if shard is not None:
                    shard.close()
                shard = tarfile.open(folder / f"test-{number:06d}.tar", "w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
                number, rows = number + 1, 0
            for name, part in _members(row, content):
                info = tarfile.TarInfo(name)
                info.size = len(part)
                shard.addfile(info, io.BytesIO(part))
            rows += 1
    finally:
        if shard is not None:
            shard.close()


def _members(row: Example, content: bytes) -> Iterator[tuple[str, bytes]]:
    facts = {"class_id": row.class_id, "selected": row.selected, "shown": row.shown, **row.attributes}
    yield row.name, content
    yield f"{row.id}.cls", str(row.label).encode()
    yield f"{row.id}.json", json.dumps(facts, ensure_ascii=False).encode()
