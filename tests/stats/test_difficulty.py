"""Normal difficulties: what is drawn with a known spread is found, and the line between two sets is the one it makes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from resit.stats.difficulty import predicted_slope, shared_difficulty


def drawn(spread: float, mean: float, abilities: np.ndarray, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(mean, spread, n)
    return rng.random((len(abilities), n)) < stats.norm.cdf(abilities[:, None] - difficulty)


def test_the_correlation_of_a_drawn_spread_is_found():
    abilities = np.linspace(0.3, 1.8, 12)
    found = shared_difficulty(drawn(1.5, 0.0, abilities, 60_000, 0))
    assert found == pytest.approx(1.5**2 / (1 + 1.5**2), abs=0.01)


def test_two_models_agree_with_the_distribution_of_two_normal_numbers():
    right = drawn(0.8, 0.2, np.array([0.4, 1.1]), 20_000, 3)
    found = shared_difficulty(right)
    at = stats.norm.ppf(right.mean(axis=1))
    both = stats.multivariate_normal(cov=[[1, found], [found, 1]]).cdf(at)
    assert both == pytest.approx((right[0] & right[1]).mean(), abs=1e-5)


def test_the_slope_between_two_sets_is_that_of_their_spreads():
    abilities = np.linspace(0.0, 2.5, 40)
    sets = [drawn(1.0, 0.0, abilities, 40_000, 1), drawn(2.0, 0.5, abilities, 40_000, 2)]
    x, y = (stats.norm.ppf(one.mean(axis=1)) for one in sets)
    old, new = (shared_difficulty(one) for one in sets)
    assert predicted_slope(old, new) == pytest.approx(np.sqrt((1 + 1.0) / (1 + 4.0)), abs=0.01)
    assert stats.linregress(x, y).slope == pytest.approx(predicted_slope(old, new), abs=0.02)


def test_no_correlation_is_told_where_none_fits():
    assert shared_difficulty(np.ones((1, 10), bool)) is None
    assert shared_difficulty(np.ones((3, 10), bool)) is None
    apart = np.array([[True, False] * 20, [False, True] * 20])
    assert shared_difficulty(apart) is None
