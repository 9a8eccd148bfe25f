"""The command as people run it: in a process of its own, on files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


def run(*words: object, cwd: Path, **options) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "COLUMNS": "200"} | options.pop("env", {})
    call = [sys.executable, "-m", "resit", *map(str, words)]
    return subprocess.run(call, capture_output=True, encoding="utf-8", cwd=cwd, env=environment, check=False, **options)


def run_unread(*words: object, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the command with a standard output that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    call = [sys.executable, "-m", "resit", *map(str, words)]
    done = subprocess.run(call, stdout=write, stderr=subprocess.PIPE, check=False, cwd=cwd)
    os.close(write)
    return done


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    """Six models on an original of 400 examples and a harder new set of 300."""
    rng = np.random.default_rng(1)
    for name, n, loss in (("original", 400, 0.0), ("new", 300, 0.1)):
        labels = rng.integers(10, size=n)
        np.save(tmp_path / f"{name}_labels.npy", labels)
        (tmp_path / name).mkdir()
        for model in range(6):
            right = rng.random(n) < 0.6 + 0.05 * model - loss
            np.save(tmp_path / name / f"model_{model}.npy", np.where(right, labels, (labels + 1) % 10))
    return tmp_path


FAST = ("--model-resamples", 200, "--example-resamples", 50)


def test_compare_writes_a_report_and_says_where(exam: Path):
    done = run("compare", "original", "new", "-o", "out", *FAST, cwd=exam)
    assert done.returncode == 0, done.stderr
    assert "original (n = 400)" in done.stdout
    assert f"Report: {Path('out/index.html')}" in done.stdout
    assert (exam / "out" / "index.html").exists()
    assert json.loads((exam / "out" / "result.json").read_text())["schema"] == "resit.compare/1"


def test_json_alone_on_standard_output(exam: Path):
    done = run("compare", "original", "new", "--json", "--no-report", *FAST, cwd=exam)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["comparisons"][0]["n_models"] == 6
    assert not (exam / "resit-report").exists()


def test_same_seed_same_figures_other_seed_other_intervals(exam: Path):
    texts = [
        json.loads(run("compare", "original", "new", "--json", "--no-report", "--seed", seed, *FAST, cwd=exam).stdout)
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1]
    slopes = [text["comparisons"][0]["fits"]["linear"]["slope"] for text in texts]
    assert slopes[0]["estimate"] == slopes[2]["estimate"]
    assert slopes[0]["low"] != slopes[2]["low"]


def test_what_is_not_there_is_one_line_and_code_3(exam: Path):
    done = run("compare", "original", "nowhere", cwd=exam)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.startswith("resit: error: nowhere: ")
    assert done.stderr.count("\n") == 1


def test_a_report_that_cannot_be_written_is_code_4_and_leaves_what_was_there(exam: Path):
    (exam / "mine").mkdir()
    (exam / "mine" / "thesis.tex").write_text("years of work")
    done = run("compare", "original", "new", "-o", "mine", *FAST, cwd=exam)
    assert done.returncode == 4
    assert "mine" in done.stderr
    assert done.stdout == ""  # told before anything is computed
    assert [path.name for path in (exam / "mine").iterdir()] == ["thesis.tex"]


def test_doctor_on_good_files_is_code_0(exam: Path):
    done = run("doctor", "original", "new", cwd=exam)
    assert done.returncode == 0, done.stdout + done.stderr


def test_doctor_on_bad_files_is_code_1(exam: Path):
    (exam / "new" / "model_3.npy").write_bytes(b"not an array")
    done = run("doctor", "original", "new", cwd=exam)
    assert done.returncode == 1
    assert "model_3" in done.stdout


def test_published_figures_are_compared_offline(tmp_path: Path):
    done = run("compare", "--published", "imagenetv2", "--json", "--no-report", "--model-resamples", 200, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {(one["new"]["name"], one["metric"]): one for one in json.loads(done.stdout)["comparisons"]}
    changes = sorted(round(100 * one["mean_change"], 2) for (_, metric), one in found.items() if metric == "top1")
    assert changes == [-11.83, -3.20]
    assert {one["baseline"]["n_models"] for one in found.values()} == {64}


def test_no_words_show_the_help(tmp_path: Path):
    done = run(cwd=tmp_path)
    assert done.returncode == 0
    assert "compare" in done.stdout
    assert "Exit codes" in done.stdout


def test_version(tmp_path: Path):
    done = run("--version", cwd=tmp_path)
    assert done.stdout.startswith("resit ")


def test_a_reader_that_stops_reading_ends_it_quietly(tmp_path: Path):
    done = run_unread("plan", "--accuracy", "0.7", "--difference", "0.01", cwd=tmp_path)
    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.parametrize("words", [("compare",), ("compare", "--json"), ("progress",)])
def test_a_reader_that_stops_reading_loses_no_report(exam: Path, words: tuple[str, ...]):
    done = run_unread(*words, "original", "new", "-o", "out", *FAST, cwd=exam)
    assert (done.returncode, done.stderr) == (141, b"")
    assert (exam / "out" / "index.html").exists()
    assert (exam / "out" / "result.json").exists()


def test_a_terminal_that_knows_only_ascii_still_gets_everything(exam: Path):
    done = run("compare", "original", "new", "--no-report", *FAST, cwd=exam, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr


def test_completion_is_there(tmp_path: Path):
    done = run("--show-completion", "bash", cwd=tmp_path, env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})
    assert done.returncode == 0, done.stderr
    assert "_RESIT_COMPLETE" in done.stdout


def test_completion_answers(tmp_path: Path):
    environment = {"_RESIT_COMPLETE": "complete_bash", "COMP_WORDS": "resit co", "COMP_CWORD": "1"}
    done = run(cwd=tmp_path, env=environment)
    assert done.stdout.split() == ["compare"], done.stderr


def test_progress_writes_a_report_and_says_where(exam: Path):
    done = run("progress", "original", "new", "-o", "out", *FAST, cwd=exam)
    assert done.returncode == 0, done.stderr
    assert "Progress on original (n = 400)" in done.stdout
    assert "standard" in done.stdout
    assert json.loads((exam / "out" / "result.json").read_text())["schema"] == "resit.progress/1"
    printed = run("progress", "original", "new", "--json", "--no-report", *FAST, cwd=exam).stdout
    assert json.loads(printed) == json.loads((exam / "out" / "result.json").read_text())


def test_progress_needs_two_sets(exam: Path):
    done = run("progress", "original", cwd=exam)
    assert done.returncode == 2
    assert "at least one other set" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_cannot_be_written_is_code_4(tmp_path: Path):
    call = [sys.executable, "-m", "resit", "plan", "--accuracy", "0.7", "--difference", "0.01"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr == "resit: error: the output could not be written (No space left on device)\n"


def test_closed_output_is_no_fault(tmp_path: Path):
    command = f"{sys.executable} -m resit plan --accuracy 0.7 --difference 0.01 >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_minus_stays_a_minus_where_the_terminal_has_none(exam: Path):
    done = run("compare", "original", "new", "--no-report", *FAST, cwd=exam, env={"PYTHONIOENCODING": "ascii"})
    assert "[-" in done.stdout
    assert "[?" not in done.stdout
