"""Cards: those that ship are whole and agree with the rest of the house; those of users are read or refused exactly."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extras import needs
from resit.data.card import Card, Relabel
from resit.data.class_lists import class_list, resolve_classes
from resit.data.label_spaces import UNNAMED, label_space_of
from resit.data.read_card import make_card, read_card
from resit.data.registry import data_folder, find_card, folder_of, get_card, home, known_benchmarks, register
from resit.errors import InputError, UsageError

NAMES = (
    *("cifar-10", "cifar-10.1-v4", "cifar-10.1-v6", "cifar-10.2", "imagenet-val"),
    *("imagenetv2-matched-frequency", "imagenetv2-threshold-0.7", "imagenetv2-top-images"),
    *("imagenet-a", "imagenet-r", "imagenet-sketch", "imagenet-c", "imagenet-real", "objectnet", "dollar-street", "geode"),
)
CARD = """\
name: mine
title: My test set
path: images
classes: imagenet-1k
label_space: imagenet-1k
n: 2
files:
  - name: mine.tar
    urls: ["https://example.org/mine.tar"]
    unpack: tar
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of resit that is empty, and no registrations left over."""
    monkeypatch.setenv("RESIT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("RESIT_DATA", raising=False)
    monkeypatch.setattr("resit.data.registry._REGISTERED", {})
    return tmp_path / "home"


def shipped() -> list[Any]:
    return [pytest.param(get_card(name), id=name) for name in NAMES]


def test_the_known_test_sets_are_these():
    assert sorted(known_benchmarks()) == sorted(NAMES)


@pytest.mark.parametrize("card", shipped())
def test_a_card_that_ships_says_what_people_ask(card: Card):
    assert all((card.title, card.description, card.licence, card.citation))
    assert card.homepage.startswith("https://")
    assert card.files or card.access
    assert all(file.mirrors or card.access for file in card.files)


@pytest.mark.parametrize("card", shipped())
def test_its_label_space_is_that_of_its_name(card: Card):
    assert label_space_of(card.name) in (UNNAMED, card.label_space)
    assert card.label_space != UNNAMED


@pytest.mark.parametrize("card", shipped())
def test_its_classes_and_subset_ship(card: Card):
    classes = {info.id for info in class_list(card.classes or "")}
    assert classes
    if card.subset:
        assert {info.id for info in class_list(card.subset)} < classes
    if isinstance(card.per_class, int):
        assert card.n == card.per_class * len(classes)
    elif card.per_class is not None:
        assert card.per_class.keys() == classes
        assert card.n == sum(card.per_class.values())


@pytest.mark.parametrize("card", shipped())
def test_a_hash_has_a_source_and_no_two_files_have_one_hash(card: Card):
    hashes = [mirror.sha256 or mirror.md5 for file in card.files for mirror in file.mirrors]
    known = [value for value in hashes if value]
    assert len(set(known)) == len({mirror.sha256 or mirror.md5 for file in card.files for mirror in file.mirrors} - {None})
    for file in card.files:
        if file.sha256 or file.md5 or any(mirror.sha256 or mirror.md5 for mirror in file.mirrors):
            assert file.source


def test_hashes_are_those_of_torchvision():
    cifar, imagenet = needs("torchvision.datasets.cifar"), needs("torchvision.datasets.imagenet")
    assert get_card("cifar-10").files[0].md5 == cifar.CIFAR10.tgz_md5
    assert cifar.CIFAR10.url in get_card("cifar-10").files[0].urls
    archive = get_card("imagenet-val").files[0]
    assert (archive.name, archive.md5) == imagenet.ARCHIVE_META["val"]


def test_the_hash_of_real_labels_is_that_of_the_copy_in_timm():
    import hashlib

    needs("timm")
    content = (resources.files("timm.data") / "_info" / "imagenet_real_labels.json").read_bytes()
    (file,) = get_card("imagenet-real").files
    assert (file.size, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert get_card("imagenet-real").n == sum(bool(labels) for labels in json.loads(content))


def test_counts_are_those_of_the_real_labels(shared_data: Path):
    names = [info.id for info in class_list("cifar-10")]
    for version in ("v4", "v6"):
        counts = np.bincount(np.load(shared_data / "cifar10.1" / f"{version}_labels.npy"), minlength=10)
        card = get_card(f"cifar-10.1-{version}")
        assert card.n == counts.sum()
        expected = card.per_class if isinstance(card.per_class, dict) else dict.fromkeys(names, card.per_class)
        assert expected == dict(zip(names, counts.tolist(), strict=True))


def test_numbers_of_the_validation_set_are_found_in_real_names(shared_data: Path):
    numbered = get_card("imagenet-val").numbered
    assert numbered is not None
    lines = (shared_data / "imagenetv2" / "val.csv").read_text().splitlines()[1:]
    found = {int(match[1]) for line in lines if (match := re.search(numbered.pattern, line))}
    assert found == set(range(numbered.first, numbered.last + 1))
    relabel = get_card("imagenet-real").relabel
    assert relabel is not None
    assert (relabel.pattern, relabel.first) == (numbered.pattern, 1)


def test_columns_are_those_of_the_real_metadata(shared_data: Path):
    head = (shared_data / "geography" / "geode_metadata.csv").read_text().splitlines()[0].split(",")
    card = get_card("geode")
    assert {card.image_column, card.label_column, card.id_column, *card.groups} <= set(head)


def test_variants_are_chosen_with_the_file_that_holds_them():
    card = get_card("imagenet-c/fog/3")
    assert (card.name, card.path) == ("imagenet-c/fog/3", "fog/3")
    assert [file.name for file in card.files] == ["weather.tar"]
    assert folder_of(card, "data") == Path("data/imagenet-c")
    names = get_card("imagenet-c").variant_names()
    assert len(names) == 19 * 5
    assert all(len(get_card(name).files) == 1 for name in names)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("imagenet-c/fog", "no variant 'fog'.*imagenet-c/CORRUPTION/SEVERITY"),
        ("imagenet-c/fog/6", "no severity '6'. There are 1, 2, 3, 4, 5"),
        ("imagenet-c/rain/1", "no corruption 'rain'"),
        ("imagenet-a/1", "imagenet-a has no variants"),
        ("imagenet-aa", "no known test set 'imagenet-aa'. Did you mean imagenet-a"),
        ("zzzz", "Known are cifar-10, .*objectnet"),
    ],
)
def test_a_name_that_is_not_known_is_told_what_is(name: str, message: str):
    with pytest.raises(UsageError, match=message):
        get_card(name)


@pytest.mark.parametrize(("alias", "name"), [("dollarstreet", "dollar-street"), ("imagenetv2", "imagenetv2-matched-frequency")])
def test_aliases_lead_to_cards(alias: str, name: str):
    assert get_card(alias).name == name
    assert find_card("nothing-of-this-name") is None


def test_a_card_in_the_home_folder_is_known(own_home: Path):
    (own_home / "benchmarks").mkdir(parents=True)
    (own_home / "benchmarks" / "a.yaml").write_text(CARD)
    (own_home / "benchmarks" / "notes.txt").write_text("not a card")
    card = get_card("mine")
    assert (card.n, card.files[0].name, card.folder) == (2, "mine.tar", str(own_home / "benchmarks"))
    (own_home / "benchmarks" / "b.yml").write_text(CARD)
    with pytest.raises(InputError, match=r"b\.yml: two cards are called 'mine'"):
        known_benchmarks()


def test_a_registered_card_goes_before_one_that_ships():
    made = register({"name": "imagenet-a", "n": 3, "label_space": "mine"})
    assert get_card("imagenet-a") is made
    assert known_benchmarks()["imagenet-a"].n == 3
    register(Card("another"))
    assert get_card("another").label_space == UNNAMED


def test_folders_follow_the_environment(monkeypatch: pytest.MonkeyPatch, own_home: Path):
    assert (home(), data_folder()) == (own_home, own_home / "data")
    monkeypatch.setenv("RESIT_DATA", "elsewhere")
    assert (data_folder(), data_folder("here")) == (Path("elsewhere"), Path("here"))
    monkeypatch.delenv("RESIT_HOME")
    assert home() == Path.home() / ".resit"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nam": "x"}, r"nam: Unexpected keyword argument.*The keys of a card are access, address, aliases"),
        ({"n": "many"}, "n: Input should be a valid integer"),
        ({"name": "a b"}, "name 'a b' is not made of letters"),
        ({"name": "a/b"}, "a slash in the name 'a/b'"),
        ({"name": "../a"}, "a slash in the name"),
        ({"name": ".."}, "is not made of letters"),
        ({"path": "../other"}, "path: '../other' leads out"),
        ({"path": "/etc"}, "path: '/etc' leads out"),
        ({"labels": "a/../../b"}, "labels: .* leads out"),
        ({"files": [{"name": "a/b.tar"}]}, "'a/b.tar' is not the name of a file"),
        ({"files": [{"name": "a.tar", "sha256": "abc"}]}, "files.a.tar: 'abc' is not 64 hexadecimal digits"),
        ({"files": [{"name": "a.tar", "urls": [{"url": "u", "md5": "Z" * 32}]}]}, "is not 32 hexadecimal digits"),
        ({"files": [{"name": "a.tar", "into": "../.."}]}, "files.a.tar.into: .* leads out"),
        ({"files": [{"name": "a.tar", "unpack": "rar"}]}, r"files.0.unpack: Input should be 'tar' or 'zip'"),
        ({"files": [{"name": "a.tar", "only": {"x": ["1"]}}]}, "files.a.tar.only: no axis 'x'"),
        (
            {"variants": {"x": ["1"]}, "path": "{x}", "files": [{"name": "a.tar", "only": {"x": ["2"]}}]},
            "files.a.tar.only: no x '2' of variants",
        ),
        ({"groups": {"a": "region", "b": "region"}}, "groups: the column 'region' is there twice"),
        ({"relabel": {"by": "id"}}, "relabel: needs either file or list"),
        ({"relabel": {"by": "number", "file": "a"}}, "relabel: by number needs a pattern"),
        ({"relabel": {"by": "number", "file": "a", "pattern": "x"}}, "relabel.pattern: 'x' is no pattern with a group"),
        ({"numbered": {"pattern": "(", "first": 1, "last": 2}}, r"numbered.pattern: '\(' is no pattern"),
        ({"variants": {"a": ["1"]}, "path": "{b}"}, "names an axis that is not in variants"),
        ({"variants": {"a": ["1"]}, "path": "{a"}, "names an axis that is not in variants"),
        ({"address": "hf:{x}"}, "address: 'hf:{x}' has braces around another word"),
        ({"folder": "x"}, "the key folder is not written"),
    ],
)
def test_a_faulty_card_is_refused_and_the_key_is_named(change: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message) as caught:
        make_card({"name": "mine", **change}, "card.yaml")
    assert str(caught.value).startswith("card.yaml: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nname: b\n", "the key 'name' is there twice"),
        ("name: a\nper_class: {x: 1, x: 2}\n", "the key 'x' is there twice"),
        ("name: [a\n", "not valid YAML at line 2"),
        ("- a\n", "not a mapping of keys to values"),
        ("title: x\n", "name: Field required"),
        ("name: !!python/object/apply:os.system [id]\n", "not valid YAML"),
        ("", "empty file"),
    ],
)
def test_a_file_that_is_no_card_is_refused(tmp_path: Path, text: str, message: str):
    path = tmp_path / "card.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_card(path)


def test_every_key_of_a_card_is_in_the_pages():
    from dataclasses import fields

    from resit.data.card import CardFile, Mirror, Numbered

    page = (Path(__file__).parents[2] / "docs" / "how-to" / "benchmarks.md").read_text(encoding="utf-8")
    for kind in (Card, CardFile, Mirror, Relabel, Numbered):
        for field in fields(kind):
            assert field.name == "folder" or f"`{field.name}`" in page, field.name


def test_class_lists_of_cards_resolve():
    assert all(resolve_classes(card.classes) for card in known_benchmarks().values())
