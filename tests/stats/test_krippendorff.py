from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.stats.krippendorff import agreement


def counted(*people: str) -> np.ndarray:
    """Counts of answers from each person's row, as the literature prints it; a dot is a missing answer."""
    rows = [row.split() for row in people]
    values = sorted({value for row in rows for value in row} - {"."})
    return np.array([[unit.count(value) for value in values] for unit in zip(*rows, strict=True)])


def by_coincidences(counts: np.ndarray) -> tuple[float, float]:
    """Raw agreement and alpha by walking through all ordered pairs of answers, as Krippendorff (2011) builds his matrix."""
    k = counts.shape[1]
    matrix, same, pairs = np.zeros((k, k)), 0, 0
    for unit in counts.tolist():
        answers = [c for c, n in enumerate(unit) for _ in range(n)]
        for a, b in permutations(answers, 2):
            matrix[a, b] += 1 / (len(answers) - 1)
            same, pairs = same + (a == b), pairs + 1
    if not pairs:
        return math.nan, math.nan
    totals, n = matrix.sum(axis=1), matrix.sum()
    observed = sum(matrix[a, b] for a in range(k) for b in range(k) if a != b)
    expected = sum(totals[a] * totals[b] for a in range(k) for b in range(k) if a != b) / (n - 1)
    return same / pairs, 1 - observed / expected if expected > 1e-12 else math.nan


@pytest.mark.parametrize(
    ("people", "alpha", "answers"),
    [
        # Krippendorff (2011), sections A, B and C.
        (("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"), 0.095, 20),
        (("a a b b d c c c e d d a", "b a b b b c c c e d d d"), 0.692, 24),
        (
            (
                "1 2 3 3 2 1 4 1 2 . . .",
                "1 2 3 3 2 2 4 1 2 5 . 3",
                ". 3 3 3 2 3 4 2 2 5 1 .",
                "1 2 3 3 2 4 4 1 2 5 1 .",
            ),
            0.743,
            40,
        ),
    ],
)
def test_alpha_is_what_krippendorff_works_out(people, alpha, answers):
    found = agreement(counted(*people))
    assert round(found.alpha, 3) == alpha
    assert found.answers == answers
    assert found.low < found.alpha < found.high


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(1, 4))
def test_it_agrees_with_walking_through_all_pairs(seed, units, values):
    counts = np.random.default_rng(seed).integers(0, 4, (units, values))
    raw, alpha = by_coincidences(counts)
    found = agreement(counts, resamples=20)
    assert found.raw == pytest.approx(raw, nan_ok=True)
    assert found.alpha == pytest.approx(alpha, nan_ok=True)
    assert (found.reason == "") == (not math.isnan(found.low))


def test_case_32_two_people_and_one_answer_have_raw_agreement_and_no_alpha():
    found = agreement(np.array([[2], [2], [2]]))
    assert found.raw == 1
    assert math.isnan(found.alpha)
    assert math.isnan(found.low)
    assert "same answer" in found.reason
    assert str(found).startswith("raw agreement 1.000; alpha not available: everybody")


def test_nobody_answered_the_same_unit():
    for counts in (np.zeros((0, 2), int), np.array([[1, 0], [0, 1]])):
        found = agreement(counts)
        assert math.isnan(found.raw)
        assert found.units == 0
        assert "two people" in str(found)


def test_the_interval_is_that_of_a_bootstrap_over_units_one_by_one():
    rng = np.random.default_rng(1)
    selected = rng.binomial(10, rng.beta(2, 1, 60))
    counts = np.stack([10 - selected, selected], axis=1)
    slow = [by_coincidences(counts[rng.integers(60, size=60)])[1] for _ in range(400)]
    found = agreement(counts, resamples=20_000, seed=3)
    assert (found.low, found.high) == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.025)
    assert agreement(counts, seed=3) == agreement(counts[::-1], seed=3)
    assert agreement(counts, seed=3).low != agreement(counts, seed=4).low


def test_case_30_resamples_without_spread_are_counted():
    found = agreement(np.array([[2, 0], [2, 0], [0, 2]]), resamples=500, seed=0)
    assert found.alpha == 1
    # All three units drawn show one answer with probability (2/3)^3 + (1/3)^3 = 1/3.
    assert found.undefined / 500 == pytest.approx(1 / 3, abs=0.07)
