"""Votes an image: the exact bias against drawing with the real selection code."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from made import accuracies, predictions

import resit
from resit import UsageError
from resit.build.sampling import sample
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.data.benchmark import ClassInfo

SIZE = 40_000


def drawn_table(rng: np.random.Generator, a: float, b: float, size: int, votes: int) -> tuple[np.ndarray, pa.Table]:
    """True frequencies, and rows as a build has them."""
    true = rng.beta(a, b, size)
    columns = {
        "image": [f"{at:07}" for at in range(size)],
        "class_id": ["x"] * size,
        "selected": rng.binomial(votes, true),
        "shown": np.full(size, votes),
        "attributes": ["{}"] * size,
    }
    return true, pa.table(columns)


@pytest.mark.parametrize("votes", [7, 10, 40])
def test_the_bias_is_that_of_selections_that_are_really_drawn(votes: int):
    rng = np.random.default_rng(votes)
    _, originals = drawn_table(rng, 2.8, 1.15, SIZE, votes)
    true, candidates = drawn_table(rng, 1.2, 1.2, 6 * SIZE, votes)
    drawn = sample(MatchedFrequency(minimum_votes=votes), candidates, originals, None, [ClassInfo("x", "X")], SIZE)
    assert drawn.valid
    assert drawn.upward == 0
    chosen = true[[int(image) for image in drawn.selected["image"].to_pylist()]]
    found = resit.plan_votes(curve=[(0, 0.2), (0.5, 0.7), (1, 0.9)], votes=[votes])
    error = 4 * 0.27 / np.sqrt(SIZE)  # of the means of originals' histogram and of what is drawn
    assert found.rows[0].new_frequency == pytest.approx(chosen.mean(), abs=error)
    assert found.rows[0].new_accuracy == pytest.approx(np.interp(chosen, [0, 0.5, 1], [0.2, 0.7, 0.9]).mean(), abs=error)
    assert found.original_frequency == pytest.approx(2.8 / 3.95)
    assert found.rows[0].frequency_shift == pytest.approx(chosen.mean() - 2.8 / 3.95, abs=error)


def test_the_wanted_bias_is_met_from_that_number_of_votes_on():
    found = resit.plan_votes(bias=0.012)
    assert found.votes is not None
    before, after = (resit.plan_votes(votes=[found.votes - 5]).rows[0], resit.plan_votes(votes=[found.votes]).rows[0])
    assert abs(after.accuracy_shift) <= 0.012 < abs(before.accuracy_shift)


def test_more_than_unlimited_votes_give_is_no_number():
    found = resit.plan_votes(bias=0.001)
    assert found.votes is None
    assert "no number of votes up to 500" in str(found)
    assert abs(found.limit.accuracy_shift) > 0.001


def test_pools_alike_need_five_votes_and_leave_nothing():
    found = resit.plan_votes(bias=0.002, original_beta=[(2, 1)], candidates_beta=[(2, 1, 3)])
    assert found.votes == 5
    assert found.limit.frequency_shift == pytest.approx(0, abs=1e-12)
    assert found.pools.source == "given"


def test_text_and_json_say_the_same():
    found = resit.plan_votes(votes=[10, 20])
    told = json.loads(found.to_json())
    assert [row["votes"] for row in told["rows"]] == [10, 20]
    assert told["limit"]["votes"] is None
    assert f"{100 * told['rows'][0]['accuracy_shift']:+.2f} points" in str(found)
    assert "assumed" in told["pools"]["source"]
    half = resit.plan_votes(candidates_beta=[(1, 2), (3, 1)])
    assert "given; the other assumed" in str(half)
    assert "0.50 Beta(1, 2) + 0.50 Beta(3, 1)" in str(half)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bias": 0}, "bias lies between 0 and 1"),
        ({"votes": [0]}, "whole numbers from 1 on"),
        ({"votes": []}, "whole numbers from 1 on"),
        ({"original_beta": [(0, 1)]}, "all above 0"),
        ({"candidates_beta": []}, "all above 0"),
        ({"original_beta": [(1, 1, 1, 1)]}, "two shapes and a weight"),
        ({"curve": [(0.5, 0.5)]}, "two points or more"),
        ({"curve": [(0.5, 0.5), (0.4, 0.5)]}, "frequencies rising"),
        ({"curve": [(0.5, 50), (0.6, 60)]}, "between 0 and 1"),
        ({"runs": predictions("a", [0.5, 0.6])}, "only with the votes of a build"),
        ({"runs": accuracies("a", [0.5])}, "only with the votes of a build"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments, message: str):
    with pytest.raises(UsageError, match=message):
        resit.plan_votes(**arguments)
