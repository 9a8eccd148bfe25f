"""An exam through the command line: made, listed, its results written, and taken into a comparison and its report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exam_made
from extras import needs

needs("sqlalchemy", "alembic", "httpx")
TIME = "2026-02-01T12:00:00Z"


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A build, and stored answers of three models on its original and on its new images."""
    from resit import save_predictions
    from resit.build.steps.opened import open_build

    folder = exam_made.selected(tmp_path)
    rng = np.random.default_rng(0)
    with open_build(folder) as build:
        save_predictions(exam_made.on_original(build, rng.random((3, 48)) < 0.7), tmp_path / "runs" / "old")
    save_predictions(exam_made.on_new(rng.random((3, 16)) < 0.5), tmp_path / "runs" / "new")
    return folder, tmp_path / "runs" / "old", tmp_path / "runs" / "new"


def answer(folder: Path, person: str, right: int) -> None:
    """Somebody who is right on the first images of the exam's own order, and hands it in."""
    from resit.build.steps.opened import open_build
    from resit.store.accounts import invite
    from resit.store.exams import Answer, add_answers, hand_in, questions

    with open_build(folder) as build, build.store.writing() as connection:
        account, _ = invite(connection, "annotator", person, TIME)
        rows = questions(connection, 1)
        said = [row.class_ids[0] if row.position < right else "" for row in rows]
        add_answers(connection, account.id, 1, [Answer(f"event {at}", at, word) for at, word in enumerate(said)], TIME)
        hand_in(connection, account.id, 1, TIME)


def test_from_models_to_the_report(resit: Callable[..., Any], runs: tuple[Path, Path, Path], tmp_path: Path):
    folder, old, new = runs
    done = resit(
        "build", "exam", folder, "make", "--original", old, "--new", new, "--hardest", 0.25, "--n", 4, "--name", "Hard"
    )
    assert done.code == 0, done.err
    assert done.out.startswith("Hard: 4 original and 4 new images, mixed. ")
    assert "hardest 25 % by 3 models" in done.out
    assert resit("build", "exam", folder, "list").out.startswith("Hard: 8 images, begun by 0, handed in by 0.")
    answer(folder, "Ann", 8)
    answer(folder, "Bo", 5)
    (listed,) = json.loads(resit("build", "exam", folder, "list", "--json").out)
    assert (listed["begun"], listed["handed_in"], listed["n"]) == (2, 2, 8)
    file = tmp_path / "human.json"
    done = resit("build", "exam", folder, "results", "--name", "Hard", "-o", file, "--seed", 3)
    assert done.code == 0, done.err
    assert re.search(r"Ann +100\.0 \[39\.8, 100\.0\] \(4 of 4\)", done.out)
    assert "models (3)" in done.out
    found = json.loads(file.read_text())
    assert found["schema"] == "resit.human/1"
    assert [row["person"] for row in found["people"]] == ["Ann", "Bo"]
    assert resit("build", "exam", folder, "results", "--seed", 3, "--json").out == file.read_text()

    compared = resit("compare", old, new, "--human", file, "-o", tmp_path / "report", "--model-resamples", 100)
    assert compared.code == 0, compared.err
    assert "People on the same images: Hard" in compared.out
    assert "2 people are right on" in " ".join(compared.out.split())
    page = (tmp_path / "report" / "index.html").read_text()
    assert "People on the same images" in page
    assert json.loads((tmp_path / "report" / "result.json").read_text())["human"] == found


def test_without_models_and_without_answers(resit: Callable[..., Any], runs: tuple[Path, Path, Path], tmp_path: Path):
    folder, *_ = runs
    assert "No exam yet" in resit("build", "exam", folder, "list").out
    assert resit("build", "exam", folder, "results").code == 2
    done = resit("build", "exam", folder, "make", "--random", "--n", 3, "--revision", "r1", "--seed", 1, "--balanced")
    assert done.code == 0, done.err
    assert "as evenly over classes as they allow from 48 original and 16 new images" in done.out
    told = resit("build", "exam", folder, "results", "-o", tmp_path / "human.json")
    assert "No figures: nobody has handed the exam in." in told.out
    assert told.code == 0


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (("make", "--hardest", 0.1), "no models to say what is hard", 2),
        (("make", "--hardest", 2), "less than or equal to 1", 2),
        (("make", "--revision", "r9"), "no revision 9", 3),
        (("results", "--name", "B"), "no exam yet", 2),
        (("results", "-o", "."), "a folder", 2),
    ],
)
def test_what_does_not_fit_is_refused(
    resit: Callable[..., Any], runs: tuple[Path, Path, Path], words: tuple[object, ...], told: str, code: int
):
    done = resit("build", "exam", runs[0], *words)
    assert (done.code, told in done.err) == (code, True), done.err


def test_a_file_that_is_no_result_of_an_exam_is_refused(
    resit: Callable[..., Any], runs: tuple[Path, Path, Path], tmp_path: Path
):
    (tmp_path / "human.json").write_text('{"schema": "x"}')
    for name, code in (("human.json", 3), ("nothing.json", 3)):
        done = resit("compare", *runs[1:], "--human", tmp_path / name, "--no-report", "--model-resamples", 0)
        assert done.code == code
        assert name in done.err
