"""The set of classes that figures are over."""

from __future__ import annotations

from pathlib import Path

import pytest
from exam_files import write_csv

from resit.data import load_accuracies, published
from resit.data.label_spaces import label_space_of

ROWS = ["a,70.1", "b,72.1", "c,81.0"]
IMAGENET_A = "imagenet-a (200 of imagenet-1k)"
IMAGENET_R = "imagenet-r (200 of imagenet-1k)"


@pytest.mark.parametrize(
    ("name", "space"),
    [
        ("imagenet", "imagenet-1k"),
        ("ImageNet", "imagenet-1k"),
        ("imagenet-1k", "imagenet-1k"),
        ("ImageNet (val)", "imagenet-1k"),
        ("imagenetv2-matched-frequency", "imagenet-1k"),
        ("ImageNet-V2", "imagenet-1k"),
        ("imagenet_accuracy", "imagenet-1k"),
        ("imagenet-results", "imagenet-1k"),
        ("imagenet-sketch", "imagenet-1k"),
        ("imagenet-real", "imagenet-1k"),
        ("ilsvrc2012", "imagenet-1k"),
        ("imagenet-a", IMAGENET_A),
        ("ImageNet_A", IMAGENET_A),
        ("imagenet-a-clean", IMAGENET_A),
        ("imagenet-adversarial", IMAGENET_A),
        ("imagenet-r", IMAGENET_R),
        ("imagenet-r-clean", IMAGENET_R),
        ("objectnet", "objectnet (113 of imagenet-1k)"),
        ("cifar10.1-v4", "10 classes"),
        ("CIFAR-10", "10 classes"),
        ("cifar-100", "100 classes"),
        ("imagenet21k", "unnamed"),
        ("imagenette", "unnamed"),
        ("my-own-set", "unnamed"),
        ("", "unnamed"),
    ],
)
def test_case_04_known_names(name: str, space: str):
    assert label_space_of(name) == space


def test_case_04_the_first_name_that_is_known_holds():
    assert label_space_of(None, "mine", "imagenet-a", "imagenet") == IMAGENET_A


@pytest.mark.parametrize(
    ("file", "space"),
    [
        ("timm-results-imagenet.csv", "imagenet-1k"),
        ("timm-results-imagenet-a.csv", IMAGENET_A),
        ("results-imagenet-r.csv", IMAGENET_R),
        ("results-imagenetv2-matched-frequency.csv", "imagenet-1k"),
        ("mine.csv", "unnamed"),
    ],
)
def test_case_04_accuracy_tables_carry_their_label_space(tmp_path: Path, file: str, space: str):
    path = write_csv(tmp_path / file, "model,top1", ROWS)
    assert load_accuracies(path).label_space == space
    assert load_accuracies(path, name="hard ones").label_space == space
    assert load_accuracies(path, label_space="mine").label_space == "mine"


def test_case_04_the_name_that_the_user_gives_tells_it_where_the_file_does_not(tmp_path: Path):
    assert load_accuracies(write_csv(tmp_path / "mine.csv", "model,top1", ROWS), name="imagenet-a").label_space == IMAGENET_A


def test_case_04_each_set_of_a_table_of_several_has_its_own(tmp_path: Path):
    wide = write_csv(tmp_path / "wide.csv", "model,imagenet,imagenet-a", ["a,70.1,20.3", "b,72.1,30.1"])
    long = write_csv(tmp_path / "long.csv", "model,test_set,top1", ["a,imagenet,70.1", "a,imagenet-r,20.3"])
    assert load_accuracies(f"{wide}::imagenet").label_space == "imagenet-1k"
    assert load_accuracies(f"{wide}::imagenet-a").label_space == IMAGENET_A
    assert load_accuracies(f"{long}::imagenet-r").label_space == IMAGENET_R


def test_case_04_published_figures_carry_it():
    assert {figures.label_space for figures in (published("imagenetv2").original, *published("imagenetv2").new)} == {
        "imagenet-1k"
    }
    assert {figures.label_space for figures in (published("cifar10.1").original, *published("cifar10.1").new)} == {"10 classes"}
