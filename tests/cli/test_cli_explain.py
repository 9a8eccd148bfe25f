"""``resit explain`` as people run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


def finding(name: str, *words: str) -> dict[str, Any]:
    assert run(["explain", "old", "new", "--only", name, "--resamples", "100", *words, "-o", "out", "-q"]) == 0
    return dict(json.loads(Path("out/result.json").read_text())["findings"][0])


def accuracy(name: str, rows: Any = slice(None)) -> float:
    return float(resit.load_predictions(Path(name)).correct()[:, rows].mean())


def test_judged_pairs_of_both_sets_tell_what_near_duplicates_lift(sets: Path):
    near = {"old": np.arange(0, 60), "new": np.arange(30)}
    for name, rows in near.items():
        judged = ["near" if row in rows else "different" for row in range(100)]
        (sets / f"{name}-pairs.csv").write_text(
            "image,verdict\n" + "".join(f"{row},{said}\n" for row, said in enumerate(judged))
        )
    found = finding("near-duplicates", "--original-duplicates", "old-pairs.csv", "--new-duplicates", "new-pairs.csv")
    lifts = [accuracy(name) - accuracy(name, np.setdiff1d(np.arange(300), rows)) for name, rows in near.items()]
    assert found["part"]["estimate"] == pytest.approx(lifts[0] - lifts[1])


def test_other_new_sets_with_votes_make_the_line_of_accuracy_on_frequency(sets: Path):
    points = []
    for at, name in enumerate(("new", "second", "third")):
        if name != "new":
            resit.save_predictions(resit.load_predictions(sets / ("old" if at == 1 else "new")), sets / name)
        counts = np.full((300, 10), at, np.int64)
        counts[np.arange(300), np.arange(300) % 10] = 10 * (at + 1)
        np.save(sets / f"{name}.npy", counts)
        points.append((float((counts.max(axis=1) / counts.sum(axis=1)).mean()), accuracy(name)))
    others = ("--other", "second=second.npy", "--other", "third=third.npy")
    found = finding("sampling-strategy", "--new-votes", "new.npy", *others)
    slope = np.polyfit(*zip(*points, strict=True), 1)[0]
    assert found["figures"][0]["value"]["estimate"] == pytest.approx(slope)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("300,near\n", "1 image that old does not have: 300"),
        ("1,alike\n", "no such verdict: alike"),
        ("", "a table without rows"),
    ],
)
def test_judged_pairs_that_do_not_fit_are_refused(sets: Path, capsys: pytest.CaptureFixture[str], rows: str, said: str):
    (sets / "pairs.csv").write_text(f"image,verdict\n{rows}")
    assert run(["explain", "old", "new", "--original-duplicates", "pairs.csv", "--no-report"]) == 3
    assert said in capsys.readouterr().err


def test_another_set_without_some_of_the_models_is_refused(sets: Path, capsys: pytest.CaptureFixture[str]):
    few = resit.load_predictions(sets / "new")
    resit.save_predictions(few.select(few.models[:2]), sets / "few")
    np.save(sets / "few.npy", np.ones((300, 10), np.int64))
    assert run(["explain", "old", "new", "--other", "few=few.npy", "--no-report"]) == 2
    assert "new: no answers of 2 models: m2, m3" in capsys.readouterr().err


def duplicates(rows: str) -> dict[str, Any]:
    Path("pairs.csv").write_text(f"image,other,reference,verdict\n{rows}")
    return finding("near-duplicates", "--original-duplicates", "pairs.csv")


def test_judged_pairs_of_no_named_set_are_with_train_and_the_last_verdict_holds(sets: Path):
    found = duplicates("0,a,,same\n1,b,train,near\n2,c,train,same\n2,c,train,different\n3,d,old,same\n")
    images = next(one for one in found["figures"] if "images with a near-duplicate" in one["name"])
    assert images["value"]["estimate"] == 2


def test_where_every_image_is_a_near_duplicate_nothing_is_told_of_their_lift(sets: Path):
    found = duplicates("".join(f"{row},a,train,same\n" for row in range(300)))
    assert found["part"] is None
    assert "no other image is left" in found["verdict"]


def votes(name: str, selected: int, shown: int) -> None:
    counts = np.zeros((300, 10), np.int64)
    counts[np.arange(300), np.arange(300) % 10] = selected
    counts[np.arange(300), (np.arange(300) + 1) % 10] = shown - selected
    np.save(f"{name}.npy", counts)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [((10, 10), (0, 10), "No bin has images of both sets"), ((10, 10), (9, 2_000), "at most 1,000 votes an image, here 2,000")],
)
def test_votes_that_cannot_be_matched_tell_no_part(sets: Path, old: tuple[int, int], new: tuple[int, int], said: str):
    votes("old-votes", *old)
    votes("new-votes", *new)
    found = finding("selection-frequency", "--original-votes", "old-votes.npy", "--new-votes", "new-votes.npy")
    assert found["part"] is None
    assert said in found["verdict"]
