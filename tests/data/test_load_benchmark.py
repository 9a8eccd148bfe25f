"""A test set by path, by name, by NAME=PATH and by card; and what its card promises is checked."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from extras import needs
from resit.data.benchmark import Benchmark
from resit.data.class_lists import class_list
from resit.data.load_benchmark import find, load_benchmark
from resit.data.registry import register
from resit.errors import InputError, UsageError

Make = Callable[..., Path]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty folders of the user, and no registrations left over."""
    monkeypatch.setenv("RESIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RESIT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("resit.data.registry._REGISTERED", {})


@pytest.fixture
def folders(tmp_path: Path) -> Make:
    """Makes a folder of class folders, each with images of its own names."""
    from PIL import Image

    def make(place: str, content: dict[str, list[str]]) -> Path:
        root = tmp_path / place
        shade = 0
        for folder, names in content.items():
            (root / folder).mkdir(parents=True)
            for name in names:
                shade += 1
                Image.new("RGB", (4, 4), (shade % 256, shade // 256, 0)).save(root / folder / name, format="PNG")
        return root

    return make


def labels_of(benchmark: Benchmark) -> list[set[str]]:
    return [{benchmark.class_id(int(label)) for label in row if label >= 0} for row in benchmark.labels]


def test_a_benchmark_is_returned_as_it_is(folders: Make):
    first = load_benchmark(folders("x", {"a": ["1.png"]}))
    assert load_benchmark(first) is first
    with pytest.raises(UsageError, match="options of reading for a benchmark that was read already"):
        load_benchmark(first, name="y")


def test_a_path_is_read_with_a_named_class_list(folders: Make):
    root = folders("x", {"n01443537": ["b.png"], "n15075141": ["a.png"]})
    found = load_benchmark(root, classes="imagenet-1k")
    assert (found.n, found.n_classes, found.label_space) == (2, 1000, "imagenet-1k")
    assert found.labels.tolist() == [[1], [999]]


def test_a_path_goes_before_a_name(folders: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    folders("imagenet-a", {"cat": ["1.png"], "dog": ["2.png"]})
    monkeypatch.chdir(tmp_path)
    found = load_benchmark("imagenet-a")
    assert (found.n, found.subset) == (2, None)
    (notice,) = [notice for notice in found.notices if notice.code == "known-by-name"]
    assert "Write imagenet-a=imagenet-a to read it as that" in notice.message


def test_a_path_with_an_equals_sign_is_a_path(folders: Make):
    root = folders("imagenet-a=x", {"cat": ["1.png"]})
    assert load_benchmark(root).name == "imagenet-a=x"


def test_case_01_imagenetv2_folders_are_class_indices_by_value(folders: Make):
    """As text, 10 comes before 2: numbering folders by rank gives wrong labels for 998 of the 1,000 classes."""
    root = folders("v2", {str(i): ["0.png"] for i in range(1000)})
    found = load_benchmark(f"imagenetv2-top-images={root}", partial=True)
    names = [str(key).split("/")[0] for key in found.ids.tolist()]  # type: ignore[union-attr]
    assert [row[0] for row in found.labels.tolist()] == [int(name) for name in names]
    assert found.classes == class_list("imagenet-1k")
    assert (found.name, found.label_space) == ("imagenetv2-top-images", "imagenet-1k")


def test_case_02_a_subset_of_wnids_is_not_numbered_from_0(folders: Make):
    ids = [info.id for info in class_list("imagenet-a")]
    root = folders("elsewhere", {wnid: ["a.png"] for wnid in ids})
    found = load_benchmark(f"imagenet-a={root}", partial=True)
    assert [found.class_id(row[0]) for row in found.labels.tolist()] == ids
    assert found.label_space == "imagenet-a (200 of imagenet-1k)"
    assert found.subset is not None
    assert [found.class_id(index) for index in found.subset] == ids
    assert found.n_classes == 1000
    assert any("200 examples, while the card imagenet-a says 7,500" in str(notice) for notice in found.notices)


def test_fewer_images_than_the_card_says_are_refused_and_told(folders: Make):
    root = folders("x", {"cat": ["1.png", "2.png"], "dog": ["3.png"]})
    register({"name": "pets", "n": 4, "per_class": 2})
    with pytest.raises(
        InputError, match=r"pets: 3 examples, while the card pets says 4 \(1 too few\); 1 class .*: dog has 1, not 2"
    ):
        load_benchmark(f"pets={root}")
    found = load_benchmark(f"pets={root}", partial=True)
    assert [notice.code for notice in found.notices] == ["partial"]
    register({"name": "pets", "n": 3, "per_class": {"cat": 1, "dog": 2}})
    with pytest.raises(InputError, match="2 classes with another number of examples: cat has 2, not 1, dog has 1, not 2"):
        load_benchmark(f"pets={root}")
    register({"name": "pets", "n": 3, "per_class": {"cat": 2, "dog": 1, "fox": 0}})
    assert load_benchmark(f"pets={root}").n == 3


def test_labels_outside_of_the_subset_are_refused(folders: Make):
    root = folders("x", {"n01440764": ["1.png"]})
    with pytest.raises(InputError, match="1 image has labels outside of the subset: n01440764"):
        load_benchmark(f"imagenet-a={root}", partial=True)


def test_a_subset_may_be_ids_and_must_be_known(folders: Make):
    root = folders("x", {"cat": ["1.png"], "dog": ["2.png"]})
    found = load_benchmark(root, subset=["dog", "cat"])
    assert found.subset is not None
    assert found.subset.tolist() == [0, 1]
    with pytest.raises(UsageError, match="classes of the subset that are not in the class list: fox"):
        load_benchmark(root, subset=["fox"])
    with pytest.raises(UsageError, match="an empty subset"):
        load_benchmark(root, subset=[])


def test_a_name_is_looked_up_in_the_data_folder(folders: Make, tmp_path: Path):
    register({"name": "pets", "path": "images", "n": 1})
    with pytest.raises(UsageError, match=r"data/pets/images: its files are not in the data folder. Fetch it .*pets=PATH"):
        load_benchmark("pets")
    folders("data/pets/images", {"cat": ["1.png"]})
    assert load_benchmark("pets").name == "pets"
    folders("other/pets/images", {"dog": ["1.png"]})
    assert load_benchmark("pets", data=tmp_path / "other").class_id(0) == "dog"
    assert load_benchmark(f"pets={tmp_path / 'other' / 'pets'}").class_id(0) == "dog"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nothing-here", "no such file or folder, and no known test set of this name"),
        ("imagenet-aa", "Did you mean imagenet-a"),
        ("imagenet-a=", "half of NAME=PATH is missing"),
        ("=x", "half of NAME=PATH is missing"),
        ("imagenet-a=gone", "gone: no such file or folder"),
        ("imagenet-c", "imagenet-c has variants, and none was chosen"),
        ("objectnet", "its files are not in the data folder. The archive is encrypted"),
    ],
)
def test_what_is_not_there_is_told_with_what_to_do(source: str, message: str):
    with pytest.raises(UsageError, match=message):
        load_benchmark(source)


def test_a_name_that_is_not_known_is_just_a_name(folders: Make):
    root = folders("x", {"cat": ["1.png"]})
    found = load_benchmark(f"my set={root}")
    assert (found.name, load_benchmark(f"my set={root}", name="other").name) == ("my set", "other")


@pytest.mark.parametrize("place", ["hf:user/data@test", "torchvision:CIFAR10?root=x&train=false", "s3://bucket/a=b"])
def test_addresses_are_no_names(place: str):
    assert find(place).place == place
    assert (find(f"imagenet-a={place}").place, find(f"imagenet-a={place}").name) == (place, "imagenet-a")


def test_a_card_beside_its_files_is_a_test_set(folders: Make, tmp_path: Path):
    folders("mine/images", {"n01443537": ["1.png"]})
    card = tmp_path / "mine" / "card.yaml"
    card.write_text("name: fish\npath: images\nclasses: imagenet-1k\nlabel_space: imagenet-1k\nn: 1\nversion: '2'\n")
    found = load_benchmark(card)
    assert (found.name, found.version, found.labels.tolist()) == ("fish", "2", [[1]])
    (tmp_path / "mine" / "own.csv").write_text("label,wnid,name\n0,n01443537,goldfish\n")
    card.write_text("name: fish\npath: images\nclasses: own.csv\nn: 1\n")
    assert load_benchmark(card).labels.tolist() == [[0]]


def test_another_class_list_than_the_card_s_has_another_label_space(folders: Make, tmp_path: Path):
    root = folders("x", {"n01498041": ["1.png"]})
    (tmp_path / "own.csv").write_text("label,wnid,name\n0,n01498041,stingray\n")
    own = load_benchmark(f"imagenet-sketch={root}", classes=tmp_path / "own.csv", partial=True)
    assert own.label_space == "1 listed classes"
    same = load_benchmark(f"imagenet-a={root}", classes="imagenet-1k", partial=True)
    assert same.label_space == "imagenet-a (200 of imagenet-1k)"


def val(folders: Make, place: str = "data/imagenet-val/val") -> Path:
    """Six images of the validation set, in folders, with their real numbers."""
    name = "ILSVRC2012_val_{:08d}.JPEG"
    return folders(
        place,
        {
            "n01440764": [name.format(n) for n in (3, 1)],
            "n01443537": [name.format(n) for n in (2, 6, 5)],
            "n01484850": [name.format(4)],
        },
    )


REAL = [[0], [1, 7], [], [2], [], [5]]


def test_real_labels_are_joined_by_number_and_images_without_one_left_out(folders: Make, tmp_path: Path):
    val(folders)
    (tmp_path / "data" / "imagenet-real").mkdir()
    (tmp_path / "data" / "imagenet-real" / "real.json").write_text(json.dumps(REAL))
    found = load_benchmark("imagenet-real", partial=True)
    ids = [str(key).split("_")[-1][:8] for key in found.ids.tolist()]  # type: ignore[union-attr]
    assert dict(zip(ids, found.labels.tolist(), strict=True)) == {
        "00000001": [0, -1],
        "00000002": [1, 7],
        "00000004": [2, -1],
        "00000006": [5, -1],
    }
    assert [str(notice) for notice in found.notices if notice.code == "no-accepted-label"] == [
        "imagenet-real: 2 of 6 images have no accepted label and were left out."
    ]
    whole = load_benchmark("imagenet-val", partial=True)
    assert found.images is not None
    assert whole.images is not None
    assert [found.images[i] for i in range(found.n)] == [
        whole.images[i]
        for i in range(whole.n)
        if REAL[int(str(whole.ids[i]).split("_")[-1][:8]) - 1]  # type: ignore[index]
    ]
    assert found.content_fingerprint != whole.content_fingerprint
    again = pickle.loads(pickle.dumps(found.images))
    assert (again[0], again.fingerprint, again.where(3)) == (found.images[0], found.images.fingerprint, found.images.where(3))


def test_real_labels_can_be_given_and_must_fit(folders: Make, tmp_path: Path):
    root = val(folders, "val")
    with pytest.raises(UsageError, match=r"no such file of labels. Fetch it with `resit data fetch imagenet-real`"):
        load_benchmark(f"imagenet-real={root}")
    path = tmp_path / "real.json"
    path.write_text(json.dumps(REAL))
    assert load_benchmark(f"imagenet-real={root}", labels=path, partial=True).n == 4
    path.write_text(json.dumps(REAL[:5]))
    with pytest.raises(InputError, match=r"images whose number is beyond the 5 labels: .*00000006"):
        load_benchmark(f"imagenet-real={root}", labels=path, partial=True)
    path.write_text(json.dumps([[1000]] * 6))
    with pytest.raises(InputError, match="class id 1000 is outside of the 1000 classes"):
        load_benchmark(f"imagenet-real={root}", labels=path, partial=True)
    shutil.move(next(root.rglob("*00000004.JPEG")), root / "n01484850" / "renamed.JPEG")
    with pytest.raises(InputError, match=r"1 image names without the number that labels are joined by: .*renamed"):
        load_benchmark(f"imagenet-real={root}", labels=path, partial=True)


def test_real_labels_go_with_a_flat_folder_too(folders: Make, tmp_path: Path):
    """As the images lie in the archive: no folder says what they are."""
    flat = folders("flat", {".": [f"ILSVRC2012_val_{n:08d}.JPEG" for n in range(6, 0, -1)]})
    path = tmp_path / "real.json"
    path.write_text(json.dumps(REAL))
    found = load_benchmark(f"imagenet-real={flat}", labels=path, partial=True)
    assert found.labels.tolist() == [[0, -1], [1, 7], [2, -1], [5, -1]]
    assert {notice.code for notice in found.notices} == {"no-accepted-label", "partial"}


def test_the_validation_set_may_be_flat_with_wnids_in_a_text_file(folders: Make, tmp_path: Path):
    flat = folders("flat", {".": [f"ILSVRC2012_val_{n:08d}.JPEG" for n in (1, 2, 3)]})
    path = tmp_path / "imagenet_2012_validation_synset_labels.txt"
    path.write_text("n01751748\nn09193705\nn02105855\n")
    found = load_benchmark(f"imagenet-val={flat}", labels=path, partial=True)
    assert [found.class_id(row[0]) for row in found.labels.tolist()] == ["n01751748", "n09193705", "n02105855"]
    assert found.label_space == "imagenet-1k"


def test_dollar_street_accepts_all_classes_of_an_image(folders: Make):
    root = folders("data/dollar-street/dataset_dollarstreet", {"assets": ["1.png", "2.png"]})
    (root / "images_v2_imagenet_test.csv").write_text(
        "id,country.name,country.id,region.id,income,imageRelPath,topics,imagenet_synonyms,imagenet_sysnet_id\n"
        "5d4b,Burundi,bi,af,26.9,assets/1.png,['bed'],['day bed'],\"[831]\"\n"
        "5d4c,Namibia,NA,af,99.0,assets/2.png,['plate'],\"['plate', 'cup']\",\"[923, 968]\"\n"
    )
    found = load_benchmark("dollarstreet")
    assert found.labels.tolist() == [[831, -1], [923, 968]]
    assert found.ids.tolist() == ["5d4b", "5d4c"]  # type: ignore[union-attr]
    assert (found.groups["country.id"].tolist(), found.label_space) == (["bi", "NA"], "imagenet-1k")
    assert (found.groups["region"].tolist(), found.groups["country"].tolist()) == (["af", "af"], ["Burundi", "Namibia"])
    assert "region.id" not in found.groups


def test_a_card_may_not_give_a_group_the_name_of_another_column(folders: Make, tmp_path: Path):
    folders("set", {"a": ["1.png"]})
    (tmp_path / "set" / "list.csv").write_text("image,label,region,region.id\na/1.png,x,Africa,af\n")
    card = tmp_path / "set" / "card.yaml"
    card.write_text("name: mine\npath: list.csv\ngroups: {region: region.id}\n")
    with pytest.raises(InputError, match="two group columns of one name"):
        load_benchmark(card)
    card.write_text("name: mine\npath: list.csv\ngroups: {place: place.id}\n")
    with pytest.raises(InputError, match=r"no group columns place\.id"):
        load_benchmark(card)


@pytest.mark.parametrize("place", ["x/*.parquet", "shards/{000..002}.tar"])
def test_globs_and_shards_are_left_to_the_layouts(place: str):
    assert find(place).place == place
    assert find(f"mine={place}").name == "mine"


def test_objectnet_accepts_each_class_of_an_object_and_leaves_the_others_out(folders: Make):
    folders(
        "data/objectnet/objectnet-1.0/images",
        {"alarm_clock": ["1.png"], "chair": ["2.png", "3.png"], "air_freshener": ["4.png"], "t-shirt": ["5.png"]},
    )
    found = load_benchmark("objectnet", partial=True)
    names = {info.id: info.name for info in class_list("imagenet-1k")}
    assert [sorted(names[key] for key in row) for row in labels_of(found)] == [
        ["analog clock", "digital clock"],
        *[["barber chair", "folding chair", "rocking chair"]] * 2,
        ["jersey"],
    ]
    assert (found.label_space, found.n_classes) == ("objectnet (113 of imagenet-1k)", 1000)
    assert found.subset is not None
    assert len(found.subset) == 125
    assert any("1 of 5 images have no accepted label and were left out" in str(notice) for notice in found.notices)
    other = folders("cats", {"cat": ["1.png"]})
    with pytest.raises(InputError, match="none of the classes has an ImageNet class: cat"):
        load_benchmark(f"objectnet={other}")


def test_numpy_labels_of_cifar_10_1_are_found_beside_the_images(tmp_path: Path, shared_data: Path):
    folder = tmp_path / "data" / "cifar-10.1-v6"
    folder.mkdir(parents=True)
    labels = np.load(shared_data / "cifar10.1" / "v6_labels.npy")
    pixels = np.random.default_rng(0).integers(0, 255, (2000, 32, 32, 3), np.uint8)
    np.save(folder / "cifar10.1_v6_data.npy", pixels)
    np.save(folder / "cifar10.1_v6_labels.npy", labels)
    found = load_benchmark("cifar-10.1-v6")
    assert (found.n, found.label_space, found.version) == (2000, "10 classes", "v6")
    assert found.labels[:, 0].tolist() == labels.tolist()
    assert found.class_name(3) == "cat"
    np.save(folder / "cifar10.1_v6_labels.npy", labels[::-1].copy() * 0)
    with pytest.raises(InputError, match="10 classes with another number of examples: airplane has 2000, not 200"):
        load_benchmark("cifar-10.1-v6")


def test_cifar_10_is_read_by_torchvision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A file in the form of the real one, of 20 rows: planes of red, green and blue, one after the other."""
    kind = needs("torchvision.datasets").CIFAR10
    monkeypatch.setattr(kind, "_check_integrity", lambda _: True)
    monkeypatch.setattr(kind, "_load_meta", lambda self: setattr(self, "classes", [i.name for i in class_list("cifar-10")]))
    folder = tmp_path / "data" / "cifar-10"
    batches = folder / "cifar-10-batches-py"
    batches.mkdir(parents=True)
    pixels = np.random.default_rng(0).integers(0, 255, (20, 3, 32, 32), np.uint8)
    content = {"data": pixels.reshape(20, 3072), "labels": [i % 10 for i in range(20)]}
    (batches / "test_batch").write_bytes(pickle.dumps(content))
    assert find("cifar-10").place == f"torchvision:CIFAR10?root={folder}&train=false"
    found = load_benchmark("cifar-10", partial=True)
    assert (found.name, found.label_space, found.classes) == ("cifar-10", "10 classes", class_list("cifar-10"))
    assert found.labels[:, 0].tolist() == content["labels"]
    assert found.images is not None
    assert np.array_equal(found.images[7], pixels[7].transpose(1, 2, 0))
    assert load_benchmark(f"cifar-10={folder}", partial=True).n == 20


def test_cifar_10_2_is_the_two_arrays_in_its_archive(tmp_path: Path):
    from resit.data.unpack import unpack

    folder = tmp_path / "data" / "cifar-10.2"
    folder.mkdir(parents=True)
    pixels = np.random.default_rng(0).integers(0, 255, (2000, 32, 32, 3), np.uint8)
    labels = np.repeat(np.arange(10), 200)
    np.savez(folder / "cifar102_test.npz", images=pixels, labels=labels)
    unpack(folder / "cifar102_test.npz", "zip", folder / "test", folder)
    found = load_benchmark("cifar-10.2")
    assert (found.n, found.labels[:, 0].tolist()) == (2000, labels.tolist())


def test_groups_that_a_card_names_must_be_there(tmp_path: Path, folders: Make):
    root = folders("images", {"Africa": ["1.png"], "Europe": ["2.png"]})
    table = root / "metadata_test_1k_final.csv"
    table.write_text('id,file_path,object,region,ip_country,1k_index\na,Africa/1.png,bag,Africa,NA,"[414, 748]"\n'
                     'b,Europe/2.png,hat,Europe,Spain,"[515]"\n')  # fmt: skip
    found = load_benchmark(f"geode={table}")
    assert found.labels.tolist() == [[414, 748], [515, -1]]
    assert (found.ids.tolist(), found.label_space) == (["a", "b"], "imagenet-1k")  # type: ignore[union-attr]
    assert found.groups["ip_country"].tolist() == ["NA", "Spain"]
    table.write_text('id,file_path,object,1k_index\na,Africa/1.png,bag,"[414]"\n')
    with pytest.raises(InputError, match="no group columns region, ip_country, which the card geode names"):
        load_benchmark(f"geode={table}")


def test_real_images_in_folders_by_wnid(shared_data: Path):
    found = load_benchmark(f"imagenet-val={shared_data / 'imagenet-sample'}", partial=True)
    assert found.n == 300
    assert all(
        str(key).split("/")[0] == found.class_id(row[0]) for key, row in zip(found.ids, found.labels.tolist(), strict=True)
    )  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"300 examples, while the card imagenet-val says 50,000 \(49,700 too few\)"):
        load_benchmark(f"imagenet-val={shared_data / 'imagenet-sample'}")
