"""Mixtures of betas behind counts, against scipy's distributions and numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats

from resit.errors import UsageError
from resit.stats.beta_binomial import BetaMixture, cell_edges, cell_middles, patterns


def mixture(*components: tuple[float, float, float]) -> BetaMixture:
    a, b, weight = (np.array(column) for column in zip(*components, strict=True))
    return BetaMixture(a, b, weight, 0.0)


TWO = mixture((2, 3, 0.3), (20, 2, 0.7))


def test_patterns_take_equal_counts_together():
    found = patterns([3, 0, 3, 3, 2], [10, 10, 9, 10, 2])
    assert list(zip(found.selected.tolist(), found.shown.tolist(), strict=True)) == [(2, 2), (3, 9), (0, 10), (3, 10)]
    assert found.of.tolist() == [3, 2, 1, 3, 0]
    assert found.weights().tolist() == [1, 1, 1, 2]
    assert found.weights([1, 0, 2, 3, 0]).tolist() == [0, 2, 0, 4]


@pytest.mark.parametrize(("selected", "shown"), [([], []), ([0], [0]), ([3], [2]), ([-1], [2])])
def test_what_is_no_count_is_refused(selected: list[int], shown: list[int]):
    with pytest.raises(UsageError):
        patterns(selected, shown)


@given(k=st.integers(0, 20), more=st.integers(0, 20))
@settings(max_examples=30, deadline=None)
def test_the_posterior_mean_is_that_of_numerical_integration(k: int, more: int):
    n = max(k + more, 1)

    def density(s: float) -> float:
        prior = sum(w * scipy_stats.beta.pdf(s, a, b) for a, b, w in zip(TWO.a, TWO.b, TWO.weight, strict=True))
        return float(prior * scipy_stats.binom.pmf(k, n, s))

    whole = integrate.quad(density, 0, 1)[0]
    mean = integrate.quad(lambda s: s * density(s), 0, 1)[0] / whole
    assert TWO.posterior_mean([k], [n])[0] == pytest.approx(mean, abs=1e-6)
    cells = TWO.posterior([k], [n])[0]
    assert cells.sum() == pytest.approx(1)
    assert cells @ cell_middles() == pytest.approx(mean, abs=5e-4)
    half = integrate.quad(density, 0, 0.5)[0] / whole
    assert cells[cell_middles() < 0.5].sum() == pytest.approx(half, abs=2e-3)


def test_cells_are_those_of_the_distribution_and_finer_at_the_ends():
    expected = sum(w * scipy_stats.beta.cdf(cell_edges(), a, b) for a, b, w in zip(TWO.a, TWO.b, TWO.weight, strict=True))
    assert np.cumsum(TWO.cells()) == pytest.approx(expected[1:], abs=1e-9)
    widths = np.diff(cell_edges())
    assert widths.min() == pytest.approx(widths[0])
    assert widths.max() < 0.0065
    assert TWO.mean == pytest.approx(0.3 * 2 / 5 + 0.7 * 20 / 22)
