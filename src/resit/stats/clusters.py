"""Examples that come in clusters, such as the pictures of one household: redrawn whole, for simultaneous bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats.disparity import SAME, Simultaneous
from resit.stats.intervals import z_value
from resit.stats.resample import resample_examples

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int_]
Bools = npt.NDArray[np.bool_]
CELLS = 1_000_000


@dataclass(frozen=True)
class Clusters:
    """Examples counted by cluster and group.

    Parameters
    ----------
    n : ndarray of int, shape (K, G)
        Number asked in each cluster and group.
    strata : ndarray of int, shape (K,), or None
        Group of each cluster, by which resamples are stratified; None where a cluster has examples in several groups.
    cell : ndarray of int, shape (n,)
        Cluster and group of each example as one number.
    """

    n: Ints
    strata: Ints | None
    cell: Ints

    @property
    def clusters_of(self) -> Ints:
        """Number of clusters with examples in each group, shape (G,)."""
        return np.asarray((self.n > 0).sum(axis=0), int)

    def count_right(self, right: Bools) -> Ints:
        """Number right in each cluster and group, shape (K, G), of answers of shape (n,)."""
        return np.bincount(self.cell[right], minlength=self.n.size).reshape(self.n.shape)


def make_clusters(clusters: Ints, codes: Ints, groups: int) -> Clusters:
    """Count examples by cluster and group.

    Parameters
    ----------
    clusters, codes : ndarray of int, shape (n,)
        Cluster and group of each example, numbered from 0.
    groups : int
        Number of groups G.

    Returns
    -------
    Clusters
    """
    cell = clusters.astype(np.int64) * groups + codes
    n = np.bincount(cell, minlength=(int(clusters.max()) + 1) * groups).reshape(-1, groups)
    nested = bool(((n > 0).sum(axis=1) <= 1).all())
    return Clusters(n, n.argmax(axis=1) if nested else None, cell)


@dataclass(frozen=True)
class Redrawn:
    """Accuracies of groups over redrawn clusters.

    Parameters
    ----------
    observed : ndarray of float, shape (G,)
        Accuracies as they are.
    replicates : ndarray of float, shape (B, G)
        Accuracies of resamples; NaN where a group vanishes from one.
    variance, replicate_variance : ndarray of float, shapes (G,) and (B, G), or None
        Their linearised sampling variances; None where groups share clusters, so that they are not independent.
    clusters_of : ndarray of int, shape (G,)
        Number of clusters of each group.
    """

    observed: Array
    replicates: Array
    variance: Array | None
    replicate_variance: Array | None
    clusters_of: Ints

    def take(self, groups: Ints) -> tuple[Redrawn, int]:
        """Some groups, over the resamples that have them all, and how many had not."""
        fine = np.isfinite(self.replicates[:, groups]).all(axis=1)
        own = None if self.variance is None else self.variance[groups]
        drawn = None if self.replicate_variance is None else self.replicate_variance[fine][:, groups]
        found = Redrawn(self.observed[groups], self.replicates[fine][:, groups], own, drawn, self.clusters_of[groups])
        return found, int((~fine).sum())


def redraw_clusters(rng: np.random.Generator, clusters: Clusters, correct: Ints, resamples: int) -> Redrawn:
    """Accuracies of groups over whole clusters drawn with replacement, within groups where each cluster lies in one.

    The variance of a ratio of sums over K clusters, with r right of n in each, is sum((r - p n)^2) / sum(n)^2.

    Parameters
    ----------
    rng : numpy.random.Generator
    clusters : Clusters
    correct : ndarray of int, shape (K, G)
        Number right in each cluster and group.
    resamples : int
        Number of resamples B.

    Returns
    -------
    Redrawn

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, sections 2.7.2 and 3.8.
    """
    n, right = clusters.n.astype(float), correct.astype(float)
    if clusters.strata is None:
        columns, sums = [n, right], np.split(resample_examples(rng, np.hstack([n, right]), resamples), 2, axis=1)
    else:
        columns = [n, right, n * n, n * right, right * right]
        sums = _redraw_within(rng, columns, clusters.strata, resamples)
    observed, variance = _ratio([column.sum(axis=0, keepdims=True) for column in columns], clusters.clusters_of)
    drawn, spread = _ratio(sums, clusters.clusters_of)
    return Redrawn(observed[0], drawn, None if variance is None else variance[0], spread, clusters.clusters_of)


def _redraw_within(rng: np.random.Generator, columns: list[Array], strata: Ints, resamples: int) -> list[Array]:
    """Sums of each column over redrawn clusters, group by group, since a cluster counts for its own group only."""
    groups = columns[0].shape[1]
    sums = np.zeros((len(columns), resamples, groups))
    for group, own in enumerate(rng.spawn(groups)):
        mine = np.stack([column[strata == group, group] for column in columns], axis=1)
        if len(mine):
            sums[:, :, group] = resample_examples(own, mine, resamples).T
    return list(sums)


def _ratio(sums: list[Array], clusters_of: Ints) -> tuple[Array, Array | None]:
    """Accuracies, shape (B, G), and where sums of squares are known their variances."""
    asked, right = sums[:2]
    accuracy = np.divide(right, asked, out=np.full(asked.shape, np.nan), where=asked > 0)
    if len(sums) == 2:
        return accuracy, None
    nn, nr, rr = sums[2:]
    squares = np.maximum(rr - 2 * accuracy * nr + accuracy**2 * nn, 0)
    variance = np.divide(squares, asked**2, out=np.full(asked.shape, np.nan), where=asked > 0)
    return accuracy, np.where(variance < SAME, _floor(accuracy, clusters_of), variance)


def _floor(accuracy: Array, clusters_of: Ints) -> Array:
    """Variance where all clusters are alike: as if half a cluster had been answered otherwise."""
    shrunk = (clusters_of * accuracy + 0.5) / (clusters_of + 1)
    return np.asarray(shrunk * (1 - shrunk) / np.maximum(clusters_of, 1), float)


def by_clusters(drawn: Redrawn, level: float = 0.95) -> Simultaneous:
    """Simultaneous bounds where examples come in clusters: the maximal t of all pairs, over redrawn clusters.

    Each bound is estimate ± q s, with s the standard error of the difference and q the quantile, at the level, of the largest
    absolute t over all pairs. Where each cluster lies in one group, a replicate's deviation is divided by its own standard
    error (bootstrap-t); else by that of all replicates, widened by the root of K / (K - 1) for a group of K clusters. q is at
    least the normal quantile, as groups whose clusters are all alike have no spread.

    Parameters
    ----------
    drawn : Redrawn
        Without NaN; at least two clusters in each group.
    level : float, optional
        Level at which all hold at once.

    Returns
    -------
    Simultaneous

    References
    ----------
    Romano and Wolf (2005), Econometrica 73(4), 1237-1282; Davison and Hinkley (1997), section 5.2.
    """
    accuracy = drawn.observed
    deviation = drawn.replicates - accuracy
    if drawn.variance is None or drawn.replicate_variance is None:
        k = drawn.clusters_of.astype(float)
        deviation = deviation * np.sqrt(k / np.maximum(k - 1, 1))
        covariance = np.atleast_2d(np.cov(deviation, rowvar=False))
        alike = np.diag(covariance) < SAME
        covariance[np.diag_indices(len(k))] += np.where(alike, _floor(accuracy, drawn.clusters_of), 0)
        variance = np.diag(covariance)
        spread = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, 0))
        own = np.broadcast_to(variance, deviation.shape)
        fixed = spread
    else:
        variance, own, fixed = drawn.variance, drawn.replicate_variance, None
        spread = np.sqrt(variance[:, None] + variance)
    critical = max(z_value(level), float(np.quantile(_largest_t(deviation, own, fixed), level)))
    np.fill_diagonal(spread, 0)
    difference = accuracy[:, None] - accuracy
    alone = max(z_value(level), float(np.quantile((np.abs(deviation) / np.sqrt(own)).max(axis=1), level)))
    half = alone * np.sqrt(variance)
    return Simultaneous(
        np.maximum(difference - critical * spread, -1),
        np.minimum(difference + critical * spread, 1),
        np.where(accuracy == 0, 0, np.maximum(accuracy - half, 0)),
        np.where(accuracy == 1, 1, np.minimum(accuracy + half, 1)),
    )


def _largest_t(deviation: Array, variance: Array, spread: Array | None) -> Array:
    """Largest absolute t over all pairs of groups in each resample, by one standard error for all or each its own."""
    first, second = np.triu_indices(deviation.shape[1], 1)
    if spread is not None:
        known = spread[first, second] > 0
        first, second = first[known], second[known]
    found = np.zeros(len(deviation))
    rows = max(1, CELLS // max(1, len(first)))
    for start in range(0, len(deviation), rows) if len(first) else ():
        part, own = deviation[start : start + rows], variance[start : start + rows]
        error = np.sqrt(own[:, first] + own[:, second]) if spread is None else spread[first, second]
        found[start : start + rows] = (np.abs(part[:, first] - part[:, second]) / error).max(axis=1)
    return found
