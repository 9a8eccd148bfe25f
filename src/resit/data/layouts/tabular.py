"""Labels, ids and group columns out of a table that also has a column of images."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.data import entries
from resit.data.benchmark import ClassInfo
from resit.data.columns import ROLES, find_column, plain
from resit.data.guard import reading, refuse_unfit
from resit.data.labels import LabelSheet
from resit.data.layouts.found import no_labels
from resit.data.layouts.request import Request
from resit.data.paths import short_list
from resit.data.tables import MOST_CHARACTERS, Table
from resit.errors import InputError, Notice

if TYPE_CHECKING:
    import pyarrow as pa

IMAGE_NAMES = ("image", "img", "jpg", "jpeg", "png", "picture", "photo")
HF = b"huggingface"


def schema_of(path: Path) -> pa.Schema:
    """Schema of a Parquet file.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    refuse_unfit(path)
    with reading(path):
        import pyarrow.parquet as pq

        return pq.read_schema(path)


def image_columns(schema: pa.Schema) -> list[str]:
    """Columns that hold images by their type: structs of bytes, and binary columns that are called as images."""
    import pyarrow as pa

    def is_bytes(kind: Any) -> bool:
        tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
        return any(test(kind) for test in tests)

    found = []
    for column in schema:
        if pa.types.is_struct(column.type):
            names = [column.type.field(place).name for place in range(column.type.num_fields)]
            if "bytes" in names and is_bytes(column.type.field("bytes").type):
                found.append(column.name)
        elif is_bytes(column.type) and plain(column.name) in IMAGE_NAMES:
            found.append(column.name)
    return found


def image_column(schema: pa.Schema, request: Request, where: str) -> str:
    """The column of images.

    Raises
    ------
    InputError
        If there is none, or more than one and none was named.
    """
    if request.image_column is not None:
        if request.image_column not in schema.names:
            what = f"no column {request.image_column!r}; the columns are {', '.join(map(repr, schema.names))}"
            raise InputError(what, where=where, fix="Name one of these: image_column=….")
        return request.image_column
    found = image_columns(schema)
    if len(found) != 1:
        what = f"{len(found)} columns of images: {short_list(found)}" if found else "no column of images"
        raise InputError(
            f"{what}; the columns are {', '.join(schema.names)}", where=where, fix="Name the column of images: image_column=…."
        )
    return found[0]


def class_names(metadata: dict[bytes, bytes] | None, column: str, where: str) -> list[ClassInfo]:
    """Classes of a label column, as Hugging Face writes them into the metadata of a Parquet file; empty where it does not."""
    with reading(where):
        features = json.loads((metadata or {}).get(HF, b"{}")).get("info", {}).get("features", {})
        feature = features.get(column, {})
        while isinstance(feature, dict) and feature.get("_type") != "ClassLabel" and "feature" in feature:
            feature = feature["feature"]
        names = feature.get("names") if isinstance(feature, dict) else None
        return [ClassInfo(name, name) for name in names or []]


def label_column(columns: Sequence[str], request: Request, classed: Sequence[str], where: str) -> str | None:
    """The column of labels, or None where labels are given otherwise.

    Parameters
    ----------
    columns : sequence of str
        All columns but that of images.
    request : Request
    classed : sequence of str
        Columns that are known to hold classes by their type.
    where : str

    Raises
    ------
    InputError
        If there is none, or more than one that may be meant.
    """
    if request.label_column is not None or request.labels is not None:
        return request.label_column
    named = find_column(columns, "label")
    if named is not None:
        return named
    if len(classed) == 1:
        return classed[0]
    if len(classed) > 1:
        raise InputError(
            f"more than one column of classes: {', '.join(classed)}", where=where, fix="Say which one holds: label_column=…."
        )
    shown = ", ".join(columns) or "no other columns"
    raise no_labels(where, f"Or say which column has them, label_column=…; there are {shown}.")


def sheet_of(
    table: Table, request: Request, label: str | None, notices: list[Notice], ids: npt.NDArray[np.str_] | None = None
) -> LabelSheet:
    """Labels, ids and group columns.

    Parameters
    ----------
    table : Table
        All columns but that of images.
    request : Request
    label : str or None
        The column of labels; None: all labels are 0, as they are given otherwise.
    notices : list of Notice
        What was seen is added.
    ids : ndarray of str, shape (n,), optional
        Identities where no column has them.

    Raises
    ------
    InputError
        If a column is missing or cannot be read.
    """
    id_column = request.id_column or find_column([name for name in table.columns if name != label], "id")
    if id_column is not None:
        ids = table.texts(id_column)
        if (ids == "").any():
            raise InputError(f"rows without a value in {id_column!r}", where=table.source, fix="Each image needs an id.")
    blank = entries.Entries(np.zeros((len(table), 1), np.int64))
    found = blank if label is None else entries.from_columns(table, [label])
    return LabelSheet(found, ids, _groups(table, {label, id_column}, notices), table.source)


def _groups(table: Table, taken: set[str | None], notices: list[Notice]) -> dict[str, npt.NDArray[np.str_]]:
    groups, left_out = {}, []
    for column in table.columns:
        if column in taken or plain(column) in ROLES["label"]:
            continue
        kind = str(table.data.schema.field(column).type)
        if kind.startswith(("list", "large_list", "fixed_size_list", "struct", "map", "binary", "large_binary", "extension")):
            left_out.append(column)
            continue
        distinct, inverse = table.distinct(column)
        if max(map(len, distinct), default=0) * len(table) > MOST_CHARACTERS:
            left_out.append(column)
            continue
        groups[column.removeprefix("group:")] = np.asarray(distinct, dtype=str)[inverse]
    if left_out:
        message = f"Columns that are no groups, as they hold lists, bytes or long texts, were left out: {short_list(left_out)}."
        notices.append(Notice("columns-left-out", table.source, message))
    return groups


def without_groups_of(sheet: LabelSheet, *columns: str) -> LabelSheet:
    """The same labels without some group columns."""
    return replace(sheet, groups={name: column for name, column in sheet.groups.items() if name not in columns})
