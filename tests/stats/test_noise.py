"""The noise terms, held against sums over every set of examples that could have been drawn."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from resit.stats.noise import noise_from_counts, noise_from_pairs

ONES = np.ones(3)


def both(right: np.ndarray) -> np.ndarray:
    """How many examples each pair of models got right; right is (M, n)."""
    models = len(right)
    return np.array([[sum(right[i] & right[j]) for j in range(models)] for i in range(models)])


def every_set(kinds: np.ndarray, chances: np.ndarray, n: int):
    """Every ordered set of n examples of a population, as (M, n) right answers, and its probability."""
    for drawn in product(range(len(chances)), repeat=n):
        yield kinds[list(drawn)].T, float(np.prod(chances[list(drawn)]))


def test_noise_from_pairs_is_unbiased_over_every_set_that_could_be_drawn():
    kinds = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]], int)  # models that err alike
    chances = np.array([0.35, 0.2, 0.25, 0.05, 0.15])
    n, inflated, told = 4, 0.0, 0.0
    for right, chance in every_set(kinds, chances, n):
        inflated += chance * right.mean(axis=1).var()
        told += chance * noise_from_pairs(both(right), n, ONES)
    true = (kinds * chances[:, None]).sum(axis=0).var()
    assert told == pytest.approx(inflated - true, rel=1e-10)
    assert told > 0.005


def test_noise_from_counts_is_unbiased_where_errors_are_independent():
    p = np.array([0.8, 0.5, 0.3])
    kinds = np.array(list(product([0, 1], repeat=3)))
    chances = np.prod(np.where(kinds == 1, p, 1 - p), axis=1)
    n, inflated, by_counts, by_pairs = 3, 0.0, 0.0, 0.0
    for right, chance in every_set(kinds, chances, n):
        inflated += chance * right.mean(axis=1).var()
        by_counts += chance * noise_from_counts(right.mean(axis=1), np.full(3, float(n)), ONES)
        by_pairs += chance * noise_from_pairs(both(right), n, ONES)
    assert by_counts == pytest.approx(inflated - p.var(), rel=1e-10)
    assert by_pairs == pytest.approx(inflated - p.var(), rel=1e-10)


def test_noise_from_pairs_agrees_with_every_bootstrap_resample():
    right = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 1, 0, 1]])
    spread = [right[:, list(drawn)].mean(axis=1).var() for drawn in product(range(4), repeat=4)]
    added = np.mean(spread) - right.mean(axis=1).var()  # of a population that is the sample itself: (n - 1) / n of the estimate
    assert noise_from_pairs(both(right), 4, ONES) == pytest.approx(added * 4 / 3, rel=1e-10)


def test_noise_that_all_models_share_cancels():
    right = np.repeat(np.array([[1, 0, 1, 1, 0, 1]]), 5, axis=0)
    assert noise_from_pairs(both(right), 6, np.ones(5)) == pytest.approx(0, abs=1e-15)
    accuracy = right.mean(axis=1)
    assert noise_from_counts(accuracy, np.full(5, 6.0), np.ones(5)) == pytest.approx(4 / 6 * 2 / 6 / 5 * 4 / 5)


def test_counts_tell_more_noise_than_pairs_of_models_that_err_alike():
    rng = np.random.default_rng(0)
    hard = rng.uniform(size=2000)
    right = (np.linspace(0.5, 0.8, 12)[:, None] > hard + rng.normal(0, 0.05, (12, 2000))).astype(int)
    upper = noise_from_counts(right.mean(axis=1), np.full(12, 2000.0), np.ones(12))
    assert 0 < noise_from_pairs(right @ right.T, 2000, np.ones(12)) < 0.5 * upper


def test_gains_stretch_the_noise_as_they_stretch_the_scale():
    rng = np.random.default_rng(1)
    right = rng.integers(0, 2, (3, 50))
    assert noise_from_pairs(both(right), 50, 3 * ONES) == pytest.approx(9 * noise_from_pairs(both(right), 50, ONES))
    accuracy, n = right.mean(axis=1), np.full(3, 50.0)
    assert noise_from_counts(accuracy, n, 3 * ONES) == pytest.approx(9 * noise_from_counts(accuracy, n, ONES))


def test_noise_on_a_curved_scale_agrees_with_resampling():
    rng = np.random.default_rng(2)
    n, p = 4000, np.array([0.6, 0.7, 0.9])
    right = (rng.uniform(size=(3, n)) < p[:, None]).astype(int)
    accuracy = right.mean(axis=1)
    told = noise_from_pairs(right @ right.T, n, 1 / (accuracy * (1 - accuracy)))
    redrawn = rng.multinomial(n, np.full(n, 1 / n), size=4000) @ right.T / n
    logits = np.log(redrawn / (1 - redrawn))
    added = logits.var(axis=1).mean() - np.log(accuracy / (1 - accuracy)).var()
    spread = logits.var(axis=1).std() / np.sqrt(4000)
    assert told == pytest.approx(added, abs=5 * spread + 0.05 * told)


def test_one_example_tells_nothing_of_its_noise():
    assert np.isnan(noise_from_pairs(np.ones((3, 3), int), 1, ONES))
    assert np.isnan(noise_from_counts(np.array([1.0, 0.5, 0.5]), np.array([1.0, 50.0, 50.0]), ONES))
