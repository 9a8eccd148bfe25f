"""Near-duplicates: the papers' bound, pairs that people judged on real data, planted ones of known size, and none at random."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from material_made import ABILITIES, answers, asked, build_of, codes, counts_of, eases, given_ease, pairs_of, value, verdicts_of
from scipy import stats

import resit
from resit.study.hypotheses.interface import Material
from resit.study.hypotheses.near_duplicates import bound, needed

NAME = "near-duplicates"


def test_eight_percent_near_duplicates_move_93_to_92_4():
    assert 0.93 - bound(0.93, 0.08) == pytest.approx(0.924, abs=0.0002)


@pytest.mark.parametrize(("right", "duplicates", "n"), [(93, 8, 100), (50, 50, 100), (99, 1, 100)])
def test_the_bound_is_that_of_counted_images(right: int, duplicates: int, n: int):
    # all near-duplicates are right, so that of the others this many are
    without = (right - duplicates) / (n - duplicates)
    assert bound(right / n, duplicates / n) == pytest.approx(right / n - without)


def test_more_near_duplicates_than_right_answers_lift_no_more_than_all():
    assert bound(0.3, 0.5) == pytest.approx(0.3)


@pytest.mark.parametrize(("accuracy", "drop"), [(0.93, 0.08), (0.6, 0.1)])
def test_what_is_needed_to_explain_a_drop_lifts_by_just_that(accuracy: float, drop: float):
    assert bound(accuracy, needed(accuracy, drop)) == pytest.approx(drop)


def without_pairs(seed: int = 0) -> Material:
    old, new = (given_ease(eases(800, seed + at, harder), seed + at) for at, harder in ((0, 0.0), (50, 0.5)))
    return Material(answers("old", old), answers("new", new))


def test_without_pairs_there_is_a_table_of_bounds_and_no_part():
    found = asked(NAME, without_pairs())
    assert found.part is None
    assert found.effect is None
    rows = found.sheets[0].rows
    assert [row[0] for row in rows] == pytest.approx([at / 100 for at in range(1, 11)])
    accuracy = without_pairs().right_original.mean()
    assert rows[7][1] == pytest.approx((accuracy - 0.08) / 0.92)
    assert "is not known" in found.verdict


def marked(material: Material, rows: np.ndarray) -> Material:
    pairs = pairs_of([(str(row), f"t{row}", "train") for row in rows], ["near"] * len(rows))
    return replace(material, original_neighbours=pairs)


def planted(seed: int, n: int = 2_000, lifted: bool = True) -> tuple[Material, np.ndarray]:
    """A tenth of the original are near-duplicates, on which every model is right where ``lifted``; the new set has none."""
    rng = np.random.default_rng(seed)
    old, new = (given_ease(eases(n, 2 * seed + at), 2 * seed + at) for at in range(2))
    rows = np.sort(rng.choice(n, n // 10, replace=False))
    if lifted:
        old[:, rows] = True
    return marked(Material(answers("old", old), answers("new", new)), rows), rows


def test_planted_near_duplicates_are_found_at_their_size():
    material, rows = planted(1)
    found = asked(NAME, material)
    others = np.setdiff1d(np.arange(material.original.n), rows)
    right = material.right_original
    assert value(found, "old: accuracy with minus") == pytest.approx(
        np.mean([row.mean() - row[others].mean() for row in right])
    )
    assert found.effect is True
    assert found.part is not None
    base = stats.norm.cdf(ABILITIES / np.sqrt(2)).mean()  # of images of normal ease, as the models are made
    assert found.part.low < 0.1 * (1 - base) < found.part.high
    assert value(found, "old: images with a near-duplicate") == len(rows)


def test_near_duplicates_that_are_answered_like_the_others_explain_nothing():
    assert asked(NAME, planted(2, lifted=False)[0]).effect is False


def test_near_duplicates_in_the_new_set_are_taken_off():
    material, _ = planted(3)
    rows = np.arange(0, 2_000, 10)
    right = material.right_new.copy()
    right[:, rows] = True
    pairs = pairs_of([(str(row), f"t{row}", "train") for row in rows], ["same"] * len(rows))
    both = replace(material, new=answers("new", right), neighbours=pairs)
    found = asked(NAME, both)
    assert found.part is not None
    lifts = [value(found, f"{name}: accuracy with minus") for name in ("old", "new")]
    assert found.part.estimate == pytest.approx(lifts[0] - lifts[1])
    assert found.effect is False


def test_only_pairs_with_train_that_people_found_near_count():
    material = without_pairs()
    pairs = pairs_of(
        [("0", "t", "train"), ("1", "t", "train"), ("2", "t", "train"), ("3", "o", "old"), ("4", "c", ""), ("5", "t", "train")],
        ["same", "near", "different", "near", "near", "unsure"],
    )
    found = asked(NAME, replace(material, original_neighbours=pairs))
    assert value(found, "old: images with a near-duplicate") == 2


def test_pairs_without_a_verdict_are_told():
    material = without_pairs()
    found = asked(NAME, replace(material, neighbours=pairs_of([("0", "t", "train")])))
    assert "no-verdicts" in codes(found)
    assert found.part is None
    some = pairs_of([("0", "t", "train"), ("1", "t", "train")], ["near", ""])
    assert "pairs-without-verdict" in codes(asked(NAME, replace(material, original_neighbours=some)))


def test_verdicts_of_a_build_count_in_either_order_and_the_last_one_holds(tmp_path: Path):
    material = without_pairs()
    pairs = pairs_of([(name, f"{at}{name}", "train") for at, name in enumerate("abcd")])
    new = replace(material.new, benchmark=replace(material.new.benchmark, ids=np.array([*"abcd", *map(str, range(796))])))
    said = [("a", "0a", "near"), ("1b", "b", "same"), ("c", "2c", "near"), ("c", "2c", "different"), ("d", "3d", "unsure")]
    counts = counts_of(dict.fromkeys(("a", "b", "c", "d", "0a", "1b", "2c", "3d"), ("0", 9, 10)))
    build = build_of(tmp_path / "b", counts, verdicts=verdicts_of(said))
    found = asked(NAME, replace(material, new=new, neighbours=pairs, build=build))
    assert value(found, "new: images with a near-duplicate") == 2
    assert found.part is None


def test_a_set_of_near_duplicates_only_has_no_part():
    material = without_pairs()
    found = asked(NAME, marked(material, np.arange(800)))
    assert found.part is None


def test_real_pairs_of_cifar_are_those_of_a_plain_count(shared_data: Path):
    old, new = (resit.load_predictions(shared_data / "cifar10.1" / name) for name in ("original", "v4"))
    words = {"0": "same", "1": "near", "2": "different"}  # the third kind is very similar and no duplicate
    with (shared_data / "cifar10" / "known_duplicates.csv").open() as file:
        rows = list(csv.DictReader(file))
    pairs = pairs_of(
        [(row["TestID"], f"t{row['TrainID']}", "cifar10/train") for row in rows], [words[row["Judgment"]] for row in rows]
    )
    found = asked(NAME, Material(old, new, original_neighbours=pairs))
    near = {int(row["TestID"]) for row in rows if row["Judgment"] in "01"}
    others = [at for at in range(10_000) if at not in near]
    right = old.correct()
    by_hand = np.mean([right[model].mean() - right[model, others].mean() for model in range(len(right))])
    assert value(found, "original: images with a near-duplicate") == len(near)
    assert value(found, "original: accuracy with minus") == pytest.approx(by_hand)
    assert found.part is not None
    assert found.part.estimate == pytest.approx(by_hand)
    assert 0 < by_hand < bound(right.mean(), len(near) / 10_000) < 0.003


@pytest.mark.slow
def test_size_and_power_of_near_duplicates():
    false = np.mean([asked(NAME, planted(seed, 1_000, lifted=False)[0]).effect for seed in range(300)])
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert np.mean([asked(NAME, planted(seed, 1_000)[0]).effect for seed in range(60)]) > 0.95
