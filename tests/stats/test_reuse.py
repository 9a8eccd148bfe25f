"""What reuse of a test set can explain at most, by exact binomials, plain sums and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from resit.errors import UsageError
from resit.stats.reuse import best_by_chance, equally_lucky, fixed_models_bound, full_scores_bound, leaderboard_bound


@pytest.mark.parametrize(("right", "n", "tried"), [(760, 1_000, 67), (0, 50, 3), (50, 50, 3), (7, 9, 1)])
def test_the_union_bound_is_where_the_binomial_tail_is_a_share_of_the_error(right: int, n: int, tried: int):
    gap = fixed_models_bound([right / n], n, tried, 0.95)[0]
    truth = right / n - gap
    if right == 0:
        assert gap == 0
    else:
        assert stats.binom.sf(right - 1, n, truth) == pytest.approx(0.05 / tried, rel=1e-6)


def test_scores_of_fixed_models_stay_within_the_union_bound_as_often_as_it_says():
    rng = np.random.default_rng(0)
    n, tried, truth = 200, 20, 0.7
    scores = rng.binomial(n, truth, (4_000, tried)) / n
    outside = (scores - fixed_models_bound(scores, n, tried, 0.9) > truth).any(axis=1)
    assert outside.mean() <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 4_000)
    assert outside.mean() > 0.05  # not needlessly wide


def test_bounds_for_models_that_follow_from_scores_against_plain_sums():
    n, tried, error = 50_000, 67, 0.05
    runs = (tried - 1) * np.log(n + 1) + np.log(tried)
    assert full_scores_bound(n, tried, 1 - error) == pytest.approx(np.sqrt((runs - np.log(error)) / (2 * n)))
    steps = np.arange(1, 5_000) / 10_000
    words = (1 / steps + 2) * np.log(4 * tried / steps) + 1 - np.log(error)
    ladder = (steps + np.sqrt(words / (2 * n))).min()
    assert ladder == pytest.approx(0.0870, abs=5e-4)
    assert leaderboard_bound(n, tried, 1 - error) == pytest.approx(min(ladder, full_scores_bound(n, tried, 1 - error)))
    assert leaderboard_bound(n, 10**6, 1 - error) < full_scores_bound(n, 10**6, 1 - error) == 1


def test_the_best_of_equal_models_with_independent_errors_is_as_lucky_as_the_largest_of_normal_numbers():
    rng = np.random.default_rng(1)
    right = rng.random((12, 40_000)) < 0.8
    gain = best_by_chance(right, np.random.default_rng(2))
    expected = stats.norm.rvs(size=(200_000, 12), random_state=3).max(axis=1).mean() * np.sqrt(0.8 * 0.2 / 40_000)
    assert gain == pytest.approx(expected, rel=0.02)
    assert equally_lucky(gain, np.sqrt(0.8 * 0.2 / 40_000)) == pytest.approx(12, rel=0.08)


def test_models_that_are_all_the_same_gain_nothing():
    right = np.tile(np.random.default_rng(0).random(1_000) < 0.7, (20, 1))
    gain = best_by_chance(right, np.random.default_rng(0))
    assert abs(gain) < 3 * np.sqrt(0.21 / 1_000 / 20_000) + 1e-9
    assert equally_lucky(max(gain, 0.0), np.sqrt(0.21 / 1_000)) < 1.1


@given(st.integers(1, 10**5), st.integers(1, 10**5), st.floats(0.5, 0.999))
def test_more_models_or_more_certainty_never_make_a_bound_smaller(n: int, tried: int, level: float):
    for bound in (leaderboard_bound, full_scores_bound):
        assert 0 <= bound(n, tried, level) <= bound(n, tried + 1, level) <= 1
        assert bound(n, tried, level) <= bound(n, tried, level + (1 - level) / 2)
    assert fixed_models_bound([0.5], n, tried, level)[0] <= fixed_models_bound([0.5], n, tried + 1, level)[0]


def test_bounds_go_on_where_machine_integers_end():
    for bound in (leaderboard_bound, full_scores_bound):
        assert bound(10**6, 10**18, 0.95) <= bound(10**6, 10**33, 0.95) <= 1
    gap = fixed_models_bound([0.7], 1_000, 10**33, 0.95)[0]
    assert stats.binom.sf(699, 1_000, 0.7 - gap) == pytest.approx(0.05 / 10**33, rel=1e-6)
    with pytest.raises(UsageError, match="models"):
        full_scores_bound(100, 10**301, 0.95)


def test_nothing_that_could_be_a_bound_is_refused():
    with pytest.raises(UsageError, match="0 models"):
        leaderboard_bound(100, 0, 0.95)
