"""Mixtures of betas fitted to counts, against scipy's beta-binomial, a plain EM image by image, and known pools."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special
from scipy import stats as scipy_stats

from resit.errors import UsageError
from resit.stats.beta_binomial import BetaMixture, Patterns, patterns
from resit.stats.beta_likelihood import Likelihood
from resit.stats.beta_mixture import fit_mixture, refit


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


def test_one_beta_is_found_again_and_no_more_are_needed():
    truth = mixture((6, 2, 1))
    _, selected = drawn(truth, 20_000, 10, seed=0)
    found = fit_mixture(patterns(selected, np.full(20_000, 10))).mixture
    assert len(found.a) == 1
    assert found.a[0] == pytest.approx(6, rel=0.06)
    assert found.b[0] == pytest.approx(2, rel=0.06)


def test_two_betas_are_told_apart_and_nothing_near_them_is_likelier():
    s, selected = drawn(TWO, 30_000, 20, seed=1)
    counts = patterns(selected, np.full(30_000, 20))
    found = fit_mixture(counts).mixture
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
    found = fit_mixture(patterns(selected, np.full(500, 12))).mixture
    coefficients = np.log(scipy_stats.binom.pmf(selected, 12, 0.5) * 2.0**12).sum()
    assert found.log_likelihood == pytest.approx(log_likelihood(found, selected, 12) - coefficients)


def test_the_number_of_components_is_that_of_the_best_held_out_likelihood():
    _, selected = drawn(TWO, 30_000, 20, seed=1)
    found = fit_mixture(patterns(selected, np.full(30_000, 20)))
    assert [trial.components for trial in found.trials] == [1, 2, 3]
    assert found.chosen.components == 2
    one, two, three = (trial.held_out for trial in found.trials)
    assert one is not None
    assert two is not None
    assert three is not None
    assert one + 0.01 < two
    assert three < two + 1e-3
    assert sum(found.chosen.effective) == pytest.approx(30_000)
    assert found.chosen.effective == pytest.approx(30_000 * found.mixture.weight)
    assert found.chosen.converged
    assert not found.chosen.at_boundary
    assert (found.images, found.patterns) == (30_000, len(np.unique(selected)))


def test_more_components_than_counts_tell_apart_are_not_tried():
    _, selected = drawn(TWO, 900, 4, seed=1)
    found = fit_mixture(patterns(selected, np.full(900, 4)))
    assert [(trial.components, trial.held_out) for trial in found.trials] == [(1, None)]


def test_a_pool_of_one_frequency_ends_at_the_bound_and_says_so():
    rng = np.random.default_rng(0)
    found = fit_mixture(patterns(rng.binomial(20, 0.6, 4_000), np.full(4_000, 20)), components=1)
    assert found.chosen.at_boundary
    assert found.mixture.mean == pytest.approx(0.6, abs=0.01)


def plain_em(selected: np.ndarray, votes: int, number: int) -> float:
    """Log-likelihood that EM image by image reaches, with each M-step by scipy's minimiser."""
    a, b, weight = np.linspace(1, 9, number), np.linspace(4, 2, number), np.full(number, 1 / number)

    def each(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return special.betaln(selected[:, None] + a, votes - selected[:, None] + b) - special.betaln(a, b)

    for _ in range(60):
        joint = each(a, b) + np.log(weight)
        share = np.exp(joint - special.logsumexp(joint, axis=1, keepdims=True))
        weight = share.mean(axis=0)
        for k in range(number):

            def loss(x: np.ndarray, share: np.ndarray = share[:, k]) -> float:
                return -float(share @ each(*np.exp(x)[:, None])[:, 0])

            a[k], b[k] = np.exp(optimize.minimize(loss, np.log([a[k], b[k]]), method="L-BFGS-B").x)
    return float(special.logsumexp(each(a, b) + np.log(weight), axis=1).sum())


@pytest.mark.parametrize("number", [1, 2])
def test_a_plain_em_image_by_image_comes_no_higher(number: int):
    _, selected = drawn(TWO, 400, 10, seed=6)
    found = fit_mixture(patterns(selected, np.full(400, 10)), components=number)
    plain = plain_em(selected, 10, number)
    assert plain - 1e-3 < found.mixture.log_likelihood < plain + 1.5


def test_expected_counts_are_those_of_scipys_beta_binomial():
    counts, weights = patterns([0, 2, 5, 9], [3, 7, 5, 10]), np.array([1.0, 2, 3, 1])
    a, b, weight = TWO.a, TWO.b, TWO.weight
    found = Likelihood(counts, weights).expected(a, b, np.log(weight))
    k, n = counts.selected[:, None], counts.shown[:, None]
    joint = weight * scipy_stats.betabinom.pmf(k, n, a, b)
    share = joint / joint.sum(axis=1, keepdims=True) * weights[:, None]
    assert found.images == pytest.approx(share.sum(axis=0))
    for tail, number in ((found.selected, k), (found.passed, n - k), (found.shown, n)):
        assert tail == pytest.approx(np.array([(share * (number > j)).sum(axis=0) for j in range(10)]).T)
    coefficients = np.log(special.comb(n, k))[:, 0]
    assert found.log_likelihood == pytest.approx(weights @ (np.log(joint.sum(axis=1)) - coefficients))


def test_many_votes_take_no_table_of_every_pattern_by_every_number(monkeypatch: pytest.MonkeyPatch):
    counts = patterns([0, 2, 5, 9], [3, 7, 5, 10])
    dense = Likelihood(counts, np.ones(4)).expected(TWO.a, TWO.b, np.log(TWO.weight))
    monkeypatch.setattr("resit.stats.beta_likelihood.MOST_CELLS", 0)
    sparse = Likelihood(counts, np.ones(4)).expected(TWO.a, TWO.b, np.log(TWO.weight))
    for one, other in zip(dense, sparse, strict=True):
        assert np.asarray(one) == pytest.approx(np.asarray(other))


@pytest.mark.parametrize("number", [1, 2])
def test_resamples_fitted_at_once_are_as_likely_as_each_fitted_afresh(number: int):
    _, selected = drawn(TWO, 3_000, 10, seed=4)
    counts = patterns(selected, np.full(3_000, 10))
    first = fit_mixture(counts, components=number).mixture
    weights = np.random.default_rng(0).multinomial(3_000, counts.weights() / 3_000, 5).astype(float)
    for row, again in zip(weights, refit(counts, weights, first), strict=True):
        afresh = fit_mixture(
            Patterns(counts.selected, counts.shown, np.repeat(np.arange(11), row.astype(int))), components=number
        )
        assert again.log_likelihood == pytest.approx(afresh.mixture.log_likelihood, abs=0.05)
        assert again.mean == pytest.approx(afresh.mixture.mean, abs=1e-4)


def test_order_of_images_changes_nothing_and_the_seed_little():
    _, selected = drawn(TWO, 900, 10, seed=4)
    found = [
        fit_mixture(patterns(one, np.full(900, 10)), seed=seed)
        for one, seed in ((selected, 0), (selected[::-1], 0), (selected, 1))
    ]
    assert found[0].trials == found[1].trials
    assert found[2].trials[1].log_likelihood == pytest.approx(found[0].trials[1].log_likelihood, abs=0.01)


@pytest.mark.parametrize(("name", "value"), [("components", 0), ("restarts", 0), ("folds", 1)])
def test_settings_that_cannot_be_are_refused(name: str, value: int):
    with pytest.raises(UsageError, match="at least one component and start, and two folds"):
        fit_mixture(patterns([5], [10]), **{name: value})


def test_images_may_have_different_numbers_of_votes():
    rng = np.random.default_rng(5)
    shown = rng.integers(5, 60, 8_000)
    s = rng.beta(4, 2, 8_000)
    found = fit_mixture(patterns(rng.binomial(shown, s), shown)).mixture
    assert found.mean == pytest.approx(s.mean(), abs=0.005)
    assert float(np.sum(found.weight)) == pytest.approx(1)


@pytest.mark.parametrize("selected", [[10] * 50, [0] * 50, [5], [0, 10]])
def test_pools_without_spread_or_of_one_image_are_fitted(selected: list[int]):
    found = fit_mixture(patterns(selected, [10] * len(selected))).mixture
    assert np.isfinite([found.mean, found.log_likelihood]).all()
    assert found.mean == pytest.approx(np.mean(selected) / 10, abs=0.05)
    assert found.cells().sum() == pytest.approx(1)
