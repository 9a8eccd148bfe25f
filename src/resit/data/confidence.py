"""How sure a model is of its first answer: read from scores and from columns of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.paths import counted
from resit.data.tables import Table
from resit.errors import InputError, Notice

Confidence = npt.NDArray[np.float32]
SUMS_TO_ONE = 1e-3
ROUNDING = 1e-6
SOFTMAXED, IGNORED = "scores-as-logits", "confidence-ignored"


def softmax_of_best(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The largest value of each row's softmax, which is 1 / Σ exp(score − largest score).

    Parameters
    ----------
    scores : ndarray of float, shape (b, C)
        Finite.

    Returns
    -------
    ndarray of float, shape (b,)
    """
    return np.asarray(1 / np.exp(scores - scores.max(axis=1, keepdims=True)).sum(axis=1))


def are_probabilities(scores: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which rows are probabilities: nonnegative, with a sum of 1 within 0.001. Shapes (b, C) and (b,)."""
    sums = scores.sum(axis=1, dtype=np.float64)
    return np.asarray((scores >= 0).all(axis=1) & (np.abs(sums - 1) <= SUMS_TO_ONE))


def softmaxed(where: object) -> Notice:
    """The notice that scores were taken for logits."""
    message = (
        "The scores are not probabilities (nonnegative, with a sum of 1 in every row): confidences are those of their softmax. "
        "If they are no logits, confidences and what is said of calibration mean nothing; store probabilities then."
    )
    return Notice(SOFTMAXED, str(where), message)


def told_once(notices: Sequence[Notice], where: object) -> list[Notice]:
    """Notices in which those of several files whose scores were taken for logits are one."""
    files = list(dict.fromkeys(notice.where for notice in notices if notice.code == SOFTMAXED))
    if len(files) < 2:
        return list(notices)
    first = softmaxed(where)
    one = Notice(SOFTMAXED, str(where), f"{first.message} So it is in {counted(len(files), 'file')}.")
    return [*(notice for notice in notices if notice.code != SOFTMAXED), one]


def from_column(table: Table, name: str) -> tuple[Confidence | None, tuple[Notice, ...]]:
    """Confidences of a column, NaN where there is none.

    Returns
    -------
    confidence : ndarray of float32, shape (rows,), or None
        None where the column holds none, or other values than fractions from 0 to 1; beyond these only by rounding, which is
        cut off.
    notices : tuple of Notice
        That the column was ignored.
    """
    try:
        values = _numbers(table, name)
    except InputError:
        values = np.array([np.inf])
    known = values[~np.isnan(values)]
    if known.size and not (known.min() >= -ROUNDING and known.max() <= 1 + ROUNDING):
        message = f"Column {name!r} holds other values than fractions from 0 to 1 and was ignored; answers are not touched."
        return None, (Notice(IGNORED, table.source, message),)
    return (np.clip(values, 0, 1).astype(np.float32), ()) if known.size else (None, ())


def _numbers(table: Table, name: str) -> npt.NDArray[np.float64]:
    """A column of numbers, or of text that is numbers; NaN where it is empty."""
    import pyarrow as pa

    if pa.types.is_floating(table.column(name).type):
        return np.asarray(table.column(name).to_numpy(), np.float64)
    texts, inverse = table.distinct(name)
    try:
        return np.array([float(text) if text else np.nan for text in texts])[inverse]
    except ValueError as error:
        raise InputError(f"column {name!r} holds no numbers", where=table.source) from error
