"""Tasks, answers and decisions through Mechanical Turk's API, by the commands, with somebody who answers in its shapes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from extras import needs
from steps_made import begin, photos

for package in ("sqlalchemy", "httpx", "botocore"):
    needs(package)
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.opened import open_build  # noqa: E402
from resit.build.voting import mturk_api  # noqa: E402
from resit.cli import run  # noqa: E402

ANSWERS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"


@dataclass
class Turk:
    """Tasks that are offered, and what people hand in: everybody selects every image."""

    hits: dict[str, dict[str, Any]] = field(default_factory=dict)
    state: dict[str, str] = field(default_factory=dict)

    def list_hits(self, **_: Any) -> dict[str, Any]:
        return {"HITs": list(self.hits.values())}

    def create_hit(self, **given: Any) -> None:
        assert "https://images.example.org/pets/" in given["Question"]
        name = given["RequesterAnnotation"]
        self.hits[name] = {
            "HITId": name,
            "RequesterAnnotation": name,
            "MaxAssignments": given["MaxAssignments"],
            "NumberOfAssignmentsCompleted": 0,
        }

    def list_assignments_for_hit(self, **given: Any) -> dict[str, Any]:
        hit = self.hits[given["HITId"]]
        names = [f"{hit['HITId']}-{person}" for person in range(hit["MaxAssignments"])]
        return {"Assignments": [self._assignment(name, given["HITId"]) for name in names]}

    def _assignment(self, name: str, task: str) -> dict[str, Any]:
        fields = json.dumps([{"task": task, "selected": json.dumps(list(range(1, 9))), "broken": "[]"}])
        answer = f"<Answer><QuestionIdentifier>taskAnswers</QuestionIdentifier><FreeText>{escape(fields)}</FreeText></Answer>"
        return {
            "AssignmentId": name,
            "WorkerId": f"W{name[-1]}",
            "HITId": task,
            "AssignmentStatus": self.state.setdefault(name, "Submitted"),
            "SubmitTime": datetime(2026, 2, 1, tzinfo=UTC),
            "Answer": f'<?xml version="1.0"?><QuestionFormAnswers xmlns="{ANSWERS}">{answer}</QuestionFormAnswers>',
        }

    def get_assignment(self, **given: Any) -> dict[str, Any]:
        return {"Assignment": {"AssignmentStatus": self.state[given["AssignmentId"]]}}

    def reject_assignment(self, **given: Any) -> None:
        self.state[given["AssignmentId"]] = "Rejected"

    def approve_assignment(self, **given: Any) -> None:
        self.state[given["AssignmentId"]] = "Approved"


@pytest.fixture
def turk(monkeypatch: pytest.MonkeyPatch) -> Turk:
    made = Turk()
    monkeypatch.setattr(mturk_api, "connect", lambda **_: made)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    begin(tmp_path, votes={"task": 8, "positive": 2, "negative": 2, "people": 3})
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
    return tmp_path / "new"


def label(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = run(["build", "label", str(folder), *words])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def test_tasks_are_offered_answers_fetched_and_decisions_told(folder: Path, turk: Turk, capsys: pytest.CaptureFixture[str]):
    offer = ("publish", "--reward", "0.10", "--images-at", "https://images.example.org/pets/")
    assert "2 tasks offered" in label(folder, capsys, *offer)
    assert "0 tasks offered, 0 to more people, 2 open already" in label(folder, capsys, *offer)
    assert {hit["MaxAssignments"] for hit in turk.hits.values()} == {3}
    assert "48 votes are new" in label(folder, capsys, "fetch")
    assert "0 votes are new, 48 were known" in label(folder, capsys, "fetch")
    with open_build(folder) as build:
        assert all(row["selected"] == row["shown"] == 3 for row in build.store.counts("candidate").to_pylist())
    assert "0 decisions told" in label(folder, capsys, "tell")  # nobody has decided
    name = sorted(turk.state)[0]
    label(folder, capsys, "reject", name, "--reason", "blind", "--by", "ann")
    assert "1 decisions told" in label(folder, capsys, "tell")
    assert turk.state[name] == "Rejected"
    assert "0 decisions told" in label(folder, capsys, "tell")
    label(folder, capsys, "accept", name)
    assert "1 decisions told" in label(folder, capsys, "tell")
    assert turk.state[name] == "Approved"


def test_images_on_this_machine_cannot_be_shown_there(folder: Path, turk: Turk, capsys: pytest.CaptureFixture[str]):
    assert run(["build", "label", str(folder), "publish", "--reward", "0.10", "--images-at", "/somewhere"]) == 2
    assert "no address of the web" in capsys.readouterr().err
    assert not turk.hits
