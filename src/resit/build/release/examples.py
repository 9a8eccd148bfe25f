"""The images of a release with their labels and attributes, read one at a time, and the Parquet file of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from resit.build.keys import rows_in
from resit.build.release.record import Material
from resit.data.benchmark import ClassInfo
from resit.data.columns import plain
from resit.data.guard import MIB, reading
from resit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

OWN = ("image", "label", "id", "class_id", "selected", "shown")
# A group of rows ends at either bound, so that memory does not depend on the number of images.
MOST_ROWS, MOST_BYTES = 256, 32 * MIB


@dataclass(frozen=True)
class Example:
    """One image of a release.

    Parameters
    ----------
    id : str
        Digest of its bytes.
    class_id : str
    label : int
        Index of the class.
    selected, shown : int
        Its votes.
    path : Path
        Its file in the build.
    attributes : dict of str to str or None
        By the column's name.
    """

    id: str
    class_id: str
    label: int
    selected: int
    shown: int
    path: Path
    attributes: dict[str, str | None]

    @property
    def ending(self) -> str:
        """Ending of its file, with the point."""
        return self.path.suffix.lower()

    @property
    def name(self) -> str:
        """Name of its file."""
        return self.id + self.ending

    def read(self) -> bytes:
        """Its bytes.

        Raises
        ------
        InputError
            If the file cannot be read, or its content is not that of the id.
        """
        with reading(self.path):
            content = self.path.read_bytes()
        if hashlib.sha256(content).hexdigest() != self.id:
            fix = "Collect it again: the file was changed since, or is damaged."
            raise InputError("an image whose content is not that of its id", where=self.path, fix=fix)
        return content


@dataclass(frozen=True)
class Contents:
    """The images of a release, sorted by id.

    Parameters
    ----------
    rows : tuple of Example
    classes : tuple of ClassInfo
    attributes : tuple of str
        Columns beyond our own, sorted.
    """

    rows: tuple[Example, ...]
    classes: tuple[ClassInfo, ...]
    attributes: tuple[str, ...]


def examples_of(material: Material, leave_out: tuple[str, ...] = ()) -> Contents:
    """The selected images with what is known of them.

    Parameters
    ----------
    material : Material
    leave_out : tuple of str, optional
        Attributes that are not released.

    Returns
    -------
    Contents

    Raises
    ------
    InputError
        If the attributes of an image are not JSON.
    """
    import pyarrow.compute as pc

    selected = material.selection.selected.sort_by("image")
    candidates = material.images.filter(pc.equal(material.images["role"], "candidate"))
    found = candidates.select(["path", "attributes"]).take(rows_in(selected, candidates))
    index = {info.id: place for place, info in enumerate(material.classes)}
    rows = [
        Example(
            id=one["image"],
            class_id=one["class_id"],
            label=index[one["class_id"]],
            selected=one["selected"],
            shown=one["shown"],
            path=material.root / PurePosixPath(at["path"]),
            attributes=flat_attributes(at["attributes"], leave_out),
        )
        for one, at in zip(selected.to_pylist(), found.to_pylist(), strict=True)
    ]
    return Contents(tuple(rows), material.classes, tuple(sorted({name for row in rows for name in row.attributes})))


def attributes_of(text: str | None, leave_out: tuple[str, ...]) -> dict[str, Any]:
    """Attributes out of their JSON text, sorted by name, without those that are left out or null.

    Raises
    ------
    InputError
        If it is no JSON object.
    """
    with reading("attributes"):
        found = json.loads(text or "{}")
    if not isinstance(found, dict):
        raise InputError(f"attributes that are no mapping: {text}", where="images", fix="Collect them again.")
    return {name: found[name] for name in sorted(found) if name not in leave_out and found[name] is not None}


def flat_attributes(text: str | None, leave_out: tuple[str, ...]) -> dict[str, str | None]:
    """Attributes as columns of text; ``group:`` is put before names that are ours, and readers take it off again."""
    return {
        f"group:{name}" if plain(name) in OWN else name: value if isinstance(value, str) else json.dumps(value)
        for name, value in attributes_of(text, leave_out).items()
    }


def class_labels(classes: tuple[ClassInfo, ...]) -> list[str]:
    """Names of classes as other tools want them, each different: the id follows where a name is there twice."""
    names = [info.name for info in classes]
    return [f"{info.name} ({info.id})" if names.count(info.name) > 1 else info.name for info in classes]


def write_parquet(contents: Contents, path: Path) -> None:
    """Write the images to a Parquet file whose columns ``datasets`` knows as images and classes.

    Parameters
    ----------
    contents : Contents
    path : Path

    Raises
    ------
    InputError
        If an image cannot be read, or is not what its id says.
    """
    import pyarrow.parquet as pq

    schema = _schema(contents)
    texts = [name for name in schema.names if name not in ("image", "id")]
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=texts, write_page_index=True) as writer:
        for batch in _batches(contents):
            writer.write_table(_table(batch, schema))


def _batches(contents: Contents) -> Iterator[list[tuple[Example, bytes]]]:
    batch: list[tuple[Example, bytes]] = []
    size = 0
    for row in contents.rows:
        content = row.read()
        if batch and (len(batch) == MOST_ROWS or size + len(content) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((row, content))
        size += len(content)
    if batch:
        yield batch


def _table(batch: list[tuple[Example, bytes]], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    own = [name for name in schema.names if name not in OWN]
    columns: dict[str, Any] = {
        "image": [{"bytes": content, "path": row.name} for row, content in batch],
        "label": np.array([row.label for row, _ in batch], np.int64),
        **{name: [getattr(row, name) for row, _ in batch] for name in ("id", "class_id", "selected", "shown")},
        **{name: [row.attributes.get(name) for row, _ in batch] for name in own},
    }
    return pa.table(columns, schema=schema)


def features(contents: Contents) -> dict[str, Any]:
    """The columns in the words of ``datasets``."""
    kinds: dict[str, Any] = {
        "image": {"_type": "Image"},
        "label": {"names": class_labels(contents.classes), "_type": "ClassLabel"},
        "id": {"dtype": "string", "_type": "Value"},
        "class_id": {"dtype": "string", "_type": "Value"},
        "selected": {"dtype": "int64", "_type": "Value"},
        "shown": {"dtype": "int64", "_type": "Value"},
    }
    return kinds | {name: {"dtype": "string", "_type": "Value"} for name in contents.attributes}


def _schema(contents: Contents) -> pa.Schema:
    import pyarrow as pa

    kinds = features(contents)
    whole = {"label": pa.int64(), "selected": pa.int64(), "shown": pa.int64()}
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = [(name, image if name == "image" else whole.get(name, pa.string())) for name in kinds]
    return pa.schema(columns, metadata={"huggingface": json.dumps({"info": {"features": kinds}})})
