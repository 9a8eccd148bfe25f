"""Repairs that a user can ask for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from exam_files import refusal, write_csv, write_folder

from resit.data import ModelId, load_accuracies, load_predictions
from resit.data.checks import check
from resit.data.repairs import pick, rename, reverse_answers
from resit.errors import UsageError

BACKWARDS = [[1, 0], [2, 1], [0, 2]] * 20


def test_answers_stored_worst_first_are_put_in_order(tmp_path: Path):
    predictions = load_predictions(write_folder(tmp_path, {"a": BACKWARDS, "b": [[0, 1]] * 60}, labels=[0, 1, 2] * 20))
    assert predictions.correct().sum(axis=1).tolist() == [0, 20]
    assert "worst-first" in {notice.code for notice in check(predictions)}
    repaired = reverse_answers(predictions, ["a"])
    assert repaired.correct().sum(axis=1).tolist() == [60, 20]
    assert repaired.provenance[ModelId("a")]["repair"] == "answers put in best-first order"
    assert "repair" not in repaired.provenance[ModelId("b")]
    assert predictions.correct()[0].sum() == 0
    assert "worst-first" not in {notice.code for notice in check(repaired)}


def test_answers_that_are_missing_stay_last(tmp_path: Path):
    folder = write_folder(tmp_path, {"a": [[1, None, 0], [2, 1], [0, 1, 2]], "b": [[0, 1, 2, 3]] * 3}, labels=[0, 1, 2])
    repaired = reverse_answers(load_predictions(folder), ["a"])
    assert repaired.answers[0].tolist() == [[0, 1, -1, -1], [1, 2, -1, -1], [2, 1, 0, -1]]


def test_there_is_no_order_in_one_answer(folder: Path):
    assert "so there is no order" in str(refusal(lambda: reverse_answers(load_predictions(folder), ["good"]), UsageError))


def test_case_25_a_model_is_renamed_only_as_the_user_says(folder: Path):
    predictions = load_predictions(folder)
    renamed = rename(predictions, {"good": "better"})
    assert renamed.models == (ModelId("better"), ModelId("poor"))
    assert renamed.provenance[ModelId("better")] == predictions.provenance[ModelId("good")]
    with pytest.raises(UsageError, match=r"no model matches 'god'\. Did you mean good"):
        rename(predictions, {"god": "x"})
    with pytest.raises(UsageError, match="there would be two models poor"):
        rename(predictions, {"good": "poor"})


def test_all_variants_go_with_a_new_name(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", "model,img_size,top1", ["a,224,70", "a,288,71", "b,224,72"])
    accuracies = rename(load_accuracies(path), {"a": "c"})
    assert [str(model) for model in accuracies.models] == ["c (224)", "c (288)", "b (224)"]


def test_models_are_chosen_by_globs(tmp_path: Path):
    path = write_csv(
        tmp_path / "a.csv", "model,img_size,top1", ["vgg11,224,70", "vgg13,224,71", "resnet,224,72", "resnet,288,73"]
    )
    accuracies = load_accuracies(path)
    assert [model.model for model in pick(accuracies, ["vgg*"]).models] == ["vgg11", "vgg13"]
    assert [str(model) for model in pick(accuracies, ["resnet (288)"]).models] == ["resnet (288)"]
    assert len(pick(accuracies, exclude=["vgg*"]).models) == 2
    assert pick(accuracies, ["*net"]).metrics["top1"].accuracy.tolist() == pytest.approx([0.72, 0.73])
    with pytest.raises(UsageError, match="no model is left"):
        pick(accuracies, ["vgg*"], ["vgg*"])
    with pytest.raises(UsageError, match="no model matches 'bert\\*'"):
        pick(accuracies, ["bert*"])


def test_chosen_models_keep_their_answers(folder: Path):
    predictions = load_predictions(folder)
    chosen = predictions.select([ModelId("poor"), ModelId("good")])
    np.testing.assert_array_equal(chosen.answers, predictions.answers[::-1])
    assert list(chosen.provenance) == [ModelId("poor"), ModelId("good")]
