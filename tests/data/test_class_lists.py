"""The class lists that ship with the package are the real ones, in the real order."""

from __future__ import annotations

import csv
import hashlib
from importlib import resources
from pathlib import Path

import pytest

from extras import needs
from resit.data.class_lists import CLASS_LISTS, SUBSETS, class_list, objectnet_classes, resolve_classes
from resit.data.classes import IMAGENET_1K_IDS, ClassMap
from resit.errors import InputError, UsageError

# Index in ImageNet-1k of some classes that everybody knows.
KNOWN = {0: "n01440764", 1: "n01443537", 207: "n02099601", 281: "n02123045", 409: "n02708093", 999: "n15075141"}


def test_imagenet_has_its_thousand_ids():
    ids = [info.id for info in class_list("imagenet-1k")]
    assert len(ids) == len(set(ids)) == 1000
    assert hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()[:16] == IMAGENET_1K_IDS
    assert {index: ids[index] for index in KNOWN} == KNOWN
    assert ClassMap(list(class_list("imagenet-1k"))).label_space(0, 0) == "imagenet-1k"


def test_imagenet_has_the_order_of_the_real_class_table(shared_data: Path):
    with (shared_data / "imagenetv2" / "classes.csv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["label"]))
    found = class_list("imagenet-1k")
    assert [row["wnid"] for row in rows] == [info.id for info in found]
    assert [row["name"] for row in rows] == [info.name for info in found]


def test_real_folders_of_images_are_classes_of_the_list(shared_data: Path):
    folders = {folder.name for folder in (shared_data / "imagenet-sample").iterdir()}
    assert len(folders) == 300
    assert folders <= {info.id for info in class_list("imagenet-1k")}


def test_case_23_two_classes_with_one_name_have_two_ids():
    ids = {name: [info.id for info in class_list("imagenet-1k") if info.name == name] for name in ("crane", "maillot")}
    assert ids == {"crane": ["n02012849", "n03126707"], "maillot": ["n03710637", "n03710721"]}


@pytest.mark.parametrize("name", ["imagenet-a", "imagenet-r"])
def test_subsets_have_two_hundred_classes_in_the_order_of_imagenet(name: str):
    order = {info: index for index, info in enumerate(class_list("imagenet-1k"))}
    places = [order[info] for info in class_list(name)]
    assert len(places) == 200
    assert places == sorted(places)


def test_the_two_subsets_are_not_the_same_classes():
    assert len(set(class_list("imagenet-a")) & set(class_list("imagenet-r"))) < 200
    # The first class of each, as the papers' repositories list them.
    assert (class_list("imagenet-a")[0].id, class_list("imagenet-r")[0].id) == ("n01498041", "n01443537")


def test_the_lists_of_timm_are_the_same():
    needs("timm")
    folder = resources.files("timm.data") / "_info"
    for name, file in (("imagenet-1k", "imagenet"), ("imagenet-a", "imagenet_a"), ("imagenet-r", "imagenet_r")):
        expected = (folder / f"{file}_synsets.txt").read_text(encoding="utf-8").split()
        assert [info.id for info in class_list(name)] == expected


def test_objectnet_has_113_objects_and_125_classes_each_of_one_object():
    objects = objectnet_classes()
    ids = [wnid for wnids in objects.values() for wnid in wnids]
    assert (len(objects), len(ids), len(set(ids))) == (113, 125, 125)
    assert set(class_list("objectnet")) == {info for info in class_list("imagenet-1k") if info.id in set(ids)}
    name = {info.id: info.name for info in class_list("imagenet-1k")}
    assert [name[wnid] for wnid in objects["alarm_clock"]] == ["analog clock", "digital clock"]
    assert [name[wnid] for wnid in objects["chair"]] == ["barber chair", "folding chair", "rocking chair"]
    assert [name[wnid] for wnid in objects["full_sized_towel"]] == ["bath towel"]
    # "screen" and "monitor", "laptop" and "notebook" are neighbours that a mapping by hand mixes up.
    assert objects["monitor"] == ("n03782006",)
    assert objects["laptop_open"] == ("n03642806",)


def test_cifar_10_has_its_ten_names_in_order():
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    assert [info.name for info in class_list("cifar-10")] == names == [info.id for info in class_list("cifar-10")]


def test_a_class_list_that_does_not_ship_is_refused_with_those_that_do():
    with pytest.raises(UsageError, match=r"no class list 'imagenet-22k'.*imagenet-1k"):
        class_list("imagenet-22k")


def test_the_lists_are_small():
    folder = resources.files("resit.data") / "lists"
    assert sum(len(file.read_bytes()) for file in folder.iterdir()) < 100_000


@pytest.mark.parametrize("name", [*CLASS_LISTS, *SUBSETS])
def test_a_class_list_is_resolved_by_its_name(name: str):
    found = resolve_classes(name)
    assert found is not None
    assert tuple(found.classes) == class_list(name)
    assert name in found.source


def test_a_file_goes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cifar-10").write_text("label,name\n0,only\n")
    only = resolve_classes("cifar-10")
    assert only is not None
    assert [info.id for info in only.classes] == ["only"]
    (tmp_path / "mine.csv").write_text("label,wnid,name\n1,b,B\n0,a,A\n")
    found = resolve_classes("mine.csv")
    assert found is not None
    assert [info.id for info in found.classes] == ["a", "b"]


def test_what_was_resolved_stays_and_nothing_is_guessed(tmp_path: Path):
    assert resolve_classes(None) is None
    known = ClassMap()
    assert resolve_classes(known) is known
    with pytest.raises(UsageError, match=r"neither a file nor a known class list: 'imagenet'.*imagenet-1k"):
        resolve_classes("imagenet")
    with pytest.raises(InputError, match="no such file"):
        resolve_classes(tmp_path / "gone.csv")
