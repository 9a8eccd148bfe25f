"""Folds of examples: alike in their strata as far as possible, with clusters in one fold each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

Ints = npt.NDArray[np.int_]


def make_folds(rng: np.random.Generator, strata: Ints, k: int, clusters: Ints | None = None) -> Ints:
    """Deal examples into folds.

    Without clusters the examples of each stratum are shuffled and dealt in turn, one stratum after the other: the numbers of a
    stratum and the sizes of folds differ by one at most. Clusters are dealt whole, the largest first and those of one size in
    random order, each into the fold that has the least of what is in it, each stratum counted in shares of its examples.

    Parameters
    ----------
    rng : numpy.random.Generator
    strata : ndarray of int, shape (n,)
        Stratum of each example, numbered from 0.
    k : int
        Number of folds, at least 2.
    clusters : ndarray of int, shape (n,), optional
        Cluster of each example, numbered from 0.

    Returns
    -------
    ndarray of int, shape (n,)
        Fold of each example, from 0 to k - 1; no fold is empty.

    Raises
    ------
    UsageError
        If there are fewer examples or clusters than folds.
    """
    units, what = (len(strata), "examples") if clusters is None else (len(np.unique(clusters)), "clusters")
    if k < 2:
        raise UsageError(f"{k} folds", where="folds", fix="Take at least 2.")
    if units < k:
        raise UsageError(
            f"{units} {what} cannot be dealt into {k} folds", where="folds", fix="Take fewer folds or more examples."
        )
    if clusters is not None:
        return _deal_clusters(rng, strata, k, np.unique(clusters, return_inverse=True)[1])
    order = np.lexsort((rng.permutation(len(strata)), strata))
    folds = np.empty(len(strata), int)
    folds[order] = np.arange(len(strata)) % k
    return folds


def _deal_clusters(rng: np.random.Generator, strata: Ints, k: int, clusters: Ints) -> Ints:
    """Greedy: what is largest is hardest to place, so it is placed first."""
    count = int(clusters.max()) + 1
    share = 1 / np.maximum(np.bincount(strata), 1)
    cells, sizes = np.unique(np.stack([clusters, strata], axis=1), axis=0, return_counts=True)
    starts = np.searchsorted(cells[:, 0], np.arange(count + 1))
    size = np.bincount(clusters)
    there = np.zeros((k, len(share)))
    total = np.zeros(k)
    fold_of = np.empty(count, int)
    order = np.lexsort((rng.permutation(count), -size))
    for place, cluster in enumerate(order.tolist()):
        own = slice(starts[cluster], starts[cluster + 1])
        stratum = cells[own, 1]
        part = sizes[own] * share[stratum]
        cost = there[:, stratum] @ part + total * (size[cluster] / len(strata) ** 2)
        left = count - place
        if left <= np.count_nonzero(total == 0):  # as many clusters as folds that are still empty
            cost = np.where(total == 0, cost, np.inf)
        fold = int(cost.argmin())
        fold_of[cluster] = fold
        there[fold, stratum] += part
        total[fold] += size[cluster]
    return fold_of[clusters]
