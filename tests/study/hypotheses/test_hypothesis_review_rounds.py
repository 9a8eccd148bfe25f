"""Review rounds: what came and went, accuracy on both ends by hand, planted bad images, and rounds that change nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from material_made import RULES, answers, asked, build_of, codes, lacking, value, votes_of

from resit import Predictions
from resit.study.hypotheses.interface import Material

NAME = "review-rounds"


def candidates(right: np.ndarray) -> Predictions:
    names = np.array([f"i{at:04}" for at in range(right.shape[1])])
    return answers("candidates", right, ids=names)


def part_of(one: Predictions, rows: np.ndarray, name: str = "new") -> Predictions:
    """The same answers on some of the images."""
    ids = one.benchmark.ids
    assert ids is not None
    return answers(name, one.correct()[:, rows], one.benchmark.labels[rows, 0], ids=ids[rows])


def reviewed(folder: Path, seed: int, bad: int, n: int = 400, models: int = 10) -> Material:
    """Of n images of the first revision some are bad, so that nobody is right; they go, and good ones come."""
    rng = np.random.default_rng(seed)
    right = rng.random((models, n + bad)) < 0.8
    right[:, :bad] = False
    everything = candidates(right)
    ids = everything.benchmark.ids
    assert ids is not None
    first, last = ids[:n].tolist(), ids[bad:].tolist()
    counts = votes_of(everything, np.full(len(ids), 9))
    build = build_of(folder, counts, [("threshold", first), ("threshold", last)], dict.fromkeys(first[:bad], "blacklisted"))
    old = answers("old", rng.random((models, n)) < 0.8)
    return Material(old, part_of(everything, np.arange(bad, n + bad)), candidates=everything, build=build)


def test_planted_bad_images_are_found_with_their_reason(tmp_path: Path):
    given = reviewed(tmp_path / "b", 0, bad=20)
    found = asked(NAME, given)
    assert given.candidates is not None
    share = given.candidates.correct().mean(axis=0)
    assert found.part is not None
    assert found.part.estimate == pytest.approx(share[:400].mean() - share[20:].mean())
    assert found.part.estimate == pytest.approx(-20 / 400 * 0.8, abs=0.02)
    assert found.effect is True
    assert "20 images went (20 blacklisted), 20 images came, and 380 stayed" in found.verdict
    assert "smaller" in found.verdict
    went = next(row for row in found.sheets[0].rows if row[0] == "went")
    assert went == ("went", "blacklisted", 20, 20, 0.0)
    came = next(row for row in found.sheets[0].rows if row[0] == "came")
    assert came[4] == pytest.approx(share[400:].mean())


def exchanged(folder: Path, seed: int, n: int = 400) -> Material:
    """The control: half of the images are exchanged at random for others of the same kind."""
    given = reviewed(folder, seed, bad=0, n=n)
    right = np.random.default_rng(seed + 500).random((10, n + n // 2)) < 0.8
    everything = candidates(right)
    ids = everything.benchmark.ids
    assert ids is not None
    counts = votes_of(everything, np.full(len(ids), 9))
    build = build_of(folder / "again", counts, [("threshold", ids[:n].tolist()), ("threshold", ids[n // 2 :].tolist())])
    return Material(given.original, part_of(everything, np.arange(n // 2, len(ids))), candidates=everything, build=build)


def test_images_exchanged_at_random_explain_nothing(tmp_path: Path):
    assert asked(NAME, exchanged(tmp_path / "b", 1)).effect is False


def test_what_people_took_out_is_told_without_answers_too(tmp_path: Path):
    given = replace(reviewed(tmp_path / "b", 2, bad=20), candidates=None)
    found = asked(NAME, given)
    assert found.part is None
    assert "not-covered" in codes(found)
    assert "20 of the 400 images of revision 1" in found.warnings[0].message
    assert value(found, "images that went") == 20
    assert next(row for row in found.sheets[0].rows if row[0] == "went")[3] == 0


def test_rounds_that_changed_nothing_say_so(tmp_path: Path):
    found = asked(NAME, reviewed(tmp_path / "b", 3, bad=0))
    assert found.part is not None
    assert (found.part.estimate, found.part.low, found.part.high) == (0, 0, 0)
    assert found.effect is False
    assert "no image went" in found.verdict


def test_what_is_missing_is_said(tmp_path: Path):
    right = np.ones((3, 10), bool)
    pair = Material(answers("old", right), answers("new", right))
    assert "--build" in lacking(NAME, pair)
    assert "a build that can be read" in lacking(NAME, replace(pair, build=tmp_path / "none"))
    everything = candidates(right)
    counts = votes_of(everything, np.full(10, 9))
    one = build_of(tmp_path / "b", counts, [("uniform", ["i0001"])])
    assert "two revisions: this one has 1" in lacking(NAME, replace(pair, build=one))


@pytest.mark.slow
def test_size_and_power_of_review_rounds(tmp_path: Path):
    false = np.mean([asked(NAME, exchanged(tmp_path / f"c{seed}", seed), RULES).effect for seed in range(100)])
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)
    assert np.mean([asked(NAME, reviewed(tmp_path / f"p{seed}", seed, bad=20), RULES).effect for seed in range(30)]) > 0.95


def test_rounds_are_those_that_the_last_revision_goes_on_from(tmp_path: Path):
    from resit.build.steps.opened import open_build
    from resit.store.schemas import EXCLUDED, SELECTED, table

    given = reviewed(tmp_path / "b", 0, bad=20)
    assert given.build is not None
    with open_build(given.build) as build:
        first, last = (build.store.selection(number) for number in (1, 2))
        record = {"strategy": "threshold", "time": "2026-01-02T00:00:00.000Z"}
        nothing = table(EXCLUDED, {name: [] for name in EXCLUDED})
        build.store.add_selection(record, table(SELECTED, {name: [] for name in SELECTED}), nothing, parent=None)
        build.store.add_selection(record, first.selected, nothing, parent=None)
        assert "this one has 1 (one made afresh" in lacking(NAME, given)
        build.store.add_selection(record, last.selected, nothing, parent=4)
    found = asked(NAME, given)
    assert "From revision 4 to 5" in found.verdict
    assert [row[0] for row in found.sheets[1].rows] == ["4", "5"]
