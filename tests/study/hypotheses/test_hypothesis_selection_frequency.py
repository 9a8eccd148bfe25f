"""Selection frequency: real votes, a plain loop over bins, planted shifts, and votes that selected the images."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import predictions
from material_made import answers, asked, build_of, codes, halves, lacking, value, votes_of

import resit
from resit.build.steps.originals import read_counts
from resit.study.hypotheses import corrected_votes
from resit.study.hypotheses.interface import Material, Rules

NAME = "selection-frequency"
FEW = Rules(resamples=20)
PUBLISHED = {"[.2, .4)": 0.587, "[.4, .6)": 0.686, "[.6, .8)": 0.777, "[.8, .9)": 0.823, "[.9, 1)": 0.935, "1": 0.969}


def answered(frequency: np.ndarray, seed: int, models: int = 8) -> np.ndarray:
    """Right more often where people select more often."""
    return np.random.default_rng(seed).random((models, len(frequency))) < 0.3 + 0.6 * frequency


def drawn(seed: int, n: int, easy: float, votes: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """True frequencies of which a share is high, and votes."""
    rng = np.random.default_rng(seed)
    true = np.where(rng.random(n) < easy, rng.beta(18, 2, n), rng.beta(4, 4, n))
    return true, rng.binomial(votes, true)


def material(seed: int, n: int = 1_500, easy: tuple[float, float] = (0.8, 0.4), votes: int = 20) -> Material:
    sets, counts = [], []
    for at, (name, share) in enumerate(zip(("old", "new"), easy, strict=True)):
        true, selected = drawn(10 * seed + at, n, share, votes)
        one = answers(name, answered(true, 10 * seed + at + 5))
        sets.append(one)
        counts.append(votes_of(one, selected, votes))
    return Material(*sets, original_counts=counts[0], new_counts=counts[1])


def test_accuracy_by_bin_on_real_votes_is_as_published(shared_data: Path):
    old, new = (resit.load_predictions(shared_data / "cifar10.1" / name) for name in ("original", "v4"))
    counts = read_counts(shared_data / "cifar10" / "cifar10h_counts.npy", old.benchmark, [str(at) for at in range(old.n)])
    found = asked(NAME, Material(old, new, original_counts=counts))
    by_bin = {row[0]: row[3] for row in found.sheets[0].rows}
    assert {name: by_bin[name] for name in PUBLISHED} == pytest.approx(PUBLISHED, abs=0.0006)
    assert value(found, "original: mean selection frequency") == pytest.approx(0.9523, abs=5e-5)
    assert found.part is None
    assert "no votes on the other set" in found.verdict


def test_the_part_is_that_of_a_plain_loop_over_bins():
    given = material(1, n=600)
    found = asked(NAME, given)
    edges = (0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
    places = [
        [sum(k / 20 >= edge for edge in edges) for k in counts["selected"].to_pylist()]
        for counts in (given.original_counts, given.new_counts)
    ]
    share = given.right_new.mean(axis=0)
    total, weight = 0.0, 0
    for cell in range(7):
        mine = [at for at, place in enumerate(places[1]) if place == cell]
        old = places[0].count(cell)
        if mine:
            total += old * share[mine].mean()
            weight += old
    assert value(found, "part by bins") == pytest.approx(total / weight - share.mean())


def test_a_planted_shift_of_frequency_is_found_at_its_size():
    given = material(2, n=4_000)
    found = asked(NAME, given)
    assert found.effect is True
    # correctness depends on the true frequency alone, so all of the drop is explained
    assert value(found, "part by mixtures") == pytest.approx(given.drop, abs=0.02)
    assert value(found, "part by jackknife") == pytest.approx(given.drop, abs=0.03)
    naive, mixtures = value(found, "part by observed"), value(found, "part by mixtures")
    assert naive < mixtures


def test_random_halves_explain_nothing():
    assert asked(NAME, control(0)).effect is False


def control(seed: int, n: int = 1_000) -> Material:
    true, selected = drawn(seed, 2 * n, 0.6)
    right = answered(true, seed + 1)
    parts = [(answers(name, right[:, rows]), selected[rows]) for name, rows in zip(("a", "b"), halves(n, seed), strict=True)]
    counts = [votes_of(one, chosen, 20) for one, chosen in parts]
    return Material(parts[0][0], parts[1][0], original_counts=counts[0], new_counts=counts[1])


def with_build(tmp_path: Path, strategy: str) -> Material:
    """A new set that a build drew from its candidates by the votes that there are."""
    given = material(4, n=400)
    ids = np.array([f"i{at:04}" for at in range(given.new.n)])
    new = replace(given.new, benchmark=replace(given.new.benchmark, ids=ids))
    counts = votes_of(new, np.array(given.new_counts["selected"]), 20)
    build = build_of(tmp_path / strategy, counts, [(strategy, ids.tolist())])
    return replace(given, new=new, new_counts=counts, build=build)


def test_votes_that_selected_the_images_do_not_measure_them(tmp_path: Path):
    given = with_build(tmp_path, "matched-frequency")
    found = asked(NAME, given, FEW)
    assert "selected-by-these-votes" in codes(found)
    assert not any(one.name.startswith(("part by bins", "part by observed", "part by jackknife")) for one in found.figures)
    assert found.part is not None
    assert found.part.estimate == value(found, "part by mixtures")


def test_fresh_votes_and_votes_that_selected_nothing_do(tmp_path: Path):
    given = with_build(tmp_path, "uniform")
    assert "selected-by-these-votes" not in codes(asked(NAME, given, FEW))
    chosen = with_build(tmp_path, "matched-frequency")
    fresh = votes_of(chosen.new, np.full(chosen.new.n, 9), np.random.default_rng(0).integers(10, 15, chosen.new.n))
    assert "selected-by-these-votes" not in codes(asked(NAME, replace(chosen, new_counts=fresh), FEW))


def test_bins_that_the_new_set_lacks_and_images_without_votes_are_told():
    given = material(5, n=300)
    high = votes_of(given.new, np.full(300, 19), 20)
    found = asked(NAME, replace(given, new_counts=high.slice(0, 250)), FEW)
    assert {"bins-missing", "without-votes", "one-frequency"} <= codes(found)


def test_one_vote_an_image_leaves_the_jackknife_out():
    given = material(6, n=300, votes=1)
    found = asked(NAME, given, FEW)
    assert {"one-vote", "few-votes"} <= codes(found)
    assert not any(one.name.startswith("part by jackknife") for one in found.figures)


def test_votes_in_several_rows_of_one_image_are_added():
    import pyarrow as pa

    given = material(7, n=200)
    half = votes_of(given.new, np.array(given.new_counts["selected"]) // 2, 10)
    rest = votes_of(given.new, np.array(given.new_counts["selected"]) - np.array(half["selected"]), 10)
    doubled = replace(given, new_counts=pa.concat_tables([half, rest]))
    first, second = (value(asked(NAME, one, FEW), "part by bins") for one in (given, doubled))
    assert first == pytest.approx(second)


def test_what_is_missing_is_said():
    pair = Material(predictions("old", [0.8]), predictions("new", [0.7]))
    assert "--original-votes" in lacking(NAME, pair)
    assert "--new-votes" in lacking(NAME, pair)
    strange = votes_of(answers("x", np.ones((1, 5), bool), np.full(5, 77), classes=100), np.full(5, 9))
    assert "none of the 5 rows" in lacking(NAME, replace(pair, original_counts=strange))


@pytest.mark.slow
def test_size_and_power_of_selection_frequency(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(corrected_votes, "MIXTURE_RESAMPLES", 2)  # the effect goes by the naive part here
    monkeypatch.setattr(corrected_votes, "MOST_RESAMPLES", 2)
    rules = Rules(resamples=200)
    false = np.mean([asked(NAME, control(seed, 500), rules).effect for seed in range(200)])
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean([asked(NAME, material(seed, 500), rules).effect for seed in range(30)]) > 0.95
