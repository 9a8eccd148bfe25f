"""Class balance: the part is that of a hand calculation, planted mixes are found, and the same mixes explain nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from material_made import ABILITIES, RULES, answers, asked, codes, eases, given_ease, halves, lacking, value

import resit
from resit import Benchmark, ModelId, Predictions
from resit.data.benchmark import ClassInfo
from resit.study.hypotheses.interface import Material, Rules

NAME = "class-balance"
EASY, HARD = 0.9, 0.5


def two_classes(name: str, easy: int, hard: int, seed: int) -> Predictions:
    """Images of class 0, which most models get right, and of class 1."""
    labels = np.repeat([0, 1], [easy, hard])
    chance = np.where(labels == 0, EASY, HARD)
    right = np.random.default_rng(seed).random((6, len(labels))) < chance
    return answers(name, right, labels, classes=2)


def test_a_planted_mix_is_found_at_its_size():
    found = asked(NAME, Material(two_classes("old", 3_000, 1_000, 0), two_classes("new", 1_000, 3_000, 1)))
    assert found.effect is True
    assert found.part is not None
    # half of the images moved from the easy class to the hard one
    assert found.part.estimate == pytest.approx(0.5 * (EASY - HARD), abs=0.02)
    assert value(found, "drop with equal classes") == pytest.approx(0, abs=0.02)


def test_the_figures_are_those_of_a_hand_calculation():
    # class 0: old 3 of 4 right, new 1 of 2; class 1: old 1 of 2 right, new 3 of 6
    old = answers("old", np.array([[1, 1, 1, 0, 1, 0]], bool), np.array([0, 0, 0, 0, 1, 1]), classes=2)
    new = answers("new", np.array([[1, 0, 1, 1, 1, 0, 0, 0]], bool), np.array([0, 0, 1, 1, 1, 1, 1, 1]), classes=2)
    found = asked(NAME, Material(old, new))
    assert value(found, "old: mean of classes") == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert value(found, "new: mean of classes") == pytest.approx((1 / 2 + 3 / 6) / 2)
    assert value(found, "new: with the original's") == pytest.approx(4 / 6 * 1 / 2 + 2 / 6 * 3 / 6)
    assert value(found, "drop with equal") == pytest.approx(0.125)


def test_the_interval_is_as_wide_as_the_variance_within_classes_says():
    old, new = two_classes("old", 400, 100, 0), two_classes("new", 60, 40, 1)
    found = asked(NAME, Material(old, new), Rules(resamples=20_000))
    share = new.correct().mean(axis=0)
    parts = [share[new.benchmark.labels[:, 0] == label] for label in (0, 1)]
    shift = np.array([0.8 - 0.6, 0.2 - 0.4])
    error = np.sqrt(sum(w**2 * part.var(ddof=1) / len(part) for w, part in zip(shift, parts, strict=True)))
    assert found.part is not None
    assert (found.part.high - found.part.low) / (2 * 1.96) == pytest.approx(error, rel=0.03)


def test_equal_classes_on_both_sets_explain_exactly_nothing():
    material = Material(two_classes("old", 500, 500, 0), two_classes("new", 100, 100, 1))
    found = asked(NAME, material)
    assert found.part is not None
    assert (found.part.estimate, found.part.low, found.part.high) == pytest.approx((0, 0, 0), abs=1e-12)
    assert found.effect is False
    assert "same class mix" in found.verdict


def test_whether_mixes_differ_is_told_apart_from_what_they_make_of_the_drop():
    def mixed(name: str, counts: list[int], right: bool) -> Predictions:
        labels = np.repeat(np.arange(len(counts)), counts)
        return answers(name, np.full((5, len(labels)), right), labels, classes=len(counts))

    old = mixed("old", [60] * 5, right=True)
    for right in (False, True):
        found = asked(NAME, Material(old, mixed("new", [10, 20, 40, 80, 150], right)))
        assert "The class mixes differ (p = " in found.verdict
        assert "explains nothing" in found.verdict
        assert found.effect is False


def test_mixes_that_hardly_differ_are_not_the_same():
    labels = [np.repeat(np.arange(200), 10) for _ in range(2)]
    labels[1] = np.repeat(np.arange(200), np.r_[np.full(8, 9), np.full(8, 11), np.full(184, 10)])
    right = np.tile(labels[1] < 8, (5, 1))
    found = asked(NAME, Material(*(answers(name, right, own, classes=200) for name, own in zip("ab", labels, strict=True))))
    assert value(found, "chance of such different class mixes") == 1
    assert found.part is not None
    assert found.part.estimate == pytest.approx(8 * 1 / 2_000)
    assert "differ no more than by chance (p = 1); as they are, they make 0.40 points" in found.verdict


def test_the_order_of_images_changes_nothing():
    old, new = two_classes("old", 300, 100, 0), two_classes("new", 100, 300, 1)
    order = np.random.default_rng(5).permutation(new.n)
    turned = answers("new", new.correct()[:, order], new.benchmark.labels[order, 0], classes=2)
    first, second = asked(NAME, Material(old, new)), asked(NAME, Material(old, turned))
    assert first.part is not None
    assert second.part is not None
    assert first.part.estimate == pytest.approx(second.part.estimate)


def test_classes_that_one_set_lacks_are_left_out_and_told():
    old = answers("old", np.ones((5, 30), bool), np.arange(30) % 3, classes=3)
    new = answers("new", np.ones((5, 30), bool), np.arange(30) % 2, classes=3)
    found = asked(NAME, Material(old, new))
    assert {"classes-missing", "shared-classes-only"} <= codes(found)
    assert "10 images" in next(one.message for one in found.warnings if one.code == "classes-missing")


def test_one_image_a_class_is_told():
    old = answers("old", np.ones((5, 10), bool))
    found = asked(NAME, Material(old, answers("new", np.eye(10, dtype=bool)[:5])))
    assert "one-image-a-class" in codes(found)


def test_classes_are_matched_by_their_ids_and_not_by_number():
    old = two_classes("old", 300, 100, 0)
    new = two_classes("new", 100, 300, 1)
    named = [ClassInfo("a", "a"), ClassInfo("b", "b")]
    plain = asked(NAME, Material(old, new))
    swapped = Predictions(
        Benchmark("new", 1 - new.benchmark.labels, classes=tuple(named[::-1])), new.models, (1 - new.answers).astype(np.int16)
    )
    fixed = Predictions(Benchmark("old", old.benchmark.labels, classes=tuple(named)), old.models, old.answers)
    assert asked(NAME, Material(fixed, swapped)).part == plain.part


def test_what_is_missing_is_said():
    models = tuple(ModelId(f"m{at}") for at in range(2))
    marks = Predictions(
        Benchmark("marks", np.ones((4, 1), np.int32), label_space="correctness"), models, np.ones((2, 4, 1), np.int16)
    )
    assert "the class of each example of marks" in lacking(NAME, Material(marks, marks))
    several = Predictions(Benchmark("several", np.array([[0, 1], [1, -1]], np.int32)), models, np.zeros((2, 2, 1), np.int16))
    assert "one label an example" in lacking(NAME, Material(several, several))
    apart = answers("a", np.ones((2, 4), bool), np.zeros(4, int)), answers("b", np.ones((2, 4), bool), np.ones(4, int))
    assert "a class that both sets have" in lacking(NAME, Material(*apart))


def test_a_single_model_is_enough():
    found = asked(NAME, Material(answers("a", np.ones((1, 40), bool)), answers("b", np.eye(40, dtype=bool)[:1])))
    assert found.part is not None


def test_cifar_v4_is_not_balanced_and_v6_is(shared_data: Path):
    sets = {name: resit.load_predictions(shared_data / "cifar10.1" / name) for name in ("original", "v4", "v6")}
    v6 = asked(NAME, Material(sets["original"], sets["v6"]))
    assert "same class mix" in v6.verdict
    v4 = asked(NAME, Material(sets["original"], sets["v4"]))
    right, labels = sets["v4"].correct().mean(axis=0), sets["v4"].benchmark.labels[:, 0]
    by_hand = np.mean([right[labels == label].mean() for label in range(10)]) - right.mean()
    assert v4.part is not None
    assert v4.part.estimate == pytest.approx(by_hand)
    assert v4.part.estimate == pytest.approx(0.00198, abs=1e-5)
    assert v4.effect is False


def control(seed: int, n: int = 1_000) -> Material:
    """A set whose classes differ in ease, cut into two at random."""
    labels = np.random.default_rng(seed).integers(0, 5, 2 * n)
    right = given_ease(eases(2 * n, seed) + labels / 2 - 1, seed, ABILITIES[:8])
    parts = halves(n, seed)
    return Material(*(answers(name, right[:, rows], labels[rows]) for name, rows in zip(("a", "b"), parts, strict=True)))


def test_random_halves_explain_nothing():
    assert asked(NAME, control(0)).effect is False


@pytest.mark.slow
def test_size_and_power_of_class_balance():
    false = np.mean([asked(NAME, control(seed)).effect for seed in range(300)])
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    found = [
        asked(NAME, Material(two_classes("a", 500, 500, 2 * seed), two_classes("b", 440, 560, 2 * seed + 1)), RULES).effect
        for seed in range(100)
    ]
    # 6 % of the images moved: the test of the mixes has a power of 0.77 at these sizes
    assert np.mean(found) > 0.6


def test_a_chance_below_all_floats_is_no_zero():
    labels = np.repeat([0, 1], [10_000, 100]), np.repeat([0, 1], [100, 10_000])
    old, new = (answers(name, np.ones((5, len(own)), bool), own, classes=2) for name, own in zip("ab", labels, strict=True))
    assert "(p < 1e-300)" in asked(NAME, Material(old, new)).verdict
