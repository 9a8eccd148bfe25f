"""Parquet files with a column of images, as Hugging Face stores data sets."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.guard import reading, refuse_odd_name
from resit.data.image_sources.parquet import ParquetImages
from resit.data.layouts.found import Found, benchmark_of
from resit.data.layouts.request import Request
from resit.data.layouts.suffixes import in_natural_order
from resit.data.layouts.tabular import class_names, image_column, label_column, schema_of, sheet_of
from resit.data.paths import default_name, short_list
from resit.data.tables import PARQUET_SUFFIXES, Table
from resit.errors import InputError, Notice

SPLITS = re.compile(r"(train|training|test|testing|val|valid|validation|dev|eval)(?=[-_.\d]|$)", re.IGNORECASE)


def read(place: str, request: Request) -> Benchmark:
    """Read one or several Parquet files with a column of images.

    The column of images is told by its type: a struct of bytes and path, or binary and called image, img, jpg or png. Labels
    are whole numbers, whose names may stand in the metadata of Hugging Face, or text. Other flat columns become group columns.
    Ids are those of a column of ids, else the paths beside the images where all are there and differ.

    Parameters
    ----------
    place : str
        A file, a folder, or a glob.
    request : Request

    Raises
    ------
    InputError
        If there is no such file, the files differ in their columns or are of several splits, or there are no labels.
    """
    names, notices = parquet_files(place)
    paths = [Path(name) for name in names]
    schema = schema_of(paths[0])
    image = image_column(schema, request, place)
    table = _table(paths, [name for name in schema.names if name != image], place)
    listed = {name: class_names(schema.metadata, name, place) for name in table.columns}
    _refuse_other_classes(paths, listed)
    label = label_column(table.columns, request, [name for name, classes in listed.items() if classes], place)
    sheet = sheet_of(table, request, label, notices, _paths(paths, schema, image))
    found = Found(
        place,
        ParquetImages(paths, image),
        sheet,
        listed=listed.get(label or "", ()),
        notices=notices,
        name=default_name(paths[0] if len(paths) == 1 else Path(place if Path(place).is_dir() else paths[0].parent)),
    )
    return benchmark_of(found, request)


def parquet_files(place: str) -> tuple[list[str], list[Notice]]:
    """The Parquet files of a place, in the order of their numbers.

    Raises
    ------
    InputError
        If there are none, or they are of several splits.
    """
    refuse_odd_name(place)
    path = Path(place)
    with reading(place):
        if path.is_dir():
            inside = [path / "data", path] if not any(map(_is_parquet, path.iterdir())) else [path]
            found = [str(one) for folder in inside if folder.is_dir() for one in folder.iterdir() if _is_parquet(one)]
        elif path.exists() or not glob.has_magic(place):
            return [place], []
        else:
            found = [name for name in glob.glob(place, recursive=True) if _is_parquet(Path(name))]  # noqa: PTH207
    if not found:
        raise InputError("no Parquet files", where=place, fix="Check the path and the current folder.")
    splits = sorted({match[1].lower() if (match := SPLITS.match(Path(name).name)) else "" for name in found})
    if len(splits) > 1:
        shown = ", ".join(split or "files without such a name" for split in splits)
        raise InputError(
            f"Parquet files of several splits: {shown}",
            where=place,
            fix=f"Give a glob, such as '{place}/{splits[-1]}*.parquet'.",
        )
    return in_natural_order(found, place)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET_SUFFIXES and not path.name.startswith(".")


def _table(paths: Sequence[Path], columns: Sequence[str], place: str) -> Table:
    """All columns but that of images, of all files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = []
    for path in paths:
        schema = schema_of(path)
        missing = sorted(set(columns) - set(schema.names))
        if missing:
            raise InputError(
                f"columns that the first file has are missing: {short_list(missing)}", where=path, fix="Is it another set?"
            )
        with reading(path):
            parts.append(pq.read_table(path, columns=list(columns), partitioning=None).replace_schema_metadata(None))
    with reading(place):
        rows = sum(pq.read_metadata(path).num_rows for path in paths)
        data = pa.concat_tables(parts, promote_options="permissive") if columns else pa.table({})
    if not rows:
        raise InputError("no rows in it", where=place, fix="Is it the right file?")
    if columns and len(data) != rows:
        raise InputError(f"{len(data)} rows of labels, but {rows} images", where=place, fix="Is a file empty or damaged?")
    return Table(place, data, {})


def _refuse_other_classes(paths: Sequence[Path], listed: Mapping[str, list[ClassInfo]]) -> None:
    """Refuse files that number classes in different ways."""
    for path in paths[1:]:
        metadata = schema_of(path).metadata
        for column, classes in listed.items():
            if class_names(metadata, column, str(path)) != classes:
                raise InputError(
                    f"the classes of column {column!r} are not those of {paths[0].name}", where=path, fix="Is it another set?"
                )


def _paths(paths: Sequence[Path], schema: Any, image: str) -> npt.NDArray[np.str_] | None:
    """The paths beside the images, where all are there and differ."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = schema.field(image).type
    if not pa.types.is_struct(kind) or kind.get_field_index("path") < 0:
        return None
    found: list[str | None] = []
    for path in paths:
        with reading(path):
            column = pq.ParquetFile(path).read(columns=[f"{image}.path"]).column(image)
            found += [value["path"] if value else None for value in column.to_pylist()]
    if not all(found) or len(set(found)) < len(found):
        return None
    return np.array(found, str)
