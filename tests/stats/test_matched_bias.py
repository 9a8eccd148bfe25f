"""Exact bias of matching on noisy votes, against hand-made answers and SciPy's distributions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from resit.errors import UsageError
from resit.stats.beta_binomial import BetaMixture
from resit.stats.matched_bias import bin_chances, count_chances, matched_bias, matched_bias_limit

LINE = ((0.0, 1.0), (0.2, 0.9))


def betas(*rows: tuple[float, float, float]) -> BetaMixture:
    a, b, weight = np.array(rows, float).T
    return BetaMixture(a, b, weight, float("nan"))


ORIGINAL, POOL = betas((2.8, 1.15, 1.0)), betas((0.7, 0.9, 0.4), (6, 2, 0.6))


def test_counts_are_a_mixture_of_beta_binomials():
    expected = 0.4 * stats.betabinom.pmf(range(8), 7, 0.7, 0.9) + 0.6 * stats.betabinom.pmf(range(8), 7, 6, 2)
    assert count_chances(POOL, 7) == pytest.approx(expected, abs=1e-12)
    # Frequencies 0, .14 | .29 | .43, .57 | .71 | .86, 1.
    by_bin = [expected[:2].sum(), expected[2], expected[3:5].sum(), expected[5], expected[6:].sum()]
    assert bin_chances(POOL, 7) == pytest.approx(by_bin)


def test_one_vote_by_hand():
    """Original Beta(3, 1): 3/4 are selected. Pool Beta(2, 2): those that are have mean 3/5, the others 2/5."""
    found = matched_bias(betas((3, 1, 1)), betas((2, 2, 1)), 1, LINE)
    assert found.new_frequency == pytest.approx(0.75 * 0.6 + 0.25 * 0.4)
    assert found.frequency_shift == pytest.approx(-0.2)
    assert found.accuracy_shift == pytest.approx(0.7 * -0.2, abs=2e-4)  # the curve is a line


@pytest.mark.parametrize("votes", [1, 3, 10, 51])
def test_a_pool_like_the_original_leaves_nothing(votes: int):
    assert matched_bias(POOL, POOL, votes, LINE).frequency_shift == pytest.approx(0, abs=1e-12)
    assert matched_bias(POOL, POOL, votes, LINE).accuracy_shift == pytest.approx(0, abs=1e-3)
    assert matched_bias_limit(POOL, POOL, LINE).accuracy_shift == pytest.approx(0, abs=1e-12)


def test_unlimited_votes_by_integration():
    """Within each bin the new set is spread as the pool is."""
    old, new = stats.beta(2.8, 1.15), stats.beta(1.2, 1.2)
    expected = 0.0
    for low in np.arange(5) / 5:
        weight = (old.cdf(low + 0.2) - old.cdf(low)) / (new.cdf(low + 0.2) - new.cdf(low))
        expected += weight * integrate.quad(lambda s: s * new.pdf(s), low, low + 0.2)[0]
    found = matched_bias_limit(ORIGINAL, betas((1.2, 1.2, 1)), LINE)
    assert found.new_frequency == pytest.approx(expected, abs=1e-9)
    assert found.accuracy_shift == pytest.approx(0.7 * (expected - 2.8 / 3.95), abs=1e-4)


def test_many_votes_come_near_to_unlimited_ones_and_fewer_leave_more():
    shifts = [matched_bias(ORIGINAL, POOL, votes).frequency_shift for votes in (5, 10, 20, 40, 2_000)]
    assert all(abs(a) > abs(b) for a, b in pairwise(shifts))
    assert shifts[-1] == pytest.approx(matched_bias_limit(ORIGINAL, POOL).frequency_shift, abs=1e-3)


def test_without_a_curve_accuracies_are_not_known():
    assert np.isnan(matched_bias(ORIGINAL, POOL, 10).accuracy_shift)
    assert np.isnan(matched_bias_limit(ORIGINAL, POOL).accuracy_shift)


def test_no_votes_are_refused():
    with pytest.raises(UsageError, match="0 votes an image"):
        count_chances(POOL, 0)
