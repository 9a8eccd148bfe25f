"""Images and candidates a class, against draws with the real selection code."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from made import accuracies
from scipy import stats

import resit
from resit import UsageError
from resit.build.sampling import sample
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.data.benchmark import ClassInfo


def classes_of(rng: np.random.Generator, a: float, b: float, classes: int, size: int) -> pa.Table:
    rows = classes * size
    return pa.table(
        {
            "image": [f"{at:07}" for at in range(rows)],
            "class_id": np.repeat(np.arange(classes).astype(str), size),
            "selected": rng.binomial(10, rng.beta(a, b, rows)),
            "shown": np.full(rows, 10),
            "attributes": ["{}"] * rows,
        }
    )


def test_so_many_candidates_fill_so_many_classes():
    """400 classes with the planned number of candidates: as many are filled without drawing from higher bins as planned."""
    found = resit.plan_images(0.76, per_class=[10], sure=0.8)
    count = found.rows[0].candidates_sure
    assert count is not None
    rng = np.random.default_rng(0)
    originals, candidates = (classes_of(rng, a, b, 400, size) for a, b, size in ((2.8, 1.15, 50), (1.2, 1.2, count)))
    drawn = sample(MatchedFrequency(), candidates, originals, None, [ClassInfo(str(at), "") for at in range(400)], 10)
    cells = drawn.cells.to_pandas()
    short = cells[cells["target"] > cells["kept"] + cells["drawn"]]["class_id"].nunique()
    assert 1 - short / 400 == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / 400))


def test_width_is_that_of_exact_intervals_and_the_smallest_number_meets_it():
    found = resit.plan_images(0.9, width=0.2, per_class=[10])
    intervals = [stats.binomtest(k, 10).proportion_ci(0.95, "exact") for k in range(11)]
    mean = sum(stats.binom.pmf(k, 10, 0.9) * (one.high - one.low) for k, one in enumerate(intervals))
    assert found.rows[0].width == pytest.approx(mean)
    before = resit.plan_images(0.9, width=0.2, per_class=[found.per_class - 1]).rows[0].width
    assert found.candidates.width <= 0.2 < before


def test_fewer_low_frequencies_among_candidates_take_more_of_them():
    easy = resit.plan_images(0.8, candidates_beta=[(8, 1)], per_class=[20]).rows[0]
    even = resit.plan_images(0.8, per_class=[20]).rows[0]
    assert easy.candidates_sure > even.candidates_sure > even.candidates_half


def test_accuracy_from_runs():
    found = resit.plan_images(runs=accuracies("old", [0.6, 0.9]))
    assert found.accuracy == pytest.approx(0.75)
    assert found.accuracy_source == "mean of 2 models on old"


def test_text_and_json_say_the_same():
    found = resit.plan_images(0.76, per_class=[10])
    told = json.loads(found.to_json())
    assert f"{told['per_class']:,} images a class" in str(found)
    assert f"{told['rows'][0]['candidates_sure']:>16,}" in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Give --accuracy 0.76, or --from"),
        ({"accuracy": 76}, "0.76 means 76 %"),
        ({"accuracy": 0.7, "width": 0}, "width lies between"),
        ({"accuracy": 0.7, "width": 0.0001}, "more than 100,000 images"),
        ({"accuracy": 0.7, "sure": 1}, "sure lies between"),
        ({"accuracy": 0.7, "per_class": [0]}, "whole numbers from 1 on"),
        ({"accuracy": 0.7, "votes": 0}, "no number from 1 on"),
        ({"accuracy": 0.7, "originals": 0}, "no number from 1 on"),
        ({"accuracy": 0.7, "seed": -1}, "seed is not negative"),
        ({"runs": accuracies("old", [float("nan")])}, "no top-1 accuracy"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments, message: str):
    with pytest.raises(UsageError, match=message):
        resit.plan_images(**arguments)
