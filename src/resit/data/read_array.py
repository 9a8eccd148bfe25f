"""Answers in an array: class ids, right and wrong, or scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data import entries
from resit.data.columns import is_truth, plain, says_correct
from resit.data.confidence import Confidence, are_probabilities, softmax_of_best, softmaxed
from resit.data.entries import Entries
from resit.data.models import ModelId
from resit.data.predictions import CORRECTNESS
from resit.data.sheets import AnswerSheet, check_count
from resit.errors import InputError, Notice

CHUNK = 2**22
DEEPEST = 100
MOST_PADDED = 10


def sheet_of_array(
    array: npt.NDArray[Any],
    model: str,
    where: Path | str,
    *,
    keep: int,
    expected: int | None,
    ids: npt.NDArray[np.str_] | None = None,
) -> AnswerSheet:
    """One model's answers: whole numbers are class ids, best first; other floats of shape (n, C) are scores.

    Scores tell confidence too: where every row is nonnegative and sums to 1 within 0.001, the largest of the row, else the
    largest of its softmax, with a notice.

    Parameters
    ----------
    array : ndarray, shape (n,) or (n, k) or (n, C)
    model : str
        Name of the model.
    where : path
        The file.
    keep : int
        How many classes to keep of scores.
    expected : int or None
        Number of labels, where known.
    ids : ndarray of str, shape (n,), optional
        Identities of the examples, by which answers of another number may still be joined.

    Raises
    ------
    InputError
        If the shape or the count is another, or floats of shape (n,) are not whole.
    """
    if array.ndim not in (1, 2) or not array.size:
        raise InputError(f"an array of shape {array.shape}", where=where, fix="One model's answers need shape (n,) or (n, k).")
    check_count(len(array), expected if ids is None else len(ids), where, of="labels" if ids is None else "ids")
    sheet = AnswerSheet(ModelId(model), Entries(np.empty((0, 1), bool)), ids, str(where), {"source": str(where)})
    if array.dtype.kind == "f" and array.ndim == 2 and not _are_ids(array, where):
        best, confidence, notices = _best_of_scores(array, keep, where)
        return replace(sheet, entries=best, n_scored=array.shape[1], notices=notices, confidence=confidence)
    _refuse_one_hot(array, where)
    if array.ndim == 2 and array.shape[1] > DEEPEST:
        message = f"{array.shape[1]} answers an example; the first {DEEPEST} were read."
        sheet, array = replace(sheet, notices=(Notice("answers-cut", str(where), message),)), array[:, :DEEPEST]
    return replace(sheet, entries=entries.from_array(array, where))


def as_named(sheet: AnswerSheet, path: Path, *names: str) -> AnswerSheet:
    """The sheet as right and wrong where the file, its folder or another name says so and it holds only 0 and 1, one a row."""
    own = (path.stem, *names)
    said = [name for name in (*own, path.absolute().parent.name) if says_correct(name)]
    values = sheet.entries.values
    if not said or sheet.entries.kind != "ids" or sheet.n_scored or values.shape[1] > 1 or not only_zero_and_one(values):
        return sheet
    certain = any(is_truth(name) or plain(name) == CORRECTNESS for name in own)
    return replace(sheet, entries=Entries(values == 1), is_truth=certain, notices=(*sheet.notices, read_as_correct(path)))


def read_as_correct(path: Path) -> Notice:
    """The notice that a name made right and wrong of numbers; the same for all files of a folder."""
    message = (
        "As files or their folder are called correct, 0 and 1 in them are read as wrong and right, and not as class ids. "
        "If they are class ids, rename them."
    )
    return Notice("read-as-correct", str(path.parent), message)


def only_zero_and_one(array: npt.NDArray[Any]) -> bool:
    """Whether an array of whole numbers holds nothing else; stops at the first part that does."""
    flat = array.reshape(-1)
    return all(np.isin(flat[start : start + CHUNK], (0, 1)).all() for start in range(0, flat.size, CHUNK))


def _are_ids(array: npt.NDArray[Any], where: Path | str) -> bool:
    """Whether floats are class ids, NaN and -1 being none; what may be either is refused.

    Raises
    ------
    InputError
        If they may be ids or scores.
    """
    width = array.shape[1]
    if width == 1:
        return True
    repeated, only_binary, padded = 0, True, False
    rows = max(1, CHUNK // width)
    for start in range(0, len(array), rows):
        part = np.array(array[start : start + rows], np.float64)
        if np.isinf(part).any():
            return False
        missing = np.isnan(part) | (part == -1)
        padded |= bool(missing.any())
        part = np.sort(np.where(missing, -1, part), axis=1)
        if np.any(part != np.floor(part)) or np.any(part < -1) or (padded and width > MOST_PADDED):
            return False
        repeated += int(np.count_nonzero(np.any((part[:, 1:] == part[:, :-1]) & (part[:, 1:] >= 0), axis=1)))
        only_binary &= bool((part <= 1).all())
    few = 0 < repeated <= len(array) // 10 and not only_binary
    if few or (width == 2 and only_binary and not padded and not repeated):
        raise InputError(
            "whole numbers as floats, which may be class ids or scores",
            where=where,
            fix="Store class ids as integers; of scores, store the best class ids, with NumPy scores.argmax(1).",
        )
    return not repeated


def _refuse_one_hot(array: npt.NDArray[Any], where: Path | str) -> None:
    if array.ndim != 2 or array.shape[1] < 3 or array.dtype.kind not in "iu" or array.size > entries.MOST:
        return
    if only_zero_and_one(array) and np.all(array.sum(axis=1) == 1):
        raise InputError("answers that look one-hot", where=where, fix="Store class ids, with NumPy answers.argmax(1).")


def _best_of_scores(scores: npt.NDArray[Any], keep: int, where: Path | str) -> tuple[Entries, Confidence, tuple[Notice, ...]]:
    """Indices of the largest scores of each row, ties to the lowest index; a row that is not finite or is constant has none.

    With them the confidence of each first answer, NaN where there is none.
    """
    n, classes = scores.shape
    best = np.full((n, min(keep, classes)), -1, np.int64)
    as_told, as_logits = np.full((2, n), np.nan, np.float32)
    rows, equal, probable = max(1, CHUNK // classes), 0, True
    for start in range(0, n, rows):
        part = np.array(scores[start : start + rows], np.float64)
        valid = np.isfinite(part).all(axis=1)
        constant = valid & (part == part[:, :1]).all(axis=1) & (classes > 1)
        equal += int(np.count_nonzero(constant))
        valid &= ~constant
        every, at = np.arange(len(part)), start + np.flatnonzero(valid)
        probable = probable and bool(are_probabilities(part[valid]).all())
        as_told[at] = part[valid].max(axis=1) if probable else np.nan
        as_logits[at] = softmax_of_best(part[valid])
        for rank in range(best.shape[1]):
            top = np.argmax(part, axis=1)
            best[start : start + rows, rank] = np.where(valid, top, -1)
            part[every, top] = -np.inf
    notices = _invalid_rows(best[:, 0], equal, where)
    if probable:
        return Entries(best), np.minimum(as_told, 1), notices
    return Entries(best), as_logits, (*notices, softmaxed(where))


def _invalid_rows(first: npt.NDArray[np.int64], equal: int, where: Path | str) -> tuple[Notice, ...]:
    """The notice of rows without a valid answer; ``equal`` are those whose scores are all the same."""
    invalid = np.flatnonzero(first < 0)
    if not invalid.size:
        return ()
    wrong = "hold NaN or infinity" if not equal else "hold the same score for all classes, NaN or infinity"
    message = (
        f"{invalid.size} of {len(first)} rows of scores {wrong} (the first is row {invalid[0]}); "
        "they have no valid answer and are counted wrong."
    )
    return (Notice("invalid-scores", str(where), message),)
