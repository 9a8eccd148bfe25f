"""The file of a benchmark's features: filled in stretch by stretch, and under its own name only once it is whole."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from resit.data.guard import reading
from resit.errors import InputError, OutputError
from resit.evaluate.decoding import Fault

Values = npt.NDArray[np.float32]


class FeatureStore:
    """Features of shape (n, d) in ``NAME.npy``, with ``NAME.json`` beside it.

    Until all stretches are done the values are in ``NAME.part``. The list beside it names the stretches whose values are on the
    disk; it is replaced whole after each.

    Parameters
    ----------
    folder : Path
    name : str
        Tells these features from all others.
    shape : (int, int)
        Number of examples and of features.
    """

    def __init__(self, folder: Path, name: str, shape: tuple[int, int]) -> None:
        self.folder, self.shape = folder, shape
        self.path, self._part, self._list = (folder / f"{name}{ending}" for ending in (".npy", ".part", ".json"))
        self._lock = folder / f"{name}.lock"
        self._empty()

    def _empty(self) -> None:
        self.done: set[int] = set()
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.invalid: list[int] = []

    @property
    def complete(self) -> bool:
        """Whether the file is there; it is renamed into place only when it is whole."""
        return self.path.exists()

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """What is there already is known, and no other process fills in the same file meanwhile.

        Raises
        ------
        OutputError
            If another process does, or the folder cannot be written.
        InputError
            If what is there is damaged.
        """
        with self._storing():
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = self._lock.open("w")
        with lock:
            _take(lock, self._lock)
            with self._storing():
                self._read()
            yield

    def commit(
        self, number: int, rows: range, values: Values, faults: Sequence[Fault], notes: Sequence[str], invalid: Sequence[int]
    ) -> None:
        """Store one stretch: its values first, then that they are there.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        with self._storing():
            if not self._part.exists():
                np.lib.format.open_memmap(self._part, mode="w+", dtype=np.float32, shape=self.shape)
            start = np.lib.format.open_memmap(self._part, mode="r").offset
            with self._part.open("r+b") as file:  # written and not mapped, so that a full disk is an error and no crash
                file.seek(start + rows.start * self.shape[1] * values.itemsize)
                file.write(np.ascontiguousarray(values, np.float32).tobytes())
                file.flush()
                os.fsync(file.fileno())
            self.done.add(number)
            self.faults += faults
            self.notes += notes
            self.invalid += invalid
            self._write_list()

    def finish(self) -> None:
        """All stretches are there: the file gets its own name.

        Raises
        ------
        OutputError
            If it cannot be renamed.
        """
        with self._storing():
            self._part.replace(self.path)

    def values(self) -> Values:
        """The features, memory-mapped and read-only.

        Raises
        ------
        InputError
            If the file has another shape or type.
        """
        with reading(self.path):
            values: Values = np.load(self.path, mmap_mode="r", allow_pickle=False)
        if values.shape != self.shape or values.dtype != np.float32:
            raise self._damaged(f"features of shape {values.shape} and type {values.dtype}")
        return values

    def _read(self) -> None:
        self._empty()
        if not self.complete and not self._part.exists():
            self._list.unlink(missing_ok=True)
            return
        if not self._list.exists():
            if self.complete:
                raise self._damaged(f"the list {self._list.name} that belongs to it is gone")
            self._part.unlink()
            return
        try:
            stored = json.loads(self._list.read_text(encoding="utf-8"))
            self.done = set(stored["done"])
            self.faults = [Fault(*fault) for fault in stored["faults"]]
            self.notes, self.invalid = stored["notes"], stored["invalid"]
            shape = tuple(stored["shape"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(f"the list {self._list.name} that belongs to it cannot be read") from error
        if shape != self.shape:
            raise self._damaged(f"the list {self._list.name} that belongs to it has shape {shape}, not {self.shape}")
        if not self.complete:
            self._check_part()

    def _check_part(self) -> None:
        try:
            shape = np.load(self._part, mmap_mode="r", allow_pickle=False).shape
        except (ValueError, EOFError) as error:
            raise self._damaged("what was computed so far cannot be read", self._part) from error
        if shape != self.shape:
            raise self._damaged(f"what was computed so far has shape {shape}, not {self.shape}", self._part)

    def _damaged(self, what: str, path: Path | None = None) -> InputError:
        return InputError(what, where=path or self.path, fix="Remove the file: its features are then computed again.")

    def _write_list(self) -> None:
        told = {
            "shape": list(self.shape),
            "done": sorted(self.done),
            "faults": [[fault.row, fault.where, fault.reason] for fault in self.faults],
            "notes": self.notes,
            "invalid": self.invalid,
        }
        half = self._list.with_suffix(".half")
        with half.open("w", encoding="utf-8") as file:
            json.dump(told, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        half.replace(self._list)

    @contextlib.contextmanager
    def _storing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"the features cannot be stored: {error.strerror or error}",
                where=self.folder,
                fix="Check its permissions and the free space, then run the same command again: what was computed is kept.",
            ) from error


def _take(file: IO[str], path: Path) -> None:
    """Hold a lock until the file is closed, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OutputError("another process computes the same features", where=path, fix="Wait for it.") from error
