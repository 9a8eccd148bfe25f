"""The report of an explanation: every hypothesis on one page, one picture of all parts, a gallery of images."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from resit import Explanation, report
from resit.report.explain import explain_files, parts
from resit.report.pictures import rows_of, spec_of
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Finding, Left, Picture, Point, Series, Sheet, Tile, Unit
from resit.study.result import SetInfo

HOSTILE = "<b>&\"'</script>"
UNITS: tuple[Unit, ...] = ("number", "count", "fraction")
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def finding(name: str, **more: object) -> Finding:
    start: dict[str, object] = {"title": name.title(), "question": f"Is it {name}?", "source": "R19", "state": "ran"}
    return Finding(name=name, **{**start, "verdict": f"It is {name}.", **more})  # type: ignore[arg-type]


@pytest.fixture
def result() -> Explanation:
    named = Picture("Models", "model", "accuracy", (Series("old", (Point(f"{HOSTILE}1", 0.9, 0.8, 0.95), Point("b", 0.7))),))
    line = Picture("Line", "share", "images", (Series("line", (Point(0.1, 0.2, 0.1, 0.3), Point(0.5, 0.4, 0.3, 0.5)), "band"),))
    findings = (
        finding(
            "shift",
            effect=True,
            part=Estimate(0.02, 0.01, 0.03),
            figures=(Figure("size", "points", Estimate(0.02, 0.01, 0.03), 10), Figure("unknown", "count", Estimate(None))),
            pictures=(named, line),
            sheets=(
                Sheet("By bin", ("bin", "n", "accuracy"), ("number", "count", "fraction"), (("low", 3, 0.5), ("all", 4, None))),
            ),
            warnings=(Caution("few", HOSTILE, "Few images."),),
        ),
        finding("reuse", kind="bound", part=Estimate(0.005)),
        finding("hard", gallery=(Tile(DOT, f"cat {HOSTILE}", "original"), Tile(DOT, "dog", "new"))),
        finding("folds", state="not run", verdict="Not run: it needs training data (--train).", needs=("training data",)),
        finding("broken", state="failed", verdict="It failed: ValueError"),
    )
    info = SetInfo(f"old {HOSTILE}", 100, "predictions", "unnamed", 3)
    return Explanation(
        "resit.explain/1",
        0.95,
        0,
        "top1",
        info,
        replace(info, name="new"),
        3,
        Estimate(0.1, 0.08, 0.12, "resamples"),
        findings,
        Left(0.08, 0.065, ("shift", "reuse")),
        ("The drop is 10 points.", "At least 6.50 points are left."),
        (),
        {"folds": "6"},
        {"resit": "1"},
    )


def test_every_hypothesis_has_its_place_and_nothing_is_markup(result: Explanation):
    page = explain_files(result)["index.html"].decode()
    for one in result.findings:
        assert f'id="{one.name}"' in page
        assert f'href="#{one.name}"' in page
        assert one.verdict in page
    assert HOSTILE not in page
    assert "At least 6.50 points are left." in page
    assert "Few images." in page


def test_the_tables_have_the_figures_of_the_result(result: Explanation):
    files = explain_files(result)
    rows = list(csv.DictReader(io.StringIO(files["tables/parts.csv"].decode())))
    assert [(row["hypothesis"], row["estimate"], row["kind"]) for row in rows[:2]] == [
        ("shift", "0.02", "estimate"),
        ("reuse", "0.005", "bound"),
    ]
    assert rows[3]["state"] == "not run"
    sheet = list(csv.DictReader(io.StringIO(files["tables/shift-1.csv"].decode())))
    assert sheet == [{"bin": "low", "n": "3", "accuracy": "0.5"}, {"bin": "all", "n": "4", "accuracy": ""}]


def test_the_picture_of_all_parts_counts_in_points(result: Explanation):
    values = [row for layer in parts(result)["layer"] if "series" in str(layer) for row in layer["data"]["values"]]
    shift = next(row for row in values if row["x"] == "Shift")
    assert shift == {"series": "explained", "x": "Shift", "y": pytest.approx(2.0), "low": 1.0, "high": 3.0}
    assert {row["series"] for row in values} == {"the drop", "explained", "at most", "left"}


def test_images_have_a_page_of_their_own_and_only_where_there_are_any(result: Explanation):
    files = explain_files(result)
    assert "gallery.html#hard" in files["index.html"].decode()
    gallery = files["gallery.html"].decode()
    assert gallery.count(DOT) == 2
    assert HOSTILE not in gallery
    none = replace(result, findings=tuple(replace(one, gallery=()) for one in result.findings))
    assert "gallery.html" not in explain_files(none)


def test_it_is_written_with_its_result(result: Explanation, tmp_path: Path):
    index = report(result, tmp_path / "out")
    assert index.exists()
    assert Explanation.from_json((tmp_path / "out/result.json").read_text()) == result
    assert (tmp_path / "out/figures/parts.svg").exists()
    assert (tmp_path / "out/figures/shift-2.pdf").exists()


def test_names_make_rows_and_numbers_make_none():
    picture = Picture("t", "", "y", (Series("s", (Point("a", 1.0), Point("b", 2.0))), Series("r", (Point("a", 3.0),))))
    assert rows_of(picture) == 2
    assert "height" in spec_of(picture)
    numbers = Picture("t", "x", "y", (Series("s", (Point(1.0, 1.0),)),))
    assert rows_of(numbers) == 0
    assert "height" not in spec_of(numbers)


def test_marks_stand_beside_each_other_only_where_they_share_a_row():
    def encodings(names: tuple[str, str]) -> list[bool]:
        series = tuple(Series(f"s{at}", (Point(name, 0.1 * at),)) for at, name in enumerate(names))
        drawn = spec_of(Picture("p", "x", "y", series))
        return ["yOffset" in layer["encoding"] for layer in drawn["layer"] if layer["mark"]["type"] == "point"]

    assert encodings(("a", "a")) == [True, True]
    assert encodings(("a", "b")) == [False, False]
