"""The report of a retraining."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import resit
from extras import needs
from featured import PixelModel, exam
from resit import Retrained
from resit.data.benchmark import ClassInfo
from resit.report.retrain import accuracies, overview_table

needs("sklearn", "safetensors")
HOSTILE = "<script>&_%"
FEW = {"by": "region", "grid": (1e-2, 1e-1), "resamples": 100, "workers": 2}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Retrained:
    sets = []
    for seed, name in ((0, "homes"), (1, "others")):
        benchmark, model = exam(480, 8, seed=seed, name=name)
        region = np.where(benchmark.groups["region"] == "south", HOSTILE, "north")
        region[:9] = "islet"
        sets.append(replace(benchmark, groups={"region": region}))
    folder = tmp_path_factory.mktemp("retrained")
    return resit.retrain_last_layer(model, sets[0], folder, transfer=sets[1], pair=("north", HOSTILE), **FEW)


@pytest.fixture(scope="module")
def written(result: Retrained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return resit.report(result, tmp_path_factory.mktemp("report")).parent


def test_all_files_are_there(written: Path, result: Retrained):
    found = {path.relative_to(written).as_posix() for path in written.rglob("[!.]*") if path.is_file()}
    names = {f"retrain-{name}-region-{metric}" for name in ("homes", "others") for metric in ("top1", "top5")}
    drawings = {f"figures/{name}.{kind}" for name in names for kind in ("svg", "png", "pdf")}
    tables = {f"tables/{name}.{kind}" for name in ("retraining", "folds") for kind in ("csv", "md", "tex")}
    assert found == {"index.html", "result.json", *drawings, *tables}
    assert Retrained.from_json((written / "result.json").read_text()) == result


def test_page_escapes_names_and_asks_for_nothing(written: Path, result: Retrained):
    page = (written / "index.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;&amp;_%" in page
    assert "default-src 'none'" in page
    assert page.count("<svg") == 4
    for sentence in result.verdict:
        if "<" not in sentence:
            assert sentence.replace("'", "&#39;") in page
    assert "islet (small)" in page
    assert "best minus worst, points" in page


def test_tables_hold_figures_in_full(written: Path, result: Retrained):
    rows = list(csv.DictReader(io.StringIO((written / "tables/retraining.csv").read_text())))
    assert len(rows) == 4 * (1 + 3 + 1)
    one = result.outcomes[0]
    assert float(rows[0]["before"]) == one.before.accuracy.estimate
    assert float(rows[0]["change_low"]) == one.change.overall.difference.low
    assert int(rows[0]["only_after"]) == one.change.overall.only_after
    gap = rows[4]
    assert (gap["group"], float(gap["change"])) == ("best minus worst", one.change.disparity.estimate)
    folds = list(csv.DictReader(io.StringIO((written / "tables/folds.csv").read_text())))
    assert [row["fold"] for row in folds] == ["1", "2", "3", "4", "5", "all"]
    assert sum(int(row["test"]) for row in folds[:5]) == 480
    assert r"\textless{}script\textgreater{}\&\_\%" in (written / "tables/retraining.tex").read_text()


def test_the_page_begins_with_a_table_of_before_and_after(written: Path, result: Retrained):
    page = (written / "index.html").read_text()
    assert page.index("Before and after</h2>") < page.index('<ul class="leads">') < page.index("<figure")
    table = overview_table(result)
    assert [row[:3] for row in table.rows[:3]] == [
        ("homes", "top-1", "accuracy, %"),
        ("homes", "top-1", "best minus worst, points"),
        ("homes", "top-1", f"north minus {HOSTILE}, points"),
    ]
    assert len(table.rows) == 3 * len(result.outcomes)
    first = result.outcomes[0]
    assert table.rows[0][4].startswith(f"{100 * first.after.accuracy.estimate:.2f} [")


def test_small_groups_stand_last_in_the_picture(result: Retrained):
    order = accuracies(result.outcomes[0])["layer"][-1]["encoding"]["y"]["sort"]
    assert order[-1] == "islet (small) (9)"


def test_a_model_whose_own_head_is_not_comparable_is_drawn(tmp_path: Path):
    benchmark, model = exam(300, 8)
    strange = PixelModel(model.weight, model.bias, tuple(ClassInfo(f"x{at}", f"x{at}") for at in range(8)))
    found = resit.retrain_last_layer(strange, benchmark, tmp_path, **FEW)
    page = resit.report(found, tmp_path / "report").read_text()
    assert "Before is not available" in page
    assert "not available" in (tmp_path / "report" / "tables" / "retraining.md").read_text()
