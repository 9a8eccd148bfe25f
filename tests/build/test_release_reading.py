"""What others read of a release, datasets, Croissant, folders, shards and resit itself: the same images and labels."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from release_made import CLASSES, Build, settings

import resit
from extras import needs
from resit.build.release.archives import folder_names
from resit.build.release.make import release
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.decode import decode

mlc = needs("mlcroissant")
datasets = needs("datasets")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, Path]:
    root = tmp_path_factory.mktemp("release")
    build = Build(root / "build")
    return build, release(build.material(), settings(imagefolder=True, webdataset=True), root / "cranes").folder


def expected(build: Build) -> dict[str, str]:
    return dict(build.selected())


def told(benchmark: Benchmark) -> dict[str, str]:
    assert benchmark.ids is not None
    return {
        Path(key).stem: benchmark.class_id(int(label)) for key, label in zip(benchmark.ids, benchmark.labels[:, 0], strict=True)
    }


def test_resit_reads_it_by_its_card(made: tuple[Build, Path]):
    build, folder = made
    found = resit.load_benchmark(folder / "benchmark.yaml")
    assert (found.name, found.version, found.label_space, found.classes) == ("cranes", "1.0", "three things", CLASSES)
    assert told(found) == expected(build)
    assert found.ids is not None
    assert found.ids.tolist() == sorted(found.ids.tolist())
    assert set(found.groups) == {"keyword", "selected", "shown"}
    assert found.images is not None
    for row in range(found.n):
        assert hashlib.sha256(found.images[row]).hexdigest() == found.ids[row]
        assert np.asarray(decode(found.images[row]).image).shape == (7, 9, 3)


def test_resit_reads_the_bare_folder(made: tuple[Build, Path]):
    build, folder = made
    found = resit.load_benchmark(folder)
    assert (found.name, found.version, found.label_space, found.classes) == ("cranes", "1.0", "three things", CLASSES)
    assert told(found) == expected(build)


def test_datasets_reads_the_file_with_images_and_class_names(made: tuple[Build, Path], tmp_path: Path):
    build, folder = made
    files = {"test": str(folder / "data" / "test.parquet")}
    rows = datasets.load_dataset("parquet", data_files=files, split="test", cache_dir=str(tmp_path))
    names = ["crane (n01)", "crane (n02)", "Ölkanne"]
    assert rows.features["label"].names == names
    assert type(rows.features["image"]).__name__ == "Image"
    assert rows[0]["image"].size == (9, 7)
    own = {info.id: name for info, name in zip(CLASSES, names, strict=True)}
    assert {row["id"]: names[row["label"]] for row in rows} == {i: own[key] for i, key in expected(build).items()}
    assert {row["class_id"] for row in rows} == {"n01", "n02", "n03"}


def test_datasets_reads_the_folder_by_its_readme(made: tuple[Build, Path], tmp_path: Path):
    rows = datasets.load_dataset(str(made[1]), split="test", cache_dir=str(tmp_path))
    assert len(rows) == 12
    assert rows.features["label"].names[2] == "Ölkanne"


@pytest.mark.filterwarnings("ignore")  # mlcroissant uses what its libraries have deprecated
def test_croissant_is_valid_and_gives_the_records(made: tuple[Build, Path], caplog: pytest.LogCaptureFixture):
    build, folder = made
    found = mlc.Dataset(str(folder / "croissant.json"))
    assert not caplog.records
    records = list(found.records("examples"))
    ids = [record["examples/id"].decode() for record in records]
    labels = [CLASSES[record["examples/label"]].id for record in records]
    assert dict(zip(ids, labels, strict=True)) == expected(build)
    assert records[0]["examples/image"].size == (9, 7)
    assert [record["classes/id"].decode() for record in found.records("classes")] == ["n01", "n02", "n03"]


@pytest.mark.parametrize("layout", ["imagefolder", "webdataset"])
def test_other_layouts_hold_the_same(made: tuple[Build, Path], layout: str):
    build, folder = made
    found = resit.load_benchmark(folder / layout, classes=folder / "classes.csv")
    assert told(found) == expected(build)
    assert found.ids is not None
    assert found.images is not None
    assert all(hashlib.sha256(found.images[row]).hexdigest() == Path(found.ids[row]).stem for row in range(found.n))


def test_case_01_folders_of_numbers_sort_as_the_classes_do():
    names = folder_names(tuple(ClassInfo(str(i), f"name {i}") for i in range(12)))
    assert names == sorted(names)
    assert names[2] == "02"
    assert folder_names((ClassInfo("a/b", ""), ClassInfo("c", ""))) == ["0", "1"]
    assert folder_names((ClassInfo("cat", ""), ClassInfo("Cat", ""))) == ["0", "1"]
    assert folder_names((ClassInfo("ape", ""), ClassInfo("bee", ""))) == ["ape", "bee"]


def test_a_class_without_images_stays(made: tuple[Build, Path], tmp_path: Path):
    build, _ = made
    classes = (*CLASSES, ClassInfo("n04", "nothing"))
    folder = release(build.material(classes=classes), settings(allow_short=True, imagefolder=True), tmp_path / "r").folder
    assert resit.load_benchmark(folder / "benchmark.yaml").classes == classes
    assert (folder / "imagefolder" / "n04").is_dir()


def test_the_record_holds_what_others_need_to_sample_again(made: tuple[Build, Path]):
    build, folder = made
    pool = {(row["image"], row["class_id"]): row for row in pq.read_table(folder / "record" / "candidates.parquet").to_pylist()}
    assert len(pool) == 18
    fates = [pool[image, "n01"]["fate"] for image in build.ids["n01"]]
    assert fates == ["selected"] * 4 + ["excluded"] * 2
    assert [pool[image, "n01"]["reason"] for image in build.ids["n01"]] == [""] * 4 + ["blacklisted", "too-few-votes"]
    votes = pq.read_table(folder / "record" / "votes.parquet").to_pylist()
    for (image, key), row in pool.items():
        own = [vote["selected"] for vote in votes if (vote["image"], vote["class_id"]) == (image, key)]
        assert (row["selected"], row["shown"]) == (sum(own), len(own))
    originals = pq.read_table(folder / "record" / "originals.parquet").to_pylist()
    assert {(row["image"], row["selected"], row["shown"]) for row in originals} == {
        (f"old-{info.id}-{number}", 4, 4) for info in CLASSES for number in range(2)
    }
    attribution = list(csv.DictReader((folder / "attribution.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["id"]: row["class_id"] for row in attribution} == expected(build)
    assert {row["licence"] for row in attribution} == {"CC-BY-4.0"}
