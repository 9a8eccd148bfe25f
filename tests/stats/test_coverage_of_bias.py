"""Coverage of the intervals of corrected accuracy, where the betas and the curve are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from resit.stats.beta_binomial import patterns
from resit.stats.frequency_matching import by_votes
from resit.stats.frequency_mixtures import by_mixtures

OLD, NEW = (6, 2), (3, 2)
VOTES, SIZE, MODELS = 10, 1_500, 8
# 0.3 + 0.65 s² at Beta(6, 2): E[s²] = 42 / 72.
TRUTH = 0.3 + 0.65 * 42 / 72


def intervals(seed: int) -> np.ndarray:
    """Low and high of naive, jackknife and parametric, for the mean of the models; shape (3, 2)."""
    rng = np.random.default_rng(seed)
    s_old, s_new = rng.beta(*OLD, SIZE), rng.beta(*NEW, SIZE)
    old, new = (patterns(rng.binomial(VOTES, s), np.full(SIZE, VOTES)) for s in (s_old, s_new))
    right = rng.random((MODELS, SIZE)) < 0.3 + 0.65 * s_new**2
    matched = by_votes(old, new, right, VOTES, resamples=200)
    mixed = by_mixtures(old, new, new, correct_new=right, resamples=100)
    found = (matched.naive, matched.jackknife, mixed.corrected)
    return np.array([(one.accuracy.low, one.accuracy.high) for one in found if one is not None])


def covered(seeds: range) -> np.ndarray:
    """How often each covers the truth."""
    found = np.array([intervals(seed) for seed in seeds])
    return ((found[..., 0] <= TRUTH) & (found[..., 1] >= TRUTH)).sum(axis=0)


def test_corrected_intervals_cover_and_the_naive_one_does_not():
    naive, jackknife, parametric = covered(range(16))
    # At a coverage of 0.95, as few happen once in a thousand times.
    fewest = stats.binom.ppf(1e-3, 16, 0.95)
    assert naive <= 5
    assert jackknife >= fewest
    assert parametric >= fewest


@pytest.mark.slow
def test_corrected_intervals_cover_at_their_level():
    naive, jackknife, parametric = covered(range(1_000, 1_400)) / 400
    assert naive < 0.2
    assert jackknife > 0.93
    assert parametric > 0.93


def test_each_model_has_estimates_and_their_mean_is_that_of_the_models():
    rng = np.random.default_rng(0)
    s_old, s_new = rng.beta(*OLD, 600), rng.beta(*NEW, 600)
    old, new = (patterns(rng.binomial(VOTES, s), np.full(600, VOTES)) for s in (s_old, s_new))
    right_old, right_new = (rng.random((3, 600)) < np.array([[0.2], [0.5], [0.9]]) * s for s in (s_old, s_new))
    matched = by_votes(old, new, right_new, VOTES, correct_original=right_old, resamples=40)
    mixed = by_mixtures(old, new, new, correct_new=right_new, correct_original=right_old, resamples=40)
    for found in (matched.naive, matched.jackknife):
        assert np.mean([one.value for one in found.accuracy_by_model]) == pytest.approx(found.accuracy.value)
    for found in (matched.naive, matched.jackknife, mixed.corrected):
        assert found is not None
        assert found.drop is not None
        assert found.drop.value == pytest.approx(right_old.mean() - found.accuracy.value)
        for place in range(3):
            left = right_old[place].mean() - found.accuracy_by_model[place].value
            assert found.drop_by_model[place].value == pytest.approx(left)
            # The same images are behind both: a drop that is no more than noise is told as such.
            assert found.drop_by_model[place].low < 0.05 * (place + 1)
    alone = by_votes(old, new, right_new[1], VOTES, resamples=40)
    assert alone.naive.accuracy.value == pytest.approx(matched.naive.accuracy_by_model[1].value)
    assert alone.jackknife.accuracy.value == pytest.approx(matched.jackknife.accuracy_by_model[1].value)


def test_the_order_of_images_changes_nothing():
    rng = np.random.default_rng(1)
    k_old, k_new, right = rng.binomial(10, 0.8, 90), rng.binomial(10, 0.6, 90), rng.random((2, 90)) < 0.7
    shown, order = np.full(90, 10), rng.permutation(90)
    first = by_votes(patterns(k_old, shown), patterns(k_new, shown), right, 10, resamples=30)
    again = by_votes(patterns(k_old[order], shown), patterns(k_new[order], shown), right[:, order], 10, resamples=30)
    assert np.array(first.jackknife.accuracy) == pytest.approx(np.array(again.jackknife.accuracy), abs=1e-9)
    assert np.array(first.naive.accuracy) == pytest.approx(np.array(again.naive.accuracy), abs=1e-9)
