"""Figures as people read them."""

from __future__ import annotations

import pytest
from fake import comparison, result

from resit.report import format as fmt
from resit.study.result import Estimate, Score


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (fmt.number(-0.00001), "0.000"),
        (fmt.number(-1.5, 1), "−1.5"),
        (fmt.number(1234.5, 1), "1,234.5"),
        (fmt.number(None), "not available"),
        (fmt.signed(0.2, 1), "+0.2"),
        (fmt.signed(0.0001, 1), "0.0"),
        (fmt.signed(-0.2, 1), "−0.2"),
        (fmt.percent(0.73444), "73.44%"),
        (fmt.percent(None), "not available"),
        (fmt.points(-0.1183), "−11.83"),
        (fmt.points(None), "not available"),
        (fmt.p_value(0.00001), "< 0.0001"),
        (fmt.p_value(0.0048), "= 0.0048"),
        (fmt.p_value(0.5), "= 0.50"),
        (fmt.bounds(-0.1, None), ""),
        (fmt.estimate(Estimate(1.1, 1.0, 1.2)), "1.100 [1.000, 1.200]"),
        (fmt.change(Estimate(-0.1, -0.12, -0.08)), "−10.00 [−12.00, −8.00]"),
        (fmt.change(Estimate(-0.1)), "−10.00"),
        (fmt.rank(2.5), "2.5"),
        (fmt.rank(-3.0), "−3"),
        (fmt.score(Score(3, 4, 0.75, 0.2, 0.99, "x", 1)), "75.00% [20.00, 99.00] (3 of 4)"),
        (fmt.score(Score(None, None, 0.75, None, None, None, 1)), "75.00%"),
        (fmt.metric("top5"), "top-5"),
        (fmt.metric("f1"), "f1"),
        (fmt.slug("../a set: 0.7/"), "a-set-0.7"),
        (fmt.slug("///"), "set"),
    ],
)
def test_figures_read_well(said: str, text: str) -> None:
    assert said == text


def test_no_two_file_names_are_alike() -> None:
    stems = fmt.stems(result(comparison("a/b"), comparison("a b"), comparison("A-B")))
    assert len({stem.lower() for stem in stems}) == 3
