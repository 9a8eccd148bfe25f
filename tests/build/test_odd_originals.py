"""Originals and votes on them that are easily mixed up: same bytes, huge numbers, columns named as ours, answers on others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from extras import needs
from steps_made import begin, digest, photos, picture, votes, write_images

needs("sqlalchemy", "alembic", "httpx", "psycopg")
from resit.build.steps.dedupe import find_duplicates  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.init import init_build, new_config  # noqa: E402
from resit.build.steps.label import import_votes  # noqa: E402
from resit.build.steps.opened import open_build  # noqa: E402
from resit.build.steps.pool import read_pool  # noqa: E402
from resit.build.steps.sample import correct_share, draw_revision  # noqa: E402
from resit.data.benchmark import Benchmark, ClassInfo  # noqa: E402
from resit.data.load_benchmark import load_benchmark  # noqa: E402
from resit.data.models import ModelId  # noqa: E402
from resit.data.predictions import Predictions  # noqa: E402
from resit.errors import InputError, UsageError  # noqa: E402
from resit.store import open_store  # noqa: E402


def begun(root: Path, source: Path, counts: Path | None = None):
    given = {"source": str(source), "counts": None if counts is None else str(counts)}
    return init_build(root / "new", new_config(name="odd", per_class=1, original=given))


def test_votes_on_two_files_with_the_same_bytes_are_added(tmp_path: Path):
    source = write_images(tmp_path / "o", {"cat/1": picture("a"), "cat/2": picture("a"), "dog/1": picture("b")})
    counts = tmp_path / "counts.csv"
    counts.write_text("id,selected,shown\ncat/1.png,5,10\ncat/2.png,7,20\ndog/1.png,1,10\n")
    begun(tmp_path, source, counts)
    with open_build(tmp_path / "new") as build:
        found = {row["image"]: (row["selected"], row["shown"]) for row in build.store.counts().to_pylist()}
    assert found == {digest(picture("a")): (12, 30), digest(picture("b")): (1, 10)}


def test_one_file_with_votes_twice_is_refused(tmp_path: Path):
    source = write_images(tmp_path / "o", {"cat/1": picture("a"), "dog/1": picture("b")})
    counts = tmp_path / "counts.csv"
    counts.write_text("id,selected,shown\ncat/1.png,5,10\ncat/1.png,7,20\n")
    with pytest.raises(InputError, match="an image is there twice for one class"):
        begun(tmp_path, source, counts)


@pytest.mark.parametrize("number", ["2147483648", "99999999999999999999"])
def test_numbers_that_no_vote_count_can_be_are_refused(tmp_path: Path, number: str):
    source = write_images(tmp_path / "o", {"cat/1": picture("a"), "dog/1": picture("b")})
    counts = tmp_path / "counts.csv"
    counts.write_text(f"id,selected,shown\ndog/1.png,1,10\ncat/1.png,1,{number}\n")
    with pytest.raises(InputError, match=rf"counts\.csv, row 2: shown {number} is more than 2,147,483,647"):
        begun(tmp_path, source, counts)
    array = tmp_path / "counts.npy"
    np.save(array, np.array([[2**31, 0], [0, 1]]))
    with pytest.raises(InputError, match=r"counts\.npy: a count of 2147483648"):
        begun(tmp_path, source, array)


def test_a_column_called_row_does_not_take_the_place_of_the_place(tmp_path: Path):
    data = [picture(str(number)) for number in range(4)]
    source = tmp_path / "test.parquet"
    pq.write_table(pa.table({"image": data, "label": [0, 1, 0, 1], "row": ["3", "2", "1", "0"], "when": list("abcd")}), source)
    done = begun(tmp_path, source)
    assert [notice.code for notice in done.notices if notice.code == "column-row"] == ["column-row"]
    with open_build(tmp_path / "new") as build:
        found = {row["image"]: json.loads(row["attributes"]) for row in build.store.images("original").to_pylist()}
    assert found == {digest(one): {"row": place, "when": "abcd"[place]} for place, one in enumerate(data)}


def test_predictions_in_another_order_are_refused(tmp_path: Path):
    begin(tmp_path)
    benchmark = load_benchmark(tmp_path / "original")
    mixed = benchmark.labels.copy()
    mixed[[0, -1]] = mixed[[-1, 0]]

    def given(labels: np.ndarray, classes: tuple[ClassInfo, ...] | None) -> Predictions:
        one = Benchmark(name="given", labels=labels, classes=classes)
        return Predictions(one, (ModelId("m"),), np.zeros((1, benchmark.n, 1), np.int32))

    with open_build(tmp_path / "new") as build:
        pool = read_pool(build)
        for good in (given(benchmark.labels, benchmark.classes), given(benchmark.labels, None)):
            assert len(correct_share(pool, good)) == 48
        for bad in (given(benchmark.labels[::-1], benchmark.classes), given(mixed, benchmark.classes), given(mixed, None)):
            with pytest.raises(InputError, match="given: predictions with other labels than the original's"):
                correct_share(pool, bad)


def test_an_attribute_that_no_original_has_is_nothing_to_match(tmp_path: Path):
    begin(tmp_path, sampling={"strategy": "keyword", "attribute": "yaer"})
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
        find_duplicates(build)
        import_votes(build, votes(build, tmp_path))
        with pytest.raises(UsageError, match="no original has the attribute 'yaer'"):
            draw_revision(build)
        assert build.store.revisions() == []


@pytest.mark.parametrize("key", ["per_class", "votes.people", "duplicates.neighbours", "sampling.minimum_votes"])
def test_numbers_beyond_all_measure_are_refused(key: str):
    section, _, name = key.rpartition(".")
    values = {name: 10**20} if not section else {section: {name: 10**20}}
    with pytest.raises(UsageError, match=rf"{key}: Input should be less than or equal to 1000000000"):
        new_config(**{"name": "odd", "per_class": 1, "original": {"source": "here"}, **values})


def test_a_password_with_an_at_sign_is_not_shown_in_part():
    with pytest.raises(UsageError, match="more than one @") as refused:
        open_store("postgresql+psycopg://me:s3c@ret@host/x")
    assert "ret" not in str(refused.value).replace("postgresql", "")
