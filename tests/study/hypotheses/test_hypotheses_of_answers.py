"""Hypotheses that need answers alone: nothing is found between halves of one set, and what is planted is found at its size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made import predictions
from scipy import stats

from resit import Benchmark, ModelId, Predictions
from resit.stats.reuse import fixed_models_bound, full_scores_bound
from resit.study.explain_result import Gathered
from resit.study.hypotheses.interface import Hypothesis, Material, Rules
from resit.study.hypotheses.registry import hypotheses

RULES = Rules(resamples=400)
EVERYTHING = ("statistical-error", "model-similarity", "gaussian-difficulty", "gap-split", "adaptivity-bound")


def named(name: str) -> Hypothesis:
    return hypotheses((name,))[0]


def asked(name: str, material: Material, rules: Rules = RULES) -> Gathered:
    hypothesis = named(name)
    assert not hypothesis.lacks(material)
    assert hypothesis.seconds(material, rules) > 0
    return hypothesis.run(material, rules, lambda _: None)


def figure(found: Gathered, start: str) -> float:
    one = next(figure for figure in found.figures if figure.name.startswith(start))
    assert one.value.estimate is not None
    return one.value.estimate


def answers(name: str, right: np.ndarray) -> Predictions:
    """Predictions of models that are right where told."""
    labels = np.arange(right.shape[1]) % 10
    chosen = np.where(right, labels, (labels + 1) % 10)[:, :, None].astype(np.int16)
    models = tuple(ModelId(f"m{at}") for at in range(len(right)))
    return Predictions(Benchmark(name, labels[:, None].astype(np.int32)), models, chosen)


def population(abilities: np.ndarray, n: int, seed: int, *, harder: float = 0.0, spread: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((len(abilities), n)) < stats.norm.cdf(abilities[:, None] - rng.normal(harder, spread, n))


ABILITIES = np.linspace(0.5, 2.5, 15)


def halves(seed: int, n: int = 4_000) -> Material:
    """The control: an original against a random part of itself."""
    right = population(ABILITIES, n, seed)
    order = np.random.default_rng(seed + 1).permutation(n)
    return Material(answers("original", right[:, order[n // 2 :]]), answers("part", right[:, order[: n // 2]]))


def shifted(seed: int, n: int = 4_000, harder: float = 0.5, spread: float = 1.0) -> Material:
    old = population(ABILITIES, n, seed)
    new = population(ABILITIES, n, seed + 1_000, harder=harder, spread=spread)
    return Material(answers("original", old), answers("new", new))


def test_nothing_is_found_between_random_halves():
    material = halves(0)
    chance = asked("statistical-error", material)
    assert chance.effect is True
    assert chance.part is not None
    assert abs(material.drop) < abs(chance.part.estimate or 0)
    assert asked("gap-split", material).effect is False
    assert asked("gaussian-difficulty", material).effect is False
    said = asked("adaptivity-bound", material).verdict
    assert "no drop" in said or "does not exclude" in said


def test_a_planted_shift_is_found_at_its_size():
    material = shifted(3)
    assert asked("statistical-error", material).effect is False
    assert asked("gap-split", material).effect is True
    found = asked("gaussian-difficulty", material)
    assert found.effect is True
    # of the spread that difficulty and the noise of an answer have together: 0.5 / sqrt(1 + 1)
    assert figure(found, "new set harder") == pytest.approx(0.5 / np.sqrt(2), abs=0.05)
    assert figure(found, "slope of the probit line") == pytest.approx(1, abs=0.05)


def test_a_planted_spread_is_found_and_predicted_from_shared_errors():
    found = asked("gaussian-difficulty", shifted(5, n=20_000, spread=2.0))
    slope = np.sqrt((1 + 1) / (1 + 4))
    assert figure(found, "slope of the probit line") == pytest.approx(slope, abs=0.03)
    assert figure(found, "slope that shared errors predict") == pytest.approx(slope, abs=0.02)
    assert figure(found, "spread of new over original") == pytest.approx(1 / slope, abs=0.06)


def test_models_that_share_what_is_hard_are_similar_and_independent_ones_are_not():
    rng = np.random.default_rng(0)
    independent = [rng.random((15, 4_000)) < 0.8 for _ in range(2)]
    control = asked("model-similarity", Material(answers("a", independent[0]), answers("b", independent[1])))
    assert control.effect is False
    assert figure(control, "a: excess agreement") == pytest.approx(0, abs=0.02)
    assert figure(control, "a: independent models as lucky") == pytest.approx(15, rel=0.25)
    planted = asked("model-similarity", shifted(1))
    assert planted.effect is True
    assert figure(planted, "original: excess agreement") > 0.2
    lucky = "independent models as lucky"
    assert figure(planted, f"original: {lucky}") < 0.8 * figure(control, f"a: {lucky}")


def test_agreement_is_that_of_a_plain_loop_over_pairs():
    material = shifted(2, n=300)
    right = material.right_original
    pairs = [(i, j) for i in range(len(right)) for j in range(i)]
    observed = np.mean([(right[i] == right[j]).mean() for i, j in pairs])
    a = right.mean(axis=1)
    independent = np.mean([a[i] * a[j] + (1 - a[i]) * (1 - a[j]) for i, j in pairs])
    found = asked("model-similarity", material)
    assert figure(found, "original: pairs agree") == pytest.approx(observed)
    assert figure(found, "original: if errors") == pytest.approx(independent)
    assert figure(found, "original: excess") == pytest.approx((observed - independent) / (1 - independent))


def test_the_three_gaps_hold_the_drop_between_them():
    material = shifted(4)
    found = asked("gap-split", material, replace(RULES, tried=1_000))
    low = sum(one.value.low or 0 for one in found.figures if "distribution" not in one.name)
    distribution = next(one.value for one in found.figures if one.name.startswith("distribution"))
    assert (distribution.high or 0) + low == pytest.approx(material.drop)
    more = asked("gap-split", material, replace(RULES, tried=10**6))
    assert next(one.value.high or 0 for one in more.figures) > next(one.value.high or 0 for one in found.figures)


def test_more_models_tried_leave_more_to_reuse():
    material = shifted(6)
    few, many = (asked("adaptivity-bound", material, replace(RULES, tried=tried)) for tried in (15, 10_000))
    assert few.part is not None
    assert many.part is not None
    assert (few.part.estimate or 0) < (many.part.estimate or 0) < 0.05
    assert few.kind == "bound"
    assert "10,000 models" in many.verdict


def test_bounds_of_reuse_are_told_on_average_and_at_most_and_each_once():
    material = shifted(6)
    found = asked("adaptivity-bound", material, replace(RULES, tried=1_000))
    bounds = fixed_models_bound(material.right_original.mean(axis=1), 4_000, 1_000, 0.95)
    assert f"on average at most {100 * bounds.mean():.2f}" in found.verdict
    assert f"none more than {100 * bounds.max():.2f}" in found.verdict
    assert "if only new best scores guided the next model, the best one lies at most" in found.verdict
    few = asked("adaptivity-bound", material)
    smaller = full_scores_bound(4_000, 15, 0.95)
    assert figure(few, "only best scores") == figure(few, "every score") == smaller
    assert few.verdict.count(f"{100 * smaller:.2f}") == 1


def test_more_models_tried_than_a_machine_integer_holds_have_bounds():
    found = asked("adaptivity-bound", shifted(6, n=400), replace(RULES, tried=10**33))
    assert 0.1 < figure(found, "models fixed") < figure(found, "the same, most of any one model") < 1
    assert "theory excludes nothing" in found.verdict


def test_models_that_turn_round_on_the_new_set_have_no_line_of_difficulty():
    old, new = (population(ABILITIES[::step], 2_000, seed) for seed, step in enumerate((1, -1)))
    found = asked("gaussian-difficulty", Material(answers("original", old), answers("new", new)))
    assert found.effect is None
    assert "There is no such line" in found.verdict
    assert figure(found, "slope of the probit line") < 0


def test_resamples_without_a_rising_line_are_told():
    old, new = (population(np.array([0.8, 1.0, 1.2, 1.4]), 300, seed) for seed in (0, 3))
    found = asked("gaussian-difficulty", Material(answers("original", old), answers("new", new)))
    told = next(one.message for one in found.warnings if one.code == "lines-not-rising")
    slope = next(one.value for one in found.figures if one.name.startswith("slope of the probit"))
    assert "of 400 resamples have no line that rises" in told
    assert slope.low is not None
    assert slope.low < 0
    assert "[" in found.verdict


def test_reuse_gains_less_only_where_models_are_clearly_alike():
    said = "gains less than their number says"
    for count in (2, 4):
        right = [np.random.default_rng(seed).random((count, 1_000)) < 0.8 for seed in (1, 2)]
        control = asked("model-similarity", Material(answers("a", right[0]), answers("b", right[1])))
        assert said not in control.verdict
        assert "as good as independent" in control.verdict
    assert said in asked("model-similarity", shifted(1)).verdict


def test_a_single_model_lacks_what_needs_several():
    one = predictions("original", [0.8]), predictions("new", [0.7], seed=1)
    material = Material(*one)
    assert named("model-similarity").lacks(material) == ("at least two models",)
    assert named("gaussian-difficulty").lacks(material)
    for name in ("statistical-error", "gap-split", "adaptivity-bound"):
        assert asked(name, material).figures


def test_models_that_are_all_right_make_no_line():
    right = np.ones((5, 200), bool)
    material = Material(answers("original", right), answers("new", right))
    assert named("gaussian-difficulty").lacks(material)
    found = asked("model-similarity", material)
    assert all(np.isfinite(one.value.estimate or 0.0) for one in found.figures)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["statistical-error", "gap-split", "gaussian-difficulty"])
def test_size_and_power_over_repeated_sets(name: str):
    chance = name == "statistical-error"
    found = [asked(name, halves(seed, 1_000)).effect is chance for seed in range(300)]
    false = 1 - np.mean(found)
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    planted = [asked(name, shifted(seed, 1_000)).effect is not chance for seed in range(60)]
    assert np.mean(planted) > 0.95
