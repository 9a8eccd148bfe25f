"""Test sets in tables: Parquet files with images inside, and manifests of paths and addresses."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exam_files import refusal, write_csv
from image_files import numbered, write_image

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.classes import ClassMap
from resit.data.decode import decode
from resit.data.layouts import Request, detect, read_layout
from resit.errors import InputError

CIFAR = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def write_parquet(
    path: Path, labels: Any, *, first: int = 0, names: list[str] | None = None, paths: list[Any] | None = None, **columns: Any
) -> Path:
    n = len(labels)
    images = [{"bytes": numbered(first + row), "path": paths[row] if paths else None} for row in range(n)]
    table = pa.table({"image": images, "label": labels, **columns})
    if names is not None:
        features = {"image": {"_type": "Image"}, "label": {"names": names, "_type": "ClassLabel"}}
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    return path


def codes(benchmark: Benchmark) -> set[str]:
    return {notice.code for notice in benchmark.notices}


def listed(*names: str) -> ClassMap:
    return ClassMap([ClassInfo(name, name) for name in names], source="classes.csv")


def test_a_parquet_file_of_hugging_face(tmp_path: Path):
    path = write_parquet(tmp_path / "test.parquet", [1, 0, 1], names=["cat", "dog"], region=["EU", "NA", ""], age=[1, 2, 3])
    found = read_layout(path)
    assert detect(path) == "parquet"
    assert found.labels.tolist() == [[1], [0], [1]]
    assert [(info.id, info.name) for info in found.classes] == [("cat", "cat"), ("dog", "dog")]
    assert found.ids is None
    assert found.groups["region"].tolist() == ["EU", "NA", ""]
    assert found.groups["age"].tolist() == ["1", "2", "3"]
    assert found.images[2] == numbered(2)
    assert found.name == "test"


def test_labels_of_a_parquet_file_may_be_text_floats_or_dictionaries(tmp_path: Path):
    texts = read_layout(write_parquet(tmp_path / "a.parquet", ["dog", "cat", "dog"]))
    assert [texts.class_id(label) for label in texts.labels[:, 0]] == ["dog", "cat", "dog"]
    assert read_layout(write_parquet(tmp_path / "b.parquet", [1.0, 0.0])).labels.tolist() == [[1], [0]]
    encoded = pa.array(["dog", "cat"]).dictionary_encode()
    assert read_layout(
        write_parquet(tmp_path / "c.parquet", encoded), Request(classes=listed("cat", "dog"))
    ).labels.tolist() == [
        [1],
        [0],
    ]
    several = read_layout(write_parquet(tmp_path / "d.parquet", [[1], [0, 2]]))
    assert several.labels.tolist() == [[1, -1], [0, 2]]


def test_class_names_of_the_file_are_matched_with_the_class_list_by_name(tmp_path: Path):
    path = write_parquet(tmp_path / "a.parquet", [0, 1, 2], names=["cat", "dog", "ant"])
    found = read_layout(path, Request(classes=listed("ant", "bee", "cat", "dog")))
    assert found.labels.tolist() == [[2], [3], [0]]
    assert "classes-by-name" in codes(found)
    same = read_layout(path, Request(classes=listed("cat", "dog", "ant")))
    assert same.labels.tolist() == [[0], [1], [2]]
    assert codes(same) == set()


def test_class_names_that_are_not_those_of_the_class_list(tmp_path: Path):
    path = write_parquet(tmp_path / "a.parquet", [0, 1], names=["cat, house cat", "dog"])
    by_number = read_layout(path, Request(classes=listed("cat", "dog")))
    assert by_number.labels.tolist() == [[0], [1]]
    assert "classes-by-number" in codes(by_number)
    for classes in (listed("dog", "cat"), listed("cat", "dog", "ant"), listed("x", "y", "z")):
        refusal(lambda classes=classes: read_layout(path, Request(classes=classes)), InputError)


def test_case_23_classes_of_one_name_are_told_apart_by_number(tmp_path: Path):
    found = read_layout(write_parquet(tmp_path / "a.parquet", [0, 1], names=["crane", "crane"]))
    assert [info.id for info in found.classes] == ["0", "1"]
    assert "class-names-twice" in codes(found)


def test_several_files_are_in_the_order_of_their_numbers(tmp_path: Path):
    for number in (10, 2, 1):
        write_parquet(tmp_path / f"test-{number}.parquet", [number, number], first=number)
    for place in (tmp_path, tmp_path / "test-*.parquet"):
        found = read_layout(place)
        assert found.labels[:, 0].tolist() == [1, 1, 2, 2, 10, 10]
        assert [found.images[row] for row in (0, 2, 4)] == [numbered(1), numbered(2), numbered(10)]
        assert "files-by-number" in codes(found)
    (tmp_path / "test-10.parquet").unlink()
    assert codes(read_layout(tmp_path)) == {"numbers-from-1"}


def test_files_that_number_classes_differently_are_refused(tmp_path: Path):
    write_parquet(tmp_path / "test-1.parquet", [0, 1], names=["cat", "dog"])
    write_parquet(tmp_path / "test-2.parquet", [0, 1], names=["dog", "cat"])
    assert "test-2" in refusal(lambda: read_layout(tmp_path), InputError).where


def test_the_folder_of_a_repository_is_read(tmp_path: Path):
    write_parquet(tmp_path / "data" / "test-00000-of-00001.parquet", [0, 1])
    (tmp_path / "README.md").write_text("x")
    assert detect(tmp_path) == "parquet"
    assert read_layout(tmp_path).n == 2


def test_files_of_several_splits_are_refused(tmp_path: Path):
    write_parquet(tmp_path / "test.parquet", [0, 1])
    write_parquet(tmp_path / "train-1-of-5.parquet", [0, 1])
    assert "test" in str(refusal(lambda: read_layout(tmp_path), InputError))


def test_ids_are_a_column_or_paths_that_are_all_there_and_differ(tmp_path: Path):
    by_column = read_layout(write_parquet(tmp_path / "a.parquet", [0, 1], id=["007", "NA"], paths=["x", "y"]))
    assert by_column.ids.tolist() == ["007", "NA"]
    by_path = read_layout(write_parquet(tmp_path / "b.parquet", [0, 1], paths=["x.png", "y.png"]))
    assert by_path.ids.tolist() == ["x.png", "y.png"]
    for paths in (["x", None], ["x", "x"]):
        assert read_layout(write_parquet(tmp_path / "c.parquet", [0, 1], paths=paths)).ids is None
    twice = write_parquet(tmp_path / "d.parquet", [0, 1], id=["a", "a"])
    assert "there twice: a" in refusal(lambda: read_layout(twice), InputError).what
    chosen = read_layout(twice, Request(id_column="label"))
    assert chosen.ids.tolist() == ["0", "1"]


def test_a_column_of_images_or_labels_that_is_not_clear_is_asked_for(tmp_path: Path):
    images = [{"bytes": numbered(0), "path": None}]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"left": images, "right": images, "fine": [3], "coarse": [4]}), path)
    assert "image_column" in refusal(lambda: read_layout(path), InputError).fix
    assert "label_column" in refusal(lambda: read_layout(path, Request(image_column="left")), InputError).fix
    found = read_layout(path, Request(image_column="left", label_column="fine"))
    assert found.labels.tolist() == [[3]]
    assert set(found.groups) == {"coarse"}
    assert "columns-left-out" in codes(found)
    refusal(lambda: read_layout(path, Request(image_column="middle")), InputError)
    refusal(lambda: read_layout(path, Request(image_column="left", label_column="middle")), InputError)


def test_a_parquet_file_without_labels_takes_those_that_are_given(tmp_path: Path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"jpg": [numbered(0), numbered(1)]}), path)
    assert "labels=" in str(refusal(lambda: read_layout(path), InputError))
    assert read_layout(path, Request(labels=[5, 6])).labels.tolist() == [[5], [6]]
    named = write_parquet(tmp_path / "b.parquet", [0, 0], id=["x", "y"])
    table = write_csv(tmp_path / "l.csv", "id,label", ["y,2", "x,1"])
    assert read_layout(named, Request(labels=table)).labels.tolist() == [[1], [2]]


def test_missing_labels_are_refused(tmp_path: Path):
    refusal(lambda: read_layout(write_parquet(tmp_path / "a.parquet", [0, None])), InputError)
    refusal(lambda: read_layout(write_parquet(tmp_path / "b.parquet", [0, -1])), InputError)
    refusal(lambda: read_layout(write_parquet(tmp_path / "c.parquet", [0, 9], names=["cat"])), InputError)


def test_the_real_test_set_of_cifar_10(shared_data: Path):
    path = shared_data / "cifar10" / "test.parquet"
    found = read_layout(path, Request(classes=listed(*CIFAR)))
    table = pq.read_table(path)
    assert found.n == 10_000
    assert found.labels[:, 0].tolist() == table["label"].to_pylist()
    for row in (0, 4_999, 9_999, 17):
        assert found.images[row] == table["image"][row].as_py()["bytes"]
    assert decode(found.images[0]).image.size == (32, 32)
    assert found.class_name(int(found.labels[0, 0])) == "cat"
    labels = np.load(shared_data / "cifar10.1" / "original_labels.npy")
    assert np.array_equal(found.labels[:, 0], labels)
    assert pickle.loads(pickle.dumps(found.images))[17] == found.images[17]
    assert "split" in str(refusal(lambda: read_layout(shared_data / "cifar10"), InputError))
    train = read_layout(str(shared_data / "cifar10" / "train-*.parquet"))
    assert train.n == 50_000


def test_a_manifest_of_paths(tmp_path: Path):
    for index, name in enumerate(("a.png", "b.png", "c.png")):
        write_image(tmp_path / "images" / name, index)
    (tmp_path / "images" / "c.png").unlink()
    rows = ["images/a.png,cat,NA", "images/b.png,dog,FR", "images/c.png,cat,"]
    found = read_layout(write_csv(tmp_path / "set.csv", "path,label,country", rows))
    assert [found.class_id(label) for label in found.labels[:, 0]] == ["cat", "dog", "cat"]
    assert found.ids.tolist() == ["images/a.png", "images/b.png", "images/c.png"]
    assert found.groups["country"].tolist() == ["NA", "FR", ""]
    assert set(found.groups) == {"country"}
    assert found.images[1] == numbered(1)
    told = {notice.code: notice.message for notice in found.notices}
    assert told["images-missing"].startswith("1 of 3")
    with pytest.raises(OSError, match=r"c\.png"):
        found.images[2]


def test_case_17_ids_of_a_manifest_stay_text(tmp_path: Path):
    rows = ["007,a.png,1", "NA,b.png,0"]
    found = read_layout(write_csv(tmp_path / "set.csv", "id,file,label", rows))
    assert found.ids.tolist() == ["007", "NA"]
    assert found.images.names == ("a.png", "b.png")
    assert "file" not in found.groups


def test_a_manifest_with_lists_of_accepted_labels(tmp_path: Path):
    rows = ['a.png,"[3, 1]"', "b.png,[2]"]
    assert read_layout(write_csv(tmp_path / "set.csv", "image,label", rows)).labels.tolist() == [[3, 1], [2, -1]]
    pq.write_table(pa.table({"path": ["a.png", "b.png"], "labels": [[3, 1], [2]]}), tmp_path / "set.parquet")
    assert detect(tmp_path / "set.parquet") == "manifest"
    assert read_layout(tmp_path / "set.parquet").labels.tolist() == [[3, 1], [2, -1]]


def test_case_20_a_row_that_is_there_twice(tmp_path: Path):
    same = write_csv(tmp_path / "a.csv", "id,path,label", ["1,a.png,0", "2,b.png,1", "1,a.png,0"])
    found = read_layout(same)
    assert found.ids.tolist() == ["1", "2"]
    assert len(found.images) == 2
    assert "duplicates-collapsed" in codes(found)
    for rows in (["1,a.png,0", "1,a.png,1"], ["1,a.png,0", "1,b.png,0"]):
        path = write_csv(tmp_path / "b.csv", "id,path,label", rows)
        refusal(lambda path=path: read_layout(path), InputError)


def test_a_manifest_without_labels_or_paths_is_refused(tmp_path: Path):
    only_paths = write_csv(tmp_path / "a.csv", "path", ["a.png", "b.png"])
    assert "labels=" in str(refusal(lambda: read_layout(only_paths), InputError))
    assert read_layout(only_paths, Request(labels=[1, 0])).labels.tolist() == [[1], [0]]
    no_paths = write_csv(tmp_path / "b.csv", "who,label", ["a,0", "b,1"])
    assert "image_column" in refusal(lambda: read_layout(no_paths), InputError).fix
    assert read_layout(no_paths, Request(image_column="who")).images.names == ("a", "b")
    blank = write_csv(tmp_path / "c.csv", "path,label", [",0", "b,1"])
    refusal(lambda: read_layout(blank), InputError)


def test_a_manifest_may_choose_its_ids(tmp_path: Path):
    rows = ["x,1,a.png,0", "y,2,b.png,1"]
    path = write_csv(tmp_path / "a.csv", "uuid,id,path,label", rows)
    found = read_layout(path, Request(id_column="uuid"))
    assert found.ids.tolist() == ["x", "y"]
    assert found.groups["id"].tolist() == ["1", "2"]


def test_the_real_metadata_of_geode(shared_data: Path):
    path = shared_data / "geography" / "geode_metadata.csv"
    found = read_layout(path, Request(label_column="1k_index"))
    regions = dict(zip(*np.unique(found.groups["region"], return_counts=True), strict=True))
    assert found.n == 10_333
    assert {name: int(count) for name, count in regions.items()} == {
        "Africa": 2049,
        "Europe": 1885,
        "SouthEastAsia": 1743,
        "Americas": 1611,
        "EastAsia": 1586,
        "WestAsia": 1459,
    }
    assert sorted(found.labels[0, found.labels[0] >= 0].tolist()) == sorted([414, 748, 747, 797, 728, 636, 790, 709])
    assert found.images.names[0] == "Africa/Nigeria/Nigeria_bag_011.jpg"
    assert found.ids[0] == "urkrkxoqgy"
    assert any(notice.code == "images-missing" and "10333 of 10333" in notice.message for notice in found.notices)


def test_the_real_metadata_of_dollar_street(shared_data: Path):
    path = shared_data / "geography" / "dollarstreet_metadata.csv"
    found = read_layout(path, Request(label_column="sin21k_targets"))
    assert found.labels[0, :2].tolist() == [65, 66]
    assert found.images.names[0].startswith("http://static.dollarstreet.org/media/Bangladesh%2010/")
    assert found.groups["household"][0] == "Bangladesh 10"
    assert set(found.groups["region"].tolist()) == {"Africa", "The Americas", "Asia", "Europe"}
    by_topic = read_layout(path, Request(label_column="label"))
    assert by_topic.class_id(int(by_topic.labels[0, 0])) == "cooking_pots"
    assert by_topic.content_fingerprint == found.content_fingerprint


def test_a_manifest_in_json_lines(tmp_path: Path):
    for name in ("a.png", "b.png"):
        write_image(tmp_path / name, 1)
    path = tmp_path / "mine.jsonl"
    path.write_text('{"path": "a.png", "labels": [3, 7], "id": "007"}\n{"path": "b.png", "labels": [2], "id": "NA"}\n')
    found = read_layout(path)
    assert detect(path) == "manifest"
    assert found.labels.tolist() == [[3, 7], [2, -1]]
    assert found.ids is not None
    assert found.ids.tolist() == ["007", "NA"]
    path.write_text('{"path": "a.png", "label": 3}\n{"path": "b.png", "label": "cat"}\n')
    assert "number" in str(refusal(lambda: read_layout(path), InputError))
