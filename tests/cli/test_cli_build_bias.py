"""``resit build bias``: its report, its record, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extras import needs
from steps_made import begin, photos, set_target, votes, write_rows

needs("sqlalchemy", "alembic", "httpx")
from resit.build.steps.dedupe import find_duplicates  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.label import import_votes  # noqa: E402
from resit.build.steps.opened import open_build  # noqa: E402
from resit.build.steps.sample import draw_revision  # noqa: E402


@pytest.fixture
def build(tmp_path: Path) -> Path:
    begin(tmp_path)
    set_target(tmp_path / "new", 0.0)
    with open_build(tmp_path / "new") as opened:
        gather(opened, photos(tmp_path))
        find_duplicates(opened)
        import_votes(opened, votes(opened, tmp_path))
        draw_revision(opened)
        rows = opened.store.selection().selected.select(["image", "class_id"]).to_pylist()
    write_rows(tmp_path / "fresh.csv", [{**row, "selected": 9, "shown": 12} for row in rows])
    return tmp_path / "new"


def test_the_report_is_printed_written_and_the_same_as_the_record(resit: Callable[..., Any], build: Path, tmp_path: Path):
    words = ("build", "bias", build, "--fresh", tmp_path / "fresh.csv", "--resamples", 5)
    done = resit(*words, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "true frequency, new minus original" in done.out
    assert "pets, r1" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    told = resit(*words, "--no-report", "--json")
    assert json.loads(told.out) == json.loads((tmp_path / "out" / "result.json").read_text())
    assert json.loads(told.out)["fresh_frequency"]["value"] == pytest.approx(0.75)


def test_what_cannot_be_is_refused(resit: Callable[..., Any], build: Path, tmp_path: Path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    runs = [word for name in "abc" for word in ("--runs", tmp_path / name)]
    for words, message in (
        (("-o", tmp_path / "full"), "holds other files"),
        (("--no-report", *runs), "3 runs"),
        (("--no-report", "--level", "1.5"), "a level of 1.5"),
        (("--no-report", "--revision", "r9"), "9"),
    ):
        done = resit("build", "bias", build, *words)
        assert done.code != 0
        assert message in done.err
