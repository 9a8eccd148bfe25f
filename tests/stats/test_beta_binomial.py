"""Mixtures of betas behind counts, against scipy's distributions and numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats

from resit.errors import UsageError
from resit.stats.beta_binomial import BetaMixture, cell_edges, cell_middles, fit, patterns


def mixture(*components: tuple[float, float, float]) -> BetaMixture:
    a, b, weight = (np.array(column) for column in zip(*components, strict=True))
    return BetaMixture(a, b, weight, 0.0)


TWO = mixture((2, 3, 0.3), (20, 2, 0.7))


def drawn(truth: BetaMixture, size: int, votes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """True frequencies and times selected."""
    rng = np.random.default_rng(seed)
    which = rng.choice(len(truth.a), size, p=truth.weight)
    s = rng.beta(truth.a[which], truth.b[which])
    return s, rng.binomial(votes, s)


def log_likelihood(one: BetaMixture, selected: np.ndarray, shown: int) -> float:
    """By scipy's beta-binomial, with its binomial coefficients."""
    each = sum(w * scipy_stats.betabinom.pmf(selected, shown, a, b) for a, b, w in zip(one.a, one.b, one.weight, strict=True))
    return float(np.log(each).sum())


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


def test_one_beta_is_found_again_and_bic_takes_no_more():
    truth = mixture((6, 2, 1))
    _, selected = drawn(truth, 20_000, 10, seed=0)
    found = fit(patterns(selected, np.full(20_000, 10)))
    assert len(found.a) == 1
    assert found.a[0] == pytest.approx(6, rel=0.06)
    assert found.b[0] == pytest.approx(2, rel=0.06)


def test_two_betas_are_told_apart_and_nothing_near_them_is_likelier():
    s, selected = drawn(TWO, 30_000, 20, seed=1)
    counts = patterns(selected, np.full(30_000, 20))
    found = fit(counts)
    assert len(found.a) == 2
    assert found.mean == pytest.approx(s.mean(), abs=0.003)
    assert np.cumsum(found.cells())[::16] == pytest.approx(np.cumsum(TWO.cells())[::16], abs=0.012)
    best = log_likelihood(found, selected, 20)
    assert best > log_likelihood(TWO, selected, 20)
    rng = np.random.default_rng(2)
    for _ in range(20):
        near = mixture(*zip(found.a * rng.uniform(0.9, 1.1, 2), found.b * rng.uniform(0.9, 1.1, 2), found.weight, strict=True))
        assert log_likelihood(near, selected, 20) <= best + 1e-3


def test_the_log_likelihood_is_scipys_without_the_coefficients():
    _, selected = drawn(TWO, 500, 12, seed=3)
    found = fit(patterns(selected, np.full(500, 12)))
    coefficients = np.log(scipy_stats.binom.pmf(selected, 12, 0.5) * 2.0**12).sum()
    assert found.log_likelihood == pytest.approx(log_likelihood(found, selected, 12) - coefficients)


def test_an_image_that_counts_twice_is_as_two_and_a_start_leads_to_the_same_end():
    _, selected = drawn(TWO, 400, 10, seed=4)
    counts = patterns(selected, np.full(400, 10))
    twice = patterns(np.repeat(selected, 2), np.full(800, 10))
    first, again = fit(counts, weights=counts.weights() * 2, components=2), fit(twice, components=2)
    assert first.a == pytest.approx(again.a)
    assert first.log_likelihood == pytest.approx(again.log_likelihood)
    started = fit(twice, start=first)
    assert started.log_likelihood == pytest.approx(first.log_likelihood, rel=1e-6)


def test_images_may_have_different_numbers_of_votes():
    rng = np.random.default_rng(5)
    shown = rng.integers(5, 60, 8_000)
    s = rng.beta(4, 2, 8_000)
    found = fit(patterns(rng.binomial(shown, s), shown))
    assert found.mean == pytest.approx(s.mean(), abs=0.005)
    assert float(np.sum(found.weight)) == pytest.approx(1)


@pytest.mark.parametrize("selected", [[10] * 50, [0] * 50, [5], [0, 10]])
def test_pools_without_spread_or_of_one_image_are_fitted(selected: list[int]):
    found = fit(patterns(selected, [10] * len(selected)))
    assert np.isfinite([found.mean, found.log_likelihood]).all()
    assert found.mean == pytest.approx(np.mean(selected) / 10, abs=0.05)
    assert found.cells().sum() == pytest.approx(1)
