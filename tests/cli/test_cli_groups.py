"""``resit groups`` as people run it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_cli_end_to_end import run, run_unread


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Four models on 600 examples with two group columns, and on an original."""
    rng = np.random.default_rng(1)
    labels = rng.integers(10, size=600)
    region = np.array(["Africa", "Asia", "Europe"])[np.arange(600) % 3]
    rows = [f'{at:04},"[{label}, 11]",{region[at]},{at % 50},h{at // 4}' for at, label in enumerate(labels)]
    (tmp_path / "set_labels.csv").write_text("\n".join(["id,accepted,region,income,household", *rows]) + "\n")
    np.save(tmp_path / "old_labels.npy", labels)
    for name in ("set", "old"):
        (tmp_path / name).mkdir()
        for model in range(4):
            right = rng.random(600) < 0.5 + 0.1 * (np.arange(600) % 3) + 0.03 * model
            np.save(tmp_path / name / f"model_{model}.npy", np.where(right, labels, (labels + 1) % 10))
    return tmp_path


FEW = ("--resamples", 200)


def test_groups_writes_a_report_and_says_where(runs: Path):
    words = ("set", "--by", "region", "--by", "income", "--quantiles", "income=2", "--pair", "Europe,Africa")
    done = run("groups", *words, "--cluster", "household", "--original", "old", "-o", "out", *FEW, cwd=runs)
    assert done.returncode == 0, done.stderr
    assert "set (n = 600), top-1, by region × income: 6 groups" in done.stdout
    assert "Europe minus Africa" in done.stdout
    assert f"Report: {Path('out/index.html')}" in done.stdout
    assert json.loads((runs / "out" / "result.json").read_text())["schema"] == "resit.groups/1"


def test_a_reader_that_stops_reading_loses_no_report_of_groups(runs: Path):
    done = run_unread("groups", "set", "--by", "region", "-o", "out", *FEW, cwd=runs)
    assert (done.returncode, done.stderr) == (141, b"")
    assert (runs / "out" / "index.html").exists()


def test_json_alone_on_standard_output(runs: Path):
    words = ("set", "--by", "region", "--labels", "set_labels.csv::accepted", "--json", "--no-report", "--min-size", 10)
    done = run("groups", *words, "--refuse-missing", "--class-column", "income", *FEW, cwd=runs)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["settings"]["classes"] == "column income"
    assert not (runs / "resit-report").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pair", "Europe"), "not of the form GROUP,GROUP"),
        (("--pair", "Europe,Mars"), "no column has both"),
        (("--quantiles", "income=x"), "no whole number"),
        (("--by", "planet"), "no group column 'planet'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(runs: Path, words: tuple[str, ...], message: str):
    done = run("groups", "set", "--by", "region", *words, *FEW, cwd=runs)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
