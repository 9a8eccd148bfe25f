"""Sentences say what the intervals say, and no more."""

from __future__ import annotations

import pytest

from resit.study.result import Estimate, Fit, LabelSpaces
from resit.study.verdict import slope_sentences


def fits(linear: tuple[float, float, float] | None, probit: tuple[float, float, float] | None = None, r2: float = 0.99):
    nothing = Estimate(None)

    def fit(scale: str, slope: tuple[float, float, float] | None) -> Fit:
        figure = Estimate(*slope) if slope else nothing
        return Fit(scale, 20, figure, nothing, r2 if slope else None, 0.01, reason=None if slope else "only two models")

    return {"linear": fit("linear", linear), "probit": fit("probit", probit or linear), "logit": fit("logit", probit or linear)}


SAME = LabelSpaces("imagenet-1k", "imagenet-1k")


def said(*arguments, change: float = -0.1, baseline: str = "all", spaces: LabelSpaces = SAME, **more) -> str:
    return " ".join(slope_sentences(fits(*arguments, **more), baseline, change, spaces))


def test_a_slope_surely_below_one_would_look_like_overfitting():
    text = said((0.8, 0.7, 0.9))
    assert "Adaptive overfitting (diminishing returns) would look like this" in text
    assert "floor or ceiling" in text


def test_a_slope_at_or_above_one_is_what_the_papers_found_and_a_common_drop_is_not_excluded():
    text = said((1.1, 1.0, 1.2))
    assert "at or above 1" in text
    assert "A drop that is common to all models is not excluded" in text


def test_an_interval_that_holds_one_decides_nothing():
    text = said((1.1, 0.9, 1.3))
    assert "neither shown nor excluded" in text
    assert "would look like" not in text
    assert "No sign" not in text


def test_an_easier_new_set_is_no_test_of_overfitting():
    text = said((0.5, 0.4, 0.6), change=0.02)
    assert "do not lose on the new set, so the slope is no test" in text
    assert "would look like" not in text


def test_without_an_interval_nothing_is_said_of_overfitting():
    assert "without an interval it says nothing" in " ".join(
        slope_sentences(
            {scale: Fit(scale, 20, Estimate(0.8), Estimate(0.1), 0.9, 0.01) for scale in fits(None)}, "all", -0.1, SAME
        )
    )


def test_scales_that_disagree_are_told():
    text = said((1.1, 1.05, 1.2), (0.97, 0.95, 0.99))
    assert "scales disagree" in text
    assert "0.970 [0.950, 0.990] on the probit scale" in text
    assert "scales disagree" not in said((1.1, 1.05, 1.2), (1.2, 1.1, 1.3))


def test_a_weak_line_is_called_weak():
    assert "explains 40 % of the variance" in said((1.1, 1.05, 1.2), r2=0.4)


def test_no_line_says_why():
    assert said(None) == "No line is fitted: only two models."


@pytest.mark.parametrize(
    ("baseline", "words"), [("all", "Over all 20 models"), ("kind=convnet", "20 baseline models (kind=convnet)")]
)
def test_the_baseline_is_named(baseline: str, words: str):
    assert words in said((1.1, 1.0, 1.2), baseline=baseline)


def test_case_4_axes_over_different_classes_are_no_test_of_overfitting():
    text = said((0.5, 0.4, 0.6), r2=0.5, spaces=LabelSpaces("imagenet-1k", "imagenet-a"))
    assert "different sets of classes (imagenet-1k, imagenet-a)" in text
    assert "explains 50 %" in text
    assert "would look like" not in text
