"""Answers and labels that do not fit together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from exam_files import LABELS, refusal, write_csv, write_folder

from resit.data import load_predictions
from resit.errors import InputError


def with_ids(tmp_path: Path, rows: list[str]) -> Path:
    write_csv(tmp_path / "exam.csv", "id,label", [f"e{i},{label}" for i, label in enumerate(LABELS)])
    (tmp_path / "exam").mkdir()
    write_csv(tmp_path / "exam" / "model.csv", "id,pred", rows)
    return tmp_path / "exam"


def test_case_06_padding_by_a_distributed_sampler_is_joined_by_id(tmp_path: Path):
    rows = [f"e{i},{label}" for i, label in enumerate(LABELS)] + ["e0,0", "e1,1"]
    predictions = load_predictions(with_ids(tmp_path, rows))
    assert predictions.correct().all()
    [notice] = predictions.notices
    assert notice.code == "duplicates-collapsed"
    assert "2 examples are answered twice" in notice.message
    assert "padding by a distributed sampler" in notice.message


def test_case_06_padding_without_ids_is_named(tmp_path: Path):
    error = refusal(lambda: load_predictions(write_folder(tmp_path, {"model": [*LABELS, 0, 1]})), InputError)
    assert "8 answers, but 6 labels" in error.what
    assert "padding by a distributed sampler" in error.fix


def test_case_19_counts_that_differ_tell_both(tmp_path: Path):
    error = refusal(lambda: load_predictions(write_folder(tmp_path, {"model": LABELS[:4]})), InputError)
    assert "4 answers, but 6 labels" in error.what
    assert error.where.endswith("model.json")
    assert "padding" not in error.fix


def test_case_19_missing_ids_are_told_on_each_side(tmp_path: Path):
    rows = [f"e{i},0" for i in range(4)] + ["x9,0"]
    error = refusal(lambda: load_predictions(with_ids(tmp_path, rows)), InputError)
    assert "5 answers, but 6 labels" in error.what
    assert "2 examples have no answer (e4, e5)" in error.what
    assert "1 answers have no label (x9)" in error.what


def test_case_20_conflicting_answers_to_one_example_are_refused(tmp_path: Path):
    rows = [f"e{i},{label}" for i, label in enumerate(LABELS)] + ["e3,2"]
    with pytest.raises(InputError, match=r"the same id with different values: e3"):
        load_predictions(with_ids(tmp_path, rows))


def test_case_20_a_collapse_in_one_file_does_not_hide_a_conflict_in_the_next(tmp_path: Path):
    rows = [f"e{i},{label}" for i, label in enumerate(LABELS)]
    folder = with_ids(tmp_path, [*rows, "e3,0"])
    write_csv(folder / "next.csv", "id,pred", [*rows, "e3,2"])
    with pytest.raises(InputError, match=r"next\.csv: the same id with different values: e3"):
        load_predictions(folder)


def test_case_20_labels_listed_twice_collapse_and_positions_still_hold(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": [0, 0, 1]}, labels=None)
    write_csv(tmp_path / "exam.csv", "id,label", ["a,0", "a,0", "b,1"])
    predictions = load_predictions(folder)
    assert predictions.n == 2
    assert predictions.correct().all()
    assert [notice.code for notice in predictions.notices] == ["duplicates-collapsed"]


def test_case_20_labels_that_conflict_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": [0, 0, 1]}, labels=None)
    write_csv(tmp_path / "exam.csv", "id,label", ["a,0", "a,1", "b,1"])
    with pytest.raises(InputError, match="the same id with different values: a"):
        load_predictions(folder)


def test_two_labels_of_one_example_in_a_long_table_are_refused(tmp_path: Path):
    path = write_csv(tmp_path / "all.csv", "model,id,pred,label", ["a,x,0,0", "b,x,0,1"])
    with pytest.raises(InputError, match="examples with two different labels: x"):
        load_predictions(path)


def test_labels_without_ids_take_those_of_the_answers_and_say_so(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=[0, 1])
    write_csv(folder / "a.csv", "id,pred", ["x,0", "y,1"])
    write_csv(folder / "b.csv", "id,pred", ["y,1", "x,0"])
    predictions = load_predictions(folder)
    assert predictions.correct().all()
    assert [notice.code for notice in predictions.notices] == ["ids-from-answers"]


def test_the_same_model_in_two_files_is_refused(folder: Path):
    np.save(folder / "good.npy", np.array(LABELS))
    with pytest.raises(InputError, match=r"model good is there twice: .*good\.json and .*good\.npy"):
        load_predictions(folder)


def test_case_20_labels_listed_twice_and_answers_that_differ_are_refused(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": [0, 1, 2]}, labels=None)
    write_csv(tmp_path / "exam.csv", "id,label", ["a,0", "b,1", "a,0"])
    with pytest.raises(InputError, match=r"model\.json: the same id with different values: row 2"):
        load_predictions(folder)
    (folder / "model.json").write_text("[0, 1, 0]")
    assert load_predictions(folder).correct().tolist() == [[True, True]]


def test_case_20_the_same_collapse_in_many_files_is_told_once(tmp_path: Path):
    rows = [f"e{i},{label}" for i, label in enumerate(LABELS)]
    folder = with_ids(tmp_path, [*rows, "e3,0"])
    write_csv(folder / "next.csv", "id,pred", [*rows, "e3,0"])
    [notice] = load_predictions(folder).notices
    assert notice.where.endswith("model.csv")
    assert "1 examples are answered twice" in notice.message
    assert "1 more files: " in notice.message
    assert "next.csv" in notice.message


def test_case_20_a_key_that_is_in_a_json_object_twice_is_not_lost(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=None)
    write_csv(tmp_path / "exam.csv", "id,label", ["a,0", "b,1"])
    (folder / "model.json").write_text('{"a": 0, "b": 1, "a": 0}')
    assert [notice.code for notice in load_predictions(folder).notices] == ["duplicates-collapsed"]
    (folder / "model.json").write_text('{"a": 0, "b": 1, "a": 1}')
    with pytest.raises(InputError, match=r"model\.json: the same id with different values: a"):
        load_predictions(folder)


def test_ids_of_a_later_file_are_not_ignored(tmp_path: Path):
    folder = write_folder(tmp_path, {"a": [0, 1, 2]}, labels=[0, 1, 2])
    write_csv(folder / "b.csv", "id,pred", ["x,0", "y,1", "z,2"])
    write_csv(folder / "c.csv", "id,pred", ["z,2", "y,1", "x,0"])
    predictions = load_predictions(folder)
    assert predictions.correct().all()
    assert predictions.benchmark.ids is not None
    assert predictions.benchmark.ids.tolist() == ["x", "y", "z"]
    [notice] = predictions.notices
    assert notice.code == "ids-from-answers"
    assert "b.csv" in notice.message
    write_csv(folder / "b.csv", "id,pred", ["x,0", "x,0", "z,2"])
    with pytest.raises(
        InputError, match=r"b\.csv: ids that are there twice, while the labels have no ids: x\. Give labels with ids"
    ):
        load_predictions(folder)


def test_answers_that_stand_beside_other_labels_are_refused(tmp_path: Path):
    folder = tmp_path / "exam"
    folder.mkdir()
    write_csv(folder / "a.csv", "file_size,label,pred", ["1,0,0", "2,1,1", "3,2,2"])
    write_csv(folder / "b.csv", "file_size,label,pred", ["3,2,2", "2,1,1", "1,0,0"])
    with pytest.raises(
        InputError, match=r"b\.csv: its labels differ from the others' in 2 of 3 examples, the first is example 0"
    ):
        load_predictions(folder)
    assert load_predictions(folder, labels=[0, 1, 0]).correct().sum() == 4  # better labels are the user's to give
    for name, order in (("a", (0, 1, 2)), ("b", (2, 0, 1))):
        write_csv(folder / f"{name}.csv", "id,label,pred", [f"{i},{i},{i}" for i in order])
    assert load_predictions(folder).correct().all()


def test_case_18_a_missing_group_is_told_from_one_called_na(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": [0, 1]}, labels=None)
    write_csv(tmp_path / "exam.csv", "id,label,country", ["a,0,NA", "b,1,"])
    assert load_predictions(folder).benchmark.groups["country"].tolist() == ["NA", ""]
