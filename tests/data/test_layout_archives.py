"""Test sets as arrays and as shards of WebDataset."""

from __future__ import annotations

import io
import json
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest
from exam_files import refusal, write_csv
from image_files import noise, numbered

from resit.data.benchmark import Benchmark
from resit.data.layouts import Request, detect, read_layout
from resit.data.layouts.webdataset import expand, split_key
from resit.errors import InputError


def shard(path: Path, **members: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            raw = content.encode() if isinstance(content, str) else content
            item = tarfile.TarInfo(name)
            item.size = len(raw)
            archive.addfile(item, io.BytesIO(raw))
    return path


def samples(path: Path, keys: range, kind: str = "png") -> Path:
    return shard(
        path, **{f"{key:04}.{end}": value for key in keys for end, value in ((kind, numbered(key)), ("cls", f"{key % 3}\n"))}
    )


def codes(benchmark: Benchmark) -> set[str]:
    return {notice.code for notice in benchmark.notices}


def test_the_release_of_cifar_10_1(tmp_path: Path):
    images = np.stack([noise(32, 32, index) for index in range(6)])
    for version in ("v4", "v6"):
        np.save(tmp_path / f"cifar10.1_{version}_data.npy", images)
        np.save(tmp_path / f"cifar10.1_{version}_labels.npy", np.array([3, 1, 0, 2, 9, 5], np.int64))
    found = read_layout(tmp_path / "cifar10.1_v4_data.npy")
    assert detect(tmp_path / "cifar10.1_v4_data.npy") == detect(tmp_path) == "arrays"
    assert found.labels[:, 0].tolist() == [3, 1, 0, 2, 9, 5]
    assert found.ids is None
    assert found.name == "cifar10.1_v4"
    assert np.array_equal(found.images[4], images[4])
    refused = refusal(lambda: read_layout(tmp_path), InputError)
    assert "cifar10.1_v6_data.npy" in str(refused)


@pytest.mark.parametrize(
    ("data", "labels"), [("images", "labels"), ("data", "labels"), ("a_images", "a_labels"), ("a", "a_labels")]
)
def test_other_names_of_the_two_arrays(tmp_path: Path, data: str, labels: str):
    np.save(tmp_path / f"{data}.npy", np.zeros((2, 4, 4, 3), np.uint8))
    np.save(tmp_path / f"{labels}.npy", [1, 0])
    for place in (tmp_path, tmp_path / f"{data}.npy"):
        assert read_layout(place).labels.tolist() == [[1], [0]]


def test_arrays_that_do_not_fit_together_are_refused(tmp_path: Path):
    np.save(tmp_path / "images.npy", np.zeros((2, 4, 4, 3), np.uint8))
    assert "labels" in str(refusal(lambda: read_layout(tmp_path / "images.npy"), InputError))
    assert read_layout(tmp_path / "images.npy", Request(labels=[1, 0])).n == 2
    np.save(tmp_path / "labels.npy", [1, 0, 2])
    assert "3 labels, but 2 images" in str(refusal(lambda: read_layout(tmp_path), InputError))
    np.save(tmp_path / "images.npy", np.zeros((3, 3, 32, 32), np.uint8))
    refusal(lambda: read_layout(tmp_path), InputError)
    assert read_layout(tmp_path, Request(channels="first")).images[0].shape == (32, 32, 3)


def test_labels_with_ids_give_an_array_its_ids(tmp_path: Path):
    np.save(tmp_path / "images.npy", np.zeros((2, 4, 4, 3), np.uint8))
    table = write_csv(tmp_path / "l.csv", "id,label", ["x,1", "y,0"])
    found = read_layout(tmp_path / "images.npy", Request(labels=table))
    assert found.ids.tolist() == ["x", "y"]
    assert "ids-from-labels" in codes(found)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a-{08..10}.tar", ["a-08.tar", "a-09.tar", "a-10.tar"]),
        ("a-{000000..000001}.tar", ["a-000000.tar", "a-000001.tar"]),
        ("{a,b}-{1..2}.tar", ["a-1.tar", "a-2.tar", "b-1.tar", "b-2.tar"]),
        ("a.tar", ["a.tar"]),
    ],
)
def test_braces_are_expanded_as_a_shell_does(text: str, names: list[str]):
    assert expand(text) == names


@pytest.mark.parametrize("text", ["a-{3..1}.tar", "a-{x}.tar", "a-{0..999999999}.tar", "{0..9999}-{0..9999}.tar"])
def test_braces_that_are_no_range_are_refused(text: str):
    refusal(lambda: expand(text), InputError)


def test_keys_end_at_the_first_point():
    assert split_key("a/b.c/0001.seg.PNG") == ("a/b.c/0001", "seg.png")
    assert split_key("./0001.jpg") == ("0001", "jpg")


def test_shards_in_braces_globs_and_folders(tmp_path: Path):
    for number in range(3):
        samples(tmp_path / f"shards-{number:06}.tar", range(number * 4, number * 4 + 4))
    for place in (tmp_path / "shards-{000000..000002}.tar", tmp_path / "shards-*.tar", tmp_path):
        found = read_layout(place)
        assert detect(place) == "webdataset"
        assert found.ids.tolist() == [f"{key:04}" for key in range(12)]
        assert found.labels[:, 0].tolist() == [key % 3 for key in range(12)]
        assert [found.images[row] for row in range(12)] == [numbered(row) for row in range(12)]
        assert codes(found) == set()
    assert read_layout(tmp_path / "shards-{000000..000002}.tar").name == "shards"
    assert pickle.loads(pickle.dumps(found.images))[7] == numbered(7)
    gone = refusal(lambda: read_layout(tmp_path / "shards-{000000..000007}.tar"), InputError)
    assert "shards-000003.tar" in str(gone)


def test_a_key_that_is_there_twice_is_refused(tmp_path: Path):
    samples(tmp_path / "a-0.tar", range(3))
    samples(tmp_path / "a-1.tar", range(2, 5))
    assert "0002" in str(refusal(lambda: read_layout(tmp_path), InputError))
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        for index in (1, 2):
            raw = numbered(index)
            item = tarfile.TarInfo("0001.png")
            item.size = len(raw)
            archive.addfile(item, io.BytesIO(raw))
    assert "0001" in str(refusal(lambda: read_layout(tmp_path / "b.tar"), InputError))


def test_labels_and_groups_in_json(tmp_path: Path):
    facts = [{"label": 2, "region": "NA", "size": 7, "more": [1]}, {"label": 0, "region": "EU", "size": 8, "more": []}]
    members = {
        f"{key}.{end}": value for key in range(2) for end, value in (("webp", numbered(key)), ("json", json.dumps(facts[key])))
    }
    path = shard(tmp_path / "a.tar", **members)
    found = read_layout(path)
    assert found.labels.tolist() == [[2], [0]]
    assert {name: column.tolist() for name, column in found.groups.items()} == {"region": ["NA", "EU"], "size": ["7", "8"]}
    assert read_layout(path, Request(label_column="size")).labels.tolist() == [[7], [8]]


def test_samples_without_labels_or_images(tmp_path: Path):
    path = shard(tmp_path / "a.tar", **{"1.png": numbered(1), "1.cls": "4", "2.txt": "hello", "._1.png": b"x"})
    found = read_layout(path)
    assert found.ids.tolist() == ["1"]
    assert codes(found) == {"samples-without-image"}
    bare = shard(tmp_path / "b.tar", **{"1.png": numbered(1)})
    assert "labels=" in str(refusal(lambda: read_layout(bare), InputError))
    assert read_layout(bare, Request(labels=[3])).labels.tolist() == [[3]]
    half = shard(tmp_path / "c.tar", **{"1.png": numbered(1), "1.cls": "4", "2.png": numbered(2)})
    assert "1 of 2" in str(refusal(lambda: read_layout(half), InputError))
    no_image = shard(tmp_path / "d.tar", **{"1.cls": "4"})
    refusal(lambda: read_layout(no_image), InputError)


def test_several_images_of_one_sample(tmp_path: Path):
    path = shard(tmp_path / "a.tar", **{"1.jpg": numbered(1), "1.seg.png": numbered(2), "1.cls": "0"})
    assert read_layout(path).images[0] == numbered(1)
    assert read_layout(path, Request(image_column="seg.png")).images[0] == numbered(2)
    two = shard(tmp_path / "b.tar", **{"1.jpg": numbered(1), "1.png": numbered(2), "1.cls": "0"})
    assert "image_column" in refusal(lambda: read_layout(two), InputError).fix


def test_a_packed_shard_is_refused_with_the_way_out(tmp_path: Path):
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(samples(tmp_path / "x.tar", range(2)), "1.png")
    assert "gunzip" in refusal(lambda: read_layout(tmp_path / "a.tar.gz"), InputError).fix


def test_a_folder_that_may_be_two_things_is_asked_about(tmp_path: Path):
    samples(tmp_path / "a.tar", range(2))
    (tmp_path / "b.png").write_bytes(numbered(0))
    assert "layout" in refusal(lambda: read_layout(tmp_path), InputError).fix
    assert read_layout(tmp_path, Request(layout="webdataset")).n == 2
