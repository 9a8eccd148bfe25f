"""Files that can be read in two ways: refused, or read in the one that holds, and never silently in the other."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from exam_files import LABELS, refusal, write_csv, write_folder

from resit.data import CORRECTNESS, Accuracies, Benchmark, ModelId, Predictions, load, load_accuracies, load_predictions
from resit.data.store import save_predictions
from resit.errors import InputError, OutputError

BINARY = [0, 1, 1, 0, 1, 0]


def codes(found: Predictions | Accuracies) -> list[str]:
    return [notice.code for notice in found.notices]


@pytest.mark.parametrize("index", ["", "Unnamed: 0"])
def test_a1_a_pandas_index_is_no_model(tmp_path: Path, index: str):
    path = write_csv(tmp_path / "a.csv", f"{index},name,top1", ["1,resnet,76.1", "0,vgg,71.2"])
    assert load_accuracies(path).models == (ModelId("resnet"), ModelId("vgg"))


@pytest.mark.parametrize(
    ("header", "row", "models"),
    [
        (",id,label,pred", "{i},x{i},{y},{y}", {"w"}),
        (",id,label,resnet,vgg", "{i},x{i},{y},{y},{y}", {"resnet", "vgg"}),
        (",label,resnet,vgg", "{i},{y},{y},{y}", {"resnet", "vgg"}),
    ],
)
def test_a1_a_pandas_index_is_no_answer(tmp_path: Path, header: str, row: str, models: set[str]):
    found = load(write_csv(tmp_path / "w.csv", header, [row.format(i=i, y=y) for i, y in enumerate(LABELS)]))
    assert isinstance(found, Predictions)
    assert {model.model for model in found.models} == models
    assert found.correct().all()


def test_a1_text_without_a_header_is_still_the_model(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", ",top1", ["resnet,76.1", "vgg,71.2"])
    assert load_accuracies(path).models == (ModelId("resnet"), ModelId("vgg"))


def test_a3_true_and_false_with_two_classes_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path, {"m": [bool(y) for y in BINARY]}, labels=BINARY)
    error = refusal(lambda: load_predictions(folder), InputError)
    assert "labels have two classes" in error.what
    (folder / "m.json").unlink()
    np.save(folder / "m.npy", np.array(BINARY, bool))
    refusal(lambda: load_predictions(folder), InputError)
    rows = [f"{i},{y},{bool(y)}" for i, y in enumerate(BINARY)]
    path = write_csv(tmp_path / "all.csv", "id,label,pred", rows)
    refusal(lambda: load_predictions(path), InputError)


def test_a3_a_name_that_says_correct_holds(tmp_path: Path):
    np.save(tmp_path / "labels.npy", np.array(BINARY))
    path = write_csv(tmp_path / "correct.csv", "id,resnet", [f"{i},{int(i > 0)}" for i in range(6)])
    found = load_predictions(path)
    assert found.label_space == CORRECTNESS
    assert found.correct().sum() == 5


def test_a4_one_hot_labels_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path, {"m": LABELS}, labels=np.eye(3)[LABELS])
    error = refusal(lambda: load_predictions(folder), InputError)
    assert "look one-hot" in error.what
    assert "argmax" in error.fix


def test_a4_a_repeated_accepted_class_counts_once(tmp_path: Path):
    folder = write_folder(tmp_path, {"m": LABELS}, labels=[[0, 0], [1, 2], [2, 1], [0, 1], [1, 0], [2, 2]])
    found = load_predictions(folder)
    assert found.benchmark.labels[[0, 5]].tolist() == [[0, -1], [2, -1]]
    assert codes(found) == ["repeated-labels"]


@pytest.mark.parametrize("name", ["error_rate", "Top-1 error (%)", "loss", "err@1", "top1 err"])
def test_a5_errors_are_no_accuracies(tmp_path: Path, name: str):
    path = write_csv(tmp_path / "e.csv", f"model,{name}", ["a,23.1", "b,30.5"])
    error = refusal(lambda: load_accuracies(path), InputError)
    assert "no column of accuracies" in error.what
    assert "sounds like an error" in error.fix


def test_a5_a_column_of_another_name_is_told(tmp_path: Path):
    assert codes(load_accuracies(write_csv(tmp_path / "e.csv", "model,val", ["a,23.1", "b,30.5"]))) == ["column-inferred"]


def test_a6_percents_below_one_are_told(tmp_path: Path):
    low = write_csv(tmp_path / "low.csv", "model,top1", ["a,0.3", "b,0.5", "c,0.9"])
    assert codes(load_accuracies(low)) == ["unit-inferred"]
    clear = write_csv(tmp_path / "clear.csv", "model,top1", ["a,0.312", "b,0.534", "c,0.911"])
    assert codes(load_accuracies(clear)) == []


def test_a12_a_stated_n_must_agree_with_the_table(tmp_path: Path):
    path = write_csv(tmp_path / "n.csv", "model,correct,n", ["a,80,100", "b,70,100"])
    assert "n = 1000 was stated, but column 'n' says 100" in refusal(lambda: load_accuracies(path, n=1000), InputError).what
    assert load_accuracies(path, n=100).models


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        ("model,top1,stderr", "a,76.1,-1", "negative standard error"),
        ("model,top1,stderr", "a,0.761,1.9", "standard error of 1.9"),
        ("model,top1,stderr,n", "a,76.1,0.0019,50000", "of 50000 examples is about 0.19"),
    ],
)
def test_a13_standard_errors_of_another_unit_are_refused(tmp_path: Path, header: str, row: str, said: str):
    path = write_csv(tmp_path / "s.csv", header, [row])
    assert said in refusal(lambda: load_accuracies(path), InputError).what


def test_a10_an_array_of_labels_is_no_model(tmp_path: Path):
    path = tmp_path / "s.npz"
    np.savez(path, resnet=LABELS, vgg=[0] * 6, y=LABELS)
    found = load_predictions(path)
    assert [model.model for model in found.models] == ["resnet", "vgg"]
    assert found.correct().sum(axis=1).tolist() == [6, 2]
    np.save(tmp_path / "s_labels.npy", np.array(LABELS[::-1]))
    assert "its labels differ" in refusal(lambda: load_predictions(path), InputError).what


def stored(name: str, labels: list[int]) -> Predictions:
    rows = np.array(labels)[:, None]
    return Predictions(Benchmark(name, rows.astype(np.int32)), (ModelId(name),), rows[None].astype(np.int16))


def test_a11_a_store_without_ids_is_told_by_its_labels(tmp_path: Path):
    save_predictions(stored("first", LABELS), tmp_path / "one")
    save_predictions(stored("first", LABELS), tmp_path / "one")
    refusal(lambda: save_predictions(stored("second", LABELS[::-1]), tmp_path / "one"), OutputError)
    save_predictions(stored("second", LABELS[::-1]), tmp_path / "two")
    (tmp_path / "two" / "second.parquet").rename(tmp_path / "one" / "second.parquet")
    assert "answers on other labels" in refusal(lambda: load_predictions(tmp_path / "one"), InputError).what


@pytest.mark.parametrize("names", [["0", "1", "2"], ["cat", "dog", "owl"]])
def test_a14_single_classes_and_lists_may_be_mixed(tmp_path: Path, names: list[str]):
    rows = [f"x{i},{names[y]}{f';{names[(y + 1) % 3]}' if i == 3 else ''}" for i, y in enumerate(LABELS)]
    write_csv(tmp_path / "exam.csv", "id,label", rows)
    (tmp_path / "exam").mkdir()
    write_csv(tmp_path / "exam" / "m.csv", "id,pred", [f"x{i},{names[1 if i == 3 else y]}" for i, y in enumerate(LABELS)])
    found = load_predictions(tmp_path / "exam")
    assert found.correct().all()
    assert found.benchmark.labels[3].tolist() == [0, 1]


@pytest.mark.parametrize("blank", [np.nan, -1])
def test_a15_padded_float_ids_are_ids(tmp_path: Path, blank: float):
    folder = write_folder(tmp_path, {})
    answers = np.array([[y, (y + 1) % 3] for y in LABELS], float)
    answers[2, 1] = blank
    np.save(folder / "m.npy", answers)
    found = load_predictions(folder)
    assert found.correct().all()
    assert found.answers[0, 2].tolist() == [2, -1]


def test_a15_whole_numbers_that_may_be_scores_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=BINARY)
    np.save(folder / "m.npy", np.eye(2)[BINARY])
    assert "class ids or scores" in refusal(lambda: load_predictions(folder), InputError).what
    np.save(folder / "m.npy", np.eye(3, dtype=int)[BINARY])
    assert "one-hot" in refusal(lambda: load_predictions(folder), InputError).what


def test_d1_what_is_not_read_is_named(tmp_path: Path):
    folder = write_folder(tmp_path, dict.fromkeys(("a", "b", "result"), LABELS))
    (folder / "b").mkdir()
    (folder / "facebook").mkdir()
    (folder / "facebook" / "deit.json").write_text(json.dumps(LABELS))
    found = load_predictions(folder)
    assert [model.model for model in found.models] == ["a"]
    told = {notice.code: notice.message for notice in found.notices}
    assert "b.json, result.json" in told["files-ignored"]
    assert "facebook/" in told["folders-ignored"]


def test_d2_model_names_may_hold_blanks(tmp_path: Path):
    np.save(tmp_path / "m.npy", np.array([[1, 0, 1], [0, 1, 1]], bool))
    (tmp_path / "m_models.txt").write_text("ResNet 50\n VGG 16 \n\n")
    assert load_predictions(tmp_path / "m.npy").models == (ModelId("ResNet 50"), ModelId("VGG 16"))


def test_a17_columns_of_other_things_are_no_models(tmp_path: Path):
    rows = [f"{i},{y},{y},32,0.5,{i}" for i, y in enumerate(LABELS)]
    found = load_predictions(write_csv(tmp_path / "w.csv", "id,label,resnet,width,prob_cat,n_votes", rows))
    assert found.models == (ModelId("resnet"),)
    assert codes(found) == ["columns-ignored"]


def test_a17_constant_scores_are_no_answer(tmp_path: Path):
    folder = write_folder(tmp_path, {})
    scores = np.eye(3)[LABELS] + 0.1
    scores[0] = 0
    np.save(folder / "m.npy", scores)
    found = load_predictions(folder)
    assert found.correct().sum() == 5
    assert "1 of 6 rows of scores hold the same score" in found.notices[0].message


def test_a_header_alone_and_utf_16_are_said(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("model,top1\n")
    assert "only the columns' names" in refusal(lambda: load(path), InputError).what
    path.write_text("model,top1\na,0.5\n", "utf-16")
    assert "UTF-16" in refusal(lambda: load(path), InputError).what


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes only there")
def test_a_file_name_that_is_not_utf_8_is_refused(folder: Path):
    odd = os.fsdecode(os.fsencode(folder) + b"/m\xe9.json")
    try:
        Path(odd).write_text("[0]")
    except OSError:
        pytest.skip("this file system has no such names")
    for path in (folder, odd):
        assert "not UTF-8" in refusal(lambda path=path: load_predictions(path), InputError).what


RIGHT = [1, 0, 1, 1, 0, 1]


def write_numbers(path: Path, numbers: list[int]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, np.array(numbers))
    elif path.suffix == ".npz":
        np.savez(path, correct=np.array(numbers, float))
    else:
        path.write_text(json.dumps(numbers))
    return path


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("name", ["resnet_correct.npy", "is-correct.npy", "resnet.npz", "resnet.correct.json"])
def test_a3_numbers_called_correct_are_right_and_wrong(tmp_path: Path, name: str, labelled: bool):
    write_numbers(tmp_path / "set" / name, RIGHT)
    found = load_predictions(tmp_path / "set", labels=LABELS if labelled else None)
    assert found.label_space == CORRECTNESS
    assert found.correct().tolist() == [[True, False, True, True, False, True]]
    assert codes(found) == ["read-as-correct"]


def test_a3_a_folder_called_correct_holds_right_and_wrong_and_says_so_once(tmp_path: Path):
    for name in ("a", "b"):
        write_numbers(tmp_path / "val" / "correct" / f"{name}.npy", RIGHT)
    found = load_predictions(tmp_path / "val" / "correct", labels=LABELS)
    assert found.correct().sum() == 8
    assert codes(found) == ["read-as-correct"]
    assert found.notices[0].where == str(tmp_path / "val" / "correct")


def test_a3_one_array_called_correct_needs_no_labels(tmp_path: Path):
    assert load_predictions(write_numbers(tmp_path / "correct.npy", RIGHT)).correct().sum() == 4
    np.save(tmp_path / "all_correct.npy", np.array([RIGHT, RIGHT]))
    (tmp_path / "all_correct_models.txt").write_text("a\nb\n")
    found = load_predictions(tmp_path / "all_correct.npy", labels=LABELS)
    assert (found.correct().sum(), codes(found)) == (8, ["read-as-correct"])


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("incorrect", RIGHT), ("not_correct", RIGHT), ("right", RIGHT), ("corrected", RIGHT), ("correct", LABELS)],
)
def test_a3_other_names_and_other_numbers_are_class_ids(tmp_path: Path, name: str, numbers: list[int]):
    write_numbers(tmp_path / "set" / f"{name}.npy", numbers)
    found = load_predictions(tmp_path / "set", labels=LABELS)
    assert found.answers[0, :, 0].tolist() == numbers
    assert not found.is_correctness


def test_a3_numbers_called_correct_with_two_classes(tmp_path: Path):
    write_numbers(tmp_path / "sure" / "correct.npy", RIGHT)
    assert load_predictions(tmp_path / "sure", labels=BINARY).correct().sum() == 4
    write_numbers(tmp_path / "unsure" / "auto_correct.npy", RIGHT)  # a model may be called so
    assert "not called correct" in refusal(lambda: load_predictions(tmp_path / "unsure", labels=BINARY), InputError).fix
