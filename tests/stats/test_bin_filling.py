"""Candidates that fill bins, against candidates that come one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from resit.errors import UsageError
from resit.stats.bin_filling import candidates_needed
from resit.stats.largest_remainder import apportion


def one_by_one(original: list[float], pool: list[float], per_class: int, originals: int, classes: int) -> np.ndarray:
    rng, found = np.random.default_rng(5), []
    for _ in range(classes):
        left = apportion(rng.multinomial(originals, original), per_class).copy()
        count = 0
        while (left > 0).any():
            left[rng.choice(len(pool), p=pool)] -= 1
            count += 1
        found.append(count)
    return np.array(found)


def test_one_wanted_bin_needs_a_negative_binomial_number():
    found = candidates_needed([1, 0], [0.25, 0.75], 3, 20, classes=100_000)
    assert found.min() >= 3
    assert found.mean() == pytest.approx(3 / 0.25, abs=0.1)
    for count in (3, 8, 12, 20):
        assert np.mean(found <= count) == pytest.approx(stats.nbinom(3, 0.25).cdf(count - 3), abs=0.006)


def test_as_many_as_when_candidates_come_one_by_one():
    original, pool = [0.2, 0.3, 0.5], [0.5, 0.4, 0.1]
    slow = one_by_one(original, pool, 6, 15, 3_000)
    fast = candidates_needed(original, pool, 6, 15, classes=50_000)
    assert fast.mean() == pytest.approx(slow.mean(), abs=4 * slow.std() / np.sqrt(len(slow)))
    for share in (0.1, 0.5, 0.9):
        count = np.quantile(slow, share)
        assert np.mean(fast <= count) == pytest.approx(np.mean(slow <= count), abs=0.035)


def test_a_bin_that_the_pool_does_not_have_is_never_filled():
    assert np.isinf(candidates_needed([0.5, 0.5], [1, 0], 10, 1_000)).all()
    assert (candidates_needed([1, 0], [1, 0], 10, 50) == 10).all()


def test_same_seed_same_candidates():
    a, b, c = (candidates_needed([0.5, 0.5], [0.5, 0.5], 4, 9, classes=50, seed=seed) for seed in (1, 1, 2))
    assert (a == b).all()
    assert (a != c).any()


def test_nothing_wanted_is_refused():
    with pytest.raises(UsageError, match="without images"):
        candidates_needed([1], [1], 0, 5)
