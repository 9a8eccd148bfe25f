"""Human accuracy: people's own drop as a part, with its sign, and what is said where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from material_made import answers, asked, codes, lacking, value

from resit.study.estimate import Caution, Estimate
from resit.study.human_result import SCHEMA, HumanAccuracy, Marks, ModelMarks, ModelsBeside, PersonRow, Pooled
from resit.study.hypotheses.interface import Material

NAME = "human-accuracy"


def exam(low: float | None, change: float, high: float | None, people: int = 3, n: int = 200) -> HumanAccuracy:
    """People whose accuracy changes by so much, with this interval."""
    old = Estimate(0.95, 0.93, 0.97)
    new = Estimate(0.95 + change, 0.9, 0.99)
    moved = Estimate(change, low, high, "made" if low is not None else None, None if low is not None else "all alike")
    marks = [Marks(round(n * one.estimate), n, 0, 0, one) for one in (old, new) if one.estimate is not None]
    rows = tuple(PersonRow(f"p{at}", marks[0], marks[1], moved) for at in range(people))
    return HumanAccuracy(
        schema=SCHEMA,
        exam="exam",
        build="b",
        level=0.95,
        seed=0,
        rule="r",
        n_original=n,
        n_new=n,
        n_classes=10,
        people=rows,
        pooled=Pooled(people, 100, old, new, moved) if people else None,
        models=ModelsBeside(0.9, 0.78, -0.12, False, (ModelMarks("m0", 0.9, 0.78),)),
        partial=(),
        verdict=(),
        warnings=(Caution("seen-before", "p0", "Knows some."), Caution("seen-before", "p1", "Knows some too.")),
        settings={},
        versions={},
        reason=None if people else "nobody has handed the exam in",
    )


def material(human: HumanAccuracy | None) -> Material:
    right = np.random.default_rng(0).random((4, 100)) < 0.8
    return Material(answers("old", right), answers("new", right), human=human)


def test_peoples_drop_is_the_part_with_its_sign_turned():
    found = asked(NAME, material(exam(-0.06, -0.04, -0.02)))
    assert found.effect is True
    assert found.part is not None
    assert (found.part.estimate, found.part.low, found.part.high) == (0.04, 0.02, 0.06)
    assert "harder for people too" in found.verdict
    assert value(found, "models' drop") == pytest.approx(0.12)


def test_people_who_do_as_well_on_both_explain_nothing():
    found = asked(NAME, material(exam(-0.02, 0.005, 0.03)))
    assert found.effect is False
    assert found.part is not None
    assert found.part.estimate == -0.005
    assert "3 people did not do worse" in found.verdict.lower()


def test_easier_images_are_a_part_below_zero():
    found = asked(NAME, material(exam(0.01, 0.03, 0.05)))
    assert found.effect is True
    assert found.part is not None
    assert found.part.high == -0.01
    assert "easier" in found.verdict


def test_without_an_interval_nothing_is_decided():
    found = asked(NAME, material(exam(None, -0.03, None)))
    assert found.effect is None
    assert "not decided" in found.verdict


def test_all_warnings_of_the_exam_stay_and_few_images_are_told():
    found = asked(NAME, material(exam(-0.06, -0.04, -0.02, n=40)))
    assert [one.where for one in found.warnings if one.code == "seen-before"] == ["p0", "p1"]
    assert "few-images" in codes(found)


def test_models_may_be_missing():
    found = asked(NAME, material(replace(exam(-0.06, -0.04, -0.02), models=None)))
    assert not any(one.name.startswith("models") for one in found.figures)


def test_what_is_missing_is_said():
    assert "--human" in lacking(NAME, material(None))
    assert "nobody has handed the exam in" in lacking(NAME, material(exam(None, 0.0, None, people=0)))
