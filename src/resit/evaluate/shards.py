"""Finished shards of a run that is not complete: each appears whole or not at all, so that an interrupted run goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from resit.data.confidence import Confidence
from resit.data.filenames import file_name
from resit.data.guard import UNREADABLE
from resit.data.models import ModelId
from resit.errors import OutputError
from resit.evaluate.answers import Top
from resit.evaluate.decoding import Fault

FOLDER = ".resit-run"


@dataclass(frozen=True)
class Shard:
    """What one model answered on a stretch of a benchmark.

    Parameters
    ----------
    number : int
        Its place among the shards.
    answers : ndarray of int32, shape (rows, k)
        −1 where there is no valid answer.
    faults : tuple of Fault
        Images that could not be read.
    notes : tuple of str
        What was odd about others.
    confidence : ndarray of float32, shape (rows,), optional
        Of the first answers; NaN where there is none. None: not told by the model.
    """

    number: int
    answers: Top
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    confidence: Confidence | None = None


class ShardStore:
    """The shards of one model on one benchmark, made in one way.

    Parameters
    ----------
    folder : Path
        Of the benchmark's answers.
    model : ModelId
    made : str
        Digest of how the answers are made. Shards that were made otherwise are not seen.
    """

    def __init__(self, folder: Path, model: ModelId, made: str) -> None:
        self._all = folder / FOLDER / file_name(model, "")
        self.folder = self._all / made

    def finished(
        self, sizes: Sequence[int], k: int, is_readable: Callable[[int], bool], *, is_confident: bool = False
    ) -> set[int]:
        """Numbers of the shards that are complete: none of the images that could not be read can be read by now.

        Parameters
        ----------
        sizes : sequence of int
            Number of examples in each shard.
        k : int
            Number of answers to each.
        is_readable : callable
            Whether an image, by its row, can be read.
        is_confident : bool
            Whether the model tells confidence; shards without it are not complete then.
        """
        return {
            number
            for number, size in enumerate(sizes)
            if (shard := self._load(number))
            and shard.answers.shape == (size, k)
            and (shard.confidence is not None) == is_confident
            and not any(is_readable(fault.row) for fault in shard.faults)
        }

    def commit(self, shard: Shard) -> None:
        """Store a shard: complete and on the disk, or not at all.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        path = self._path(shard.number)
        half = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with half.open("wb") as file:
                known = {} if shard.confidence is None else {"confidence": shard.confidence}
                np.savez(
                    file,
                    allow_pickle=False,
                    answers=shard.answers,
                    rows=np.array([fault.row for fault in shard.faults], np.int64),
                    texts=np.array([(fault.where, fault.reason) for fault in shard.faults], str).reshape(-1, 2),
                    notes=np.array(shard.notes, str),
                    **known,
                )
                file.flush()
                os.fsync(file.fileno())
            half.replace(path)
        except OSError as error:
            with suppress(OSError):
                half.unlink(missing_ok=True)
            raise OutputError(
                f"cannot be written: {error.strerror or error}",
                where=path,
                fix="Check its permissions and the free space, then run the same command again: finished shards are kept.",
            ) from error

    def load(self, count: int) -> list[Shard]:
        """All shards, in their order.

        Raises
        ------
        OutputError
            If one is gone or damaged.
        """
        shards = [self._load(number) for number in range(count)]
        lost = [number for number, shard in enumerate(shards) if shard is None]
        if lost:
            raise OutputError(
                f"{len(lost)} of {count} finished shards cannot be read any more",
                where=self.folder,
                fix="Run the same command again: only they are asked again.",
            )
        return [shard for shard in shards if shard is not None]

    def remove(self) -> None:
        """Forget the shards of this model, once its answers are stored whole."""
        shutil.rmtree(self._all, ignore_errors=True)
        with suppress(OSError):  # shards of other models are still there
            self._all.parent.rmdir()

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.npz"

    def _load(self, number: int) -> Shard | None:
        try:
            with self._path(number).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                faults = zip(stored["rows"].tolist(), stored["texts"].tolist(), strict=True)
                return Shard(
                    number,
                    stored["answers"],
                    tuple(Fault(row, where, reason) for row, (where, reason) in faults),
                    tuple(stored["notes"].tolist()),
                    stored.get("confidence"),
                )
        except (OSError, *UNREADABLE):
            return None
