"""Pairs of models on the same examples: who is really better, on one set and on two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PairTests:
    """All pairs of M models on one set of n examples.

    ``both`` (M, M) counts the examples that both got right; ``p`` has the exact McNemar p-values of the pairs i < j, in the
    order of ``numpy.triu_indices(M, 1)``.
    """

    both: Counts
    n: int
    p: Array

    @property
    def only(self) -> Counts:
        """Entry (i, j): how many examples i got right and j wrong."""
        return np.diagonal(self.both)[:, None] - self.both

    def table(self, first: int, second: int) -> tuple[int, int, int, int]:
        """How many examples both, only the first, only the second and neither got right."""
        both = int(self.both[first, second])
        only = [int(self.both[model, model]) - both for model in (first, second)]
        return both, only[0], only[1], self.n - both - sum(only)


def compare_pairs(right: npt.NDArray[np.bool_]) -> PairTests:
    """Count and test all pairs of models.

    Parameters
    ----------
    right : ndarray of bool, shape (M, n)
        Which answers are right.

    Returns
    -------
    PairTests
    """
    both = np.zeros((len(right), len(right)), np.int64)
    step = 1 << 22  # sums of 0/1 in float32 stay exact
    for start in range(0, right.shape[1], step):
        part = right[:, start : start + step].astype(np.float32)
        both += (part @ part.T).astype(np.int64)
    only = np.diagonal(both)[:, None] - both
    first, second = np.triu_indices(len(right), 1)
    return PairTests(both, right.shape[1], mcnemar_exact(only[first, second], only[second, first]))


def mcnemar_exact(only_1: npt.ArrayLike, only_2: npt.ArrayLike) -> Array:
    """Two-sided exact McNemar p-value: the discordant examples against a fair coin.

    Parameters
    ----------
    only_1, only_2 : array_like of int, broadcastable
        How many examples only the first, only the second got right.

    Returns
    -------
    ndarray of float
        1 where there is no discordant example.

    References
    ----------
    McNemar (1947), Psychometrika 12(2); exact form as in Fagerland, Lydersen and Laake (2013), section 2.
    """
    from scipy.special import bdtr

    b, c = np.broadcast_arrays(np.asarray(only_1, np.int64), np.asarray(only_2, np.int64))
    return np.asarray(np.minimum(1.0, 2 * bdtr(np.minimum(b, c).astype(float), b + c, 0.5)), float)


def holm(p: Array) -> Array:
    """P-values adjusted so that the chance of any false claim is bounded.

    Parameters
    ----------
    p : ndarray of float, shape (m,)

    Returns
    -------
    ndarray of float, shape (m,)

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6(2).
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def rank_interval(tests: PairTests, level: float) -> tuple[Counts, Counts]:
    """Simultaneous interval of each model's rank on one set.

    A rank is at least 1 + the number of models significantly better and at most M - the number significantly worse, with Holm's
    correction over all pairs.

    Parameters
    ----------
    tests : PairTests
        From :func:`compare_pairs`.
    level : float
        Confidence level of all intervals together.

    Returns
    -------
    low, high : ndarray of int, shape (M,)

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91(1), section 3, with exact McNemar tests.
    """
    count, only = len(tests.both), tests.only
    first, second = np.triu_indices(count, 1)
    sure = holm(tests.p) <= 1 - level
    ahead = only[first, second] > only[second, first]
    winner, loser = np.where(ahead, first, second)[sure], np.where(ahead, second, first)[sure]
    better = np.bincount(loser, minlength=count)
    worse = np.bincount(winner, minlength=count)
    return 1 + better, count - worse


def swapped_pairs(original: PairTests, new: PairTests, level: float) -> tuple[Counts, Array]:
    """Pairs whose order is significant on both sets and opposite.

    For each pair the larger of its two p-values is taken (an intersection-union test), then Holm's correction over all pairs.

    Parameters
    ----------
    original, new : PairTests
        From :func:`compare_pairs`, of the same models in the same order.
    level : float
        One minus the bound on the chance of any false swap.

    Returns
    -------
    pairs : ndarray of int, shape (S, 2)
        Model indices; the first of each is better on the original set.
    p : ndarray of float, shape (S,)
        Adjusted p-values.
    """
    first, second = np.triu_indices(len(original.both), 1)
    adjusted = holm(np.maximum(original.p, new.p))
    lead_1, lead_2 = (tests.only[first, second] - tests.only[second, first] for tests in (original, new))
    real = (np.sign(lead_1) * np.sign(lead_2) < 0) & (adjusted <= 1 - level)
    ahead = lead_1[real] > 0
    pairs = np.where(ahead[:, None], np.c_[first, second][real], np.c_[second, first][real])
    return pairs.astype(np.int64).reshape(-1, 2), adjusted[real]
