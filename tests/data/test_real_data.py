"""The real files, read as they stand; the figures were computed independently."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from resit.data import Accuracies, ModelId, Predictions, load, load_accuracies, load_predictions, published
from resit.data.checks import check
from resit.data.doctor import examine

IMAGENET = {"val": 50_000, "matched-frequency": 10_000, "threshold-0.7": 10_000}
CIFAR = {"original": 10_000, "v4": 2021, "v6": 2000}


@pytest.mark.parametrize("name", IMAGENET)
def test_imagenetv2(shared_data: Path, name: str):
    predictions = load(shared_data / "imagenetv2" / name)
    assert isinstance(predictions, Predictions)
    assert predictions.answers.shape == (67, IMAGENET[name], 5)
    assert predictions.answers.dtype == np.int16
    assert predictions.label_space == "imagenet-1k"
    assert predictions.benchmark.class_id(134) == "n02012849"
    assert predictions.benchmark.class_name(134) == predictions.benchmark.class_name(517) == "crane"
    assert predictions.benchmark.ids is not None
    assert len(np.unique(predictions.benchmark.ids)) == IMAGENET[name]
    assert predictions.notices == ()
    model = predictions.models.index(ModelId("alexnet"))
    stored = np.load(shared_data / "imagenetv2" / name / "alexnet.npy")
    np.testing.assert_array_equal(predictions.answers[model], stored)


@pytest.mark.parametrize("name", IMAGENET)
def test_case_07_the_two_files_stored_worst_first_are_found_and_no_other(shared_data: Path, name: str):
    notices = check(load_predictions(shared_data / "imagenetv2" / name))
    expected = [] if name == "val" else [("worst-first", f"fv_16k@{name}")]
    assert [(notice.code, notice.where) for notice in notices] == expected
    assert all("classes stored worst first" in notice.message for notice in notices)


def test_case_25_one_model_under_two_names_is_listed_with_its_repair(shared_data: Path):
    findings = examine(*(shared_data / "imagenetv2" / name for name in ("val", "threshold-0.7")))
    [notice] = [notice for notice in findings[1].notices if notice.code == "unmatched-models"]
    assert "fv_64k_model" in notice.message
    assert notice.message.endswith("--alias fv_64k_model=fv_64k.")


def test_the_published_figures_are_those_of_the_files(shared_data: Path):
    for name, folder, sets in (("imagenetv2", "imagenetv2", IMAGENET), ("cifar10.1", "cifar10.1", CIFAR)):
        figures = published(name)
        for known, place in zip((figures.original, *figures.new), sets, strict=True):
            predictions = load_predictions(shared_data / folder / place)
            correct = dict(zip(predictions.models, predictions.correct().sum(axis=1).tolist(), strict=True))
            counted = dict(zip(known.models, known.metrics["top1"].correct.tolist(), strict=True))
            put_right = {ModelId("fv_16k"), ModelId("fv_64k"), ModelId("fv_64k_model")}
            shared = (correct.keys() & counted.keys()) - put_right
            assert len(shared) >= len(counted) - 2
            assert {model: correct[model] for model in shared} == {model: counted[model] for model in shared}


@pytest.mark.parametrize("name", CIFAR)
def test_cifar10(shared_data: Path, name: str):
    predictions = load_predictions(shared_data / "cifar10.1" / name)
    assert predictions.answers.shape == (30, CIFAR[name], 1)
    assert predictions.label_space == "10 classes"
    model = predictions.models[3].model
    answers = json.loads((shared_data / "cifar10.1" / name / f"{model}.json").read_text())
    labels = np.load(shared_data / "cifar10.1" / f"{name}_labels.npy")
    assert predictions.correct()[3].sum() == np.count_nonzero(np.array(answers) == labels)


def test_images_no_model_gets_right(shared_data: Path):
    never = {name: int((~load_predictions(shared_data / "cifar10.1" / name).correct().any(axis=0)).sum()) for name in CIFAR}
    assert never == {"original": 28, "v4": 21, "v6": 22}


@pytest.mark.parametrize(
    ("name", "space", "n"),
    [
        ("imagenet", "imagenet-1k", 50_000),
        ("imagenetv2-matched-frequency", "imagenet-1k", 10_000),
        ("imagenet-a", "imagenet-a (200 of imagenet-1k)", 7500),
    ],
)
def test_leaderboards(shared_data: Path, name: str, space: str, n: int):
    path = shared_data / "leaderboards" / f"timm-results-{name}.csv"
    accuracies = load(path, n=n)
    assert isinstance(accuracies, Accuracies)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(accuracies.models) >= 1500
    assert len(accuracies.models) == len({(row["model"], row["img_size"]) for row in rows})
    assert accuracies.label_space == space
    assert accuracies.unit == "percent"
    found = dict(zip(accuracies.models, accuracies.metrics["top1"].accuracy.tolist(), strict=True))
    for row in rows:
        assert found[ModelId(row["model"], row["img_size"])] == pytest.approx(float(row["top1"]) / 100, abs=1e-12)
    assert np.isfinite(accuracies.metrics["top5"].correct).all()


def test_leaderboard_slopes_agree_with_an_independent_computation(shared_data: Path):
    old, new, hard = (
        load_accuracies(shared_data / "leaderboards" / f"timm-results-{name}.csv")
        for name in ("imagenet", "imagenetv2-matched-frequency", "imagenet-a")
    )
    original = dict(zip(old.models, old.metrics["top1"].accuracy.tolist(), strict=True))
    for other, rows, slope in ((new, 1556, 1.14382), (hard, 1555, 2.88888)):
        pairs = [
            (original[model], y)
            for model, y in zip(other.models, other.metrics["top1"].accuracy.tolist(), strict=True)
            if model in original
        ]
        assert len(pairs) == rows
        assert np.polyfit(*np.array(pairs).T, 1)[0] == pytest.approx(slope, abs=5e-6)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("imagenetv2", "Give one of its folders: matched-frequency, threshold-0.7, val"),
        ("cifar10.1", "Give one of its folders: original, v4, v6"),
        ("imagenet-sample", "a folder of images"),
        ("leaderboards", "a folder of accuracy tables"),
        ("geography/geode_metadata.csv", "no column of answers"),
        ("published/imagenetv2.csv", "3 test sets in one file"),
    ],
)
def test_what_is_no_exam_is_told_in_one_line(shared_data: Path, place: str, message: str):
    [finding] = examine(shared_data / place)
    assert finding.error is not None
    assert message in finding.error
    assert "\n" not in finding.error
