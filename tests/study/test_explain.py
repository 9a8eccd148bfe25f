"""Explanations: what runs, what says what it lacks, what is left of a drop, and JSON there and back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import accuracies, predictions

import resit
from resit import Benchmark, Explanation, ModelId, Predictions
from resit.data.benchmark import ClassInfo
from resit.errors import InputError, OutputError, UsageError
from resit.study.estimate import Estimate
from resit.study.explain_result import Finding, Gathered
from resit.study.explain_verdict import left_of, left_sentence
from resit.study.hypotheses import registry
from resit.study.hypotheses.interface import Hypothesis, Material

QUICK = ("statistical-error", "gap-split", "adaptivity-bound")


@pytest.fixture
def sets() -> tuple[Predictions, Predictions]:
    old = [0.95, 0.9, 0.85, 0.8, 0.7]
    return predictions("old", old), predictions("new", [one - 0.1 for one in old], seed=1)


def test_the_drop_and_its_interval_stand_over_all_hypotheses(sets: tuple[Predictions, Predictions]):
    found = resit.explain(*sets, only=QUICK, resamples=200)
    assert [one.name for one in found.findings] == list(QUICK)
    old, new = (one.correct().mean() for one in sets)
    assert found.drop.estimate == pytest.approx(old - new)
    assert (found.drop.low or 0) < old - new < (found.drop.high or 0)
    assert found.n_models == 5


def test_it_comes_back_from_json_and_is_the_same_each_time(sets: tuple[Predictions, Predictions]):
    found = resit.explain(*sets, only=QUICK, resamples=200, seed=3)
    assert Explanation.from_json(found.to_json()) == found
    assert resit.explain(*sets, only=QUICK, resamples=200, seed=3) == found
    assert resit.explain(*sets, only=QUICK, resamples=200, seed=4) != found


def test_every_hypothesis_is_asked_and_says_what_it_lacks(sets: tuple[Predictions, Predictions]):
    found = resit.explain(*sets, resamples=100)
    assert [one.name for one in found.findings] == [name.replace("_", "-") for name in registry.MODULES]
    for one in found.findings:
        assert one.state in ("ran", "not run"), one.verdict
        assert one.verdict
        assert bool(one.needs) == (one.state == "not run")
    assert str(found)


def test_models_on_one_set_only_and_their_order_do_not_matter(sets: tuple[Predictions, Predictions]):
    old, new = sets
    turned = new.select(new.models[::-1][:4])
    found = resit.explain(old, turned, only=QUICK, resamples=100)
    assert found.n_models == 4
    assert found.drop == resit.explain(old.select(old.models[1:]), new, only=QUICK, resamples=100).drop


def failing(error: BaseException) -> Hypothesis:
    def run(*_: object) -> Gathered:
        raise error

    return Hypothesis("broken", "Broken", "?", "none", lambda _: (), lambda *_: 1.0, run)


def test_one_that_fails_leaves_the_others(sets: tuple[Predictions, Predictions], monkeypatch: pytest.MonkeyPatch):
    asked = (failing(ValueError("no convergence")), *registry.hypotheses(QUICK))
    monkeypatch.setattr("resit.study.explain.hypotheses", lambda _: asked)
    found = resit.explain(*sets, resamples=100)
    assert [one.state for one in found.findings] == ["failed", "ran", "ran", "ran"]
    assert "no convergence" in found.finding("broken").verdict


def test_what_is_left_takes_each_part_away_once_and_never_adds():
    def part(name: str, value: Estimate | None, kind: str = "estimate") -> Finding:
        return Finding(name, name, "?", "s", "ran", "v", part=value, kind=kind)  # type: ignore[arg-type]

    findings = [
        part("statistical-error", Estimate(0.01), "bound"),
        part("a", Estimate(0.02, 0.01, 0.03)),
        part("b", Estimate(0.005), "bound"),
        part("easier", Estimate(-0.04, -0.05, -0.03)),
        part("nothing", None),
        part("selection-frequency", Estimate(0.01, 0.0, 0.025)),
        part("sampling-strategy", Estimate(0.02, 0.015, 0.03)),
        part("hyperparameters", Estimate(0.0, 0.0, 0.002), "bound"),
        part("adaptivity-bound", Estimate(0.004), "bound"),
    ]
    left = left_of(Estimate(0.1), findings)
    assert left.by_estimates == pytest.approx(0.06)
    assert left.at_least == pytest.approx(0.1 - 0.03 - 0.005 - 0.03 - 0.004)
    assert left.counted == ("a", "b", "easier", "sampling-strategy", "adaptivity-bound")
    assert "sampling-strategy and selection-frequency measure one cause" in left_sentence(Estimate(0.1), left, findings)
    assert "none are left by the estimates of 3 hypotheses, which add up to 1.00 more" in left_sentence(
        Estimate(0.03), left_of(Estimate(0.03), findings), findings
    )


def test_what_cannot_be_explained_is_refused(sets: tuple[Predictions, Predictions], tmp_path: Path):
    old, new = sets
    with pytest.raises(UsageError, match="figures only"):
        resit.explain(accuracies("old", [0.9, 0.8]), new)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no model is on both"):
        resit.explain(old, replace(new, models=tuple(resit.ModelId(f"x{at}") for at in range(5))))
    with pytest.raises(UsageError, match="no hypothesis 'magic'"):
        resit.explain(old, new, only=("magic",))
    with pytest.raises(UsageError, match="at least 50"):
        resit.explain(old, new, resamples=3)
    with pytest.raises(UsageError, match="between 0 and 1"):
        resit.explain(old, new, hardest=1.0)
    with pytest.raises(InputError, match="cannot be read"):
        resit.explain(old, new, human=tmp_path / "none.json")


def test_sets_without_a_class_in_common_are_refused(sets: tuple[Predictions, Predictions]):
    old, new = sets
    names = tuple(ClassInfo(f"n{at}", f"n{at}") for at in range(10))
    others = tuple(ClassInfo(f"z{at}", f"z{at}") for at in range(10))
    a, b = (replace(one, benchmark=replace(one.benchmark, classes=own)) for one, own in ((old, names), (new, others)))
    with pytest.raises(UsageError, match="no class is in both"):
        resit.explain(a, b, only=QUICK)


def test_answers_are_explained_where_no_extra_is_installed():
    blocked = "import sys; sys.modules.update(dict.fromkeys(('sqlalchemy', 'torch', 'sklearn', 'ray', 'httpx')))"
    asked = "import resit; from resit.study.hypotheses.registry import hypotheses; resit.explain; print(len(hypotheses()))"
    done = subprocess.run([sys.executable, "-c", f"{blocked}; {asked}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(registry.MODULES)


@pytest.mark.parametrize(
    "error", [KeyError("x"), OutputError("cannot be written"), UsageError("too few"), RuntimeError("odd"), SystemExit(7)]
)
def test_no_failure_of_one_costs_the_others(
    sets: tuple[Predictions, Predictions], monkeypatch: pytest.MonkeyPatch, error: BaseException
):
    asked = (failing(error), *registry.hypotheses(("gap-split",)))
    monkeypatch.setattr("resit.study.explain.hypotheses", lambda _: asked)
    found = resit.explain(*sets, resamples=100)
    assert [one.state for one in found.findings] == ["failed", "ran"]


def test_answers_on_candidates_are_of_the_same_models(sets: tuple[Predictions, Predictions], monkeypatch: pytest.MonkeyPatch):
    old, new = sets
    seen = []

    def run(material: Material, *_: object) -> Gathered:
        seen.append(material.candidates)
        return Gathered("seen")

    one = Hypothesis("looks", "Looks", "?", "none", lambda _: (), lambda *_: 0.0, run)
    monkeypatch.setattr("resit.study.explain.hypotheses", lambda _: (one,))
    resit.explain(old.select(old.models[1:]), new, candidates=new.select(new.models[::-1]), resamples=100)
    assert seen[0].models == old.models[1:]


def ranked(name: str, orders: Sequence[str], seed: int) -> Predictions:
    """Five answers to each example, of models that store them best first, worst first, or one alone."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(10, size=300).astype(np.int32)
    best = np.stack([np.where(rng.random(300) < 0.8, labels + at, labels + at + 1) % 10 for at in range(5)], 1)
    rows = {"best": best, "worst": best[:, ::-1], "alone": np.pad(best[:, :1], ((0, 0), (0, 4)), constant_values=-1)}
    models = tuple(ModelId(f"{order}-{at}") for at, order in enumerate(orders))
    answers = np.stack([rows[order] for order in orders]).astype(np.int16)
    depth = np.array([1 if order == "alone" else 5 for order in orders], np.int16)
    return Predictions(Benchmark(name, labels[:, None]), models, answers, depth=depth)


def test_answers_stored_worst_first_are_told():
    orders = ["best", "best", "worst"]
    found = resit.explain(ranked("old", orders, 0), ranked("new", orders, 1), only=("gap-split",), resamples=100)
    assert {one.where for one in found.warnings if one.code == "worst-first"} == {"worst-2@old", "worst-2@new"}


def test_one_answer_an_example_is_no_top5():
    orders = ["best", "alone", "best"]
    sets = ranked("old", orders, 0), ranked("new", orders, 1)
    found = resit.explain(*sets, only=("gap-split",), metric="top5", resamples=100)
    assert found.n_models == 2
    (left,) = [one for one in found.warnings if one.code == "models-left-out"]
    assert "alone-1" in left.message
    with pytest.raises(UsageError, match="no model has top5 on both sets"):
        resit.explain(*(one.select([ModelId("alone-1")]) for one in sets), metric="top5")


def test_a_set_and_itself_under_another_name_is_told(sets: tuple[Predictions, Predictions]):
    again = replace(sets[0], benchmark=replace(sets[0].benchmark, name="again"))
    found = resit.explain(sets[0], again, only=("gap-split",), resamples=100)
    assert found.drop.estimate == 0
    assert [one for one in found.warnings if "same set" in one.message]
