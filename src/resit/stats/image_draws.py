"""Images redrawn with replacement, each with its votes and its answers: sums by pattern of votes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.stats.beta_binomial import Patterns
from resit.stats.resample import chunks, draw_counts

Array = npt.NDArray[np.float64]


class Sums(NamedTuple):
    """Images of each pattern of votes, and how many of them are right.

    Parameters
    ----------
    images : ndarray of float, shape (B, U)
    right : ndarray of float, shape (B, R, U)
        For the mean of the models and for each; R = 0 without answers.
    """

    images: Array
    right: Array


def answers(correct: npt.ArrayLike, counts: Patterns) -> Array:
    """Correctness of the mean of the models, then of each; shape (1 + M, n).

    Parameters
    ----------
    correct : array_like of float, shape (M, n) or (n,)
        Right or wrong, or the share of models that are right, from 0 to 1.
    counts : Patterns
        Of the n images.

    Raises
    ------
    UsageError
        If it has another shape, or other values.
    """
    found = np.atleast_2d(np.asarray(correct, np.float64))
    fits = found.ndim == 2 and found.shape[0] > 0 and found.shape[1] == len(counts.of)
    if not fits or not ((found >= 0) & (found <= 1)).all():
        what = "correctness that is not one number from 0 to 1 for each image"
        raise UsageError(what, where="frequencies", fix="Give the share of models that are right, image by image.")
    return np.vstack([found.mean(axis=0), found])


def as_they_are(counts: Patterns, rows: Array | None) -> Sums:
    """The sums of the images themselves, B = 1."""
    right = [] if rows is None else [counts.weights(row) for row in rows]
    return Sums(counts.weights()[None], np.array(right).reshape(1, len(right), len(counts.selected)))


def drawn(rng: np.random.Generator, counts: Patterns, rows: Array | None, resamples: int) -> Iterator[Sums]:
    """Sums of as many images, drawn with replacement, piece by piece, ``resamples`` in all.

    An image comes with its votes, so that their noise is drawn too. The order of the images changes nothing.

    Parameters
    ----------
    rng : numpy.random.Generator
    counts : Patterns
    rows : ndarray of float, shape (R, n), or None
        From :func:`answers`.
    resamples : int
    """
    weights, size, patterns = counts.weights(), len(counts.of), len(counts.selected)
    if rows is None:
        for own, number in chunks(rng, resamples, patterns):
            yield Sums(own.multinomial(size, weights / size, number).astype(float), np.empty((number, 0, patterns)))
        return
    order = np.lexsort((*rows, counts.of))
    ends = np.concatenate([[0], np.cumsum(weights).astype(np.int64)])
    sorted_rows = np.ascontiguousarray(rows[:, order].T)
    for own, number in chunks(rng, resamples, size + patterns * (len(rows) + 1)):
        images = draw_counts(own, number, size).astype(np.float64)
        right = np.empty((number, len(rows), patterns))
        for place, (start, end) in enumerate(pairwise(ends.tolist())):
            right[:, :, place] = images[:, start:end] @ sorted_rows[start:end]
        yield Sums(np.add.reduceat(images, ends[:-1], axis=1), right)
