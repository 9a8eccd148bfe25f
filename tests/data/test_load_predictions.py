"""Every layout of predictions that people have."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exam_files import LABELS, refusal, write_csv, write_folder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resit.data import CORRECTNESS, ModelId, load_predictions
from resit.errors import InputError, UsageError

TOP2 = [[0, 1], [1, 0], [2, 0], [1, 0], [1, 2], [0, 2]]


def test_a_folder_of_json_lists(folder: Path):
    predictions = load_predictions(folder)
    assert predictions.name == "exam"
    assert predictions.models == (ModelId("good"), ModelId("poor"))
    assert predictions.answers.dtype == np.int16
    assert predictions.correct().sum(axis=1).tolist() == [6, 2]
    assert predictions.benchmark.label_space == "3 classes"
    assert predictions.notices == ()


def test_arrays_of_one_and_of_several_answers_keep_their_depth(tmp_path: Path):
    folder = write_folder(tmp_path, {"one": LABELS})
    np.save(folder / "two.npy", np.array(TOP2, np.uint8))
    predictions = load_predictions(folder)
    assert predictions.depth.tolist() == [1, 2]
    assert predictions.answers[0, :, 1].tolist() == [-1] * 6
    assert predictions.correct(2)[1].tolist() == [True, True, True, True, True, True]


def test_an_array_that_python_2_wrote(tmp_path: Path):
    folder = write_folder(tmp_path, {})
    np.save(folder / "old.npy", np.array(TOP2))
    content = (folder / "old.npy").read_bytes()
    assert content.count(b"(6, 2), }  ") == 1
    (folder / "old.npy").write_bytes(content.replace(b"(6, 2), }  ", b"(6L, 2L), }"))
    assert load_predictions(folder).answers[0].tolist() == TOP2


def test_scores_give_the_best_classes_with_ties_to_the_lowest_index(tmp_path: Path):
    folder = write_folder(tmp_path, {})
    scores = np.zeros((6, 4), np.float32)
    scores[:, 3] = 0.5
    scores[0] = [0.1, 0.9, 0.9, 0.2]
    np.save(folder / "model.npy", scores)
    predictions = load_predictions(folder, keep=3)
    assert predictions.answers[0, :2].tolist() == [[1, 2, 3], [3, 0, 1]]


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_best_of_scores_is_a_stable_sort(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory):
    n, classes = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 9))
    values = data.draw(st.lists(st.floats(-4, 4, width=16), min_size=n * classes, max_size=n * classes))
    scores = np.array(values).reshape(n, classes) + 0.123
    path = tmp_path_factory.mktemp("scores") / "model.npy"
    np.save(path, scores)
    predictions = load_predictions(path, labels=[0] * n, keep=5)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    best[(scores == scores[:, :1]).all(axis=1)] = -1  # the same score for all classes is no answer
    assert predictions.answers[0].tolist() == best.tolist()


def test_csv_and_parquet_are_joined_by_id(tmp_path: Path):
    write_csv(tmp_path / "exam.csv", "image,label", [f"{i:03d},{label}" for i, label in enumerate(LABELS)])
    folder = tmp_path / "exam"
    folder.mkdir()
    backwards = range(5, -1, -1)
    write_csv(folder / "csv.csv", "image,pred_1,pred_2", [f"{i:03d},{TOP2[i][0]},{TOP2[i][1]}" for i in backwards])
    table = pa.table({"id": [f"{i:03d}" for i in backwards], "top1": [TOP2[i][0] for i in backwards]})
    pq.write_table(table, folder / "parquet.parquet")
    predictions = load_predictions(folder)
    assert predictions.answers[0].tolist() == TOP2
    assert predictions.answers[1, :, 0].tolist() == [row[0] for row in TOP2]


def test_one_long_table(tmp_path: Path):
    rows = [f"{model},{i},{answer},{LABELS[i]}" for model in ("a", "b") for i, answer in enumerate(LABELS)]
    predictions = load_predictions(write_csv(tmp_path / "all.csv", "model,id,prediction,label", rows[::-1]))
    assert {model.model for model in predictions.models} == {"a", "b"}
    assert predictions.correct().all()


def test_one_long_table_with_ranks(tmp_path: Path):
    rows = [f"a,{i},{rank + 1},{answer}" for i, row in enumerate(TOP2) for rank, answer in enumerate(row)]
    path = write_csv(tmp_path / "all.csv", "model,id,rank,prediction", rows[::-1])
    labels = write_csv(tmp_path / "truth.csv", "id,label", [f"{i},{label}" for i, label in enumerate(LABELS)])
    assert load_predictions(path, labels=labels).answers[0].tolist() == TOP2


def test_one_wide_table(tmp_path: Path):
    rows = [f"x{i},{label},{label},0" for i, label in enumerate(LABELS)]
    predictions = load_predictions(write_csv(tmp_path / "wide.csv", "id,label,net/a,net b", rows))
    assert predictions.models == (ModelId("net/a"), ModelId("net b"))
    assert predictions.correct().sum(axis=1).tolist() == [6, 2]


def test_one_set_of_a_long_table(tmp_path: Path):
    rows = [f"{name},a,{i},{label},{label}" for name in ("v4", "v6") for i, label in enumerate(LABELS)]
    path = write_csv(tmp_path / "all.csv", "test_set,model,id,prediction,label", rows)
    assert load_predictions(f"{path}::v6").name == "v6"
    with pytest.raises(
        InputError, match=r"2 test sets in one file; it has v4, v6\. Choose one with FILE::SET, such as .*all.csv::v4"
    ):
        load_predictions(path)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet"])
def test_a_matrix_of_right_and_wrong(tmp_path: Path, suffix: str):
    matrix = np.array([[1, 0, 1, 1], [0, 0, 1, 1]])
    path = tmp_path / f"right{suffix}"
    if suffix == ".npy":
        np.save(path, matrix)
        (tmp_path / "right_models.txt").write_text("a\nb\n")
    elif suffix == ".npz":
        np.savez(path, correct=matrix.astype(bool), models=np.array(["a", "b"]))
    elif suffix == ".csv":
        write_csv(path, "id,a,b", [f"e{i},{one},{other}" for i, (one, other) in enumerate(matrix.T)])
    else:
        pq.write_table(pa.table({"a": matrix[0].astype(bool), "b": matrix[1].astype(bool)}), path)
    predictions = load_predictions(path)
    assert predictions.is_correctness
    assert predictions.benchmark.label_space == CORRECTNESS
    assert predictions.correct().tolist() == matrix.astype(bool).tolist()


def test_a_matrix_without_names_says_where_to_write_them(tmp_path: Path):
    np.save(tmp_path / "right.npy", np.eye(3, dtype=bool))
    with pytest.raises(InputError, match=r"without the models' names.*right_models\.txt"):
        load_predictions(tmp_path / "right.npy")


def test_several_accepted_labels(tmp_path: Path):
    labels = write_csv(tmp_path / "truth.csv", "id,label", ['a,"[0, 2]"', 'b,"[1]"', 'c,"[2]"'])
    path = write_csv(tmp_path / "model.csv", "id,pred", ["a,2", "b,0", "c,2"])
    predictions = load_predictions(path, labels=labels)
    assert predictions.correct()[0].tolist() == [True, False, True]
    assert not predictions.benchmark.single_label
    same = load_predictions(path, labels=[[0, 2], [1], [2]])
    assert same.correct().tolist() == predictions.correct().tolist()


def test_only_the_models_that_globs_name_are_read(folder: Path):
    (folder / "broken.json").write_text("[1, 2")
    assert load_predictions(folder, models=["g*"]).models == (ModelId("good"),)
    with pytest.raises(UsageError, match=r"no model matches 'god'\. Did you mean good"):
        load_predictions(folder, models=["god"])


def test_names_and_ids_of_a_class_list(tmp_path: Path):
    write_csv(tmp_path / "classes.csv", "label,wnid,name", ["0,n01,tench", "1,n02,goldfish", "2,n03,shark"])
    folder = write_folder(tmp_path, {"ids": [2, 1], "wnids": ["n03", "n02"], "names": ["shark", "goldfish"]}, labels=None)
    write_csv(tmp_path / "exam.csv", "image,wnid,label", ["a,n03,2", "b,n02,1"])
    predictions = load_predictions(folder)
    assert predictions.correct().all()
    assert predictions.benchmark.class_id(2) == "n03"
    assert predictions.benchmark.class_name(2) == "shark"


def test_label_and_wnid_that_disagree_are_refused(tmp_path: Path):
    write_csv(tmp_path / "classes.csv", "label,wnid,name", ["0,n01,tench", "1,n02,goldfish"])
    folder = write_folder(tmp_path, {"a": [0, 1]}, labels=None)
    write_csv(tmp_path / "exam.csv", "image,wnid,label", ["a,n01,0", "b,n01,1"])
    with pytest.raises(InputError, match=r"label and wnid disagree in 1 rows, the first is row 1"):
        load_predictions(folder)


def test_no_labels_says_how_to_give_them(tmp_path: Path):
    folder = write_folder(tmp_path, {"a": [0, 1]}, labels=None)
    error = refusal(lambda: load_predictions(folder), InputError)
    assert "no labels found" in str(error)
    assert "NAME_labels.npy" in error.fix


def test_two_files_of_labels_are_not_chosen_between(folder: Path):
    write_csv(folder.with_name("exam.csv"), "id,label", ["a,0"])
    with pytest.raises(InputError, match="more than one file of labels"):
        load_predictions(folder)


def test_the_current_folder_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(folder)
    assert load_predictions(".").name == "exam"


def test_large_class_ids_widen_the_answers(tmp_path: Path):
    folder = write_folder(tmp_path, {"a": [1, 2], "b": [40000, 2]}, labels=[40000, 2])
    predictions = load_predictions(folder)
    assert predictions.answers.dtype == np.int32
    assert predictions.correct().tolist() == [[False, True], [True, True]]


def test_group_columns_stay_text(tmp_path: Path):
    folder = write_folder(tmp_path, {"a": [0, 1]}, labels=None)
    write_csv(tmp_path / "exam.csv", "id,label,country", ["007,0,NA", "010,1,DE"])
    benchmark = load_predictions(folder).benchmark
    assert benchmark.groups["country"].tolist() == ["NA", "DE"]
    assert benchmark.ids is not None
    assert benchmark.ids.tolist() == ["007", "010"]


ANSWERS = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 40), min_size=n, max_size=n), min_size=1, max_size=4).map(np.array)
)


@given(answers=ANSWERS, data=st.data())
@settings(max_examples=40, deadline=None)
def test_every_layout_reads_the_same(answers: np.ndarray, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("layouts")
    models, n = answers.shape
    labels = data.draw(st.lists(st.integers(0, 40), min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))
    names = [f"m{i}" for i in range(models)]
    ids = [f"{i:02d}" for i in range(n)]
    truth = write_csv(root / "truth.csv", "id,label", [f"{i},{label}" for i, label in zip(ids, labels, strict=True)])
    arrays = root / "arrays"
    arrays.mkdir()
    for name, row in zip(names, answers, strict=True):
        np.save(arrays / f"{name}.npy", row)
    lists = write_folder(root, dict(zip(names, answers.tolist(), strict=True)), None, "lists")
    wide = write_csv(root / "wide.csv", ",".join(["id", *names]), [",".join([ids[i], *map(str, answers[:, i])]) for i in order])
    rows = [f"{name},{ids[i]},{answers[m, i]}" for m, name in enumerate(names) for i in order]
    long = write_csv(root / "long.csv", "model,id,prediction", rows)
    for path in (arrays, lists, wide, long):
        predictions = load_predictions(path, labels=truth)
        assert predictions.answers[:, :, 0].tolist() == answers.tolist()
        assert predictions.benchmark.labels[:, 0].tolist() == labels


def test_labels_in_json_by_id(tmp_path: Path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"b": 1, "a": [0, 2]}))
    (tmp_path / "truth.json").write_text(json.dumps({"a": 0, "b": 1}))
    assert load_predictions(path, labels=tmp_path / "truth.json").answers[0].tolist() == [[0, 2], [1, -1]]
