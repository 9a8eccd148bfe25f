"""Accuracy of groups before and after a change, on the same examples: bounds that hold at once, and how disparity changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats import intervals
from resit.stats.clusters import CELLS, Redrawn
from resit.stats.disparity import SAME
from resit.stats.intervals import z_value

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int_]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of the differences i minus j of all pairs of groups, shape (G, G), with 0 on the diagonal."""

    low: Array
    high: Array


@dataclass(frozen=True, slots=True)
class PairedBounds:
    """Bounds that hold at once: of all pairs before, of all pairs after, and of what each pair's difference changed by."""

    before: Bounds
    after: Bounds
    change: Bounds

    def disparity_change(self) -> tuple[float, float]:
        """Bounds of disparity after minus disparity before, each best minus worst.

        Take the pair that is furthest apart after. Disparity after is at most this pair's upper bound, and disparity before at
        least the largest lower bound of all; and disparity cannot have grown by more than this pair's difference, as before it
        was at least as large as this pair's. So the change is at most the smaller of the two, and at most the largest such over
        the pairs that can be furthest apart after. The lower bound comes in the same way from the pairs that can be before.

        Returns
        -------
        low, high : float
        """
        floor_before, floor_after = self.before.low.max(), self.after.low.max()
        last = self.after.high >= floor_after
        first = self.before.high >= floor_before
        high = np.minimum(self.after.high - floor_before, self.change.high)[last].max()
        low = np.maximum(floor_after - self.before.high, self.change.low)[first].min()
        return float(low), float(high)


def disparity_change(before: Array, after: Array) -> float:
    """Best minus worst after, minus best minus worst before, of accuracies of shape (G,)."""
    return float(np.ptp(after) - np.ptp(before))


def tables(before: Bools, after: Bools, codes: Ints, groups: int) -> Ints:
    """How many examples of each group were right both times, only before, only after and never.

    Parameters
    ----------
    before, after : ndarray of bool, shape (n,)
    codes : ndarray of int, shape (n,)
        Group of each example, numbered from 0.
    groups : int
        Number of groups G.

    Returns
    -------
    ndarray of int, shape (G, 4)
    """
    cell = codes * 4 + np.where(before, np.where(after, 0, 1), np.where(after, 2, 3))
    return np.bincount(cell, minlength=4 * groups).reshape(groups, 4)


def paired_by_counts(counts: Ints, level: float = 0.95) -> PairedBounds:
    """Simultaneous bounds where examples are independent.

    Each of the 3 G (G - 1) / 2 intervals is at level 1 - (1 - level) / (3 G (G - 1) / 2) (Bonferroni): Newcombe's for pairs
    before and after, and for changes of pairs :func:`change_by_counts`.

    Parameters
    ----------
    counts : ndarray of int, shape (G, 4)
        From :func:`tables`, at least two groups, none empty.
    level : float, optional
        Level at which all hold at once.

    Returns
    -------
    PairedBounds
    """
    groups, n = len(counts), counts.sum(axis=1)
    each = 1 - (1 - level) / (3 * groups * (groups - 1) / 2)
    sides = []
    for correct in (counts[:, 0] + counts[:, 1], counts[:, 0] + counts[:, 2]):
        found = intervals.newcombe(correct, n, correct[:, None], n[:, None], each)
        sides.append(_bounds(found.low, found.high))
    return PairedBounds(sides[0], sides[1], change_by_counts(counts, each))


def change_by_counts(counts: Ints, level: float = 0.95) -> Bounds:
    """Bounds, each at the level, of the change of every pair's difference.

    The change is a difference of two independent paired differences, whose score limits are squared and added.

    Parameters
    ----------
    counts : ndarray of int, shape (G, 4)
    level : float, optional

    Returns
    -------
    Bounds

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 2635-2650, method 10; Zou and Donner (2008), Statistics in Medicine 27,
    1693-1702.
    """
    both, first, last, neither = counts.T
    own = intervals.newcombe_paired(both, last, first, neither, level)
    down, up = own.estimate - own.low, own.high - own.estimate
    change = own.estimate[:, None] - own.estimate
    return _bounds(change - np.hypot(down[:, None], up), change + np.hypot(up[:, None], down))


def paired_by_clusters(drawn: Redrawn, level: float = 0.95) -> PairedBounds:
    """Simultaneous bounds where examples come in clusters: the maximal t of all pairs and changes over redrawn clusters.

    Each bound is estimate ± q s, with s the standard error over the replicates and q the quantile, at the level, of the largest
    absolute t; q is at least the normal quantile. Deviations are widened by the root of K / (K - 1) for a group of K clusters.
    An accuracy that never varies has the variance of half a cluster answered otherwise; a change that never varies has that of
    both times together.

    Parameters
    ----------
    drawn : Redrawn
        Of 2 G columns: the G groups before, then the same after, redrawn together; without NaN, two clusters in each at least.
    level : float, optional
        Level at which all hold at once.

    Returns
    -------
    PairedBounds

    References
    ----------
    Romano and Wolf (2005), Econometrica 73(4), 1237-1282.
    """
    return PairedBounds(*_simultaneous(_sides(drawn), level))


def change_by_clusters(drawn: Redrawn, level: float = 0.95) -> Bounds:
    """The same for the changes alone, which hold at once at the level.

    Parameters
    ----------
    drawn : Redrawn
    level : float, optional

    Returns
    -------
    Bounds
    """
    return _simultaneous(_sides(drawn)[2:], level)[0]


@dataclass(frozen=True, slots=True)
class _Side:
    """Figures of groups, how replicates deviate from them, and the standard error of every pair's difference."""

    value: Array
    deviation: Array
    spread: Array
    reach: float

    def largest_t(self) -> Array:
        first, second = np.triu_indices(len(self.value), 1)
        known = self.spread[first, second] > 0
        first, second = first[known], second[known]
        found = np.zeros(len(self.deviation))
        rows = max(1, CELLS // max(1, len(first)))
        for start in range(0, len(found), rows) if len(first) else ():
            part = self.deviation[start : start + rows]
            t = np.abs(part[:, first] - part[:, second]) / self.spread[first, second]
            found[start : start + rows] = t.max(axis=1)
        return found


def _sides(drawn: Redrawn) -> list[_Side]:
    """Before, after and change."""
    groups = len(drawn.observed) // 2
    k = drawn.clusters_of.astype(float)
    deviation = (drawn.replicates - drawn.observed) * np.sqrt(k / np.maximum(k - 1, 1))
    floor = _floor(drawn.observed, k)
    found = [
        _Side(drawn.observed[part], deviation[:, part], _spread(deviation[:, part], floor[part]), 1)
        for part in (slice(groups), slice(groups, None))
    ]
    change = deviation[:, groups:] - deviation[:, :groups]
    both = floor[:groups] + floor[groups:]
    return [*found, _Side(found[1].value - found[0].value, change, _spread(change, both), 2)]


def _simultaneous(sides: list[_Side], level: float) -> list[Bounds]:
    largest = np.max([side.largest_t() for side in sides], axis=0)
    critical = max(z_value(level), float(np.quantile(largest, level)))
    found = []
    for side in sides:
        difference, half = side.value[:, None] - side.value, critical * side.spread
        found.append(_bounds(np.maximum(difference - half, -side.reach), np.minimum(difference + half, side.reach)))
    return found


def _floor(accuracy: Array, clusters: Array) -> Array:
    shrunk = (clusters * accuracy + 0.5) / (clusters + 1)
    return np.asarray(shrunk * (1 - shrunk) / np.maximum(clusters, 1), float)


def _spread(deviation: Array, floor: Array) -> Array:
    """Standard error of the difference of every pair, shape (G, G)."""
    covariance = np.atleast_2d(np.cov(deviation, rowvar=False))
    covariance[np.diag_indices(len(floor))] += np.where(np.diag(covariance) < SAME, floor, 0)
    variance = np.diag(covariance)
    return np.asarray(np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0)), float)


def _bounds(low: Array, high: Array) -> Bounds:
    low, high = np.array(low), np.array(high)
    np.fill_diagonal(low, 0)
    np.fill_diagonal(high, 0)
    return Bounds(low, high)
