"""The report of a study of groups."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import resit
from resit import Benchmark, ModelId, OutputError, Predictions
from resit.report.groups import accuracies

HOSTILE = "<script>&_%"


def answers(name: str, models: int = 3, values: tuple[str, ...] = (HOSTILE, "B", "C")) -> Predictions:
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 8
    groups = np.array(values)[np.arange(240) % len(values)]
    right = rng.random((models, 240)) < 0.6 + 0.05 * np.arange(models)[:, None]
    given = np.where(right, labels, (labels + 1) % 8)[:, :, None].astype(np.int16)
    benchmark = Benchmark(name, labels[:, None].astype(np.int32), groups={"region": groups, "half": (labels % 2).astype(str)})
    return Predictions(benchmark, tuple(ModelId(f"m{at}") for at in range(models)), given)


@pytest.fixture(scope="module")
def result() -> resit.Groups:
    new = answers("new")
    return resit.groups(new, by=["region", "half"], pair=("B", "C"), original=answers("old"), resamples=200)


@pytest.fixture(scope="module")
def written(result: resit.Groups, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return resit.report(result, tmp_path_factory.mktemp("report")).parent


def test_all_files_are_there(written: Path, result: resit.Groups):
    found = {path.relative_to(written).as_posix() for path in written.rglob("[!.]*") if path.is_file()}
    names = {f"{kind}-new-{by}-top1" for kind in ("groups", "disparity") for by in ("region", "half", "region-half")}
    names |= {f"trend-new-{by}-top1-best-minus-worst" for by in ("region", "half", "region-half")}
    names.add("trend-new-region-top1-B-minus-C")
    drawings = {f"figures/{name}.{kind}" for name in names for kind in ("svg", "png", "pdf")}
    tables = {f"tables/{name}.{kind}" for name in ("groups", "disparity", "trends") for kind in ("csv", "md", "tex")}
    assert found == {"index.html", "result.json", *drawings, *tables}
    assert resit.Groups.from_json((written / "result.json").read_text()) == result


def test_page_escapes_names_and_asks_for_nothing(written: Path, result: resit.Groups):
    page = (written / "index.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;&amp;_%" in page
    assert "default-src 'none'" in page
    assert page.count("<svg") >= 10
    for sentence in result.verdict:
        if "<" not in sentence:
            assert sentence in page
    assert page.index('class="warnings"') < page.index('id="disparity"') if result.warnings else True


def test_tables_hold_figures_in_full_and_latex_is_escaped(written: Path, result: resit.Groups):
    rows = list(csv.DictReader(io.StringIO((written / "tables/groups.csv").read_text())))
    first = result.studies[0].models[0].groups[0]
    assert (rows[0]["group"], float(rows[0]["accuracy"])) == (first.group, first.accuracy.estimate)
    assert len(rows) == 3 * (3 + 2 + 6)
    disparity = list(csv.DictReader(io.StringIO((written / "tables/disparity.csv").read_text())))
    assert float(disparity[0]["null_mean"]) == result.studies[0].models[0].disparity.null.mean
    assert disparity[0]["gap_10"] == ""
    assert r"\textless{}script\textgreater{}\&\_\%" in (written / "tables/groups.tex").read_text()


def test_many_groups_models_and_no_original_are_drawn(tmp_path: Path):
    countries = tuple(f"c{at}" for at in range(12))
    found = resit.groups(answers("set", 9, countries), by="region", min_size=10, resamples=50)
    page = resit.report(found, tmp_path / "report")
    assert "Gap 10 %, points" in page.read_text()
    assert not (page.parent / "tables" / "trends.csv").exists()
    alone = resit.groups(answers("set", 1, ("only",)), by="region", resamples=50)
    assert "not available" in resit.report(alone, tmp_path / "report").read_text()
    assert not list((tmp_path / "report" / "figures").glob("disparity-*"))


def test_small_groups_stand_after_the_others_and_are_marked():
    new = answers("new")
    new.benchmark.groups["region"][:2] = "rare"  # both are right
    new.answers[:, :2, 0] = new.benchmark.labels[:2, 0]
    drawn = accuracies(resit.groups(new, by="region", resamples=0).studies[0])
    order = drawn["layer"][-1]["encoding"]["y"]["sort"]
    assert order[-1] == "rare (2, small)"
    assert not any("small" in name for name in order[:-1])


def test_it_takes_the_place_of_another_report_and_of_nothing_else(result: resit.Groups, tmp_path: Path):
    comparison = resit.compare(answers("old"), answers("new"), model_resamples=50, example_resamples=50)
    resit.report(comparison, tmp_path / "report")
    resit.report(result, tmp_path / "report")
    assert not list((tmp_path / "report").rglob("*scatter*"))
    resit.report(comparison, tmp_path / "report")
    assert not list((tmp_path / "report").rglob("*disparity*"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="other files and no report"):
        resit.report(result, tmp_path / "mine")
