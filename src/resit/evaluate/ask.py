"""Asks models about stretches of a benchmark: decodes once, prepares once for each transform, and asks each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.images import Images
from resit.evaluate.answers import INVALID, Answers, Asker
from resit.evaluate.decoding import Fault, prepared
from resit.evaluate.settings import SHARD, Orientation
from resit.evaluate.shards import Shard
from resit.models.protocol import Transform


def stretches(n: int) -> list[range]:
    """The shards of n examples. They depend on n alone, so that every run and machine has the same."""
    return [range(start, min(start + SHARD, n)) for start in range(0, n, SHARD)]


def ask(
    askers: Sequence[Asker],
    benchmark: Benchmark,
    images: Images,
    wanted: Mapping[int, Sequence[int]],
    *,
    batch_size: int,
    orientation: Orientation,
    threads: int,
) -> Iterator[dict[int, Shard]]:
    """Ask models about shards of a benchmark.

    Parameters
    ----------
    askers : sequence of Asker
    benchmark : Benchmark
    images : Images
        Its images.
    wanted : mapping of int to sequence of int
        For each shard's number the places of the askers that are to answer it.
    batch_size : int
        How many images are prepared together.
    orientation : {'apply', 'ignore'}
        What to do with the orientation that EXIF tells.
    threads : int
        That decode.

    Yields
    ------
    dict of int to Shard
        A finished shard, by place of the asker.
    """
    transforms, input_of = _distinct([asker.model.transform for asker in askers])
    shards = stretches(benchmark.n)
    todo = [number for number in sorted(wanted) if wanted[number]]
    batches = (rows for number in todo for rows in _batches(shards[number], batch_size))
    with closing(prepared(images, batches, transforms, orientation=orientation, threads=threads)) as stream:
        for number in todo:
            rows = shards[number]
            sheets = {place: _Sheet(askers[place], len(rows)) for place in wanted[number]}
            faults: list[Fault] = []
            notes: list[str] = []
            for _ in _batches(rows, batch_size):
                batch = next(stream)
                faults += batch.faults
                notes += batch.notes
                at = np.array(batch.good, np.intp) - rows.start
                for place, sheet in sheets.items() if batch.good else ():
                    sheet.put(at, askers[place].answers(batch.inputs[input_of[place]]))
            yield {
                place: Shard(number, sheet.top, tuple(faults), tuple(notes), sheet.confidence)
                for place, sheet in sheets.items()
            }


class _Sheet:
    """The answers of one model to a shard, filled batch by batch."""

    def __init__(self, asker: Asker, size: int) -> None:
        self.top = np.full((size, asker.k), INVALID, np.int32)
        self.confidence = None if asker.kind is None else np.full(size, np.nan, np.float32)

    def put(self, at: npt.NDArray[np.intp], answers: Answers) -> None:
        self.top[at] = answers.top
        if self.confidence is not None:
            self.confidence[at] = answers.confidence


def _batches(rows: range, size: int) -> list[range]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _distinct(transforms: Sequence[Transform]) -> tuple[list[Transform], list[int]]:
    """The transforms that differ, and for each model which of them is its own."""
    place: dict[str, int] = {}
    distinct: list[Transform] = []
    for transform in transforms:
        if transform.fingerprint not in place:
            place[transform.fingerprint] = len(distinct)
            distinct.append(transform)
    return distinct, [place[transform.fingerprint] for transform in transforms]
