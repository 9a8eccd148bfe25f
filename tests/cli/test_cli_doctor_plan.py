"""``resit doctor`` and ``resit plan``."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from resit.data.doctor import Finding
from resit.errors import Notice

GOOD = Finding(path="a", kind="predictions", summary="30 models, 10,000 examples", notices=(), error=None)
NOTED = Finding(
    path="b", kind="predictions", summary="67 models", notices=(Notice("worst-first", "fv_16k", "Worst first."),), error=None
)
BAD = Finding(path="c", kind="unknown", summary="", notices=(), error="c: not a table. Give a CSV.")


@pytest.mark.parametrize(("findings", "code"), [((GOOD,), 0), ((GOOD, NOTED), 1), ((BAD,), 1)])
def test_doctor_ends_with_1_where_something_is_wrong(resit, monkeypatch: pytest.MonkeyPatch, findings, code):
    monkeypatch.setattr("resit.data.doctor.examine", lambda *_, **__: findings)
    ended = resit("doctor", "a", "b")
    assert ended.code == code
    assert ended.err == ""
    for finding in findings:
        assert finding.path in ended.out
        assert (finding.error or finding.summary) in ended.out
        assert all(str(notice) in ended.out for notice in finding.notices)


def test_doctor_json(resit, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("resit.data.doctor.examine", lambda *_, **__: (GOOD, NOTED))
    ended = resit("doctor", "a", "b", "--json")
    assert ended.code == 1
    assert [found["path"] for found in json.loads(ended.out)] == ["a", "b"]


def test_doctor_needs_a_path(resit):
    ended = resit("doctor")
    assert ended.code == 2
    assert "PATH" in ended.err


def test_plan_reaches_the_library(resit, monkeypatch: pytest.MonkeyPatch):
    seen = []

    class Fake:
        def __str__(self) -> str:
            return "9,024 examples"

        def to_json(self) -> str:
            return '{"n": 9024}'

    def plan(*words, **options):
        seen.append(SimpleNamespace(words=words, options=options))
        return Fake()

    monkeypatch.setattr("resit.study.plan.plan", plan)
    words = ["--accuracy", "0.76", "--difference", "0.01", "--discordance", "0.115", "--power", "0.9", "--level", "0.99"]
    assert resit("plan", *words).out == "9,024 examples\n"
    assert seen[0].words == (0.76, 0.01)
    assert seen[0].options == {"discordance": 0.115, "power": 0.9, "level": 0.99}
    assert json.loads(resit("plan", *words, "--json").out) == {"n": 9024}


def test_plan_says_how_many(resit):
    ended = resit("plan", "--accuracy", "0.76", "--difference", "0.01", "--discordance", "0.115")
    assert ended.code == 0
    assert "9,024" in ended.out


def test_plan_refuses_a_difference_that_cannot_be(resit):
    ended = resit("plan", "--accuracy", "0.76", "--difference", "0")
    assert ended.code == 2
    assert ended.err.startswith("resit: error: ")
