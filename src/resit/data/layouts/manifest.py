"""A table with a row an image: its path or address, its label or accepted labels, and group columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.columns import find_column, plain
from resit.data.entries import Entries
from resit.data.image_sources.files import FileImages
from resit.data.image_sources.places import UNKNOWN, is_url
from resit.data.joins import collapse_labels
from resit.data.labels import LabelSheet, labels_of_table
from resit.data.layouts.found import Found, benchmark_of
from resit.data.layouts.request import Request
from resit.data.layouts.tabular import label_column, without_groups_of
from resit.data.paths import counted, short_list
from resit.data.tables import Table, read_table
from resit.errors import InputError, Notice

PLACE_NAMES = (
    *("path", "file_path", "filepath", "image_path", "url", "image_url", "file", "filename", "file_name"),
    *("image", "img", "image_file", "image_name"),
)


def read(place: str, request: Request) -> Benchmark:
    """Read a CSV or Parquet table with a column of paths, relative to its folder, or addresses.

    Labels may be lists of accepted classes. All other flat columns become group columns. A missing file is no error here: it
    becomes an error row when it is read; a notice counts those that are missing on this machine.

    Parameters
    ----------
    place : str
    request : Request

    Raises
    ------
    InputError
        If there is no such column, no label, or one id stands for two images.
    """
    path = Path(place)
    table = read_table(path)
    column = place_column(table.columns, request, place)
    notices: list[Notice] = []
    sheet = _sheet(table, column, request)
    names = table.texts(column)
    rows = np.arange(len(names))
    if sheet.ids is not None:
        sheet = replace(sheet, groups={**sheet.groups, "": names})
        sheet, listing = collapse_labels(sheet, notices)
        if listing is not None:
            _refuse_two_images(names, listing.first, place)
            rows = listing.rows
        sheet = without_groups_of(sheet, "")
    names = names[rows]
    if (names == "").any():
        empty = counted(int((names == "").sum()), "row")
        raise InputError(f"{empty} without a value in {column!r}", where=place, fix="Leave them out.")
    images = FileImages(names.tolist(), path.parent)
    missing = [name for name, size in zip(images.names, images.sizes, strict=True) if size == UNKNOWN and not is_url(name)]
    if missing and not is_url(images.root):
        message = f"{len(missing)} of {len(names)} images are missing: {short_list(missing, 3)}. They will be error rows."
        notices.append(Notice("images-missing", place, message))
    return benchmark_of(Found(place, images, sheet, notices=notices), request)


def place_column(columns: tuple[str, ...], request: Request, where: str) -> str:
    """The column of paths or addresses.

    Raises
    ------
    InputError
        If there is none.
    """
    if request.image_column is not None:
        return request.image_column
    known = {plain(column): column for column in reversed(columns)}
    found = next((known[name] for name in PLACE_NAMES if name in known), None)
    if found is None:
        raise InputError(
            f"no column of paths or addresses among {', '.join(columns)}",
            where=where,
            fix="Call it path or url, or image_column=….",
        )
    return found


def _sheet(table: Table, column: str, request: Request) -> LabelSheet:
    others = [name for name in table.columns if name not in (column, request.id_column)]
    label = label_column(others, request, _only_other(others), table.source)
    sheet = labels_of_table(table, label=label or column)
    if label is None:  # labels are given otherwise
        sheet = replace(sheet, entries=Entries(np.zeros((len(table), 1), np.int64)))
    if request.id_column is not None:
        own = find_column(table.columns, "id")
        groups: dict[str, npt.NDArray[np.str_]] = dict(sheet.groups)
        groups.pop(request.id_column, None)
        if own is not None and own not in (request.id_column, column, label):
            groups[own] = table.texts(own)
        sheet = replace(sheet, ids=table.texts(request.id_column), groups=groups)
    if sheet.ids is not None and (sheet.ids == "").any():
        raise InputError("rows without an id", where=table.source, fix="Each image needs one.")
    return without_groups_of(sheet, column)


def _only_other(columns: list[str]) -> list[str]:
    """The one column that is neither images nor ids, which then can only be the label."""
    left = [name for name in columns if name != find_column(columns, "id")]
    return left if len(left) == 1 else []


def _refuse_two_images(names: npt.NDArray[np.str_], first: npt.NDArray[np.intp], place: str) -> None:
    odd = np.flatnonzero(names != names[first])
    if odd.size:
        raise InputError(
            f"one id for two images: {names[first][odd[0]]} and {names[odd[0]]}",
            where=place,
            fix="Each image needs an id of its own.",
        )
