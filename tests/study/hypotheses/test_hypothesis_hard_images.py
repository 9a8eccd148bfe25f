"""Hard images: real counts, planted wrong labels, where a drop lies, and the gallery."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from material_made import Pictures, answers, asked, codes, eases, figure, given_ease, halves, lacking, value
from PIL import Image

import resit
from resit.data.benchmark import ClassInfo
from resit.study.hypotheses.hard_gallery import MOST
from resit.study.hypotheses.hard_images import hardest
from resit.study.hypotheses.interface import Material, Rules

NAME = "hard-images"


def control(seed: int, n: int = 2_000) -> Material:
    right = given_ease(eases(2 * n, seed), seed)
    return Material(*(answers(name, right[:, rows]) for name, rows in zip(("a", "b"), halves(n, seed), strict=True)))


def mislabelled(seed: int, rate: float = 0.03, n: int = 2_000) -> Material:
    """Some labels of the new set are wrong, so that no model is right there."""
    old, new = (given_ease(eases(n, 2 * seed + at), 2 * seed + at) for at in range(2))
    new[:, np.random.default_rng(seed).choice(n, round(rate * n), replace=False)] = False
    return Material(answers("old", old), answers("new", new))


@pytest.mark.parametrize(("new", "count"), [("v4", 21), ("v6", 22)])
def test_real_images_that_no_model_gets_right(shared_data: Path, new: str, count: int):
    sets = [resit.load_predictions(shared_data / "cifar10.1" / name) for name in ("original", new)]
    found = asked(NAME, Material(*sets))
    assert value(found, "original: images that no model") == 28
    assert value(found, f"{new}: images that no model") == count
    assert found.effect is True


def test_planted_wrong_labels_are_found_at_their_size():
    material = mislabelled(1)
    found = asked(NAME, material)
    assert found.effect is True
    assert found.part is not None
    # each would have been right as often as the others
    sound = material.right_new[:, material.right_new.any(axis=0)].mean()
    assert found.part.estimate == pytest.approx(0.03 * sound, abs=0.006)
    assert found.part.low < 0.03 * sound < found.part.high


def test_random_halves_have_as_many_hard_images():
    assert asked(NAME, control(0)).effect is False


def test_the_parts_of_the_drop_add_up_to_it():
    material = mislabelled(2)
    sheet = asked(NAME, material).sheets[0]
    assert sum(row[3] for row in sheet.rows) == pytest.approx(material.drop)
    assert sum(row[4] for row in sheet.rows) == pytest.approx(1)


def test_the_drop_without_the_hardest_is_that_of_the_images_left():
    # 20 images a set, so that the hardest tenth is two of them
    old, new = (given_ease(eases(20, at), at) for at in (1, 2))
    found = asked(NAME, Material(answers("old", old), answers("new", new)), Rules(resamples=100, hardest=0.1))
    kept = [np.sort(right.mean(axis=0))[2:].mean() for right in (old, new)]
    assert value(found, "drop without the hardest 10 %") == pytest.approx(kept[0] - kept[1])


def test_ties_go_by_name_whatever_the_order_of_rows():
    right = np.zeros((3, 6), bool)
    right[0, :3] = True
    names = np.array(["f", "e", "d", "c", "b", "a"])
    first = names[hardest(right, 0.5, names)]
    order = np.array([3, 0, 5, 2, 1, 4])
    second = names[order][hardest(right[:, order], 0.5, names[order])]
    assert first.tolist() == second.tolist() == ["a", "b", "c"]
    assert hardest(right, 0.5).tolist() == [3, 4, 5]


def test_a_fraction_of_few_images_is_at_least_one():
    assert len(hardest(np.ones((3, 4), bool), 0.05)) == 1


def test_the_gallery_is_capped_and_says_what_models_said():
    material = mislabelled(3, n=800)
    rng = np.random.default_rng(0)
    pixels = [rng.integers(0, 256, (32, 32, 3)).astype(np.uint8) for _ in range(800)]
    classes = tuple(ClassInfo(str(at), f"class {at}") for at in range(10))
    seen = [
        replace(one, benchmark=replace(one.benchmark, images=Pictures(pixels), classes=classes))
        for one in (material.original, material.new)
    ]
    found = asked(NAME, Material(*seen), Rules(resamples=100, hardest=0.1))
    assert [sum(tile.origin == origin for tile in found.gallery) for origin in ("original", "new")] == [MOST, MOST]
    worst = next(tile for tile in found.gallery if tile.origin == "new")
    row = int(hardest(material.right_new, 0.1)[0])
    label = int(material.new.benchmark.labels[row, 0])
    assert worst.caption == f"image {row}: class {label}; 0 of 15 models right, 15 say class {(label + 1) % 10}"
    kind, data = worst.image.split(",")
    assert kind == "data:image/webp;base64"
    drawn = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))
    assert np.array_equal(drawn, pixels[row])


def test_images_that_cannot_be_read_are_told_and_the_others_shown():
    material = mislabelled(4, n=200)
    pixels: list[np.ndarray | None] = [np.zeros((8, 8, 3), np.uint8)] * 200
    pixels[int(hardest(material.right_new, 0.05)[0])] = None
    seen = replace(material.new, benchmark=replace(material.new.benchmark, images=Pictures(pixels)))
    found = asked(NAME, replace(material, new=seen))
    assert "unreadable-images" in codes(found)
    assert len(found.gallery) == 9


def test_few_models_lack_others():
    material = control(1)
    few = [one.select(one.models[:4]) for one in (material.original, material.new)]
    assert "at least 5 models" in lacking(NAME, Material(*few))


def test_no_hard_image_at_all_is_nothing():
    right = np.ones((6, 100), bool)
    found = asked(NAME, Material(answers("a", right), answers("b", right)))
    assert found.effect is False
    assert found.part is not None
    assert found.part.estimate == 0
    assert figure(found, "a: images that no model").n == 100


def test_a_new_set_without_hard_images_gains_as_one_with_few(shared_data: Path):
    old, new = (resit.load_predictions(shared_data / "cifar10.1" / name) for name in ("original", "v4"))
    sound = np.flatnonzero(new.correct().any(axis=0))
    rights = old.correct(), new.correct()[:, sound]
    found, accuracy = asked(NAME, Material(*map(answers, ("old", "new"), rights))), rights[1].mean()
    assert found.part is not None
    assert found.part.estimate == pytest.approx((1 - 28 / 10_000) * accuracy - accuracy)
    assert found.part.low < found.part.estimate < found.part.high < 0


def test_a_new_set_of_hard_images_only_has_no_part():
    found = asked(NAME, Material(answers("a", np.ones((6, 100), bool)), answers("b", np.zeros((6, 100), bool))))
    assert found.effect is True
    assert found.part is None
    assert "has no other images" in found.verdict
    assert "nan" not in found.verdict


def test_an_original_of_hard_images_only_explains_all():
    found = asked(NAME, Material(answers("a", np.zeros((6, 100), bool)), answers("b", np.ones((6, 100), bool))))
    assert found.part is not None
    assert found.part.estimate == -1


def test_why_the_drop_is_larger_without_the_hardest_is_said():
    right = np.zeros((6, 200), bool)
    right[:, 10:] = True
    worse = right.copy()
    worse[:, 10:30] = False
    why = "larger, as nearly nobody is right on these in both sets"
    assert why in asked(NAME, Material(answers("a", right), answers("b", worse))).verdict
    assert why not in asked(NAME, Material(answers("a", worse), answers("b", right))).verdict


@pytest.mark.slow
def test_size_and_power_of_hard_images():
    false = np.mean([asked(NAME, control(seed, 1_000)).effect for seed in range(300)])
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert np.mean([asked(NAME, mislabelled(seed, n=1_000)).effect for seed in range(60)]) > 0.8
