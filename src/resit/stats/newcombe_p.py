"""P-values that belong to Newcombe's intervals: an interval leaves 0 out exactly where its p-value is below 1 − level."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from resit.stats.intervals import Interval, newcombe

Array = npt.NDArray[np.float64]
MOST_Z = 8.0  # p of 1e-15
STEPS = 48


def newcombe_p(correct_1: npt.ArrayLike, n_1: npt.ArrayLike, correct_2: npt.ArrayLike, n_2: npt.ArrayLike) -> Array:
    """Two-sided p-values of differences of independent proportions, by inverting Newcombe's hybrid score interval.

    Parameters
    ----------
    correct_1, n_1, correct_2, n_2 : array_like, broadcastable
        Number right and number asked on each set; means over trainings need not be whole.

    Returns
    -------
    ndarray of float
        1 − (the highest level whose interval leaves 0 out), at least 1e-15; NaN where a number asked is 0.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.
    """
    rows = np.broadcast_arrays(*(np.asarray(one, float) for one in (correct_1, n_1, correct_2, n_2)))
    cells = zip(*(one.ravel().tolist() for one in rows), strict=True)
    found = [_inverted(partial(newcombe, *cell)) for cell in cells]
    return np.asarray(found, float).reshape(rows[0].shape)


def _inverted(interval: Callable[[float], Interval]) -> float:
    from scipy.special import ndtr

    low, high = 0.0, MOST_Z
    if np.isnan(interval(0.5).estimate):
        return float("nan")
    for _ in range(STEPS):
        z = (low + high) / 2
        at = interval(float(1 - 2 * ndtr(-z)))
        low, high = (z, high) if at.low > 0 or at.high < 0 else (low, z)
    return float(2 * ndtr(-low))
