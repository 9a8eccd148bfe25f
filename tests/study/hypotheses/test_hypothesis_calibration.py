"""Calibration: nothing is found where sets differ by chance, planted overconfidence is found at its size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from resit import Benchmark, ModelId, Predictions
from resit.study.explain_result import Gathered
from resit.study.hypotheses.calibration import HYPOTHESIS
from resit.study.hypotheses.interface import Material, Rules

RULES = Rules(resamples=200)


def answers(name: str, seed: int, *, over: float = 0.0, n: int = 2_000, models: int = 4) -> Predictions:
    """Models that are right as often as they say, less ``over``."""
    rng = np.random.default_rng(seed)
    confidence = np.clip(0.75 + rng.normal(0, 0.1, n) + rng.normal(0, 0.05, (models, n)), 0.2, 0.99)
    right = rng.random(n) < confidence - over
    labels = np.arange(n) % 10
    chosen = np.where(right, labels, (labels + 1) % 10)[:, :, None].astype(np.int16)
    ids = tuple(ModelId(f"m{at}") for at in range(models))
    return Predictions(Benchmark(name, labels[:, None].astype(np.int32)), ids, chosen, confidence=confidence.astype(np.float32))


def asked(material: Material, rules: Rules = RULES) -> Gathered:
    assert not HYPOTHESIS.lacks(material)
    return HYPOTHESIS.run(material, rules, lambda _: None)


def figure(found: Gathered, name: str) -> float:
    value = next(one.value.estimate for one in found.figures if one.name == name)
    assert value is not None
    return value


def test_nothing_is_found_between_two_draws_of_one_kind():
    found = asked(Material(answers("old", 0), answers("new", 1)))
    assert found.effect is False
    assert figure(found, "old: confidence minus accuracy") == pytest.approx(0, abs=0.03)


def test_planted_overconfidence_is_found_at_its_size():
    material = Material(answers("old", 0), answers("new", 1, over=0.15))
    found = asked(material)
    assert found.effect is True
    assert figure(found, "overconfidence grows by") == pytest.approx(0.15, abs=0.03)
    assert figure(found, "calibration error grows by") == pytest.approx(0.15, abs=0.03)
    gaps = [one.confidence.mean() - one.correct().mean() for one in (material.original, material.new)]
    assert figure(found, "overconfidence grows by") == pytest.approx(gaps[1] - gaps[0], abs=1e-6)


def test_a_smaller_and_harder_set_is_not_taken_for_a_worse_calibrated_one():
    for seed in range(5):
        old, new = answers("old", 2 * seed, n=10_000), answers("new", 2 * seed + 1, n=1_000)
        found = asked(Material(old, new))
        assert figure(found, "new: ECE, mean of models") > figure(found, "old: ECE, mean of models") + 0.01  # chance alone
        grown = next(one.value for one in found.figures if one.name == "calibration error grows by")
        assert grown.low is not None
        assert grown.high is not None
        assert grown.low <= 0 <= grown.high


def test_the_order_of_images_changes_no_figure():
    old, new = answers("old", 0), answers("new", 1, over=0.1)
    assert new.confidence is not None
    order = np.random.default_rng(2).permutation(new.n)
    benchmark = replace(new.benchmark, labels=new.benchmark.labels[order])
    turned = replace(new, benchmark=benchmark, answers=new.answers[:, order], confidence=new.confidence[:, order])
    first, second = (asked(Material(old, one)) for one in (new, turned))
    for one, other in zip(first.figures, second.figures, strict=True):
        assert one.value.estimate == pytest.approx(other.value.estimate, abs=1e-6)


def test_without_scores_it_says_how_to_get_them():
    old, new = answers("old", 0), answers("new", 1)
    assert "confidence" in HYPOTHESIS.lacks(Material(old, replace(new, confidence=None)))[0]
    assert "top-1" in HYPOTHESIS.lacks(Material(old, new, metric="top5"))[0]


def test_too_few_examples_with_every_models_confidence_are_said():
    old, new = answers("old", 0), answers("new", 1)
    assert new.confidence is not None
    new.confidence[0, ::2], new.confidence[1, 1::2] = np.nan, np.nan
    assert "30 examples of new" in HYPOTHESIS.lacks(Material(old, new))[0]
    assert len(HYPOTHESIS.lacks(Material(answers("a", 0, n=29), answers("b", 1, n=29)))) == 2
    few = asked(Material(answers("a", 0, n=30), answers("b", 1, n=30, models=4)))
    assert all(np.isfinite(one.value.estimate) for one in few.figures if one.value.estimate is not None)


def test_a_single_model_is_enough():
    assert asked(Material(answers("a", 0, models=1), answers("b", 1, models=1, over=0.15))).effect is True


def test_models_and_images_without_confidence_are_left_out_and_told():
    old, new = answers("old", 0), answers("new", 1)
    assert old.confidence is not None
    assert new.confidence is not None
    old.confidence[0] = np.nan
    new.confidence[1, :7] = np.nan
    found = asked(Material(old, new))
    assert {one.code for one in found.warnings} == {"models-without-confidence", "images-without-confidence"}
    assert [row[0] for row in found.sheets[0].rows] == ["m1", "m2", "m3"]


def missed(over: float, times: int) -> int:
    """How often the interval of the error's growth does not hold it, on sets of different sizes."""
    count = 0
    for seed in range(times):
        found = asked(Material(answers("a", 2 * seed, n=4_000), answers("b", 2 * seed + 1, n=1_000, over=over)))
        grown = next(one.value for one in found.figures if one.name == "calibration error grows by")
        assert grown.low is not None
        assert grown.high is not None
        count += not grown.low <= over <= grown.high
    return count


@pytest.mark.slow
def test_size_and_power_over_repeated_sets():
    rules = replace(RULES, resamples=200)

    def found(seed: int, over: float = 0.0) -> bool | None:
        sets = answers("a", 2 * seed, n=800), answers("b", 2 * seed + 1, n=800, over=over)
        return asked(Material(*sets), rules).effect

    assert sum(map(bool, map(found, range(300)))) <= stats.binom.ppf(0.999, 300, 0.05)
    assert missed(0.0, 60) <= stats.binom.ppf(0.999, 60, 0.05)
    assert missed(0.1, 60) <= stats.binom.ppf(0.999, 60, 0.05)
    power = [found(seed, 0.1) for seed in range(40)]
    assert np.mean(power) > 0.95
