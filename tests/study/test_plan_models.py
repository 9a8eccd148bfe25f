"""Models for a slope, against ImageNetV2's bootstrap interval and the textbook's formula."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made import accuracies, predictions

import resit
from resit import UsageError
from resit.data.repairs import pick


def test_64_convnets_of_imagenetv2_have_the_papers_interval(shared_data: Path):
    """The interval by models is [1.078, 1.189], 0.111 wide."""
    sets = [resit.load_predictions(shared_data / "imagenetv2" / name) for name in ("val", "matched-frequency")]
    found = resit.plan_models(0.111, runs=[pick(one, exclude=["fv_*"]) for one in sets], count=[64])
    assert found.observed_models == 64
    assert (found.rows[0].low, found.rows[0].high) == pytest.approx((1.078, 1.189), abs=0.005)
    assert found.models == pytest.approx(64, rel=0.1)
    assert found.slope == pytest.approx(1.110, abs=0.001)
    assert (found.noise_share, found.new_noise_share) == pytest.approx((0.38, 0.35), abs=0.005)


def test_what_ships_with_resit_says_the_same():
    found = resit.plan_models(count=[64])
    assert found.rows[0].width == pytest.approx(0.111, abs=0.006)
    assert (found.n, found.new_n) == (50_000, 10_000)
    assert "ImageNetV2's convnets" in found.source


def test_guessed_models_have_the_textbooks_width():
    """Evenly spread between two accuracies: standard deviation (high - low) / sqrt(12)."""
    guess = {"lowest": 0.6, "highest": 0.8, "scatter": 0.01, "slope": 1.2, "n": 10**9, "new_n": 10**9}
    found = resit.plan_models(**guess, count=[100], resamples=6_000)
    assert found.rows[0].width == pytest.approx(2 * 1.96 * 0.01 / (np.sqrt(100) * 0.2 / np.sqrt(12)), rel=0.05)
    assert found.slope == pytest.approx(1.2, abs=0.005)
    assert found.scatter == pytest.approx(0.01, rel=0.02)


def test_fewer_new_examples_need_more_models():
    def models(new_n: int) -> int:
        found = resit.plan_models(0.1, lowest=0.5, highest=0.9, scatter=0.005, new_n=new_n, resamples=1_000).models
        assert found is not None
        return found

    assert models(500) > models(2_000) > models(50_000)


def test_a_width_that_no_number_of_models_gives():
    found = resit.plan_models(0.0001, resamples=200, count=[10])
    assert found.models is None
    assert "more than 5,000 models" in str(found)


def test_answers_tell_how_much_noise_models_share():
    old, new = (predictions(name, [0.4, 0.5, 0.6, 0.7, 0.8], n=400, seed=at) for at, name in enumerate(("old", "new")))
    found = resit.plan_models(0.5, runs=[old, new], resamples=500)
    assert found.noise_share < 0.5  # they share what is hard
    assert found.source == "5 models of old and new"
    figures = [accuracies(name, [0.4, 0.5, 0.6, 0.7], n=400) for name in ("old", "new")]
    assert "noise shares as on ImageNetV2" in resit.plan_models(0.5, runs=figures, resamples=500).source


def test_text_and_json_say_the_same():
    found = resit.plan_models(resamples=500, count=[30])
    told = json.loads(found.to_json())
    assert f"about {told['models']:,} models" in str(found)
    assert f"width {told['rows'][0]['width']:.3f}" in str(found)
    assert resit.plan_models(resamples=500, count=[30]) == found


FIGURES = [accuracies(name, [0.5, 0.6, 0.8], n=100) for name in ("old", "new")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": 0}, "a width is above 0"),
        ({"lowest": 0.5}, "go together"),
        ({"lowest": 0.5, "highest": 0.4, "scatter": 0.1}, "rise from --lowest"),
        ({"lowest": 0.5, "highest": 0.6, "scatter": -1}, "scatter is not negative"),
        ({"lowest": 0.5, "highest": 0.9, "scatter": 0.1, "slope": 4}, "Choose them so that accuracies lie"),
        ({"lowest": 0.5, "highest": 0.6, "scatter": 0.1, "runs": FIGURES}, "either guessed or taken from runs"),
        ({"runs": FIGURES[:1]}, "two sets, not of 1"),
        ({"runs": [accuracies("old", [0.5, 0.5, 0.5], n=9), FIGURES[1]]}, "no line"),
        ({"runs": [accuracies("old", [0.5, 0.6, 0.8]), FIGURES[1]]}, "number of examples is not known"),
        ({"n": 1}, "Give 2 or more"),
        ({"count": [2]}, "between 3 and 5,000"),
        ({"resamples": 10}, "at least 200"),
        ({"seed": -1}, "not negative"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments, message: str):
    with pytest.raises(UsageError, match=message):
        resit.plan_models(**arguments)
