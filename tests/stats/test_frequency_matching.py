"""Accuracy at the original's frequencies, by hand, by enumeration, and on pools whose truth is known."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from resit.errors import UsageError
from resit.stats.beta_binomial import cell_middles, patterns
from resit.stats.frequency_curve import curves
from resit.stats.frequency_matching import by_votes, levels
from resit.stats.frequency_mixtures import by_mixtures


def test_levels_are_hypergeometric():
    counts = patterns([0, 3, 7, 12], [5, 7, 7, 13])
    for place, (k, n) in enumerate(zip(counts.selected, counts.shown, strict=True)):
        assert levels(counts, 4)[place] == pytest.approx(scipy_stats.hypergeom.pmf(np.arange(5), n, k, 4), abs=1e-12)
    assert levels(patterns([2], [3]), 3).tolist() == [[0, 0, 1, 0]]
    with pytest.raises(UsageError, match="6 votes of images that have 5 and more"):
        levels(counts, 6)


def test_naive_by_hand():
    # Originals: half with 1 of 2 votes, half with 2. New: of those with 1 vote 0.4 are right, with 2 all.
    found = by_votes(patterns([1, 1, 2, 2], [2] * 4), patterns([1, 1, 1, 1, 1, 2], [2] * 6), [1, 1, 0, 0, 0, 1], 2)
    assert found.naive.accuracy.value == pytest.approx(0.5 * 0.4 + 0.5 * 1)
    assert found.uncovered == 0


def test_a_frequency_that_no_new_image_has_takes_the_nearest_one_and_is_told():
    # Originals with 0 of 4 votes are as new ones with 1; with 2, between 1 and 3, as those with 1; with 4 as those with 3.
    found = by_votes(patterns([0, 1, 2, 3, 4, 4, 4, 4], [4] * 8), patterns([1, 1, 3], [4] * 3), [0, 1, 1], 4)
    assert found.uncovered == pytest.approx(6 / 8)
    assert found.naive.accuracy.value == pytest.approx((3 * 0.5 + 5 * 1) / 8)


def by_subsets(old: np.ndarray, new: np.ndarray, correct: np.ndarray, votes: int) -> float:
    """A with so many votes, from rows of single votes, over all choices of which to take."""
    sums = np.zeros((3, votes + 1))
    for chosen in combinations(range(old.shape[1]), votes):
        sums[0] += np.bincount(old[:, chosen].sum(axis=1), minlength=votes + 1)
        k = new[:, chosen].sum(axis=1)
        sums[1] += np.bincount(k, minlength=votes + 1)
        sums[2] += np.bincount(k, correct, minlength=votes + 1)
    share = sums[0] / sums[0].sum()
    there = np.flatnonzero(sums[1])
    mean = [
        sums[2, k] / sums[1, k] for k in (min(there, key=lambda one: (abs(one - level), one)) for level in range(votes + 1))
    ]
    return float(share @ mean)


@pytest.mark.parametrize(("votes", "delete"), [(5, 1), (5, 2), (4, 1), (3, 2)])
def test_the_jackknife_is_that_of_every_choice_of_votes(votes: int, delete: int):
    rng = np.random.default_rng(0)
    old, new = (rng.random((40, 5)) < rng.beta(*shape, (40, 1)) for shape in ((4, 1), (2, 1)))
    correct = rng.random(40)
    counts = [patterns(one.sum(axis=1), np.full(40, 5)) for one in (old, new)]
    found = by_votes(*counts, correct, votes, delete=delete, resamples=2)
    at_all, fewer = (by_subsets(old, new, correct, m) for m in (votes, votes - delete))
    assert found.naive.accuracy.value == pytest.approx(at_all)
    assert found.jackknife.accuracy.value == pytest.approx((votes * at_all - (votes - delete) * fewer) / delete)


@pytest.mark.parametrize(("votes", "delete"), [(30, 10), (45, 15)])
def test_the_jackknife_of_a_panel_goes_on_to_all_its_votes(votes: int, delete: int):
    """Which images are new depends on all 60 votes, so matching on these is right, and on fewer is biased."""
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        k = rng.binomial(60, rng.beta(3, 2, 40_000))
        new = rng.random(len(k)) < 0.9 - 0.7 * k / 60
        correct = rng.random(len(k)) < 0.2 + 0.75 * (k / 60) ** 2
        counts, drawn = (
            [patterns(some[one], np.full(one.sum(), number)) for one in (~new, new)]
            for some, number in ((k, 60), (rng.hypergeometric(k, 60 - k, votes), votes))
        )
        truth = by_votes(*counts, correct[new], 60, resamples=2).naive
        plain, panel = (by_votes(*drawn, correct[new], votes, delete=delete, panel=one, resamples=2) for one in (None, 60))
        errors.append([one.accuracy.value - truth.accuracy.value for one in (plain.naive, plain.jackknife, panel.jackknife)])
    naive, beyond, jackknife = np.mean(errors, axis=0)
    assert abs(jackknife) < min(-naive, beyond) / 5


def test_a_panel_that_all_voted_leaves_no_bias_and_a_large_one_is_everyone():
    rng = np.random.default_rng(2)
    counts = [patterns(rng.binomial(10, p, 300), np.full(300, 10)) for p in (0.8, 0.6)]
    correct = rng.random(300)
    everyone, ten, many = (by_votes(*counts, correct, 10, panel=one, resamples=20) for one in (None, 10, 10**9))
    assert ten.jackknife.accuracy.value == pytest.approx(ten.naive.accuracy.value)
    assert np.array(many.jackknife.accuracy) == pytest.approx(np.array(everyone.jackknife.accuracy), abs=1e-6)
    for wrong in (9, 9.9, float("nan"), float("inf"), "51"):
        with pytest.raises(UsageError, match=f"10 votes drawn from {wrong}"):
            by_votes(*counts, correct, 10, panel=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("wrong", "message"), [({"level": 95}, "between 0 and 1, not 95"), ({"resamples": 1}, "1 resamples")])
def test_intervals_that_cannot_be_are_refused(wrong: dict[str, Any], message: str):
    counts = patterns([5, 9], [10, 10])
    with pytest.raises(UsageError, match=message):
        by_votes(counts, counts, [1, 0], 10, **wrong)
    with pytest.raises(UsageError, match=message):
        by_mixtures(counts, counts, counts, **wrong)


def test_votes_that_matched_the_images_return_the_uncorrected_accuracy():
    """Why fresh votes are needed: with the new histogram equal to the old one, naive is the plain mean, whatever the truth."""
    rng = np.random.default_rng(1)
    k = rng.binomial(10, 0.8, 500)
    correct = rng.random(500)
    found = by_votes(patterns(k, np.full(500, 10)), patterns(k, np.full(500, 10)), correct, 10)
    assert found.naive.accuracy.value == pytest.approx(correct.mean(), abs=1e-12)


@pytest.mark.parametrize(("votes", "delete"), [(10, 10), (10, 0), (1, 1)])
def test_a_jackknife_must_leave_a_vote_out_and_one_in(votes: int, delete: int):
    with pytest.raises(UsageError, match="votes to leave out"):
        by_votes(patterns([5], [10]), patterns([5], [10]), [1], votes, delete=delete)


@pytest.mark.parametrize("correct", [[1], [1, 2], [1, float("nan")], [[[1, 1]]], [[1, 1], [1, -1]]])
def test_correctness_is_one_share_an_image(correct: list[object]):
    with pytest.raises(UsageError, match="image by image"):
        by_votes(patterns([5, 5], [10, 10]), patterns([5, 5], [10, 10]), correct, 10)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_correctness_given_frequency_lies_between_0_and_1_and_does_not_fall(seed: int):
    rng = np.random.default_rng(seed)
    posterior = rng.dirichlet(np.full(len(cell_middles()), 0.05), int(rng.integers(1, 30)))
    found = curves(posterior, rng.integers(1, 9, len(posterior)).astype(float), rng.random((3, len(posterior))))
    assert found.shape == (3, len(cell_middles()))
    assert (np.diff(found, axis=1) >= -1e-9).all()
    assert found.min() >= 0
    assert found.max() <= 1


@pytest.mark.parametrize("power", [0, 1, 2, 4])
def test_a_smooth_rising_curve_is_found_again(power: int):
    s = cell_middles()
    truth = 0.2 + 0.7 * s**power
    weights = np.ones(len(s))
    assert curves(np.eye(len(s)), weights, truth[None], 1e-9)[0] == pytest.approx(truth, abs=1e-3)
    assert curves(np.eye(len(s)), weights, truth[None])[0] == pytest.approx(truth, abs=0.015)


def accuracy_at(s: np.ndarray) -> np.ndarray:
    return 0.3 + 0.65 * s**2


class World:
    """Originals, and a harder pool from which images are chosen so that observed frequencies match."""

    def __init__(self, seed: int, size: int = 4_000, votes: int = 10) -> None:
        rng = np.random.default_rng(seed)
        self.s_old, s_pool = rng.beta(6, 2, size), rng.beta(3, 2, 4 * size)
        self.old, self.pool = rng.binomial(votes, self.s_old), rng.binomial(votes, s_pool)
        chosen = []
        for k, count in enumerate(np.bincount(self.old, minlength=votes + 1)):
            there = np.flatnonzero(self.pool == k)
            chosen.append(rng.choice(there, min(int(count), len(there)), replace=False))
        self.new = np.concatenate(chosen)
        self.s_new = s_pool[self.new]
        self.correct = (rng.random((len(self.new), 20)) < accuracy_at(self.s_new)[:, None]).mean(axis=1)
        self.correct_old = (rng.random((size, 20)) < accuracy_at(self.s_old)[:, None]).mean(axis=1)
        self.fresh = rng.binomial(votes, self.s_new)
        self.votes = votes

    def counts(self, k: np.ndarray):
        return patterns(k, np.full(len(k), self.votes))


def test_mixtures_see_the_bias_that_matching_on_observed_frequencies_leaves():
    world = World(0)
    old, pool, new = world.counts(world.old), world.counts(world.pool), world.counts(world.pool[world.new])
    found = by_mixtures(old, pool, new, correct_new=world.correct, correct_original=world.correct_old, resamples=20)
    assert world.pool[world.new].mean() == pytest.approx(world.old.mean(), abs=0.1)
    true_shift = world.s_new.mean() - world.s_old.mean()
    assert true_shift < -0.03
    assert found.frequency_shift.value == pytest.approx(true_shift, abs=0.008)
    assert found.original_frequency.value == pytest.approx(world.s_old.mean(), abs=0.006)
    assert found.new_frequency.value == pytest.approx(world.s_new.mean(), abs=0.006)
    target = accuracy_at(world.s_old).mean()
    assert world.correct.mean() < target - 0.025
    assert found.corrected.accuracy.value == pytest.approx(target, abs=0.012)
    assert found.corrected.drop.value == pytest.approx(0, abs=0.015)
    assert found.accuracy_shift.value == pytest.approx(accuracy_at(world.s_new).mean() - target, abs=0.01)


def test_fresh_votes_bring_naive_nearer_and_the_jackknife_nearer_still():
    errors = []
    for seed in range(6):
        world = World(seed)
        target = accuracy_at(world.s_old).mean()
        found = by_votes(world.counts(world.old), world.counts(world.fresh), world.correct, 10, resamples=2)
        errors.append(
            [world.correct.mean() - target, found.naive.accuracy.value - target, found.jackknife.accuracy.value - target]
        )
    plain, naive, jackknife = np.abs(np.mean(errors, axis=0))
    assert plain > 1.4 * naive
    assert naive > 1.4 * jackknife


def test_standard_errors_are_those_of_repeated_worlds():
    values, errors = [], []
    for seed in range(24):
        world = World(seed, size=800)
        old, pool, new = world.counts(world.old), world.counts(world.pool), world.counts(world.pool[world.new])
        mixed = by_mixtures(old, pool, new, correct_new=world.correct, resamples=12)
        matched = by_votes(old, world.counts(world.fresh), world.correct, 10, resamples=100)
        by_name = matched.naive, matched.jackknife
        found = [mixed.original_frequency, mixed.new_frequency, *(one.accuracy for one in (mixed.corrected, *by_name))]
        values.append([*(one.value for one in found), mixed.frequency_shift.value])
        errors.append([*(one.error for one in found), mixed.frequency_shift.error])
    ratio = np.mean(errors, axis=0) / np.std(values, axis=0, ddof=1)
    assert (ratio > 0.6).all(), ratio
    # New images follow the originals that they are matched to, so their difference varies less than it is said to.
    assert (ratio[:-1] < 1.7).all(), ratio
    assert ratio[-1] > 1


def test_what_is_not_given_is_not_estimated_and_the_seed_decides():
    world = World(0, size=300)
    old, pool, new = world.counts(world.old), world.counts(world.pool), world.counts(world.pool[world.new])
    found = by_mixtures(old, pool, new, resamples=5, seed=3)
    assert found.corrected is None
    assert found.curve is None
    assert found.accuracy_shift is None
    again = by_mixtures(old, pool, new, resamples=5, seed=3)
    assert again.frequency_shift == found.frequency_shift
    assert by_mixtures(old, pool, new, resamples=5, seed=4).frequency_shift.error != found.frequency_shift.error
