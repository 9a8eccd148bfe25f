"""The whole path by one call and one command: digits, simulated people, faults that are found, models that sit both exams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import resit
from extras import needs
from resit.cli import run
from resit.errors import OutputError, UsageError
from resit.simulate.parts import digits_parts
from resit.simulate.people import Crowd
from resit.simulate.reviewers import Reviewers
from resit.simulate.run import People, Simulated, faults, simulate
from resit.simulate.truth import TRUTH
from resit.simulate.what_if import what_if
from resit.store.schemas import table

for package in ("sklearn", "sqlalchemy", "httpx", "skops"):
    needs(package)

FAULTS = ("wrong labels", "copies of originals and training images", "second copies")


def small(folder: Path, **settings: Any) -> Simulated:
    people = People(Crowd(40, 0.97, 0.1), Reviewers(care=settings.pop("care", 1.0)))
    parts = digits_parts(folder / "data", seed=1)
    return simulate(parts, folder, per_class=15, people=people, models=False, seed=1, **settings)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    return small(tmp_path_factory.mktemp("simulated"))


def test_a_careful_build_converges_without_the_faults_that_were_planted(done: Simulated):
    assert done.converged
    assert done.planted == {FAULTS[0]: 30, FAULTS[1]: 20, FAULTS[2]: 10}
    assert done.missed[FAULTS[0]] == 0
    assert done.missed[FAULTS[2]] == 0
    assert done.rejected == 4  # a tenth of forty people are spammers
    assert done.rounds[-1].drawn.valid
    assert len(done.rounds[-1].drawn.selected) == 150


def test_what_is_released_is_what_was_selected(done: Simulated):
    assert done.released is not None
    found = resit.load_benchmark(done.released.folder)
    assert found.ids is not None
    assert set(found.ids) == set(done.rounds[-1].drawn.selected["image"].to_pylist())
    assert found.n_classes == 10


def test_careless_reviewers_let_faults_through(tmp_path: Path, done: Simulated):
    careless = small(tmp_path, care=0.0)
    assert sum(careless.missed.values()) > sum(done.missed.values())
    assert len(careless.rounds) < len(done.rounds)


def test_the_seed_decides_what_is_selected(tmp_path: Path, done: Simulated):
    again = small(tmp_path)
    assert again.rounds[-1].drawn.selected.equals(done.rounds[-1].drawn.selected)
    assert len(again.rounds) == len(done.rounds)


@pytest.mark.parametrize(
    ("skill", "reason"),
    [
        (0.6, r"nobody of 30 people with an accuracy of 0\.95"),
        (0.92, r"people left to ask|lack votes after people were asked"),  # some are good enough, but too few
    ],
)
def test_people_who_fail_end_it_with_a_reason(tmp_path: Path, skill: float, reason: str):
    parts = digits_parts(tmp_path / "data", seed=1)
    people = People(Crowd(30, skill), reject_below=0.95)
    with pytest.raises(UsageError, match=reason):
        simulate(parts, tmp_path, per_class=15, people=people, models=False, seed=1)


def test_faults_are_counted_by_hand():
    rows = [
        ("a", "one", "one", ""),
        ("b", "one", "two", ""),  # a wrong label
        ("c", "one", "one", "a"),  # a second copy of a
        ("d", "two", "two", "training"),  # a copy of what is no candidate
        ("e", "two", "two", "gone"),  # a copy of f, which was not selected
        ("gone", "two", "two", ""),
    ]
    blank = [""] * len(rows)
    truth = table(
        TRUTH,
        {
            **dict(zip(("image", "class_id", "true_class", "twin"), map(list, zip(*rows, strict=True)), strict=True)),
            "role": ["candidate"] * len(rows),
            "clarity": [0.5] * len(rows),
            "planted": blank,
            "change": blank,
        },
    )
    chosen = truth.slice(0, 5).select(["image", "class_id"])
    assert faults(chosen, truth) == dict(zip(FAULTS, (1, 1, 1), strict=True))
    assert faults(chosen.slice(0, 1), truth) == dict.fromkeys(FAULTS, 0)
    with pytest.raises(UsageError, match="nothing is known"):
        faults(pa.table({"image": ["z"], "class_id": ["one"]}), truth)


def test_the_command_goes_the_whole_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["build", "simulate", str(tmp_path / "s"), "--per-class", "15", "--people", "40", "--seed", "2"]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "until nothing changed" in out
    result = json.loads((tmp_path / "s" / "report" / "result.json").read_text(encoding="utf-8"))
    (comparison,) = [one for one in result["comparisons"] if one["metric"] == "top1"]
    assert comparison["n_models"] == 12
    assert result["original"]["n"] == 599
    assert comparison["new"]["n"] == 150
    assert str(tmp_path / "s" / "report" / "index.html") in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--original", "a.parquet"], "Give --original, --candidates and --train"),
        (["--skill", "0.2"], "greater than or equal to 0.5"),
        (["--per-class", "500"], "not released"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str):
    code = run(["build", "simulate", str(tmp_path / "s"), *words])
    captured = capsys.readouterr()
    assert says in captured.out + captured.err
    assert code == (0 if says == "not released" else 2)


def test_what_if_prints_the_table_of_the_library(capsys: pytest.CaptureFixture[str]):
    words = ["build", "what-if", "--votes", "5,20", "--bins", "/2,4", "--repeats", "3", "--seed", "4", "--people", "60"]
    assert run([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    expected = what_if((5, 20), ((), (2, 4)), crowd=Crowd(60, 0.97), repeats=3, seed=4)
    assert rows == expected.to_pylist()
    assert run(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert f"{100 * rows[3]['shift']:+.2f}" in lines[4]
    assert run(["build", "what-if", "--votes", "many"]) == 2


def test_a_folder_with_another_simulation_stays_as_it_is(tmp_path: Path):
    small(tmp_path)
    before = {path: path.read_bytes() for path in (tmp_path / "data").iterdir()}
    assert run(["build", "simulate", str(tmp_path)]) == 4
    with pytest.raises(OutputError, match="a folder with something in it"):
        simulate(digits_parts(tmp_path / "elsewhere", seed=1), tmp_path, per_class=15, models=False)
    assert {path: path.read_bytes() for path in (tmp_path / "data").iterdir()} == before
