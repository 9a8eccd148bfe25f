"""Test sets that other libraries read: Hugging Face datasets and torchvision."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from exam_files import refusal
from image_files import keep_cache_in, noise, numbered, write_image

from extras import needs
from resit.data.benchmark import ClassInfo
from resit.data.classes import ClassMap
from resit.data.layouts import Request, detect, read_layout
from resit.data.layouts.libraries import split_options
from resit.errors import InputError

needs("datasets", "torchvision")


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two splits, stored by the library itself."""
    import datasets

    keep_cache_in(tmp_path, monkeypatch)
    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=["cat", "dog"]), "region": datasets.Value("string")}
    )

    def split(first: int, n: int) -> object:
        images = [{"bytes": numbered(first + row), "path": None} for row in range(n)]
        columns = {"image": images, "label": [row % 2 for row in range(n)], "region": ["NA"] * n}
        return datasets.Dataset.from_dict(columns, features=features)

    both = datasets.DatasetDict({"train": split(0, 4), "test": split(10, 3)})
    both.save_to_disk(tmp_path / "saved")
    for name, rows in both.items():
        (tmp_path / "hub" / "data").mkdir(parents=True, exist_ok=True)
        rows.to_parquet(tmp_path / "hub" / "data" / f"{name}-00000-of-00001.parquet")
    return tmp_path


@pytest.mark.parametrize("kind", ["saved", "hub"])
def test_a_split_of_a_data_set(stored: Path, kind: str):
    place = f"hf:{stored / kind}@test"
    found = read_layout(place)
    assert detect(place) == "datasets"
    assert found.labels.tolist() == [[0], [1], [0]]
    assert [info.id for info in found.classes] == ["cat", "dog"]
    assert found.groups["region"].tolist() == ["NA"] * 3
    assert [found.images[row] for row in range(3)] == [numbered(row) for row in (10, 11, 12)]
    assert found.name == f"{kind}-test"
    again = pickle.loads(pickle.dumps(found.images))
    assert again[2] == numbered(12)
    assert again.fingerprint == found.images_fingerprint
    assert read_layout(f"hf:{stored / kind}@train").images_fingerprint != found.images_fingerprint


def test_the_same_set_read_by_two_ways_has_the_same_labels(stored: Path):
    by_library = read_layout(f"hf:{stored / 'hub'}@test")
    by_file = read_layout(stored / "hub" / "data" / "test-*.parquet")
    assert by_library.labels_fingerprint == by_file.labels_fingerprint
    assert by_library.classes == by_file.classes


@pytest.mark.parametrize("kind", ["saved", "hub"])
def test_a_split_is_chosen_and_never_guessed(stored: Path, kind: str):
    refused = str(refusal(lambda: read_layout(f"hf:{stored / kind}"), InputError))
    assert "train" in refused
    assert "@test" in refused
    refusal(lambda: read_layout(f"hf:{stored / kind}@validation"), InputError)


def test_places_that_cannot_be_read(stored: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for place in ("hf:", "hf:a@b@c", f"hf:{stored / 'saved'}@test?color=red", f"hf:{stored / 'nothing'}@test"):
        refusal(lambda place=place: read_layout(place), InputError)


def test_options_are_told_by_their_words():
    assert split_options("x?root=a/b&train=false&n=3&split=None") == (
        "x",
        {"root": "a/b", "train": False, "n": 3, "split": None},
    )
    for place in ("x?root", "x?a=1&a=2"):
        refusal(lambda place=place: split_options(place), InputError)


def write_cifar(root: Path) -> np.ndarray:
    """The files of CIFAR-10 with 3 test images, and the sums that torchvision checks made to fit."""
    folder = root / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    images = np.stack([noise(32, 32, index) for index in range(3)])
    flat = images.transpose(0, 3, 1, 2).reshape(3, -1)
    for name in ("test_batch", *(f"data_batch_{i}" for i in range(1, 6))):
        (folder / name).write_bytes(pickle.dumps({"data": flat, "labels": [3, 8, 0]}))
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": names}))
    return images


def test_cifar_10_of_torchvision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from torchvision.datasets import CIFAR10

    monkeypatch.setattr(CIFAR10, "_check_integrity", lambda _: True)
    monkeypatch.setattr("torchvision.datasets.cifar.check_integrity", lambda *_: True)
    images = write_cifar(tmp_path)
    place = f"torchvision:CIFAR10?root={tmp_path}&train=false"
    found = read_layout(place)
    assert detect(place) == "torchvision"
    assert found.labels[:, 0].tolist() == [3, 8, 0]
    assert found.class_id(3) == "cat"
    assert all(np.array_equal(found.images[row], images[row]) for row in range(3))
    assert found.notices == ()
    assert found.name == "cifar10-test"
    assert np.array_equal(pickle.loads(pickle.dumps(found.images))[1], images[1])
    classes = ClassMap([ClassInfo(name, name) for name in reversed([info.id for info in found.classes])], source="c.csv")
    assert read_layout(place, Request(classes=classes)).labels[:, 0].tolist() == [6, 1, 9]


def test_folders_that_torchvision_numbers_by_rank_are_refused(tmp_path: Path):
    write_image(tmp_path / "n02012849" / "a.png")
    refused = refusal(lambda: read_layout(f"torchvision:ImageFolder?root={tmp_path}"), InputError)
    assert "folder itself" in refused.fix


def test_the_split_of_torchvision_is_never_its_default(tmp_path: Path):
    for place in (
        f"torchvision:CIFAR10?root={tmp_path}",
        f"torchvision:SVHN?root={tmp_path}",
        f"torchvision:EMNIST?split=mnist&root={tmp_path}",
    ):
        assert "trained on" in refusal(lambda place=place: read_layout(place), InputError).what


def test_data_sets_of_torchvision_that_cannot_be_opened(tmp_path: Path):
    for place in (
        "torchvision:Nothing",
        f"torchvision:CIFAR10?root={tmp_path}&train=false",
        "torchvision:CIFAR10?train=false",
        "torchvision:os",
    ):
        refusal(lambda place=place: read_layout(place), InputError)


def test_images_that_torchvision_decodes_are_told(tmp_path: Path):
    found = read_layout("torchvision:FakeData?size=4&num_classes=3")
    assert found.n == 4
    assert {notice.code for notice in found.notices} == {"decoded-by-torchvision"}
