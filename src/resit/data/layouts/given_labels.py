"""Labels that are given beside the images: joined by id where both have ids, else by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resit.data import entries
from resit.data.entries import WHOLE, Entries
from resit.data.guard import reading, refuse_odd_name, refuse_unfit
from resit.data.joins import collapse_labels
from resit.data.labels import LabelSheet, read_labels
from resit.data.layouts.suffixes import without_suffix
from resit.data.paths import counted, short_list
from resit.errors import InputError, Notice

DEVKIT = "validation_ground_truth"


def read_given(source: object) -> LabelSheet:
    """Read labels as :func:`resit.data.labels.read_labels` does, or from a ``.txt`` file with a line an image.

    A line is a label, or a name and a whole number.

    Raises
    ------
    InputError
        If they cannot be read.
    """
    if not isinstance(source, str | Path) or Path(source).suffix.lower() != ".txt":
        return read_labels(source)
    path = Path(source)
    refuse_odd_name(path)
    refuse_unfit(path)
    with reading(path):
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if DEVKIT in path.name:
        raise InputError(
            "labels numbered from 1 in the order of ImageNet's development kit, not in that of the wnids",
            where=path,
            fix="Map them to wnids by the kit's meta.mat, and give a table of image and wnid.",
        )
    pairs = [line.rsplit(maxsplit=1) for line in lines]
    if all(len(pair) == 2 and WHOLE.fullmatch(pair[1]) for pair in pairs):
        return LabelSheet(
            _untyped([label for _, label in pairs], path), np.array([name for name, _ in pairs], str), {}, str(path)
        )
    return LabelSheet(_untyped(lines, path), source=str(path))


def _untyped(texts: list[str], path: Path) -> Entries:
    """Entries of a file without types, in which numbers are always text."""
    return replace(entries.from_list(texts, path), was_text=False)


def join_labels(sheet: LabelSheet, ids: npt.NDArray[np.str_] | None, n: int, place: str, notices: list[Notice]) -> LabelSheet:
    """Labels in the order of the images.

    Parameters
    ----------
    sheet : LabelSheet
    ids : ndarray of str, shape (n,), or None
        Identities of the images.
    n : int
        Number of images.
    place : str
        Where the images are, for messages.
    notices : list of Notice
        What was seen is added.

    Raises
    ------
    InputError
        If an image has no label, or a label no image.
    """
    if sheet.ids is not None:
        sheet, _ = collapse_labels(sheet, notices)
    if sheet.ids is None or ids is None:
        return _by_position(sheet, ids, n, place, notices)
    rows = _rows(sheet.ids.tolist(), ids.tolist())
    if rows is None:
        rows = _rows([*map(without_suffix, sheet.ids.tolist())], [*map(without_suffix, ids.tolist())])
        if rows is None:
            raise _different(sheet, ids, place)
        message = f"Labels were joined by file names without folders and endings, such as {without_suffix(str(ids[0]))!r}."
        notices.append(Notice("joined-by-file-name", sheet.source, message))
    return replace(sheet.take(np.array(rows, np.intp)), ids=ids)


def _rows(theirs: Sequence[str], ours: Sequence[str]) -> list[int] | None:
    places = {name: row for row, name in enumerate(theirs)}
    if len(places) != len(theirs) or len(set(ours)) != len(ours) or places.keys() != set(ours):
        return None
    return [places[name] for name in ours]


def _by_position(sheet: LabelSheet, ids: npt.NDArray[np.str_] | None, n: int, place: str, notices: list[Notice]) -> LabelSheet:
    if sheet.n != n:
        raise InputError(
            f"{sheet.n} labels, but {n} images",
            where=place,
            fix=f"Are both of the same test set ({sheet.source})? Labels with the images' ids can be joined by them.",
        )
    if ids is not None:
        message = (
            f"The labels have no ids; they are taken to be in the order of the images, {ids[0]} first and {ids[-1]} last. "
            "Check that they are."
        )
        notices.append(Notice("labels-by-position", sheet.source, message))
        return replace(sheet, ids=ids)
    if sheet.ids is not None:
        message = "The images have no ids; they are taken to be in the order of the labels. Check that they are."
        notices.append(Notice("ids-from-labels", place, message))
    return sheet


def _different(sheet: LabelSheet, ids: npt.NDArray[np.str_], place: str) -> InputError:
    assert sheet.ids is not None
    unlabelled, unused = np.setdiff1d(ids, sheet.ids), np.setdiff1d(sheet.ids, ids)
    parts = [f"{counted(sheet.n, 'label')}, but {counted(len(ids), 'image')}"]
    if unlabelled.size:
        parts.append(f"{counted(unlabelled.size, 'image has', 'images have')} no label ({short_list(unlabelled, 3)})")
    if unused.size:
        parts.append(f"{counted(unused.size, 'label has', 'labels have')} no image ({short_list(unused, 3)})")
    fix = f"Check that both are of the same test set, and that ids are written alike in {sheet.source}."
    return InputError("; ".join(parts), where=place, fix=fix)
