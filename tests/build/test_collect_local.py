"""Candidates of folders, tables and Parquet files, with what users' files really hold."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from collect_servers import PAGE, picture
from PIL import Image

from resit.build.collect.class_rules import ClassRules
from resit.build.collect.found import Found, Lost, Query, Source
from resit.build.collect.local import BenchmarkSource
from resit.build.collect.record import Collected
from resit.build.collect.run import collect
from resit.build.collect.sources import open_source
from resit.build.collect.terms import class_terms
from resit.build.collect.widening import Search
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.class_lists import class_list
from resit.data.image_sources import ArrayImages
from resit.errors import InputError, UsageError

CLASSES = (ClassInfo("cat", "cat"), ClassInfo("dog", "dog"), ClassInfo("bird", "bird"))


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def gather(
    source: Source | str | Path, classes: Iterable[ClassInfo] = CLASSES, mapping: dict[str, str] | None = None, **how: Any
) -> tuple[Collected, list[dict[str, Any]]]:
    """Collect, and return the record and the rows that were saved."""
    one = open_source(str(source), ClassRules(tuple(classes), mapping)) if isinstance(source, str | Path) else source
    rows: list[dict[str, Any]] = []
    done = collect(one, class_terms(tuple(classes)), digest, lambda table: rows.extend(table.to_pylist()), **how)
    return done, rows


def codes(done: Collected) -> set[str]:
    return {notice.code for notice in done.notices}


def test_a_folder_of_class_folders(tmp_path: Path):
    put(tmp_path, "cat/a.png", picture(1))
    put(tmp_path, "cat/b.jpg", picture(2, "JPEG"))
    put(tmp_path, "dog/c.png", picture(3))
    done, rows = gather(f"folder:{tmp_path}")
    assert [(row["image"], row["class_id"]) for row in rows] == [
        (digest(picture(1)), "cat"),
        (digest(picture(2, "JPEG")), "cat"),
        (digest(picture(3)), "dog"),
    ]
    assert {row["role"] for row in rows} == {"candidate"}
    assert rows[1]["path"] == f"images/{rows[1]['image'][:2]}/{rows[1]['image']}.jpg"
    assert rows[2]["source"] == f"folder:{tmp_path.name}/dog/c.png"
    assert (done.found, done.new, done.known, len(done.failed)) == (3, 3, 0, 0)


def test_case_01_integer_folders_are_classes_by_value(tmp_path: Path):
    classes = tuple(ClassInfo(f"c{i}", f"class {i}") for i in range(11))
    for number in (10, 2, 0):
        put(tmp_path, f"{number}/a.png", picture(number))
    done, rows = gather(tmp_path, classes)
    assert {row["class_id"]: row["image"] for row in rows} == {f"c{n}": digest(picture(n)) for n in (10, 2, 0)}
    assert {"numbers-as-text", "labels-by-position"} <= codes(done)


def test_case_02_some_of_imagenets_folders_are_matched_by_wnid(tmp_path: Path):
    wanted = [class_list("imagenet-1k")[index].id for index in (7, 300, 999)]
    for number, wnid in enumerate(wanted):
        put(tmp_path, f"{wnid}/a.png", picture(number))
    _, rows = gather(tmp_path, class_list("imagenet-1k"))
    assert [row["class_id"] for row in rows] == wanted


def test_case_11_hidden_folders_are_ignored_and_an_empty_class_is_short(tmp_path: Path):
    put(tmp_path, "cat/a.png", picture(1))
    put(tmp_path, ".ipynb_checkpoints/b.png", picture(2))
    put(tmp_path, "cat/.ipynb_checkpoints/b.png", picture(2))
    (tmp_path / "dog").mkdir()
    done, rows = gather(tmp_path, CLASSES[:2], search=Search(wanted=1))
    assert [row["image"] for row in rows] == [digest(picture(1))]
    assert {"hidden-ignored", "empty-class"} <= codes(done)
    assert done.shortages.to_pylist() == [{"class_id": "dog", "candidates": 0, "wanted": 1, "stage": "all"}]


def test_case_12_the_type_is_told_by_content(tmp_path: Path):
    put(tmp_path, "cat/a.JPG", picture(1, "JPEG"))
    put(tmp_path, "cat/b.jpeg", picture(2, "PNG"))
    _, rows = gather(tmp_path, CLASSES)
    assert [Path(row["path"]).suffix for row in rows] == [".jpg", ".png"]


def test_case_13_what_cannot_be_read_is_a_row_with_its_path_and_stops_nothing(tmp_path: Path):
    put(tmp_path, "cat/a.png", picture(1, size=(50, 50))[:900])
    put(tmp_path, "cat/b.png", PAGE)
    put(tmp_path, "cat/c.png", b"")
    put(tmp_path, "dog/d.png", picture(4))
    os.mkfifo(tmp_path / "dog" / "e.png")
    (tmp_path / "dog" / "f.png").symlink_to(tmp_path / "gone.png")
    done, rows = gather(tmp_path)
    assert [row["image"] for row in rows] == [digest(picture(4))]
    assert {Path(row["url"]).name: row["class_id"] for row in done.failed.to_pylist()} == {
        "a.png": "cat",
        "b.png": "cat",
        "c.png": "cat",
        "e.png": "dog",
        "f.png": "dog",
    }
    assert all(row["reason"] and "\n" not in row["reason"] for row in done.failed.to_pylist())
    assert done.found == 6
    assert "a web page, not an image" in str(done)


def test_case_14_and_15_orientation_and_modes_are_left_to_decoding(tmp_path: Path):
    grey = Image.fromarray(np.arange(20, dtype=np.uint8).reshape(4, 5))
    kinds = {"palette.png": grey.convert("P"), "alpha.png": grey.convert("LA"), "cmyk.jpg": grey.convert("CMYK")}
    kinds["deep.png"] = Image.fromarray((np.arange(20, dtype=np.uint16) * 3000).reshape(4, 5))
    exif = Image.Exif()
    exif[0x0112] = 6
    stored = {}
    for name, image in kinds.items():
        file = io.BytesIO()
        image.save(file, "JPEG" if name.endswith("jpg") else "PNG", **({"exif": exif} if name == "cmyk.jpg" else {}))
        stored[name] = put(tmp_path, f"cat/{name}", file.getvalue()).read_bytes()
    done, rows = gather(tmp_path)
    assert len(done.failed) == 0
    assert {row["image"] for row in rows} == {digest(data) for data in stored.values()}  # bytes are kept as they are


def test_case_15_a_decompression_bomb_is_a_failed_row(tmp_path: Path):
    file = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(file, "PNG")
    put(tmp_path, "cat/bomb.png", file.getvalue())
    put(tmp_path, "cat/fine.png", picture(1))
    done, rows = gather(tmp_path)
    assert len(rows) == 1
    assert "decompression bomb" in done.failed["reason"][0].as_py()


def test_case_16_names_that_are_not_ascii(tmp_path: Path):
    classes = (ClassInfo("Ñandú", "Ñandú"), ClassInfo("猫", "猫"))
    put(tmp_path, "Ñandú/ä ö.png", picture(1))
    put(tmp_path, "猫/写真.png", picture(2))
    _, rows = gather(tmp_path, classes)
    assert {row["class_id"] for row in rows} == {"Ñandú", "猫"}
    assert any(row["source"].endswith("猫/写真.png") for row in rows)
    table = tmp_path / "liste.csv"
    table.write_text("path,label,Ort\n猫/写真.png,猫,München\n", encoding="utf-8")
    _, rows = gather(table, classes)
    assert json.loads(rows[0]["attributes"]) == {"Ort": "München"}


def test_case_17_ids_and_missing_words_stay_text(tmp_path: Path):
    classes = (ClassInfo("007", "bond"), ClassInfo("008", "bill"))
    put(tmp_path, "a.png", picture(1))
    put(tmp_path, "b.png", picture(2))
    (tmp_path / "list.csv").write_text("path,label,country,id\na.png,007,NA,0012\nb.png,008,,0013\n")
    _, rows = gather(tmp_path / "list.csv", classes)
    assert [row["class_id"] for row in rows] == ["007", "008"]
    assert json.loads(rows[0]["attributes"]) == {"country": "NA", "id": "0012"}


def test_case_18_a_missing_attribute_is_kept_as_missing(tmp_path: Path):
    put(tmp_path, "a.png", picture(1))
    table = pa.table({"path": ["a.png"], "label": ["cat"], "country": pa.array([None], pa.string())})
    pq.write_table(table, tmp_path / "list.parquet")
    _, rows = gather(tmp_path / "list.parquet")
    assert json.loads(rows[0]["attributes"]) == {"country": ""}


def test_case_20_rows_that_are_there_twice(tmp_path: Path):
    put(tmp_path, "a.png", picture(1))
    put(tmp_path, "copy.png", picture(1))
    (tmp_path / "list.csv").write_text("path,label\na.png,cat\na.png,cat\ncopy.png,cat\na.png,dog\n")
    done, rows = gather(tmp_path / "list.csv")
    assert [(row["image"], row["class_id"]) for row in rows] == [(digest(picture(1)), "cat"), (digest(picture(1)), "dog")]
    assert (done.found, done.new, done.repeated) == (4, 2, 2)


def test_case_24_labels_of_any_type_of_column(tmp_path: Path):
    put(tmp_path, "a.png", picture(1))
    put(tmp_path, "b.png", picture(2))
    columns = [
        pa.array(["cat", "bird"]).dictionary_encode(),
        pa.array(["cat", "bird"], pa.large_string()),
        pa.array([b"cat", b"bird"]),
        pa.array([0, 2], pa.int16()),
        pa.array([0.0, 2.0]),
    ]
    for column in columns:
        pq.write_table(pa.table({"path": ["a.png", "b.png"], "label": column}), tmp_path / "list.parquet")
        _, rows = gather(tmp_path / "list.parquet")
        assert [row["class_id"] for row in rows] == ["cat", "bird"], column.type


def test_a_tables_columns_become_licence_author_address_and_attributes(tmp_path: Path):
    put(tmp_path, "sub/a.png", picture(1))
    text = "path,class,License,creator,url,keyword\nsub/a.png,cat,CC BY 4.0,Ada,https://example.org/a,kitten\n"
    (tmp_path / "list.csv").write_text(text)
    _, rows = gather(f"csv:{tmp_path / 'list.csv'}")
    row = rows[0]
    assert (row["licence"], row["author"], row["url"]) == ("CC BY 4.0", "Ada", "https://example.org/a")
    assert json.loads(row["attributes"]) == {"keyword": "kitten"}
    assert row["source"] == "csv:list.csv/1"


def test_rows_without_a_path_or_label_are_reported_and_stop_nothing(tmp_path: Path):
    put(tmp_path, "a.png", picture(1))
    (tmp_path / "list.csv").write_text("path,label\n,cat\na.png,\na.png,dog\nhttps://example.org/x.png,dog\n")
    done, rows = gather(tmp_path / "list.csv")
    assert [row["class_id"] for row in rows] == ["dog"]
    assert [(row["class_id"], row["reason"]) for row in done.failed.to_pylist()] == [
        ("cat", "no value in 'path'"),
        ("", "no label"),
        ("dog", "an address of the web, and no downloader was given"),
    ]


def test_parquet_files_with_images_as_hugging_face_stores_them(tmp_path: Path):
    images = [{"bytes": picture(1), "path": "x/1.png"}, {"bytes": b"broken", "path": "x/2.png"}, None]
    features = {"info": {"features": {"label": {"names": ["dog", "cat"], "_type": "ClassLabel"}}}}
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    table = pa.table({"image": pa.array(images, kind), "label": [1, 0, 0], "place": ["Rome", "NA", ""]})
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps(features)}), tmp_path / "train.parquet")
    done, rows = gather(f"hf:{tmp_path / 'train.parquet'}")
    assert [(row["class_id"], row["image"]) for row in rows] == [("cat", digest(picture(1)))]
    assert json.loads(rows[0]["attributes"]) == {"place": "Rome"}
    assert [row["class_id"] for row in done.failed.to_pylist()] == ["dog", "dog"]
    assert "row 2" in done.failed["url"][1].as_py()


def test_cifars_fifth_part(shared_data: Path):
    path = shared_data / "cifar10" / "train-5-of-5.parquet"
    done, rows = gather(path, class_list("cifar-10"))
    stored = pq.read_table(path)
    labels = [class_list("cifar-10")[label].id for label in stored["label"].to_pylist()]
    expected = [(digest(image["bytes"]), label) for image, label in zip(stored["image"].to_pylist(), labels, strict=True)]
    assert [(row["image"], row["class_id"]) for row in rows] == expected
    assert (done.new, len(done.failed)) == (10_000, 0)


def test_an_image_with_several_labels_is_a_candidate_of_each(tmp_path: Path):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 3), dtype=np.uint8)
    labels = np.array([[0, 1], [1, -1], [2, 0]], np.int32)
    source = BenchmarkSource(Benchmark("mine", labels, classes=CLASSES, images=ArrayImages(pixels)), ClassRules(CLASSES), "npy")
    _, rows = gather(source)
    assert [row["class_id"] for row in rows] == ["cat", "dog", "dog", "bird", "cat"]
    assert len({row["image"] for row in rows}) == 3
    found = next(iter(source.found([Query("cat")])))
    assert isinstance(found, Found)
    assert found.data is not None
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(found.data))), pixels[0])


def test_only_the_classes_that_are_asked_for_are_found(tmp_path: Path):
    put(tmp_path, "cat/a.png", picture(1))
    put(tmp_path, "dog/b.png", picture(2))
    source = open_source(str(tmp_path), ClassRules(CLASSES))
    assert [item.class_id for item in source.found([Query("dog")]) if not isinstance(item, Lost)] == ["dog"]


def test_labels_that_mean_no_class_need_a_map(tmp_path: Path):
    put(tmp_path, "tabby/a.png", picture(1))
    put(tmp_path, "dog/b.png", picture(2))
    put(tmp_path, "stone/c.png", picture(3))
    with pytest.raises(InputError, match=r"none of the classes: 'stone', 'tabby'.*class map"):
        gather(tmp_path)
    done, rows = gather(tmp_path, mapping={"tabby": "cat"})
    assert {row["class_id"] for row in rows} == {"cat", "dog"}
    left = next(notice for notice in done.notices if notice.code == "labels-left-out")
    assert left.message == "The class map leaves out 'stone'; candidates with these labels: 1."
    _, rows = gather(tmp_path, mapping={"tabby": "cat", "dog": ""})
    assert {row["class_id"] for row in rows} == {"cat"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nowhere", "no such file or folder"),
        ("folder:", "without a path"),
        ("flickr:", "without a downloader"),
        ("s3:bucket", "no such file or folder"),
    ],
)
def test_sources_that_are_none(text: str, reason: str):
    with pytest.raises(UsageError, match=reason):
        open_source(text, ClassRules(CLASSES))
