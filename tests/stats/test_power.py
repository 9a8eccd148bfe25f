from __future__ import annotations

from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import by_definition
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from resit.stats.power import (
    expected_width,
    independent_discordance,
    mcnemar_power,
    order_power,
    paired_sample_size,
    smallest,
)


def test_independent_models_disagree_as_often_as_two_coins():
    for accuracy, difference in [(0.76, 0.01), (0.5, 0.2), (0.9, 0.0)]:
        one, two = accuracy - difference / 2, accuracy + difference / 2
        table = {(a, b): (one if a else 1 - one) * (two if b else 1 - two) for a in (0, 1) for b in (0, 1)}
        assert independent_discordance(accuracy, difference) == pytest.approx(table[0, 1] + table[1, 0])


def test_known_sample_sizes():
    independent = paired_sample_size(0.01, independent_discordance(0.76, 0.01))
    assert independent == pytest.approx(28_600, abs=50)
    assert paired_sample_size(0.01, 0.115) == 9_024
    assert mcnemar_power(9_024, 0.01, 0.115) == pytest.approx(0.79, abs=0.005)


@settings(deadline=None, max_examples=60)
@given(st.floats(0.005, 0.2), st.floats(0.0, 0.3), st.sampled_from([0.5, 0.8, 0.9, 0.99]), st.sampled_from([0.8, 0.95, 0.99]))
def test_sample_size_is_where_the_normal_power_reaches_what_is_wanted(difference, more, power, level):
    psi, normal = difference + more, NormalDist()

    def approximate(n: float) -> float:
        """Power of the score test of a paired difference: null variance psi / n, true variance (psi - delta^2) / n."""
        critical = normal.inv_cdf((1 + level) / 2) * sqrt(psi / n)
        return 1 - normal.cdf((critical - difference) / sqrt((psi - difference**2) / n))

    exact = optimize.brentq(lambda n: approximate(n) - power, 1e-3, 1e9, xtol=1e-6)
    assert paired_sample_size(difference, psi, power, level) == pytest.approx(exact, abs=1.01)
    assert paired_sample_size(difference, psi, power, level) >= exact - 1e-3


@pytest.mark.parametrize("n", [1, 2, 6, 15, 40])
@pytest.mark.parametrize(
    ("difference", "discordance"), [("0", "0.3"), ("0.1", "0.3"), ("0.2", "0.2"), ("0.3", "0.5"), ("0.1", "1")]
)
@pytest.mark.parametrize("level", ["0.95", "0.9", "0.5", "0.75", "0.875"])  # some are p-values that can occur exactly
def test_exact_power_agrees_with_summing_every_outcome(n, difference, discordance, level):
    exact = by_definition.discordant_power(n, Fraction(difference), Fraction(discordance), 1 - Fraction(level))
    assert mcnemar_power(n, float(difference), float(discordance), float(level)) == pytest.approx(float(exact), abs=1e-10)


def test_exact_power_counts_an_outcome_whose_p_value_is_the_level_itself():
    level = 1 - 2.0**-10  # one of fifteen against fourteen has a p-value of 2 * 16 / 2**15
    assert by_definition.mcnemar(1, 14) == Fraction(1, 2**10)
    exact = by_definition.discordant_power(15, Fraction(1, 2), Fraction(1), Fraction(1, 2**10))
    assert mcnemar_power(15, 0.5, 1.0, level) == pytest.approx(float(exact), abs=1e-12)


def test_exact_power_of_no_difference_is_at_most_the_level():
    for n in (10, 100, 10_000, 1_000_000):
        assert 0 <= mcnemar_power(n, 0.0, 0.2) <= 0.05 + 1e-9
    assert mcnemar_power(1_000_000, 0.0, 0.2) == pytest.approx(0.05, abs=1e-3)


def test_exact_power_of_many_examples_reaches_what_was_wanted():
    for difference, psi in [(0.001, 0.1), (0.002, 0.3)]:
        n = paired_sample_size(difference, psi, 0.9)
        assert mcnemar_power(n, difference, psi) == pytest.approx(0.9, abs=0.003)


def test_exact_power_grows_with_the_difference():
    found = [mcnemar_power(500, difference, 0.2) for difference in (0.0, 0.02, 0.05, 0.1, 0.2)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("n", [6, 15, 40])
@pytest.mark.parametrize(("difference", "discordance"), [(0.1, 0.3), (0.2, 0.2), (0.05, 1.0)])
@pytest.mark.parametrize("level", [0.95, 0.9, 0.5])
def test_power_for_an_order_sums_the_outcomes_where_the_better_model_wins(n, difference, discordance, level):
    win, lose = (discordance + difference) / 2, (discordance - difference) / 2
    total = 0.0
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            if wins > losses and stats.binomtest(wins, wins + losses).pvalue <= 1 - level + 1e-12:
                total += stats.multinomial.pmf([wins, losses, n - wins - losses], n, [win, lose, 1 - win - lose])
    assert order_power(n, difference, discordance, level) == pytest.approx(total, abs=1e-10)


def test_power_for_both_orders_is_the_power_of_the_test():
    both = order_power(400, 0.02, 0.2) + order_power(400, -0.02, 0.2)
    assert both == pytest.approx(mcnemar_power(400, 0.02, 0.2), abs=1e-12)


@pytest.mark.parametrize(("accuracy", "n"), [(0.76, 1), (0.76, 10), (0.5, 37), (0.99, 200)])
def test_expected_width_is_the_mean_of_exact_intervals(accuracy, n):
    widths = [stats.binomtest(k, n).proportion_ci(0.95, "exact") for k in range(n + 1)]
    expected = sum(stats.binom.pmf(k, n, accuracy) * (one.high - one.low) for k, one in enumerate(widths))
    assert expected_width(accuracy, n) == pytest.approx(expected, abs=1e-10)


@given(st.integers(1, 200), st.integers(0, 200), st.integers(-5, 250))
def test_smallest_is_the_first_that_is_enough(low, more, first):
    expected = next((n for n in range(low, low + more + 1) if n >= first), None)
    assert smallest(lambda n: n >= first, low, low + more) == expected
