"""A difference of two means, shared out over the quantiles of the two distributions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def quantile_means(values: npt.ArrayLike, edges: npt.ArrayLike) -> Array:
    """Mean of the values between quantiles, lowest first; a value that lies across an edge counts in part on both sides.

    Parameters
    ----------
    values : array_like of float, shape (n,)
    edges : array_like of float, shape (K + 1,)
        Rising, from 0 to 1.

    Returns
    -------
    ndarray of float, shape (K,)
        Weighted by the widths of their intervals they add up to the mean, so that differences between two sets add up to the
        difference of their means.
    """
    ordered = np.sort(np.asarray(values, float))
    where = np.asarray(edges, float)
    below = np.interp(where * len(ordered), np.arange(len(ordered) + 1), np.concatenate([[0.0], np.cumsum(ordered)]))
    return np.asarray(np.diff(below) / (np.diff(where) * len(ordered)), float)
