"""The original test set as rows of a build, and the votes that there are on it already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extras import needs
from steps_made import digest, picture

needs("sqlalchemy")
from resit.build.steps.opened import silent  # noqa: E402
from resit.build.steps.originals import image_bytes, missing_votes, original_ids, original_rows, read_counts  # noqa: E402
from resit.data.benchmark import Benchmark, ClassInfo  # noqa: E402
from resit.errors import InputError  # noqa: E402
from resit.store.schemas import COUNTS, table  # noqa: E402


class Images:
    """Bytes in memory."""

    fingerprint = "made"

    def __init__(self, *data: bytes) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, row: int) -> bytes:
        return self._data[row]

    def where(self, row: int) -> str:
        return f"place {row}"


def made(*images: bytes, labels: list[list[int]], ids: list[str] | None = None, **more: Any) -> Benchmark:
    return Benchmark(
        name="old",
        labels=np.array(labels, np.int32),
        classes=tuple(ClassInfo(key, name) for key, name in (("a", "A"), ("b", "B"), ("c", "C"))),
        ids=None if ids is None else np.array(ids),
        images=Images(*images) if images else None,
        **more,
    )


ONE, TWO = picture("one"), picture("two")


def test_an_image_is_known_by_its_bytes_and_without_images_by_its_id():
    assert original_ids(made(ONE, TWO, labels=[[0], [1]], ids=["x", "y"]), silent) == [digest(ONE), digest(TWO)]
    alone = made(labels=[[0], [1]], ids=["007", "8"])
    assert original_ids(alone, silent) == ["007", "8"]
    assert original_rows(alone, ["007", "8"])["path"].to_pylist() == ["", ""]
    with pytest.raises(InputError, match=r"no images, only labels\. Give the folder or file that has them\."):
        image_bytes(alone, 0)
    with pytest.raises(InputError, match="neither images nor ids"):
        original_ids(made(labels=[[0]]), silent)


def test_a_row_for_each_accepted_label_and_the_same_bytes_once():
    benchmark = made(ONE, TWO, ONE, labels=[[0, 2], [1, -1], [0, -1]], groups={"year": np.array(["99", "00", "01"])})
    rows = original_rows(benchmark, original_ids(benchmark, silent)).to_pylist()
    assert [(row["image"], row["class_id"]) for row in rows] == [(digest(ONE), "a"), (digest(ONE), "c"), (digest(TWO), "b")]
    assert [json.loads(row["attributes"]) for row in rows] == [
        {"row": 0, "year": "99"}, {"row": 0, "year": "99"}, {"row": 1, "year": "00"}
    ]  # fmt: skip
    assert {(row["role"], row["source"]) for row in rows} == {("original", "old")}


def test_an_array_counts_the_votes_for_each_accepted_label_out_of_all(tmp_path: Path):
    benchmark = made(ONE, TWO, ONE, labels=[[0, 2], [1, -1], [0, -1]])
    np.save(tmp_path / "votes.npy", np.array([[7, 1, 2], [0, 5, 0], [9, 0, 1]]))
    found = read_counts(tmp_path / "votes.npy", benchmark, original_ids(benchmark, silent))
    rows = {(row["image"], row["class_id"]): (row["selected"], row["shown"]) for row in found.to_pylist()}
    # The votes on two rows with the same bytes are votes on one image.
    assert rows == {(digest(ONE), "a"): (16, 20), (digest(ONE), "c"): (2, 10), (digest(TWO), "b"): (5, 5)}


def test_a_table_counts_what_it_names(tmp_path: Path):
    benchmark = made(ONE, TWO, labels=[[0, 2], [1, -1]], ids=["007", "8"])
    ids = original_ids(benchmark, silent)
    path = tmp_path / "votes.csv"
    path.write_text("id,class_id,selected,shown\n007,c,1,4\n8,b,2,4\n")
    found = read_counts(path, benchmark, ids)
    assert {tuple(row.values()) for row in found.to_pylist()} == {(digest(ONE), "c", 1, 4), (digest(TWO), "b", 2, 4)}
    assert missing_votes(original_rows(benchmark, ids), found) == 1  # the first as an a
    path.write_text(f"Image,selected,shown\n{digest(TWO)},3,3\n")
    assert read_counts(path, benchmark, ids).to_pylist() == [{"image": digest(TWO), "class_id": "b", "selected": 3, "shown": 3}]
    path.write_text("id,selected,shown\n007,1,4\n")
    with pytest.raises(InputError) as caught:
        read_counts(path, benchmark, ids)
    assert str(caught.value) == f"{path}: an image with several labels, and no column class_id. Add the column."


def test_votes_for_a_class_that_the_image_is_not_of_are_refused(tmp_path: Path):
    benchmark = made(ONE, TWO, labels=[[0, 2], [1, -1]], ids=["007", "8"])
    path = tmp_path / "votes.csv"
    path.write_text("id,class_id,selected,shown\n007,c,1,4\n8,d,2,4\n")
    with pytest.raises(InputError) as caught:
        read_counts(path, benchmark, original_ids(benchmark, silent))
    assert str(caught.value) == f"{path}, row 2: class_id 'd' is no label of 8. Give the votes for its labels only."


def test_all_are_missing_where_there_are_no_votes():
    benchmark = made(ONE, TWO, labels=[[0, 2], [1, -1]])
    assert missing_votes(original_rows(benchmark, original_ids(benchmark, silent)), table(COUNTS)) == 3
