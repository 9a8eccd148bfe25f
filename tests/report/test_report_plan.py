"""The report of a plan."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from html import escape
from pathlib import Path

import numpy as np
import pytest

import resit
from resit.data.accuracies import Figures
from resit.study.plan_result import AnyPlan

PLANS: dict[str, Callable[[], AnyPlan]] = {
    "plan": lambda: resit.plan(0.76, 0.01, discordance=0.115),
    "plan-votes": lambda: resit.plan_votes(votes=[5, 10]),
    "plan-images": lambda: resit.plan_images(0.8, width=0.3, per_class=[10, 20]),
    "plan-models": lambda: resit.plan_models(0.2, count=[10, 40], resamples=300),
    "plan-swap": lambda: resit.plan_swap(0.05, discordance=0.2, n=900, new_n=800),
}
FIGURES = {
    "plan": ["plan-width"],
    "plan-votes": ["plan-votes-accuracy", "plan-votes-frequency"],
    "plan-images": ["plan-images-width", "plan-images-candidates"],
    "plan-models": ["plan-models"],
    "plan-swap": ["plan-swap"],
}


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_has_its_page_its_pictures_and_its_table(name: str, tmp_path: Path):
    plan = PLANS[name]()
    written = resit.report(plan, tmp_path / "report").parent
    found = {path.relative_to(written).as_posix() for path in written.rglob("[!.]*") if path.is_file()}
    drawings = {f"figures/{stem}.{kind}" for stem in FIGURES[name] for kind in ("svg", "png", "pdf")}
    assert found == {"index.html", "result.json", *drawings, *(f"tables/{name}.{kind}" for kind in ("csv", "md", "tex"))}
    page = (written / "index.html").read_text()
    assert page.count('<figure class="picture"') == len(FIGURES[name])
    assert escape(str(plan).split("\n")[0]).replace("&#x27;", "&#39;") in page
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert json.loads((written / "result.json").read_text()) == json.loads(plan.to_json())


def test_the_tables_hold_the_figures_in_full(tmp_path: Path):
    plan = PLANS["plan-votes"]()
    assert isinstance(plan, resit.VotesPlan)
    written = resit.report(plan, tmp_path / "report").parent
    rows = list(csv.DictReader(io.StringIO((written / "tables/plan-votes.csv").read_text())))
    assert [row["votes"] for row in rows] == ["5", "10", ""]
    assert [float(row["accuracy_shift"]) for row in rows] == [row.accuracy_shift for row in (*plan.rows, plan.limit)]
    assert "unlimited" in (written / "tables/plan-votes.md").read_text()


def test_sets_of_models_without_a_line_are_told(tmp_path: Path):
    few = resit.plan_models(0.2, runs=alike(), count=[3], resamples=300)
    assert few.rows[0].width is None
    assert "no line in many sets" in str(few)
    assert "not available" in resit.report(few, tmp_path / "models").read_text()


def alike() -> list[resit.Accuracies]:
    """Four models, three of them with one accuracy."""
    models = tuple(resit.ModelId(f"m{at}") for at in range(4))
    found = []
    for name, values in (("old", [0.5, 0.5, 0.5, 0.9]), ("new", [0.4, 0.4, 0.4, 0.8])):
        known, n = np.array(values), np.full(4, 100.0)
        found.append(resit.Accuracies(name, models, {"top1": Figures(known, known * n, n, np.full(4, np.nan))}))
    return found
