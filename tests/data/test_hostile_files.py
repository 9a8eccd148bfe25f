"""Files that would give a plausible wrong number, hang, or fill the memory."""

from __future__ import annotations

import gzip
import os
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from image_files import numbered, write_image
from test_layout_archives import samples

from resit.data.classes import read_class_list
from resit.data.image_sources.tar import Member, read_member
from resit.data.load_benchmark import load_benchmark
from resit.data.unpack import unpack
from resit.data.verify import verify
from resit.errors import InputError


def offsets(path: Path) -> list[int]:
    with tarfile.open(path) as archive:
        return [item.offset for item in archive]


def with_a_damaged_header(raw: bytes, at: int) -> bytes:
    return raw[: at + 148] + b"9" * 8 + raw[at + 156 :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda raw, at: raw[:at], "no end of the archive after 8 members"),
        (lambda raw, at: raw[: at + 100], "no end of the archive after 8 members"),
        (with_a_damaged_header, "a damaged header after 8 members"),
        (lambda raw, _: raw + raw, "more behind the end of the archive, after 20 members"),
    ],
)
def test_a_tar_file_that_loses_samples_without_a_word_is_refused(tmp_path: Path, damage, message: str):
    path = samples(tmp_path / "a.tar", range(10))
    assert load_benchmark(path).n == 10
    path.write_bytes(damage(path.read_bytes(), offsets(path)[8]))
    with pytest.raises(InputError, match=message):
        load_benchmark(path)


@pytest.mark.parametrize("packed", [False, True])
def test_an_archive_that_ends_early_is_not_unpacked(tmp_path: Path, packed: bool):
    path = samples(tmp_path / "a.tar", range(10))
    raw = path.read_bytes()[: offsets(path)[8]]
    path.write_bytes(gzip.compress(raw) if packed else raw)
    with pytest.raises(InputError, match="no end of the archive after 8 members"):
        unpack(path, "tar", tmp_path / "set", tmp_path)
    assert not (tmp_path / "set").exists()


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    for number, name in enumerate(("cat", "dog")):
        write_image(tmp_path / "pets" / name / "1.png", number)
    return tmp_path / "pets"


def test_case_13_a_pipe_or_a_device_in_the_place_of_an_image_is_an_error_row(pets: Path):
    os.mkfifo(pets / "cat" / "2.png")
    (pets / "dog" / "2.png").symlink_to("/dev/zero")
    (pets / "dog" / "3.png").symlink_to("nowhere.png")
    found = verify(pets)
    assert found.n == 5
    assert [Path(bad.where).relative_to(pets).as_posix() for bad in found.unreadable] == ["cat/2.png", "dog/2.png", "dog/3.png"]
    assert [bad.reason for bad in found.unreadable].count("not a regular file") == 2


def test_case_37_a_file_larger_than_any_image_is_not_read_into_memory(pets: Path, tmp_path: Path):
    huge = pets / "dog" / "2.png"
    with huge.open("wb") as file:
        file.truncate(2**40)
    (bad,) = verify(pets).unreadable
    assert (Path(bad.where).name, bad.reason) == ("2.png", "1024.0 GiB, too large for an image: at most 1 GiB are read")
    with pytest.raises(OSError, match="too large for an image"):
        read_member(huge, Member("2.png", 0, 0, 2**40))


def test_case_02_a_class_list_that_begins_with_1_is_told(pets: Path, tmp_path: Path):
    (tmp_path / "classes.csv").write_text("label,name\n1,cat\n2,dog\n")
    found = load_benchmark(pets, classes=tmp_path / "classes.csv")
    assert found.labels.ravel().tolist() == [1, 2]
    (notice,) = [notice for notice in found.notices if notice.code == "class-list-gaps"]
    assert "does the list begin with 1?" in notice.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,name\n0,cat\n3000000000,dog\n", "class 3,000,000,000 of 2"),
        ("label,id\n0,1\n2,3\n5,4\n", "numbers without a class that are ids of other classes: 1, 3, 4"),
    ],
)
def test_a_class_list_whose_numbers_cannot_be_classes_is_refused(tmp_path: Path, text: str, message: str):
    (tmp_path / "classes.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_class_list(tmp_path / "classes.csv")


def test_case_01_folders_that_may_be_ids_or_places_in_the_list_are_refused(tmp_path: Path):
    (tmp_path / "classes.csv").write_text("label,id\n" + "".join(f"{i},{i + 1}\n" for i in range(3)))
    for name in ("1", "2", "3"):
        write_image(tmp_path / "by-id" / name / "1.png")
        write_image(tmp_path / "by-place" / str(int(name) - 1) / "1.png")
    found = load_benchmark(tmp_path / "by-id", classes=tmp_path / "classes.csv")
    assert [found.class_id(int(label)) for label in found.labels[:, 0]] == ["1", "2", "3"]
    with pytest.raises(InputError, match="1, 2 are ids of the class list, and 0 is none"):
        load_benchmark(tmp_path / "by-place", classes=tmp_path / "classes.csv")


def test_case_01_labels_that_may_be_ids_or_places_in_the_list_are_told(tmp_path: Path):
    (tmp_path / "devkit.csv").write_text("label,id\n0,2\n1,1\n2,7\n")
    (tmp_path / "far.csv").write_text("label,id\n0,900\n1,800\n2,700\n")
    for number in range(3):
        write_image(tmp_path / f"{number}.png", number)
    (tmp_path / "list.csv").write_text("path,label\n0.png,0\n1.png,1\n2.png,2\n")
    found = load_benchmark(tmp_path / "list.csv", classes=tmp_path / "devkit.csv")
    assert found.labels.ravel().tolist() == [0, 1, 2]
    assert "numbers-or-ids" in {notice.code for notice in found.notices}
    far = load_benchmark(tmp_path / "list.csv", classes=tmp_path / "far.csv")
    assert "numbers-or-ids" not in {notice.code for notice in far.notices}


def test_case_18_nan_in_a_column_of_numbers_is_missing_and_no_group(tmp_path: Path):
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(numbered(number))
    columns = {"path": ["0.png", "1.png", "2.png"], "label": [0, 1, 0], "income": [1.5, float("nan"), None]}
    pq.write_table(pa.table(columns), tmp_path / "list.parquet")
    assert load_benchmark(tmp_path / "list.parquet").groups["income"].tolist() == ["1.5", "", ""]


def test_case_01_labels_numbered_from_1_are_told(tmp_path: Path):
    for number in range(3):
        write_image(tmp_path / f"{number}.png", number)
    for name, labels, told in (("from-1", (2, 1, 3), True), ("from-0", (1, 0, 2), False), ("some", (1, 4, 2), False)):
        rows = "".join(f"{number}.png,{label}\n" for number, label in enumerate(labels))
        (tmp_path / f"{name}.csv").write_text(f"path,label\n{rows}")
        found = load_benchmark(tmp_path / f"{name}.csv")
        assert found.labels.ravel().tolist() == list(labels)
        assert ("numbers-from-1" in {notice.code for notice in found.notices}) == told


def test_a_parquet_file_without_rows_is_refused(tmp_path: Path):
    image = pa.array([], pa.struct({"bytes": pa.binary(), "path": pa.string()}))
    pq.write_table(pa.table({"image": image, "label": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no rows in it"):
        load_benchmark(tmp_path / "a.parquet")
