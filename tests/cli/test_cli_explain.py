"""``resit explain`` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import resit
from resit import Benchmark, ModelId, Predictions
from resit.cli import run

QUICK = ("--resamples", "100", "--only", "statistical-error", "--only", "gap-split")


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    for name, share in (("old", 0.9), ("new", 0.7)):
        labels = (np.arange(300) % 10).astype(np.int32)
        right = rng.random((4, 300)) < share
        answers = np.where(right, labels, (labels + 1) % 10)[:, :, None].astype(np.int16)
        models = tuple(ModelId(f"m{at}") for at in range(4))
        resit.save_predictions(Predictions(Benchmark(name, labels[:, None]), models, answers), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_says_why_and_where_the_report_is(sets: Path, capsys: pytest.CaptureFixture[str]):
    code = run(["explain", "old", "new", *QUICK, "-o", "out"])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert "mean of 4 models" in out
    assert "Statistical error" in out
    assert f"Report: {Path('out/index.html')}" in out
    assert json.loads((sets / "out/result.json").read_text())["schema"] == "resit.explain/1"


def test_json_alone(sets: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["explain", "old", "new", *QUICK, "--json", "--no-report"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found["findings"]] == ["statistical-error", "gap-split"]
    assert not (sets / "resit-report").exists()


def test_the_list_names_every_hypothesis(capsys: pytest.CaptureFixture[str]):
    assert run(["explain", "--list"]) == 0
    out = capsys.readouterr().out
    for name in ("statistical-error", "model-similarity", "gaussian-difficulty", "gap-split", "adaptivity-bound"):
        assert name in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["old"], "two sets are needed; 1 given"),
        (["old", "new", "--only", "magic"], "no hypothesis 'magic'"),
        (["old", "new", "--benchmark", "x"], "given 1 times for 2 sets"),
        (["old", "new", "--human", "none.json"], "cannot be read"),
        (["old", "new", "--train", "nowhere"], "no such file or folder"),
        (["old", "new", "--build", "nowhere"], "nowhere"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(sets: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str):
    assert run(["explain", *words, "--no-report"]) in (2, 3)
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert sets.exists()


def test_a_report_is_not_written_over_other_files(sets: Path, capsys: pytest.CaptureFixture[str]):
    (sets / "mine").mkdir()
    (sets / "mine/notes.txt").write_text("mine")
    assert run(["explain", "old", "new", *QUICK, "-o", "mine"]) == 4
    assert "other files" in capsys.readouterr().err
