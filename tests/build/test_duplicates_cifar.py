"""Near-duplicates of CIFAR-10: what people found between its test and its training images, against how much they look at."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from resit import load_benchmark
from resit.build.duplicates.find import find_pairs
from resit.build.duplicates.pictures import Pictures, pictures_of_benchmark
from resit.build.duplicates.queue import review_queue
from resit.store.schemas import VERDICTS, table


def known(folder: Path) -> list[tuple[int, int]]:
    """Rows of test and train of the pairs that people judged the same or near."""
    with (folder / "known_duplicates.csv").open() as file:
        return [(int(row["TestID"]), int(row["TrainID"])) for row in csv.DictReader(file) if row["Judgment"] in "01"]


def chosen(whole: Pictures, rows: list[int]) -> Pictures:
    return Pictures(
        [whole.ids[row] for row in rows],
        lambda start, stop: [whole.read(row, row + 1)[0] for row in rows[start:stop]],
    )


def worked_through(folder: Path, rows: list[int] | None) -> tuple[int, list[int]]:
    """How many known pairs are on some list, and after how many pairs of the queue each is met."""
    test = pictures_of_benchmark(load_benchmark(folder / "test.parquet"))
    train = {
        f"train-{part}": pictures_of_benchmark(load_benchmark(folder / f"train-{part}-of-5.parquet")) for part in range(1, 6)
    }
    ids = [name for part in train.values() for name in part.ids]
    pairs = pa.concat_tables(find_pairs(test if rows is None else chosen(test, rows), train))
    wanted = {frozenset((test.ids[one], ids[two])) for one, two in known(folder)}
    assert len(wanted) == 249
    found = wanted & {frozenset(pair) for pair in zip(*(pairs[name].to_pylist() for name in ("image", "other")), strict=True)}
    queue = review_queue(pairs, table(VERDICTS), {})
    in_turn = zip(*(queue[name].to_pylist() for name in ("image", "other")), strict=True)
    return len(found), [place for place, pair in enumerate(in_turn, 1) if frozenset(pair) in wanted]


def test_known_near_duplicates_come_early_among_a_fifth_of_the_test_images(shared_data):
    """The test images of the 249 pairs and others drawn at random, 2,000 together."""
    folder = shared_data / "cifar10"
    rows = {one for one, _ in known(folder)}
    others = np.setdiff1d(np.arange(10_000), sorted(rows))
    rows |= set(np.random.default_rng(0).choice(others, 2000 - len(rows), replace=False).tolist())
    found, turns = worked_through(folder, sorted(rows))
    assert found >= 247
    assert turns[199] <= 500
    assert turns[224] <= 800


@pytest.mark.slow
def test_known_near_duplicates_come_early_among_all_test_images(shared_data):
    found, turns = worked_through(shared_data / "cifar10", None)
    assert found >= 247
    assert turns[199] <= 800
    assert turns[224] <= 1400
