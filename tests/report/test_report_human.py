"""The section on people: what it shows, with whom nobody handed in, and that a report without people has none."""

from __future__ import annotations

import dataclasses

from fake import HOSTILE, comparison, estimate, result

from resit.report.human import human_view
from resit.report.page import render
from resit.study.estimate import Caution, Estimate
from resit.study.human_result import HumanAccuracy, Marks, ModelMarks, ModelsBeside, PersonRow, Pooled


def marks(correct: int, n: int = 50) -> Marks:
    return Marks(correct, n, 2, 3, estimate(correct / n, 0.1, "Clopper-Pearson"))


def human(*names: str) -> HumanAccuracy:
    people = tuple(
        PersonRow(name, marks(45 - at), marks(40), estimate(-0.1 + at / 50, 0.12, "Newcombe")) for at, name in enumerate(names)
    )
    pooled = (
        Pooled(len(names), 10_000, estimate(0.9), estimate(0.8), estimate(-0.1, 0.1, "crossed bootstrap")) if names else None
    )
    beside = ModelsBeside(0.25, 0.125, -0.125, True, (ModelMarks("m", 0.25, 0.125),))
    return HumanAccuracy(
        schema="resit.human/1",
        exam="Exam <1>",
        build="pets 1.0",
        level=0.95,
        seed=0,
        rule="The hardest 5 %.",
        n_original=50,
        n_new=50,
        n_classes=10,
        people=people,
        pooled=pooled,
        models=beside,
        partial=(),
        verdict=("People are right.",) if names else (),
        warnings=(Caution("few-people", "Exam <1>", "Only few."),),
        settings={},
        versions={},
        reason=None if names else "nobody has handed the exam in",
    )


def page(found: HumanAccuracy | None) -> str:
    return render(dataclasses.replace(result(comparison()), human=found), lambda: "")


def test_everybody_all_and_the_models_are_in_table_and_chart():
    view = human_view(human("Ann", *HOSTILE[:1]))
    assert view is not None
    assert [row[0] for row in view.table.rows] == ["Ann", HOSTILE[0], "All people", "Models, mean of 1"]
    assert view.table.rows[0] == (
        "Ann",
        "90.0 [80.0, 100.0] (45 of 50)",
        "80.0 [70.0, 90.0] (40 of 50)",
        "−10.00 [−22.00, +2.00]".replace("+", ""),
        "4",
        "6",
    )
    assert view.plot is not None
    assert [line.label for line in view.plot.rows] == [row[0] for row in view.table.rows]
    assert [len(line.spans) for line in view.plot.rows] == [2, 2, 2, 0]


def test_the_section_stands_in_the_page_and_quotes_names():
    text = page(human("Ann", *HOSTILE))
    assert "People on the same images" in text
    assert "Exam &lt;1&gt;" in text
    assert HOSTILE[0] not in text
    assert "People are right." in text
    assert "Only few." in text


def test_nobody_is_told_and_without_an_exam_there_is_no_section():
    assert "nobody has handed the exam in" in page(human())
    assert "People on the same images" not in page(None)
    assert human_view(None) is None


def test_what_has_no_interval_is_shown_without():
    found = human("Ann", "Bo")
    assert found.pooled is not None
    bare = dataclasses.replace(found.pooled, change=Estimate(0.0, reason="all alike"))
    view = human_view(dataclasses.replace(found, pooled=bare))
    assert view is not None
    assert view.table.rows[2][3] == "0.00"
