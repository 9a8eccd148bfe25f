"""Sampling strategy: the line over several sets against a plain fit, a planted rise, and accuracy that follows nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from material_made import RULES, answers, asked, build_of, codes, lacking, value, votes_of
from scipy import stats

from resit import Predictions
from resit.study.hypotheses.interface import Material

NAME = "sampling-strategy"
STRATEGIES = ("top-images", "threshold", "matched-frequency", "uniform")


def pool(seed: int, n: int = 3_000, rise: float = 0.6) -> tuple[Predictions, np.ndarray]:
    """Candidates whose accuracy rises with their frequency by so much, and how many of 20 people select them."""
    rng = np.random.default_rng(seed)
    true = rng.beta(3, 2, n)
    right = rng.random((8, n)) < 0.8 - rise / 2 + rise * (true - 0.3)
    names = np.array([f"i{at:05}" for at in range(n)])
    return answers("candidates", right, ids=names), rng.binomial(20, true)


def built(folder: Path, seed: int, rise: float = 0.6) -> Material:
    """A build whose revisions were drawn by four strategies; the last is the new set."""
    everything, selected = pool(seed, rise=rise)
    ids = everything.benchmark.ids
    assert ids is not None
    order = np.argsort(-selected, kind="stable")
    rng = np.random.default_rng(seed + 1)
    some = {
        "top-images": order[:500],
        "threshold": rng.choice(np.flatnonzero(selected >= 14), 500, replace=False),
        "matched-frequency": rng.choice(np.flatnonzero(selected >= 8), 500, replace=False),
        "uniform": rng.choice(len(ids), 500, replace=False),
    }
    counts = votes_of(everything, selected, 20)
    build = build_of(folder, counts, [(name, ids[rows].tolist()) for name, rows in some.items()])
    last = some["uniform"]
    new = answers("new", everything.correct()[:, last], everything.benchmark.labels[last, 0], ids=ids[last])
    old, old_selected = pool(seed + 2, 1_000, rise)
    high = np.flatnonzero(old_selected >= 10)
    original = answers("old", old.correct()[:, high], old.benchmark.labels[high, 0])
    return Material(
        original,
        new,
        original_counts=votes_of(original, old_selected[high], 20),
        new_counts=votes_of(new, selected[last], 20),
        candidates=everything,
        build=build,
    )


def test_the_line_is_that_of_a_plain_fit_over_the_sets(tmp_path: Path):
    given = built(tmp_path / "b", 0)
    found = asked(NAME, given)
    rows = [row for row in found.sheets[0].rows if row[0] != "old"]
    assert len(rows) == 4
    plain = stats.linregress([row[2] for row in rows], [row[3] for row in rows])
    assert value(found, "points of accuracy per point") == pytest.approx(plain.slope)
    assert value(found, "R²") == pytest.approx(plain.rvalue**2)
    original = next(row for row in found.sheets[0].rows if row[0] == "old")
    new = next(row for row in rows if row[0] == "new")
    assert found.part is not None
    assert found.part.estimate == pytest.approx(plain.slope * (original[2] - new[2]))
    assert value(found, "original above the line") == pytest.approx(original[3] - plain.intercept - plain.slope * original[2])


def test_a_planted_rise_is_found_at_its_size(tmp_path: Path):
    found = asked(NAME, built(tmp_path / "b", 1))
    assert found.effect is True
    # observed frequency is noisier than the true one, on which accuracy rises by 0.6
    assert 0.4 < value(found, "points of accuracy per point") < 0.65
    assert found.part is not None
    assert found.part.low > 0


def test_accuracy_that_does_not_follow_frequency_gives_no_effect(tmp_path: Path):
    assert asked(NAME, built(tmp_path / "b", 3, rise=0.0)).effect is False


def test_sets_that_are_given_with_votes_need_no_build():
    everything, selected = pool(4)
    frequency_of = [np.flatnonzero(selected >= least)[:600] for least in (0, 8, 12, 15)]
    ids = everything.benchmark.ids
    assert ids is not None

    def one(name: str, rows: np.ndarray) -> Predictions:
        return answers(name, everything.correct()[:, rows], everything.benchmark.labels[rows, 0], ids=ids[rows])

    sets = [one(f"set {at}", rows) for at, rows in enumerate(frequency_of)]
    votes = [votes_of(own, selected[rows], 20) for own, rows in zip(sets, frequency_of, strict=True)]
    given = Material(sets[3], sets[0], new_counts=votes[0], others=tuple(zip(sets[1:3], votes[1:3], strict=True)))
    found = asked(NAME, replace(given, original=answers("old", np.ones((8, 10), bool))))
    assert [row[0] for row in found.sheets[0].rows] == ["set 1", "set 2", "set 0"]
    assert "few-sets" in codes(found)
    assert found.part is None
    assert "Without votes on the original" in found.verdict or found.effect is False


def test_revisions_without_answers_are_left_out_and_told(tmp_path: Path):
    given = built(tmp_path / "b", 5)
    told = lacking(NAME, replace(given, candidates=None))
    assert "revision 1 (top-images) lacks answers on" in told
    assert "at least 3 sets" in told


def test_what_is_missing_is_said(tmp_path: Path):
    right = np.ones((3, 10), bool)
    given = Material(answers("old", right), answers("new", right))
    assert "at least 3 sets" in lacking(NAME, given)
    assert "a build that can be read" in lacking(NAME, replace(given, build=tmp_path / "none"))


def test_models_that_are_right_on_everything_make_a_flat_line(tmp_path: Path):
    given = built(tmp_path / "b", 6)
    everything = given.candidates
    assert everything is not None
    ids, labels = everything.benchmark.ids, everything.benchmark.labels[:, 0]
    found = asked(
        NAME,
        replace(
            given, candidates=answers("candidates", np.ones((8, len(labels)), bool), labels, ids=ids), new=all_right(given.new)
        ),
    )
    assert found.effect is False
    assert "all sets have the same accuracy" in found.verdict


def all_right(one: Predictions) -> Predictions:
    labels = one.benchmark.labels[:, 0]
    return answers(one.name, np.ones((8, len(labels)), bool), labels, ids=one.benchmark.ids)


@pytest.mark.slow
def test_size_and_power_of_sampling_strategy(tmp_path: Path):
    false = np.mean([asked(NAME, built(tmp_path / f"c{seed}", seed, rise=0.0), RULES).effect for seed in range(100)])
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)
    assert np.mean([asked(NAME, built(tmp_path / f"p{seed}", seed), RULES).effect for seed in range(20)]) > 0.95
