"""The questions of ``resit plan``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest


class Fake:
    def __str__(self) -> str:
        return "a plan"

    def to_json(self) -> str:
        return '{"a": "plan"}'


def reached(resit, monkeypatch: pytest.MonkeyPatch, question: str, *words: object) -> SimpleNamespace:
    """What the library was called with."""
    seen = []

    def fake(*given, **options):
        seen.append(SimpleNamespace(words=given, options=options))
        return Fake()

    monkeypatch.setattr(f"resit.study.plan_{question}.plan_{question}", fake)
    ended = resit("plan", question, *words)
    assert (ended.code, ended.out) == (0, "a plan\n"), ended.err
    assert json.loads(resit("plan", question, *words, "--json").out) == {"a": "plan"}
    return seen[0]


def test_votes_reach_the_library(resit, monkeypatch):
    words = ["--bias", 0.02, "--original-beta", "2,1,0.5", "--original-beta", "9,1,0.5", "--candidates-beta", "1,1.5"]
    words += ["--votes", 10, "--votes", 20, "--curve", "0.2=0.5,1=0.9", "--build", "mytest"]
    assert reached(resit, monkeypatch, "votes", *words).options == {
        "bias": 0.02,
        "original_beta": [(2.0, 1.0, 0.5), (9.0, 1.0, 0.5)],
        "candidates_beta": [(1.0, 1.5)],
        "build": Path("mytest"),
        "runs": None,
        "curve": [(0.2, 0.5), (1.0, 0.9)],
        "votes": [10, 20],
    }


def test_images_reach_the_library(resit, monkeypatch):
    words = ["--accuracy", 0.8, "--width", 0.2, "--per-class", 10, "--votes", 20, "--originals", 40, "--sure", 0.9, "--seed", 3]
    found = reached(resit, monkeypatch, "images", *words)
    assert found.words == (0.8,)
    assert found.options == {
        "width": 0.2,
        "runs": None,
        "per_class": [10],
        "votes": 20,
        "originals": 40,
        "sure": 0.9,
        "seed": 3,
        "level": 0.95,
        "original_beta": None,
        "candidates_beta": None,
        "build": None,
    }


def test_models_reach_the_library(resit, monkeypatch):
    words = ["--width", 0.2, "--lowest", 0.5, "--highest", 0.9, "--scatter", 0.01, "--slope", 1.1, "--drop", 0.05]
    words += ["--n", 900, "--new-n", 800, "--count", 30, "--count", 60, "--resamples", 300]
    found = reached(resit, monkeypatch, "models", *words)
    assert found.words == (0.2,)
    assert found.options == {
        "runs": None,
        "lowest": 0.5,
        "highest": 0.9,
        "scatter": 0.01,
        "slope": 1.1,
        "drop": 0.05,
        "n": 900,
        "new_n": 800,
        "count": [30, 60],
        "resamples": 300,
        "level": 0.95,
        "seed": 0,
    }


def test_swap_reaches_the_library(resit, monkeypatch):
    words = ["--difference", 0.02, "--new-difference", 0.03, "--discordance", 0.1, "--new-discordance", 0.2, "--accuracy", 0.7]
    words += ["--count", 5, "--n", 900, "--new-n", 800, "--power", 0.9, "--level", 0.9]
    found = reached(resit, monkeypatch, "swap", *words)
    assert found.words == (0.02,)
    assert found.options == {
        "new_difference": 0.03,
        "discordance": 0.1,
        "new_discordance": 0.2,
        "accuracy": 0.7,
        "runs": None,
        "count": 5,
        "n": 900,
        "new_n": 800,
        "power": 0.9,
        "level": 0.9,
    }


def stored(folder: Path, *, seed: int) -> Path:
    """0/1 answers of four models, of which three are near."""
    rng = np.random.default_rng(seed)
    ease = rng.random(500)
    right = np.array([ease + rng.normal(0, 0.1, 500) < level for level in (0.3, 0.6, 0.61, 0.62)])
    folder.mkdir()
    for at, row in enumerate(right):
        np.save(folder / f"m{at}.npy", row)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return stored(tmp_path / "old", seed=0), stored(tmp_path / "new", seed=1)


def test_figures_from_runs(resit, runs):
    both = ("--from", runs[0], "--from", runs[1])
    assert "near pairs of 4 models on old" in resit("plan", "--accuracy", 0.6, "--difference", 0.02, "--from", runs[0]).out
    assert "mean of 4 models on old" in resit("plan", "images", "--from", runs[0]).out
    assert "4 models of old and new" in resit("plan", "models", *both, "--width", 2, "--resamples", 200).out
    swap = json.loads(resit("plan", "swap", "--difference", 0.05, *both, "--exclude", "m0", "--json").out)
    assert (swap["models"], swap["n"], swap["new_n"]) == (3, 500, 500)


def test_a_report_is_written_where_it_is_wanted(resit, tmp_path: Path):
    ended = resit("plan", "votes", "--votes", 10, "-o", tmp_path / "report")
    assert ended.code == 0
    assert (tmp_path / "report" / "index.html").exists()
    assert f"Report: {tmp_path / 'report' / 'index.html'}" in ended.out
    ended = resit("plan", "--accuracy", 0.76, "--difference", 0.01, "-o", tmp_path / "first", "--json")
    assert json.loads(ended.out)["n"] == 28_635
    assert (tmp_path / "first" / "figures" / "plan-width.svg").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan"], "Missing option '--accuracy'"),
        (["plan", "--accuracy", 0.7], "Missing option '--difference'"),
        (["plan", "--accuracy", 0.7, "--json", "votes"], "--accuracy, --json before"),
        (["plan", "--accuracy", 0.7, "--difference", 0.1, "--discordance", 0.1, "--from", "x"], "Leave one out"),
        (["plan", "--accuracy", 0.7, "--difference", 0.1, "--labels", "x"], "Give --from too"),
        (["plan", "models", "--from", "x"], "twice: the original, then the new set"),
        (["plan", "images", "--from", "x", "--from", "y"], "Give it once"),
        (["plan", "swap"], "--difference"),
        (["plan", "swap", "--difference", 0.1, "--exclude", "x"], "no runs that it could be about"),
        (["plan", "votes", "--curve", "0.1"], "FREQUENCY=ACCURACY"),
        (["plan", "votes", "--curve", "0.1=x"], "are no numbers"),
        (["plan", "votes", "--original-beta", "a,b"], "Write 2.8,1.15"),
        (["plan", "nothing"], "nothing"),
    ],
)
def test_what_does_not_go_together_is_refused(resit, words, message):
    ended = resit(*words)
    assert ended.code == 2
    assert message in ended.err
    assert ended.out == ""


def test_debug_may_stand_before_the_question(resit):
    assert resit("plan", "--debug", "votes", "--votes", 10).code == 0


def test_help_of_every_question_loads_nothing_of_the_science():
    calls = [["plan", *question, "--help"] for question in ([], ["votes"], ["images"], ["models"], ["swap"])]
    code = f"from resit.cli import run; import sys; [run(words) for words in {calls}]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.splitlines()[-1].split()) & {"numpy", "scipy", "pyarrow", "jinja2", "vl_convert"}


def test_runs_whose_answers_look_worst_first_are_told_of(resit, tmp_path: Path):
    import resit as library

    words: list[object] = ["plan", "swap", "--difference", 0.02]
    models = tuple(library.ModelId(name) for name in ("best", "worst"))
    for seed, name in enumerate(("old", "new")):
        rng = np.random.default_rng(seed)
        labels = rng.integers(10, size=300).astype(np.int32)
        best = (labels[:, None] + np.arange(5) + (rng.random((2, 300, 1)) > 0.8)) % 10
        answers = np.stack([best[0], best[1, :, ::-1]]).astype(np.int16)
        given = library.Predictions(library.Benchmark(name, labels[:, None]), models, answers)
        library.save_predictions(given, tmp_path / name)
        words += ["--from", tmp_path / name]
    assert "worst-first worst@new" in resit(*words).err
    mended = resit(*words, "--worst-first", "worst@old", "--worst-first", "worst@new")
    assert (mended.code, mended.err) == (0, "")
