"""Differences between groups: simultaneous intervals, the largest difference, percentile gaps, and what chance alone gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats import intervals
from resit.stats.resample import chunks

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int_]
Bools = npt.NDArray[np.bool_]
SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Simultaneous:
    """Bounds that hold for all groups and all pairs at once, each at the level.

    ``low[i, j]`` and ``high[i, j]`` bound accuracy i minus accuracy j, with 0 on the diagonal; ``group_low`` and ``group_high``
    bound the accuracies, shape (G,).
    """

    low: Array
    high: Array
    group_low: Array
    group_high: Array

    def largest(self) -> tuple[float, float]:
        """Bounds of best minus worst.

        The largest difference is the maximum of all pairs' differences: where all pairs are inside their bounds, it lies
        between the largest lower and the largest upper bound.
        """
        return float(self.low.max()), float(self.high.max())

    def largest_ratio(self) -> tuple[float, float]:
        """Bounds of (best minus worst) / best, from those of the accuracies."""
        best_low, best_high = self.group_low.max(), self.group_high.max()
        worst_low, worst_high = self.group_low.min(), self.group_high.min()
        low = 1 - min(1.0, worst_high / best_low) if best_low > 0 else 0.0
        return float(low), float(1 - worst_low / best_high if best_high > 0 else 1.0)


def relative(first: float, second: float) -> float:
    """(First minus second) / the better of the two; NaN where both are 0."""
    better = max(first, second)
    return (first - second) / better if better > 0 else np.nan


def by_counts(correct: Ints, n: Ints, level: float = 0.95) -> Simultaneous:
    """Simultaneous bounds where examples are independent.

    Newcombe's interval of each pair at level 1 - (1 - level) / (G (G - 1) / 2), and Clopper and Pearson's of each group at
    1 - (1 - level) / G (Bonferroni).

    Parameters
    ----------
    correct, n : ndarray of int, shape (G,)
        Number right and number asked in each group, at least two groups.
    level : float, optional
        Level at which all hold at once.

    Returns
    -------
    Simultaneous

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 873-890, method 10; Hochberg and Tamhane (1987), Multiple Comparison Procedures.
    """
    groups = len(n)
    miss = 1 - level
    pairs = intervals.newcombe(correct, n, correct[:, None], n[:, None], 1 - miss / (groups * (groups - 1) / 2))
    np.fill_diagonal(pairs.low, 0)
    np.fill_diagonal(pairs.high, 0)
    own = intervals.clopper_pearson(correct, n, 1 - miss / groups)
    return Simultaneous(pairs.low, pairs.high, own.low, own.high)


def largest_difference(accuracy: Array) -> Array:
    """Best minus worst over the last axis."""
    return np.asarray(accuracy.max(axis=-1) - accuracy.min(axis=-1))


def groups_at_end(groups: int, percent: float) -> int:
    """How many of the groups are the top ``percent``: rounded to the nearest, at least one."""
    return max(1, int(groups * percent / 100 + 0.5))


def percentile_gap(accuracy: Array, percent: float) -> Array:
    """Mean accuracy of the best ``percent`` of groups minus that of the worst, groups counted alike.

    Parameters
    ----------
    accuracy : ndarray of float, shape (..., G)
    percent : float
        At most 50.

    Returns
    -------
    ndarray of float, shape (...)

    References
    ----------
    Richards et al. (2023), arXiv:2307.13136.
    """
    count = groups_at_end(accuracy.shape[-1], percent)
    ordered = np.sort(accuracy, axis=-1)
    return np.asarray(ordered[..., -count:].mean(axis=-1) - ordered[..., :count].mean(axis=-1))


Statistics = Callable[[Array], Array]


def null_of_examples(rng: np.random.Generator, correct: int, n: Ints, resamples: int, statistics: Statistics) -> Array:
    """Statistics of groups whose labels are permuted over examples.

    The numbers right are multivariate hypergeometric, so no example is touched.

    Parameters
    ----------
    rng : numpy.random.Generator
    correct : int
        Number right in all groups together.
    n : ndarray of int, shape (G,)
        Size of each group.
    resamples : int
        Number of permutations B.
    statistics : callable
        Makes (b, S) statistics of (b, G) accuracies.

    Returns
    -------
    ndarray of float, shape (B, S)

    References
    ----------
    Fisher (1935), The Design of Experiments, chapter II.
    """
    found = [
        statistics(own.multivariate_hypergeometric(n, correct, size=rows, method="marginals") / n)
        for own, rows in chunks(rng, resamples, 2 * len(n))
    ]
    return np.concatenate(found) if found else np.empty((0, 0))


def null_of_clusters(
    rng: np.random.Generator, correct: Ints, n: Ints, groups: Ints, resamples: int, statistics: Statistics
) -> Array:
    """The same with labels permuted over whole clusters, each of which lies in one group.

    Parameters
    ----------
    rng : numpy.random.Generator
    correct, n, groups : ndarray of int, shape (K,)
        Number right, number asked and group (numbered from 0) of each cluster.
    resamples : int
        Number of permutations B.
    statistics : callable
        Makes (b, S) statistics of (b, G) accuracies.

    Returns
    -------
    ndarray of float, shape (B, S)
    """
    starts = np.searchsorted(np.sort(groups), np.arange(int(groups.max()) + 1))
    found = []
    for own, rows in chunks(rng, resamples, 3 * len(n)):
        order = own.permuted(np.broadcast_to(np.arange(len(n)), (rows, len(n))), axis=1)
        right, asked = (np.add.reduceat(values[order], starts, axis=1) for values in (correct, n))
        found.append(statistics(right / asked))
    return np.concatenate(found) if found else np.empty((0, 0))


def p_value(null: Array, observed: float) -> float:
    """Share of the null that is at least as large as what was observed, which counts as one of it.

    References
    ----------
    Phipson and Smyth (2010), Statistical Applications in Genetics and Molecular Biology 9(1), 39.
    """
    return float((1 + np.count_nonzero(null >= observed - SAME)) / (1 + len(null)))
