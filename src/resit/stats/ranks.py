"""Ranks of models and how well two orders agree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
TIE = 1e-12


def mean_ranks(accuracy: Array) -> Array:
    """Rank of each model, 1 the best; ties (but for rounding, as weighted accuracies have it) share the mean rank.

    Parameters
    ----------
    accuracy : ndarray of float, shape (M,)

    Returns
    -------
    ndarray of float, shape (M,)
    """
    order = np.argsort(-accuracy, kind="stable")
    fresh = np.diff(accuracy[order]) < -TIE
    group = np.concatenate([np.zeros(min(len(accuracy), 1), np.int64), np.cumsum(fresh)])
    counts = np.bincount(group)
    ranks = np.empty(len(accuracy))
    ranks[order] = (np.cumsum(counts) - (counts - 1) / 2)[group]
    return ranks


def spearman(x: Array, y: Array) -> float:
    """Spearman's rank correlation, ties sharing the mean rank.

    Parameters
    ----------
    x, y : ndarray of float, shape (M,)

    Returns
    -------
    float
        NaN where all of x or all of y are tied, or there are fewer than two models.
    """
    if len(x) < 2:
        return np.nan
    a, b = mean_ranks(x), mean_ranks(y)
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / norm) if norm > 0 else np.nan


def kendall(x: Array, y: Array) -> float:
    """Kendall's tau-b, which allows for ties.

    Parameters
    ----------
    x, y : ndarray of float, shape (M,)

    Returns
    -------
    float
        NaN where all of x or all of y are tied, or there are fewer than two models.

    References
    ----------
    Kendall (1945), Biometrika 33(3).
    """
    x, y = mean_ranks(x), mean_ranks(y)
    concordance = ties_x = ties_y = 0
    for i in range(len(x) - 1):
        a, b = np.sign(x[i + 1 :] - x[i]), np.sign(y[i + 1 :] - y[i])
        concordance += int((a * b).sum())
        ties_x += int((a == 0).sum())
        ties_y += int((b == 0).sum())
    pairs = len(x) * (len(x) - 1) // 2
    norm = np.sqrt(float(pairs - ties_x) * float(pairs - ties_y))
    return concordance / norm if norm > 0 else np.nan
