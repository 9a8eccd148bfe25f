"""Steps about people: the test before the work, who answers badly, votes from other tools; and what models say."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extras import needs
from steps_made import begin, digest, photos, read_rows, shown, votes, write_rows

needs("sqlalchemy", "alembic", "httpx")
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.label import export_tasks, export_test, import_votes  # noqa: E402
from resit.build.steps.opened import Build, open_build  # noqa: E402
from resit.build.steps.people import people, reject_people, reject_unfit_people  # noqa: E402
from resit.build.steps.pool import read_pool  # noqa: E402
from resit.build.steps.sample import correct_share, draw_revision  # noqa: E402
from resit.data.load_benchmark import load_benchmark  # noqa: E402
from resit.data.models import ModelId  # noqa: E402
from resit.data.predictions import Predictions  # noqa: E402
from resit.errors import InputError, UsageError  # noqa: E402

SITE = "https://images.example.org/pets"


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """With candidates."""
    begin(tmp_path)
    with open_build(tmp_path / "new") as opened:
        gather(opened, photos(tmp_path))
        yield opened


def originals(root: Path) -> dict[str, set[str]]:
    return {key: {digest(path.read_bytes()) for path in (root / "original" / key).iterdir()} for key in ("cat", "dog")}


def test_people_who_did_not_pass_the_test_do_not_count(build: Build, tmp_path: Path):
    with pytest.raises(UsageError, match="no votes yet"):
        reject_unfit_people(build, 0.9, by="me")
    sent = export_test(build, "csv", people=3)
    assert sent.plan is None
    rows = read_rows(sent.exported.files[0])
    assert sent.exported.files[0].parent.name == "test-csv"
    assert len(rows) == 24
    assert {row["people"] for row in rows} == {"3"}
    known = originals(tmp_path)
    said = []
    for row in rows:
        right = shown(row["url"]) in known[row["class_id"]]
        for person, answer in (("good", right), ("bad", True), ("half", right)):
            said.append({"task": row["task"], "position": row["position"], "person": person, "selected": int(answer)})
    half = [row for row in said if row["person"] != "half" or row["task"] == rows[0]["task"]]
    import_votes(build, write_rows(tmp_path / "test.csv", half))
    import_votes(build, votes(build, tmp_path, people=["good", "bad", "half", "absent"]))
    done = reject_unfit_people(build, 0.9, by="me")
    found = {(row["person"], row["status"], row["reason"]) for row in build.store.assignments().to_pylist()}
    assert found == {
        ("good", "accepted", ""),
        ("bad", "rejected", "not qualified: 12 of 24 right, 90.0% are needed"),
        ("half", "rejected", "not qualified: 12 of 24 images answered"),
        ("absent", "rejected", "not qualified: test not taken"),
    }
    assert done.new == 4 + 3 + 2
    assert reject_unfit_people(build, 0.9, by="me").new == 0
    assert set(build.store.votes()["person"].to_pylist()) == {"good"}


def test_without_a_test_nobody_is_rejected_for_it(build: Build, tmp_path: Path):
    import_votes(build, votes(build, tmp_path))
    with pytest.raises(UsageError, match="no test was given to people"):
        reject_unfit_people(build, 0.9, by="me")
    assert set(build.store.assignments()["status"].to_pylist()) == {"accepted"}


def test_who_lies_is_seen_on_controls_and_by_consensus(build: Build, tmp_path: Path):
    import_votes(build, votes(build, tmp_path, liars=["liar"]))
    told = people(build, consensus=True)
    rows = {row["person"]: row for row in told.controls.to_pylist()}
    assert rows["liar"]["accuracy"] == 0
    assert all(row["accuracy"] == 1 for person, row in rows.items() if person != "liar")
    lines = str(told).splitlines()
    assert lines[0].split() == ["person", "tasks", "votes", "positive", "negative", "accuracy", "sensitivity", "specificity"]
    assert len([line for line in lines if line.startswith("person") and "of" in line]) == 10
    json.dumps(told.to_dict())
    assert {"people", "agreement", "consensus"} == told.to_dict().keys()
    assert reject_people(build, 0.5, by="me").new == 2
    assert "liar" not in str(people(build))


def test_results_of_mechanical_turk_are_known_by_their_columns(build: Build, tmp_path: Path):
    layout, batch = export_tasks(build, "mturk", images_at=SITE).exported.files
    assert (layout.name, batch.name) == ("layout.html", "batch-10.csv")
    tasks = read_rows(batch)
    assert {row["images"].split()[0].rsplit("/", 2)[0] for row in tasks} == {SITE}
    path = tmp_path / "results.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "Input.task", "Answer.taskAnswers"]
        )
        for row in tasks:
            answer = json.dumps([{"task": row["task"], "selected": "[1]", "broken": "[]"}])
            time = "Sun Mar 01 23:15:30 UTC 2026"
            writer.writerow(["H", f"A{row['task']}", "W1", "Submitted", time, row["task"], answer])
    done = import_votes(build, path)
    assert (done.votes.new, sum(build.store.votes()["selected"].to_pylist())) == (96, len(tasks))
    assert import_votes(build, path).votes.new == 0


def test_results_of_label_studio_are_known_by_their_ending(build: Build, tmp_path: Path):
    interface, tasks = export_tasks(build, "label-studio", images_at=SITE).exported.files
    assert (interface.name, tasks.name) == ("interface.xml", "tasks-10.json")
    document = json.loads(tasks.read_text())
    for number, task in enumerate(document):
        result = [{"from_name": "selected", "to_name": "text", "type": "choices", "value": {"choices": ["1", "3"]}}]
        one = {"id": 70 + number, "completed_by": {"email": "ann@example.org"}, "result": result, "was_cancelled": False}
        task["annotations"] = [{**one, "created_at": "2026-03-01T12:00:00Z"}]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document))
    done = import_votes(build, path)
    assert (done.votes.new, sum(build.store.votes()["selected"].to_pylist())) == (96, 2 * len(document))
    assert set(build.store.votes()["person"].to_pylist()) == {"ann@example.org"}
    assert import_votes(build, path).votes.new == 0


def answered(root: Path, wrong: dict[str, set[int]]) -> Predictions:
    """Models that are wrong on some rows of the original."""
    benchmark = load_benchmark(root / "original")
    truth = benchmark.labels[:, 0]
    answers = [[1 - label if row in rows else label for row, label in enumerate(truth)] for rows in wrong.values()]
    return Predictions(benchmark, tuple(ModelId(name) for name in wrong), np.array(answers, np.int32)[:, :, None])


def test_the_share_of_models_that_are_right_is_of_the_right_originals(build: Build, tmp_path: Path):
    given = answered(tmp_path, {"a": {0, 5}, "b": {0, 30}})
    found = {row["image"]: row["correct"] for row in correct_share(read_pool(build), given).to_pylist()}
    paths = sorted((tmp_path / "original").rglob("*.png"))
    assert len(found) == len(paths) == 48
    ids = [digest(path.read_bytes()) for path in paths]
    assert [found[one] for one in ids] == [0.0 if row == 0 else 0.5 if row in (5, 30) else 1.0 for row in range(48)]
    import_votes(build, votes(build, tmp_path))
    told = draw_revision(build, predictions=given)
    assert told.bias.to_record() != draw_revision(build).bias.to_record()


def test_predictions_on_another_test_set_are_refused(build: Build, tmp_path: Path):
    given: Any = answered(tmp_path, {"a": set()})
    one = given.benchmark
    part = type(one)(name="part", labels=one.labels[:5], classes=one.classes)
    with pytest.raises(InputError, match="predictions of 5 examples, while the original has 48"):
        draw_revision(build, predictions=Predictions(part, given.models, given.answers[:, :5]))
    assert build.store.revisions() == []
