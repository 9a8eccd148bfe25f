"""Predictions that can be read but are probably not what their owner thinks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from exam_files import refusal, write_csv, write_folder

from resit.data import Benchmark, ModelId, Predictions, load_predictions
from resit.data.checks import check
from resit.data.label_spaces import differ
from resit.errors import InputError

N, CLASSES = 1000, 100


def exam(answers: np.ndarray, labels: np.ndarray, classes: int = CLASSES) -> Predictions:
    from resit.data import ClassInfo

    infos = tuple(ClassInfo(str(i), str(i)) for i in range(classes))
    answers = answers[None] if answers.ndim == 2 else answers
    models = tuple(ModelId(f"m{i}") for i in range(len(answers)))
    return Predictions(Benchmark("exam", labels[:, None].astype(np.int32), classes=infos), models, answers.astype(np.int16))


@pytest.fixture
def labels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, CLASSES, N)


def best_first(labels: np.ndarray, right: float, depth: int = 5) -> np.ndarray:
    """Answers whose first is right for a share of the examples, and whose others never are."""
    answers = (labels[:, None] + 1 + np.arange(depth)) % CLASSES
    answers[: int(right * len(labels)), 0] = labels[: int(right * len(labels))]
    return answers


def test_case_03_near_chance_names_the_likely_cause(labels: np.ndarray):
    [notice] = check(exam(best_first(labels, 0.01), labels))
    assert notice.code == "near-chance"
    assert notice.where == "m0@exam"
    assert "right for 1.00% of the examples, not clearly better than guessing one of 100 classes" in notice.message
    assert "wrong class map" in notice.message
    assert "another order" in notice.message


def test_case_03_a_weak_model_or_few_examples_are_no_sign(labels: np.ndarray):
    assert check(exam(best_first(labels, 0.1), labels)) == ()
    assert check(exam(best_first(labels[:29], 0.0), labels[:29])) == ()
    weak = np.where(np.arange(N) < 600, labels % 2, 1 - labels % 2)[:, None]
    assert check(exam(weak, labels % 2, classes=2)) == ()


def test_near_chance_is_found_with_few_classes_or_few_examples(labels: np.ndarray):
    for found in (exam(np.zeros((N, 1)), labels % 2, classes=2), exam(best_first(labels[:50], 0.0), labels[:50])):
        assert [notice.code for notice in check(found)] == ["near-chance"]
    assert check(exam(best_first(labels[:50], 0.2), labels[:50])) == ()


def test_case_03_an_order_that_was_shuffled_is_found(labels: np.ndarray):
    shuffled = np.random.default_rng(1).permutation(labels)
    assert [notice.code for notice in check(exam(shuffled[:, None], labels))] == ["near-chance"]


def test_case_07_worst_first_says_what_and_how_to_repair(labels: np.ndarray):
    [notice] = check(exam(best_first(labels, 0.7)[:, ::-1], labels))
    assert notice.code == "worst-first"
    assert "m0 on exam looks like classes stored worst first" in notice.message
    assert "its last answer is right for 70.0% of the examples, its first for 0.0%" in notice.message
    assert notice.message.endswith("put them in order with --worst-first m0@exam.")


def test_case_07_only_the_depth_of_each_model_counts(labels: np.ndarray):
    answers = np.full((2, N, 5), -1)
    answers[0] = best_first(labels, 0.7)
    answers[1, :, :2] = best_first(labels, 0.7, depth=2)[:, ::-1]
    predictions = exam(answers, labels)
    object.__setattr__(predictions, "depth", np.array([5, 2]))
    assert [(notice.code, notice.where) for notice in check(predictions)] == [("worst-first", "m1@exam")]


def test_case_07_best_first_and_even_answers_are_no_sign(labels: np.ndarray):
    assert check(exam(best_first(labels, 0.7), labels)) == ()
    even = best_first(labels, 0.3)
    even[300:600, 4] = labels[300:600]
    assert check(exam(even, labels)) == ()


def test_one_class_twice_among_the_answers_is_counted(labels: np.ndarray):
    answers = best_first(labels, 0.7)
    answers[:3, 1] = answers[:3, 0]
    [notice] = check(exam(answers, labels))
    assert notice.code == "repeated-classes"
    assert "3 of 1000 examples" in notice.message


def test_case_21_invalid_answers_are_counted_wrong_and_reported_once(tmp_path: Path, labels: np.ndarray):
    answers = best_first(labels, 0.7)
    answers[:4] = -1
    [notice] = check(exam(answers, labels))
    assert notice.code == "invalid-answers"
    assert "4 of 1000 examples have no valid answer; they are counted wrong" in notice.message
    folder = write_folder(tmp_path, {"m": [0, None, 2]}, labels=[0, 1, 2])
    read = load_predictions(folder)
    assert [notice.code for notice in (*read.notices, *check(read))] == ["invalid-answers"]


@pytest.mark.parametrize("classes", [3, 5])
def test_case_22_top_5_of_few_classes_is_not_available(classes: int):
    labels = np.arange(20) % classes
    answers = (labels[:, None] + np.arange(classes)) % classes
    [notice] = check(exam(answers, labels, classes))
    assert notice.code == "top5-not-available"
    assert f"with {classes} classes the first five answers are always right" in notice.message


def test_case_22_top_5_of_three_answers_is_not_available(labels: np.ndarray):
    [notice] = check(exam(best_first(labels, 0.7, depth=3), labels))
    assert notice.code == "top5-not-available"
    assert "at most 3 answers an example are stored" in notice.message


def test_right_and_wrong_need_no_check(tmp_path: Path):
    path = write_csv(tmp_path / "right.csv", "id,a,b", ["x,0,0", "y,0,0"])
    assert check(load_predictions(path)) == ()


def test_several_accepted_labels_make_chance_higher():
    rng = np.random.default_rng(0)
    labels = np.stack([rng.permutation(20)[:10] for _ in range(N)])
    predictions = Predictions(
        Benchmark("exam", labels.astype(np.int32)), (ModelId("m"),), rng.integers(0, 20, (1, N, 1)).astype(np.int16)
    )
    assert [notice.code for notice in check(predictions)] == ["near-chance"]


def test_case_04_scores_over_a_subset_are_refused(tmp_path: Path):
    write_csv(tmp_path / "classes.csv", "label,wnid,name", [f"{i},n{i},c{i}" for i in range(10)])
    folder = write_folder(tmp_path, {}, labels=[0, 1, 2])
    np.save(folder / "full.npy", np.random.default_rng(0).random((3, 10)))
    assert load_predictions(folder).label_space == "10 listed classes"
    np.save(folder / "subset.npy", np.random.default_rng(0).random((3, 4)))
    error = refusal(lambda: load_predictions(folder), InputError)
    assert error.where.endswith("subset.npy")
    assert "scores over 4 classes, while there are 10 in" in error.what
    assert "not comparable" in error.fix


def test_case_04_models_scored_over_different_classes_are_never_mixed(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=[0, 1, 2])
    np.save(folder / "a.npy", np.random.default_rng(0).random((3, 10)))
    np.save(folder / "b.npy", np.random.default_rng(0).random((3, 4)))
    with pytest.raises(InputError, match=r"b\.npy: scores over 4 classes, while there are 10 in the files before"):
        load_predictions(folder)


def test_case_04_scores_over_fewer_classes_than_the_labels_need_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=[0, 1, 9])
    np.save(folder / "a.npy", np.random.default_rng(0).random((3, 4)))
    with pytest.raises(InputError, match=r"scores over 4 classes, while there are 10 in the labels"):
        load_predictions(folder)


def test_case_04_the_classes_that_were_scored_are_the_label_space(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=[0, 1, 2])
    np.save(folder / "a.npy", np.random.default_rng(0).random((3, 12)))
    assert load_predictions(folder).label_space == "12 scored classes"


@pytest.mark.parametrize(
    ("first", "second", "sure"),
    [
        ("imagenet-1k", "imagenet-a (200 of imagenet-1k)", True),
        ("1000 scored classes", "200 scored classes", True),
        ("imagenet-1k", "imagenet-1k", False),
        ("imagenet-1k", "unnamed", False),
        ("imagenet-1k", "correctness", False),
        ("10 classes", "9 classes", False),
        ("10 listed classes", "9 classes", False),
    ],
)
def test_case_04_only_sure_differences_of_label_spaces_are_told(first: str, second: str, sure: bool):
    assert differ(first, second) is sure
    assert differ(second, first) is sure
