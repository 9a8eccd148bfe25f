"""Which class an id or a name means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exam_files import write_csv, write_folder

from resit.data import load_predictions
from resit.errors import InputError


def test_case_01_numbers_as_text_map_by_value_with_a_warning(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": ["10", "2", "1"]}, labels=None)
    pq.write_table(pa.table({"id": ["a", "b", "c"], "label": ["10", "2", "1"]}), tmp_path / "exam.parquet")
    predictions = load_predictions(folder)
    assert predictions.benchmark.labels[:, 0].tolist() == [10, 2, 1]
    assert predictions.correct().all()
    [notice] = predictions.notices
    assert notice.code == "numbers-as-text"
    assert "1, 10, 2" in notice.message


def test_case_01_nothing_is_said_where_both_orders_agree_or_numbers_are_numbers(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": [0, 2]}, labels=None)
    pq.write_table(pa.table({"id": ["a", "b"], "label": ["0", "2"]}), tmp_path / "exam.parquet")
    assert load_predictions(folder).notices == ()
    assert load_predictions(folder, labels=[10, 2]).notices == ()


def test_case_02_wnids_of_a_subset_map_by_the_class_list(tmp_path: Path):
    write_csv(tmp_path / "classes.csv", "label,wnid,name", [f"{i},n{i:02d},class {i}" for i in range(10)])
    folder = write_folder(tmp_path, {"model": [3, 7]}, labels=None)
    write_csv(tmp_path / "exam.csv", "image,wnid", ["a,n03", "b,n07"])
    predictions = load_predictions(folder)
    assert predictions.benchmark.labels[:, 0].tolist() == [3, 7]
    assert predictions.correct().all()


def test_case_02_ids_are_never_taken_for_ranks_among_names(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": [0, 1]}, labels=None)
    write_csv(tmp_path / "exam.csv", "image,wnid", ["a,n03", "b,n07"])
    with pytest.raises(InputError, match=r"class ids, while the labels are class names\. Give the class list"):
        load_predictions(folder)


def test_names_without_a_class_list_are_their_own_ids(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": ["dog", "zebra"]}, labels=["dog", "cat"])
    predictions = load_predictions(folder)
    assert [info.id for info in predictions.benchmark.classes] == ["cat", "dog", "zebra"]
    assert predictions.correct().tolist() == [[True, False]]
    assert predictions.notices[0].code == "classes-without-label"


def test_names_where_labels_are_ids_need_a_class_list(tmp_path: Path):
    with pytest.raises(InputError, match=r"class names such as 'dog', while the labels are class ids.*--classes"):
        load_predictions(write_folder(tmp_path, {"model": ["dog", "cat"]}, labels=[0, 1]))


def test_case_23_two_classes_of_one_name_are_keyed_by_id(tmp_path: Path):
    write_csv(tmp_path / "classes.csv", "label,wnid,name", ["0,n01,crane", "1,n02,crane", "2,n03,tench"])
    folder = write_folder(tmp_path, {"model": ["n01", "n02"]}, labels=["n02", "n02"])
    predictions = load_predictions(folder)
    assert predictions.correct().tolist() == [[False, True]]
    assert predictions.benchmark.n_classes == 3
    (folder / "model.json").write_text('["crane", "tench"]')
    with pytest.raises(InputError, match=r"more than one class is called 'crane'\. Write the classes' ids"):
        load_predictions(folder)


@pytest.mark.parametrize(
    "labels",
    [
        pa.array(["n1", "n0"]).dictionary_encode(),
        pa.array(["n1", "n0"], pa.large_string()),
        pa.array([b"n1", b"n0"]),
        pa.array(["n1", "n0"]).cast(pa.string_view()),
    ],
    ids=["dictionary", "large-string", "bytes", "string-view"],
)
def test_case_24_text_columns_of_every_type(tmp_path: Path, labels: pa.Array):
    write_csv(tmp_path / "classes.csv", "label,wnid,name", ["0,n0,a", "1,n1,b"])
    folder = write_folder(tmp_path, {"model": [1, 0]}, labels=None)
    pq.write_table(pa.table({"id": pa.array(["x", "y"]).dictionary_encode(), "label": labels}), tmp_path / "exam.parquet")
    assert load_predictions(folder).correct().all()


def test_case_24_whole_numbers_stored_as_floats(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=np.array([1.0, 0.0, 2.0]))
    np.save(folder / "array.npy", np.array([1.0, 0.0, 2.0], np.float32))
    np.save(folder / "top2.npy", np.array([[1.0, 0.0], [0.0, 2.0], [2.0, 1.0]]))
    pq.write_table(pa.table({"pred": [1.0, 0.0, 2.0]}), folder / "table.parquet")
    write_csv(folder / "text.csv", "pred", ["1.0", "0.0", "2.0"])
    assert load_predictions(folder).correct().all()


def test_labels_as_bytes_in_an_array(tmp_path: Path):
    folder = write_folder(tmp_path, {"model": ["dog", "cat"]}, labels=np.array([b"dog", b"cat"]))
    assert load_predictions(folder).correct().all()


@pytest.mark.parametrize(
    ("labels", "answers", "message"),
    [
        ([0, 3], [0, 1], r"class id 3 is outside of the 3 classes"),
        ([0, 1], [0, 3], r"model\.json: class id 3 is outside of the 3 classes"),
        ([0, -1], [0, 1], r"1 negative or missing labels, the first in row 1"),
        ([0, -7], [0, 1], r"negative class id -7"),
        ([0, 1], [0, -2], r"model\.json: negative class id -2"),
        ([0, 1], [0, 0.5], r"model\.json: class ids that are not whole numbers, such as 0\.5"),
        ([0, 1], [0, "n1"], r"model\.json: items of several kinds: number, text"),
        ([0, 1], [True, 1], r"model\.json: items of several kinds"),
        ([0, 1], [{}, {}], r"model\.json: items that are neither numbers nor text"),
    ],
)
def test_classes_that_cannot_be_are_refused(tmp_path: Path, labels: list[int], answers: list[object], message: str):
    write_csv(tmp_path / "classes.csv", "label,wnid,name", ["0,n0,a", "1,n1,b", "2,n2,c"])
    with pytest.raises(InputError, match=message):
        load_predictions(write_folder(tmp_path, {"model": answers}, labels=labels))


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("label,colour", ["0,red"], "no column of ids or names"),
        ("label,wnid", ["0,n0", "0,n1"], "does not number the classes"),
        ("label,wnid", ["0,n0", "1,n0"], "classes there twice: n0"),
    ],
)
def test_class_lists_that_contradict_themselves_are_refused(tmp_path: Path, header: str, rows: list[str], message: str):
    path = write_csv(tmp_path / "list.csv", header, rows)
    with pytest.raises(InputError, match=message):
        load_predictions(write_folder(tmp_path, {"model": [0]}, labels=[0]), classes=path)


def test_case_17_a_label_called_na_stays_text(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=None)
    write_csv(tmp_path / "exam.csv", "id,label", ["007,NA", "NA,DE"])
    write_csv(folder / "model.csv", "id,pred", ["NA,DE", "007,NA"])
    predictions = load_predictions(folder)
    assert predictions.correct().all()
    assert [info.id for info in predictions.benchmark.classes] == ["DE", "NA"]


@pytest.mark.parametrize("array", [np.array([2**63, 1], np.uint64), np.array([1e300, 1]), np.array([2**40, 1])])
def test_class_ids_that_no_list_can_hold_are_refused(tmp_path: Path, array: np.ndarray):
    folder = write_folder(tmp_path, {}, labels=[0, 1])
    np.save(folder / "model.npy", array)
    with pytest.raises(InputError, match=r"model\.npy: class id \d+ is too large"):
        load_predictions(folder)


def test_more_answers_than_anybody_asks_for_are_cut_with_a_notice(tmp_path: Path):
    folder = write_folder(tmp_path, {}, labels=[7, 8])
    np.save(folder / "model.npy", np.array([np.roll(np.arange(300), -7), np.roll(np.arange(300), -8)]))
    predictions = load_predictions(folder)
    assert predictions.answers.shape == (1, 2, 100)
    assert predictions.correct().all()
    assert [(notice.code, notice.message) for notice in predictions.notices] == [
        ("answers-cut", "300 answers an example; the first 100 were read.")
    ]


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 5)])
def test_arrays_without_entries_are_refused(tmp_path: Path, shape: tuple[int, ...]):
    folder = write_folder(tmp_path, {}, labels=[0, 1])
    np.save(folder / "model.npy", np.zeros(shape))
    with pytest.raises(InputError, match=r"model\.npy: an array of shape"):
        load_predictions(folder)


def test_case_01_whole_numbers_of_a_plain_text_file_need_no_warning(tmp_path: Path):
    for suffix, mark in ((".csv", ","), (".tsv", "\t")):
        path = write_csv(
            tmp_path / f"model{suffix}", f"id{mark}label{mark}pred", [f"{i}{mark}{i}{mark}{i}" for i in (10, 2, 1)]
        )
        predictions = load_predictions(path)
        assert predictions.correct().all()
        assert predictions.notices == ()


def told_of_list(root: Path, labels: list[int], classes: str | Path) -> list[str]:
    folder = write_folder(root, {"model": labels}, labels=labels)
    return [
        notice.message for notice in load_predictions(folder, classes=classes).notices if notice.code == "class-list-longer"
    ]


def test_case_03_a_class_list_of_other_labels_is_told(tmp_path: Path):
    [message] = told_of_list(tmp_path, [*range(10)] * 20, "imagenet-1k")
    assert message.startswith(
        "Labels are the numbers 0 to 9, each of them, while 1,000 classes are listed, so that 0 means n01440764"
    )
    assert "background" not in message


def test_case_03_one_class_too_many_is_told_as_a_background_class(tmp_path: Path):
    path = write_csv(tmp_path / "with-background.csv", "label,id", ["0,background", *(f"{i},c{i}" for i in range(1, 11))])
    [message] = told_of_list(tmp_path, [*range(10)] * 50, path)
    assert "0 means background" in message
    assert "all labels be one off" in message


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param([*range(10)] * 20, id="all classes"),
        pytest.param([0, 1, 2, 3, 4, 5, 6, 8] * 20, id="some of them"),
        pytest.param([*range(9)] * 4, id="the last is missing by chance"),  # 0.9 to the power of 36 is 2 %
    ],
)
def test_case_03_nothing_is_said_where_labels_may_be_of_the_list(tmp_path: Path, labels: list[int]):
    assert told_of_list(tmp_path, labels, "cifar-10") == []


def test_gaps_of_a_class_list_are_told_of_answers_too(tmp_path: Path):
    path = write_csv(tmp_path / "from-1.csv", "label,name", ["1,cat", "2,dog"])
    folder = write_folder(tmp_path, {"model": [1, 2]}, labels=[1, 2])
    assert [notice.code for notice in load_predictions(folder, classes=path).notices] == ["class-list-gaps"]
