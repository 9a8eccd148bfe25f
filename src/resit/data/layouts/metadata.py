"""The table that Hugging Face's ImageFolder reads beside images: file_name, a label, and more columns."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from resit.data.benchmark import Benchmark
from resit.data.columns import find_column
from resit.data.guard import reading
from resit.data.image_sources.files import FileImages
from resit.data.layouts import manifest
from resit.data.layouts.request import Request
from resit.data.layouts.suffixes import is_image
from resit.data.paths import counted, default_name, short_list
from resit.data.tables import read_table
from resit.errors import InputError, Notice

NAMES = {"metadata.csv", "metadata.jsonl", "metadata.parquet"}
SPLITS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev", "eval"}


def find(files: Sequence[str], place: str) -> str | None:
    """Name of the table among the files of a folder.

    Raises
    ------
    InputError
        If there is more than one.
    """
    found = sorted(NAMES & set(files))
    if len(found) > 1:
        raise InputError(f"more than one table of metadata: {short_list(found)}", where=place, fix="Keep the one that holds.")
    return found[0] if found else None


def has_labels(table: Path) -> bool:
    """Whether a column of the table is called as one of labels, so that it goes before the names of folders."""
    return find_column(read_table(table).columns, "label") is not None


def refuse_splits(tables: Sequence[str], folders: Sequence[str], place: str) -> None:
    """Refuse folders that are training and test set, each with its table, and no classes.

    Raises
    ------
    InputError
        If all folders are called so.
    """
    if tables and SPLITS.issuperset(name.lower() for name in folders):
        raise InputError(
            f"folders that look like splits and not like classes: {short_list(folders)}, with {tables[0]}",
            where=place,
            fix=f"Give one of them: {Path(place) / tables[0].partition('/')[0]}.",
        )


def read(root: Path, table: str, request: Request) -> Benchmark:
    """Read the images that have a row in the table.

    Parameters
    ----------
    root : Path
        The folder; the column ``file_name`` holds paths below it.
    table : str
        Name of the table in it.
    request : Request

    Raises
    ------
    InputError
        If the table cannot be read, or has no column of paths or labels.
    """
    benchmark = manifest.read(str(root / table), replace(request, name=request.name or default_name(root)))
    notices = [Notice("labels-found", str(root), f"Images and labels were taken from {root / table}.")]
    assert isinstance(benchmark.images, FileImages)
    listed = {posixpath.normpath(name) for name in benchmark.images.names}
    if unlisted := [name for name in _images(root) if name not in listed]:
        message = f"{counted(len(unlisted), 'image')} without a row in {table} left out: {short_list(unlisted)}."
        notices.append(Notice("images-without-row", str(root), message))
    return replace(benchmark, notices=(*notices, *benchmark.notices))


def _images(root: Path) -> list[str]:
    """Paths of all images below a folder, but for hidden ones."""
    with reading(root):
        paths = [path.relative_to(root) for path in root.rglob("*") if is_image(path.name)]
    return sorted(path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts))
