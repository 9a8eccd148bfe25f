"""Folds: clusters whole, strata dealt evenly, the same for one seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit import UsageError
from resit.stats.splits import make_folds

SIZES = st.integers(6, 120)


@given(SIZES, st.integers(2, 6), st.integers(1, 8), st.integers(0, 99))
def test_each_example_is_in_one_fold_and_no_stratum_is_uneven(n: int, k: int, strata: int, seed: int):
    rng = np.random.default_rng(seed)
    codes = rng.integers(strata, size=n)
    folds = make_folds(np.random.default_rng(seed), codes, k)
    counts = np.array([[np.sum((codes == s) & (folds == f)) for f in range(k)] for s in range(strata)])
    assert counts.sum() == n
    assert np.ptp(counts, axis=1).max() <= 1
    assert np.ptp(np.bincount(folds, minlength=k)) <= 1


@settings(max_examples=200)
@given(SIZES, st.integers(2, 5), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_clusters_are_never_shared_and_no_fold_is_empty(n: int, k: int, strata: int, seed: int, uneven: bool):
    rng = np.random.default_rng(seed)
    codes = rng.integers(strata, size=n)
    clusters = (rng.zipf(1.6, n) % (n // 2) if uneven else rng.integers(n // 2, size=n)) * 3 + 7
    if len(np.unique(clusters)) < k:
        with pytest.raises(UsageError, match="clusters cannot be dealt"):
            make_folds(rng, codes, k, clusters)
        return
    folds = make_folds(np.random.default_rng(seed), codes, k, clusters)
    assert set(folds.tolist()) == set(range(k))
    for cluster in np.unique(clusters):
        assert len(set(folds[clusters == cluster].tolist())) == 1


def test_households_are_dealt_so_that_regions_and_sizes_come_out_even():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(300), rng.integers(1, 9, 300))
    region = (clusters % 4).astype(int)
    folds = make_folds(np.random.default_rng(1), region, 5, clusters)
    sizes = np.bincount(folds)
    assert sizes.max() / sizes.min() < 1.1
    shares = np.array([np.bincount(region[folds == fold], minlength=4) / np.bincount(region) for fold in range(5)])
    assert np.abs(shares - 0.2).max() < 0.02


def test_the_seed_decides():
    codes = np.arange(40) % 4
    clusters = np.arange(40) // 2
    for own in (None, clusters):
        first, again, other = (make_folds(np.random.default_rng(seed), codes, 4, own) for seed in (3, 3, 4))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)


def test_too_few_are_refused():
    with pytest.raises(UsageError, match="3 examples cannot be dealt into 4 folds"):
        make_folds(np.random.default_rng(0), np.zeros(3, int), 4)
    with pytest.raises(UsageError, match="1 folds"):
        make_folds(np.random.default_rng(0), np.zeros(3, int), 1)
