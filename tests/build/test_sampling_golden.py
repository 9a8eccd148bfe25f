"""Sampling on the real votes of people: the accuracy of 30 models on what each strategy selects, as computed independently."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pools_made import RealVotes, classes, image_id, real_votes

from resit.build.sampling import Strategy, sample
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.threshold import Threshold
from resit.build.sampling.top_images import TopImages

VOTES, PER_CLASS, SEEDS = 10, 200, 10
ODD, EVEN = np.arange(1, 10_000, 2), np.arange(0, 10_000, 2)


@pytest.fixture(scope="module")
def votes(shared_data: Path) -> RealVotes:
    return real_votes(shared_data)


def mean_accuracy(votes: RealVotes, strategy: Strategy, candidates: np.ndarray, originals: np.ndarray) -> float:
    """In percent, of the 30 models on what is selected, mean over seeds."""
    names = classes(*map(str, range(10)))
    right = dict(zip(map(image_id, range(10_000)), votes.correct.tolist(), strict=True))
    found = []
    for seed in range(SEEDS):
        drawn = votes.drawn(VOTES, np.random.default_rng(seed))
        tables = [votes.table(places, drawn, VOTES) for places in (candidates, originals)]
        selection = sample(strategy, *tables, None, names, PER_CLASS, seed=seed)
        assert selection.valid
        assert len(selection.selected) == 2_000
        found.append(np.mean([right[image] for image in selection.selected["image"].to_pylist()]))
    return 100 * float(np.mean(found))


def test_the_votes_are_those_that_the_figures_are_of(votes: RealVotes):
    frequency = votes.selected / votes.shown
    assert frequency.mean() == pytest.approx(0.9523, abs=5e-5)
    assert 100 * votes.correct[EVEN].mean() == pytest.approx(92.92, abs=0.005)
    assert 100 * votes.correct[ODD].mean() == pytest.approx(93.25, abs=0.005)


@pytest.mark.parametrize(
    ("strategy", "accuracy", "tolerance"),
    [(MatchedFrequency(), 93.16, 0.25), (Threshold(), 93.92, 0.25), (TopImages(), 95.44, 0.15)],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_strategy_selects_images_as_hard_as_it_should(
    votes: RealVotes, strategy: Strategy, accuracy: float, tolerance: float
):
    assert mean_accuracy(votes, strategy, ODD, EVEN) == pytest.approx(accuracy, abs=tolerance)


def test_matching_with_the_halves_swapped(votes: RealVotes):
    assert mean_accuracy(votes, MatchedFrequency(), EVEN, ODD) == pytest.approx(93.02, abs=0.25)
