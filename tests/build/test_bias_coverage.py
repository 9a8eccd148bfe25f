"""Coverage of the intervals of corrected accuracy on the votes of people, over random halves of the CIFAR-10 test set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pools_made import RealVotes, real_votes
from scipy import stats

from resit.stats.beta_binomial import patterns
from resit.stats.frequency_matching import by_votes
from resit.stats.frequency_mixtures import by_mixtures


@pytest.fixture(scope="module")
def votes(shared_data: Path) -> RealVotes:
    return real_votes(shared_data)


def figures(votes: RealVotes, number: int, split: int, panel: int | None = None) -> np.ndarray:
    """Value less the first half's accuracy, and whether the interval covers this; of all three, shape (3, 2)."""
    rng = np.random.default_rng(split)
    order = rng.permutation(10_000)
    first, second = order[:5_000], order[5_000:]
    second = second[((votes.selected / votes.shown)[second] <= 0.97) | (rng.random(5_000) < 0.25)]
    drawn = votes.drawn(number, rng)
    old, new = (patterns(drawn[one], np.full(len(one), number)) for one in (first, second))
    matched = by_votes(old, new, votes.correct[second], number, panel=panel, resamples=100)
    mixed = by_mixtures(old, new, new, correct_new=votes.correct[second], resamples=60)
    assert mixed.corrected is not None
    truth = votes.correct[first].mean()
    found = [one.accuracy for one in (matched.naive, matched.jackknife, mixed.corrected)]
    return np.array([(one.value - truth, one.low <= truth <= one.high) for one in found])


def test_corrected_intervals_cover_the_truth_on_real_votes(votes: RealVotes):
    found = np.array([figures(votes, 10, split) for split in range(16)])
    naive, jackknife, parametric = found[..., 1].sum(axis=0)
    # At a coverage of 0.95, as few happen once in a thousand times.
    fewest = stats.binom.ppf(1e-3, 16, 0.95)
    assert naive <= 4
    assert jackknife >= fewest
    assert parametric >= fewest


@pytest.mark.slow
@pytest.mark.parametrize("number", [10, 20, 40])
def test_the_jackknife_is_nearer_where_votes_are_independent(votes: RealVotes, number: int):
    found = np.array([figures(votes.independent(), number, split)[:2, 0] for split in range(100, 140)])
    naive, jackknife = np.abs(found.mean(axis=0))
    assert jackknife < naive


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 10, 20, 40])
def test_the_jackknife_is_nearer_where_votes_come_from_a_panel(votes: RealVotes, number: int):
    panel = round(stats.hmean(votes.shown))
    found = np.array([figures(votes, number, split, panel)[:2] for split in range(100, 220)])
    naive, jackknife = np.abs(found[..., 0].mean(axis=0))
    assert jackknife < naive
    assert found[:, 1, 1].sum() >= stats.binom.ppf(1e-3, 120, 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 10, 20, 40])
def test_corrected_estimates_are_nearer_and_their_intervals_cover(votes: RealVotes, number: int):
    found = np.array([figures(votes, number, split) for split in range(100, 220)])
    naive, jackknife, parametric = np.abs(found[..., 0].mean(axis=0))
    assert parametric < naive
    # 40 of some 50 votes without replacement are nearly all: a jackknife that is not told of the panel goes on too far.
    assert jackknife < naive or number == 40
    fewest = stats.binom.ppf(1e-3, 120, 0.95)
    assert (found[:, 1:, 1].sum(axis=0) >= fewest).all()
    assert number == 40 or found[:, 0, 1].mean() < 0.6
