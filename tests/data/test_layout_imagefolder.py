"""Folders of images: classes by id, number or name, never by rank."""

from __future__ import annotations

import io
import pickle
import unicodedata
from pathlib import Path

import numpy as np
from exam_files import refusal, write_csv
from image_files import numbered, write_image
from PIL import Image

from extras import needs
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.class_lists import resolve_classes
from resit.data.classes import ClassMap, read_class_list
from resit.data.layouts import Request, detect, read_layout
from resit.errors import InputError, UsageError

WNIDS = ["n01440764", "n01443537", "n02012849", "n03126707"]
NAMES = ["tench", "goldfish", "crane", "crane"]


def class_list() -> ClassMap:
    return ClassMap([ClassInfo(i, name) for i, name in zip(WNIDS, NAMES, strict=True)], source="classes.csv")


def folder(root: Path, *names: str) -> Path:
    for index, name in enumerate(names):
        write_image(root / name, index)
    return root


def codes(benchmark: Benchmark) -> set[str]:
    return {notice.code for notice in benchmark.notices}


def labelled(benchmark: Benchmark) -> dict[str, int]:
    assert benchmark.ids is not None
    assert benchmark.labels.dtype == np.int32
    assert benchmark.labels.shape == (benchmark.n, 1)
    return dict(zip(benchmark.ids.tolist(), benchmark.labels[:, 0].tolist(), strict=True))


def test_case_01_integer_folders_map_by_value_and_not_by_text(tmp_path: Path):
    root = folder(tmp_path, *(f"{i}/a.png" for i in range(12)))
    found = read_layout(root)
    assert labelled(found) == {f"{i}/a.png": i for i in range(12)}
    assert found.n_classes == 12
    assert found.label_space == "12 classes"
    assert "numbers-as-text" in codes(found)
    few = read_layout(folder(tmp_path / "few", "0/a.png", "1/a.png", "5/a.png"))
    assert labelled(few) == {"0/a.png": 0, "1/a.png": 1, "5/a.png": 5}
    assert codes(few) == set()


def test_case_01_integer_folders_map_by_value_into_a_class_list(tmp_path: Path):
    classes = ClassMap([ClassInfo(f"w{i}", f"name {i}") for i in range(20)], source="classes.csv")
    root = folder(tmp_path, "2/a.png", "10/a.png")
    found = read_layout(root, Request(classes=classes))
    assert labelled(found) == {"2/a.png": 2, "10/a.png": 10}
    assert "numbers-as-text" in codes(found)
    refused = refusal(lambda: read_layout(folder(tmp_path / "b", "20/a.png"), Request(classes=classes)), InputError)
    assert "20" in str(refused)


def test_case_01_ids_that_are_numbers_go_before_values(tmp_path: Path):
    classes = ClassMap([ClassInfo("1", "one"), ClassInfo("0", "zero")], source="classes.csv")
    assert labelled(read_layout(folder(tmp_path, "0/a.png", "1/a.png"), Request(classes=classes))) == {
        "0/a.png": 1,
        "1/a.png": 0,
    }


def test_case_01_folders_numbered_from_1_are_told(tmp_path: Path):
    found = read_layout(folder(tmp_path, "1/a.png", "2/a.png"))
    assert labelled(found) == {"1/a.png": 1, "2/a.png": 2}
    assert "numbers-from-1" in codes(found)


def test_case_02_a_folder_per_wnid_maps_by_the_class_list_and_never_by_rank(tmp_path: Path):
    root = folder(tmp_path, "n02012849/a.png", "n01443537/b.png")
    found = read_layout(root, Request(classes=class_list()))
    assert labelled(found) == {"n01443537/b.png": 1, "n02012849/a.png": 2}
    assert found.n_classes == 4
    assert codes(found) == set()


def test_case_02_without_a_class_list_classes_are_keyed_by_wnid(tmp_path: Path):
    found = read_layout(folder(tmp_path, "n02012849/a.png", "n01443537/b.png"))
    assert [found.class_id(label) for label in found.labels[:, 0]] == ["n01443537", "n02012849"]
    assert found.label_space == "2 classes"
    assert codes(found) == {"classes-are-wnids"}


def test_case_02_folders_that_the_class_list_does_not_know_are_named(tmp_path: Path):
    root = folder(tmp_path, "n01440764/a.png", "n99999999/a.png")
    refused = refusal(lambda: read_layout(root, Request(classes=class_list())), InputError)
    assert "n99999999" in str(refused)
    mixed = folder(tmp_path / "b", "n01440764/a.png", "7/a.png")
    assert "7" in str(refusal(lambda: read_layout(mixed, Request(classes=class_list())), InputError))


def test_case_11_hidden_folders_are_ignored_with_a_notice_and_empty_classes_kept(tmp_path: Path):
    root = folder(tmp_path, "cat/a.png", "cat/.hidden.png", ".ipynb_checkpoints/a.png", "dog/.ipynb_checkpoints/b.png")
    (root / "dog" / "notes.txt").write_text("x")
    (root / "README.md").write_text("x")
    found = read_layout(root)
    assert labelled(found) == {"cat/a.png": 0}
    assert [info.id for info in found.classes] == ["cat", "dog"]
    assert codes(found) == {"hidden-ignored", "empty-class", "not-images"}
    told = {notice.code: notice.message for notice in found.notices}
    assert ".ipynb_checkpoints" in told["hidden-ignored"]
    assert told["not-images"].startswith("2 files")


def test_case_11_an_empty_folder_with_the_largest_number_keeps_its_class(tmp_path: Path):
    root = folder(tmp_path, "0/a.png")
    (root / "3").mkdir()
    assert read_layout(root).n_classes == 4


def test_case_12_endings_in_capitals_are_images(tmp_path: Path):
    assert read_layout(folder(tmp_path, "cat/a.JPG", "cat/b.JPEG", "cat/c.Png")).n == 3


def test_case_16_names_that_are_not_ascii(tmp_path: Path):
    root = folder(tmp_path, "größe/ü a.png", "日本/画像.png")
    found = read_layout(root)
    assert found.ids.tolist() == ["größe/ü a.png", "日本/画像.png"]
    assert found.images[0] == numbered(0)


def test_case_16_a_name_in_another_composition_finds_its_class(tmp_path: Path):
    classes = ClassMap([ClassInfo("c1", unicodedata.normalize("NFC", "café"))], source="classes.csv")
    root = folder(tmp_path, f"{unicodedata.normalize('NFD', 'café')}/a.png")
    assert read_layout(root, Request(classes=classes)).labels.tolist() == [[0]]


def test_case_16_one_class_in_two_spellings_is_an_error(tmp_path: Path):
    for number, names in enumerate((("Cat", "cat"), ("7", "007"), ("café", unicodedata.normalize("NFD", "café")))):
        root = folder(tmp_path / str(number), *(f"{name}/a.png" for name in names))
        refusal(lambda root=root: read_layout(root), InputError)
    root = folder(tmp_path / "listed", "tench/a.png", "n01440764/b.png")
    refused = refusal(lambda: read_layout(root, Request(classes=class_list())), InputError)
    assert "tench" in str(refused)
    assert "n01440764" in str(refused)


def test_case_17_ids_stay_text(tmp_path: Path):
    assert read_layout(folder(tmp_path, "a/007.png", "a/NA.png")).ids.tolist() == ["a/007.png", "a/NA.png"]


def test_case_23_a_name_that_two_classes_have_is_refused(tmp_path: Path):
    root = folder(tmp_path, "crane/a.png")
    assert "crane" in str(refusal(lambda: read_layout(root, Request(classes=class_list())), InputError))
    assert labelled(read_layout(folder(tmp_path / "b", "tench/a.png"), Request(classes=class_list()))) == {"tench/a.png": 0}


def test_folders_inside_class_folders_are_refused(tmp_path: Path):
    root = folder(tmp_path, "val/cat/a.png", "train/cat/a.png")
    assert str(root / "train") in refusal(lambda: read_layout(root), InputError).fix
    deep = folder(tmp_path / "deep", "cat/a.png", "cat/more/b.png")
    assert "cat/more" in str(refusal(lambda: read_layout(deep), InputError))


def test_one_class_folder_is_told(tmp_path: Path):
    found = read_layout(folder(tmp_path, "images/a.png", "images/b.png"))
    assert codes(found) == {"one-class"}


def test_the_order_is_that_of_the_names_as_text(tmp_path: Path):
    found = read_layout(folder(tmp_path, "b/10.png", "b/9.png", "a/z.png", "B2/a.png"))
    assert found.ids.tolist() == ["B2/a.png", "a/z.png", "b/10.png", "b/9.png"]


def test_a_flat_folder_with_labels_by_file_name(tmp_path: Path):
    names = [f"ILSVRC2012_val_{i:08}.JPEG" for i in range(1, 5)]
    root = folder(tmp_path / "val", *names)
    table = write_csv(tmp_path / "truth.csv", "filename,label", [f"{name},{i}" for i, name in enumerate(reversed(names))])
    found = read_layout(root, Request(labels=table, classes=class_list()))
    assert labelled(found) == dict(zip(names, (3, 2, 1, 0), strict=True))
    stems = write_csv(tmp_path / "stems.csv", "id,label", [f"{Path(name).stem},{WNIDS[i]}" for i, name in enumerate(names)])
    by_stem = read_layout(root, Request(labels=stems, classes=class_list()))
    assert labelled(by_stem) == dict(zip(names, range(4), strict=True))
    assert "joined-by-file-name" in codes(by_stem)


def test_a_flat_folder_with_a_list_of_labels_in_order(tmp_path: Path):
    root = folder(tmp_path / "val", "a.png", "b.png", "c.png")
    lines = tmp_path / "val.txt"
    lines.write_text("2\n0\n1\n")
    for labels in (lines, [2, 0, 1], np.array([2, 0, 1])):
        found = read_layout(root, Request(labels=labels))
        assert labelled(found) == {"a.png": 2, "b.png": 0, "c.png": 1}
        assert codes(found) == {"labels-by-position"}
    lines.write_text("c.png 7\nb.png 8\na.png 9\n")
    assert labelled(read_layout(root, Request(labels=lines))) == {"a.png": 9, "b.png": 8, "c.png": 7}


def test_the_numbers_of_the_development_kit_are_refused(tmp_path: Path):
    root = folder(tmp_path / "val", "a.png")
    lines = tmp_path / "ILSVRC2012_validation_ground_truth.txt"
    lines.write_text("490\n")
    assert "development kit" in str(refusal(lambda: read_layout(root, Request(labels=lines)), InputError))


def test_labels_of_another_number_or_of_other_images_are_refused(tmp_path: Path):
    root = folder(tmp_path / "val", "a.png", "b.png")
    assert "3 labels, but 2 images" in str(refusal(lambda: read_layout(root, Request(labels=[1, 2, 3])), InputError))
    table = write_csv(tmp_path / "t.csv", "id,label", ["a.png,1", "x.png,2"])
    refused = str(refusal(lambda: read_layout(root, Request(labels=table)), InputError))
    assert "b.png" in refused
    assert "x.png" in refused


def test_labels_beside_a_flat_folder_are_found_and_told(tmp_path: Path):
    root = folder(tmp_path / "val", "a.png", "b.png")
    write_csv(tmp_path / "val_labels.csv", "id,label,country", ["b.png,1,NA", "a.png,0,FR"])
    found = read_layout(root)
    assert labelled(found) == {"a.png": 0, "b.png": 1}
    assert found.groups["country"].tolist() == ["FR", "NA"]
    assert "labels-found" in codes(found)


def test_images_without_labels_are_refused_with_the_way_out(tmp_path: Path):
    root = folder(tmp_path / "val", "a.png")
    assert "labels=" in str(refusal(lambda: read_layout(root), InputError))
    write_csv(root / "table.csv", "file_name,label", ["a.png,3"])
    assert "table.csv" in refusal(lambda: read_layout(root), InputError).fix
    assert read_layout(root / "table.csv").labels.tolist() == [[3]]
    write_csv(root / "labels.csv", "id,label", ["a.png,3"])
    assert {notice.code for notice in read_layout(root).notices} == {"not-images", "labels-found"}


def test_a_folder_with_the_metadata_of_hugging_face_is_read_by_it(tmp_path: Path):
    root = folder(tmp_path / "pets", "a.png", "b.png", "c.png")
    write_csv(root / "metadata.csv", "file_name,label,region", ["c.png,1,north", "a.png,0,south"])
    benchmark = read_layout(root)
    assert (benchmark.name, benchmark.labels.tolist()) == ("pets", [[1], [0]])
    assert benchmark.groups["region"].tolist() == ["north", "south"]
    assert codes(benchmark) >= {"labels-found", "images-without-row"}
    (told,) = [notice.message for notice in benchmark.notices if notice.code == "images-without-row"]
    assert told == "1 image without a row in metadata.csv left out: b.png."


def test_the_metadata_in_json_lines_is_read_as_hugging_face_reads_it(tmp_path: Path):
    root = folder(tmp_path / "pets", "b.png", "a.png", "far/c.png", "d.png")
    rows = [
        '{"file_name": "b.png", "label": 1, "id_card": "007", "seen": "2020-01-02", "boxes": [1, 2]}',
        '{"file_name": "./far/c.png", "label": 0, "id_card": "NA", "seen": "2021-03-04", "boxes": []}',
        '{"file_name": "a.png", "label": 2, "id_card": "", "seen": "2020-01-02", "boxes": null}',
    ]
    (root / "metadata.jsonl").write_text("\ufeff" + "\n".join(rows) + "\n\n", encoding="utf-8")
    found = read_layout(root)
    assert (found.name, found.labels[:, 0].tolist()) == ("pets", [1, 0, 2])
    assert {name: column.tolist() for name, column in found.groups.items()} == {
        "id_card": ["007", "NA", ""],
        "seen": ["2020-01-02", "2021-03-04", "2020-01-02"],
    }
    told = {notice.code: notice.message for notice in found.notices}
    assert told["images-without-row"] == "1 image without a row in metadata.jsonl left out: d.png."
    (root / "metadata.jsonl").write_text("\n".join(rows))  # theirs has no byte-order mark
    (root / "d.png").unlink()  # and takes no image without a row
    theirs = needs("datasets").load_dataset("imagefolder", data_dir=str(root), split="train", cache_dir=str(tmp_path / "cache"))
    pixels = {row["label"]: np.asarray(row["image"]).tobytes() for row in theirs}
    ours = [np.asarray(Image.open(io.BytesIO(found.images[at]))).tobytes() for at in range(found.n)]
    assert [pixels[label] for label in (1, 0, 2)] == ours


def test_metadata_with_labels_goes_before_the_names_of_folders(tmp_path: Path):
    root = folder(tmp_path / "pets", "images/a.png", "images/b.png")
    table = root / "metadata.jsonl"
    table.write_text('{"file_name": "images/a.png", "text": "a cat"}\n{"file_name": "images/b.png", "text": "a dog"}\n')
    assert codes(read_layout(root)) >= {"one-class", "not-images"}
    table.write_text('{"file_name": "images/a.png", "label": "cat"}\n{"file_name": "images/b.png", "label": "dog"}\n')
    found = read_layout(root)
    assert [found.class_id(label) for label in found.labels[:, 0]] == ["cat", "dog"]
    deep = folder(tmp_path / "deep", "images/2020/a.png")
    (deep / "metadata.jsonl").write_text('{"file_name": "images/2020/a.png", "label": 4}')
    assert read_layout(deep).labels.tolist() == [[4]]


def test_metadata_that_cannot_hold_is_refused(tmp_path: Path):
    root = folder(tmp_path / "pets", "train/a.png", "test/b.png")
    for split, name in (("train", "a"), ("test", "b")):
        (root / split / "metadata.jsonl").write_text(f'{{"file_name": "{name}.png", "label": 0}}')
    refused = refusal(lambda: read_layout(root), InputError)
    assert "splits" in refused.what
    assert str(root / "test") in refused.fix
    assert read_layout(root / "test").labels.tolist() == [[0]]
    write_csv(root / "test" / "metadata.csv", "file_name,label", ["b.png,1"])
    assert "metadata.csv, metadata.jsonl" in str(refusal(lambda: read_layout(root / "test"), InputError))
    (root / "test" / "metadata.csv").unlink()
    for bad in ('{"file_name": "b.png", "label": 0', '[{"file_name": "b.png"}]', "", '{"label": 0}', '{"a": 1, "a": 2}'):
        (root / "test" / "metadata.jsonl").write_text(bad)
        refusal(lambda: read_layout(root / "test"), InputError)
    (root / "test" / "metadata.jsonl").write_bytes(b'{"file_name": "b.png", "label": "\xff"}')
    refusal(lambda: read_layout(root / "test"), InputError)


def test_given_labels_go_before_folders(tmp_path: Path):
    root = folder(tmp_path / "set", "cat/a.png", "dog/b.png")
    table = write_csv(tmp_path / "real.csv", "id,labels", ['cat/a.png,"[1, 0]"', "dog/b.png,[2]"])
    found = read_layout(root, Request(labels=table))
    assert found.labels.tolist() == [[1, 0], [2, -1]]


def test_what_is_nothing_is_refused(tmp_path: Path):
    refusal(lambda: read_layout(tmp_path / "missing"), InputError)
    refusal(lambda: read_layout(tmp_path), InputError)
    refusal(lambda: read_layout("s3://bucket/folder"), InputError)
    refusal(lambda: read_layout(tmp_path, Request(layout="zip")), UsageError)


def test_the_real_sample_of_imagenet(shared_data: Path):
    root = shared_data / "imagenet-sample"
    classes = read_class_list(shared_data / "imagenetv2" / "classes.csv")
    assert detect(root) == "imagefolder"
    found = read_layout(root, Request(classes=classes, name="sample"))
    assert (found.n, found.n_classes, found.label_space, found.name) == (300, 1000, "imagenet-1k", "sample")
    wnids = [identity.split("/")[0] for identity in found.ids.tolist()]
    assert [found.class_id(label) for label in found.labels[:, 0]] == wnids
    assert found.images[0] == (root / found.ids[0]).read_bytes()
    again = pickle.loads(pickle.dumps(found.images))
    assert again[299] == found.images[299]
    assert again.fingerprint == found.images_fingerprint
    alone = read_layout(root)
    assert [alone.class_id(label) for label in alone.labels[:, 0]] == wnids
    assert alone.content_fingerprint == found.content_fingerprint


def test_case_03_a_class_list_of_other_labels_is_told_of_folders_and_tables(tmp_path: Path):
    imagenet = resolve_classes("imagenet-1k")
    root = folder(tmp_path / "cifar", *(f"{i}/{j}.png" for i in range(4) for j in range(2)))
    found = read_layout(root, Request(classes=imagenet))
    (told,) = [notice.message for notice in found.notices if notice.code == "class-list-longer"]
    assert "numbers 0 to 3" in told
    table = write_csv(tmp_path / "cifar.csv", "path,label", [f"cifar/{i}/{j}.png,{i}" for i in range(4) for j in range(2)])
    assert "class-list-longer" in codes(read_layout(table, Request(classes=imagenet)))
    assert "class-list-longer" not in codes(read_layout(root, Request(classes=numbered_list(4))))
    sparse = folder(tmp_path / "sparse", *(f"{i}/{j}.png" for i in (0, 1, 2, 999) for j in range(2)))
    assert "class-list-longer" not in codes(read_layout(sparse, Request(classes=imagenet)))
    wnids = folder(tmp_path / "wnids", *(f"{info.id}/{j}.png" for info in imagenet.classes[:4] for j in range(2)))
    assert "class-list-longer" not in codes(read_layout(wnids, Request(classes=imagenet)))


def numbered_list(n: int) -> ClassMap:
    return ClassMap([ClassInfo(f"w{i}", f"name {i}") for i in range(n)], source="classes.csv")
