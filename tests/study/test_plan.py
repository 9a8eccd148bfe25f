"""Sample sizes against brute force and published figures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import resit
from resit import UsageError


def exact_power(n: int, difference: float, psi: float, alpha: float) -> float:
    """Power of the exact McNemar test, summed over every number of discordant pairs."""
    first = (psi + difference) / 2 / psi
    total = 0.0
    for discordant in range(1, n + 1):
        chance = stats.binom.pmf(discordant, n, psi)
        if chance < 1e-14:
            continue
        wins = np.arange(discordant + 1)
        two_sided = np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, discordant - wins), discordant, 0.5))
        total += chance * stats.binom.pmf(wins, discordant, first)[two_sided <= alpha].sum()
    return total


def test_power_is_that_of_the_exact_test():
    found = resit.plan(0.7, 0.1, discordance=0.3)
    assert found.exact_power == pytest.approx(exact_power(found.n, 0.1, 0.3, 0.05), abs=1e-9)


def test_independent_errors_need_the_most():
    default, given = resit.plan(0.76, 0.01), resit.plan(0.76, 0.01, discordance=0.115)
    a, b = 0.765, 0.755
    assert default.discordance == pytest.approx(a * (1 - b) + b * (1 - a))
    assert given.n < default.n
    assert given.n == 9_024  # Connor (1987): ((z sqrt(psi) + z_b sqrt(psi - d^2)) / d)^2
    assert "upper bound" in default.discordance_source


def test_widths_are_exact_intervals():
    width = next(one for one in resit.plan(0.76, 0.01).widths if one.n == 10_000)
    exact = stats.binomtest(7_600, 10_000).proportion_ci(0.95, "exact")
    assert (width.low, width.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_text_and_json_say_the_same():
    found = resit.plan(0.76, 0.01)
    assert f"{found.n:,} examples" in str(found)
    assert json.loads(found.to_json())["n"] == found.n


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"accuracy": 76, "difference": 0.01}, "0.76 means 76 %"),
        ({"accuracy": 0.76, "difference": 1}, "0.01 is a point"),
        ({"accuracy": 0.76, "difference": 0}, "between 0 and 1"),
        ({"accuracy": 0.99, "difference": 0.05}, "cannot differ by"),
        ({"accuracy": 0.76, "difference": 0.01, "discordance": 0.001}, "discordance lies between"),
        ({"accuracy": 0.76, "difference": 0.01, "power": 0.01}, "power must be above"),
        ({"accuracy": 0.76, "difference": 1e-6}, "more than anyone can collect"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments: dict[str, float], message: str):
    with pytest.raises(UsageError, match=message):
        resit.plan(**arguments)


def test_one_point_is_no_points():
    assert "differ by 1 percentage point\n" in str(resit.plan(accuracy=0.76, difference=0.01))
    assert "differ by 0.5 percentage points\n" in str(resit.plan(accuracy=0.76, difference=0.005))
