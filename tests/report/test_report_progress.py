"""The report of a study of progress."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import resit
from resit import Accuracies, ModelId, OutputError
from resit.data.accuracies import Figures
from resit.report.progress import lines


def figures(name: str, values: list[float]) -> Accuracies:
    known, n = np.array(values), np.full(len(values), 200.0)
    models = tuple(ModelId(f"m{at}") for at in range(len(values)))
    return Accuracies(name, models, {"top1": Figures(known, known * n, n, np.full(len(values), np.nan))})


@pytest.fixture(scope="module")
def result() -> resit.Progress:
    old, hostile = figures("old", [0.5, 0.6, 0.7, 0.8]), figures("<script>&_%", [0.4, 0.52, 0.6, 0.75])
    return resit.progress(old, hostile, figures("flat", [0.5, 0.51, 0.49, 0.5]), model_resamples=300)


@pytest.fixture(scope="module")
def written(result: resit.Progress, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return resit.report(result, tmp_path_factory.mktemp("report")).parent


def test_all_files_are_there(written: Path):
    found = {path.relative_to(written).as_posix() for path in written.rglob("[!.]*") if path.is_file()}
    drawings = {f"figures/{name}-top1.{kind}" for name in ("progress", "rates") for kind in ("svg", "png", "pdf")}
    assert found == {"index.html", "result.json", *drawings, *(f"tables/progress.{kind}" for kind in ("csv", "md", "tex"))}
    assert resit.Progress.from_json((written / "result.json").read_text()).standard == "<script>&_%"


def test_page_escapes_names_and_asks_for_nothing(written: Path, result: resit.Progress):
    page = (written / "index.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;&amp;_%" in page
    assert "default-src 'none'" in page
    assert page.count("<svg") >= 2
    assert "unbounded: the interval of the slope on flat holds 0" in page


def test_table_holds_fractions_in_full_and_latex_is_escaped(written: Path, result: resit.Progress):
    rows = list(csv.DictReader(io.StringIO((written / "tables/progress.csv").read_text())))
    assert float(rows[0]["rate"]) == result.rates[0].fits["linear"].slope.estimate
    assert [row["gap"] for row in rows if row["set"] == "flat"] == ["", ""]
    assert r"\textless{}script\textgreater{}\&\_\%" in (written / "tables/progress.tex").read_text()


def test_a_line_without_an_interval_is_drawn_without_a_band():
    old, new = figures("old", [0.5, 0.6, 0.8]), figures("new", [0.4, 0.45, 0.55])
    found = resit.progress(old, new, model_resamples=0)
    _, band, line = lines(list(found.rates), "old")["layer"]
    drawn = [(point["set"], round(point["x"], 6), round(point["y"], 6)) for point in line["data"]["values"]]
    assert drawn == [("new", 50, 40), ("new", 80, 55)]
    assert band["transform"] == [{"filter": "isValid(datum.low)"}]


def test_it_takes_the_place_of_another_report_and_of_nothing_else(result: resit.Progress, tmp_path: Path):
    comparison = resit.compare(figures("old", [0.5, 0.6, 0.7]), figures("new", [0.4, 0.5, 0.6]), model_resamples=50)
    resit.report(comparison, tmp_path / "report")
    resit.report(result, tmp_path / "report")
    assert not list((tmp_path / "report").rglob("*scatter*"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="other files and no report"):
        resit.report(result, tmp_path / "mine")
