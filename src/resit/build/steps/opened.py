"""A build that is open: its folder, its store, and what is known of the test set that it is built after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.build.config import BuildConfig
from resit.build.folder import BuildFolder
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.load_benchmark import load_benchmark
from resit.errors import InputError
from resit.store import Store
from resit.store.opening import CACHE

if TYPE_CHECKING:
    from resit.store.records import Note

INIT = "init"
Tell = Callable[[str], None]


def silent(step: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Build:
    """An open build; :func:`open_build` makes one.

    Parameters
    ----------
    folder : BuildFolder
    store : Store
    """

    folder: BuildFolder
    store: Store

    @property
    def config(self) -> BuildConfig:
        """What people decided, in build.yaml."""
        return self.folder.config

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.folder.path

    @cached_property
    def original(self) -> dict[str, Any]:
        """What was noted of the original test set: name, version, label_space, n and classes.

        Raises
        ------
        InputError
            If the originals were never read to the end.
        """
        note = self.last(INIT)
        if note is None:
            fix = "Run `resit build init` again with the same options: it goes on where it stopped."
            raise InputError("the originals are not read yet", where=self.path, fix=fix)
        return note.record

    @cached_property
    def classes(self) -> tuple[ClassInfo, ...]:
        """All classes, in the order of the original test set."""
        return tuple(ClassInfo(key, name) for key, name in self.original["classes"])

    @property
    def class_names(self) -> dict[str, str]:
        """Name of each class by id."""
        return {info.id: info.name for info in self.classes}

    def last(self, step: str) -> Note | None:
        """The last note of a step, or None."""
        return next((note for note in reversed(self.store.notes()) if note.step == step), None)

    def load_original(self) -> Benchmark:
        """The original test set, read from where the configuration says.

        Raises
        ------
        InputError
            If it is not the one that the build was begun with.
        """
        benchmark = load_original(self.config)
        if benchmark.content_fingerprint != self.original["fingerprint"]:
            fix = "Give back the files that the build was begun with, or begin another build."
            raise InputError("the original test set has changed", where=self.config.original.source, fix=fix)
        return benchmark


def load_original(config: BuildConfig) -> Benchmark:
    """The test set that a configuration names as the original."""
    return load_benchmark(config.original.source, classes=config.original.classes)


@contextmanager
def open_build(path: str | Path, *, cache: int = CACHE) -> Iterator[Build]:
    """Open a build, in a ``with``.

    Parameters
    ----------
    path : str or Path
        Its folder.
    cache : int, optional
        KiB of a SQLite file that each connection keeps in memory.

    Raises
    ------
    InputError
        If there is none, or its configuration or database cannot be read.
    """
    folder = BuildFolder.open(path)
    with folder.store(cache) as store:
        yield Build(folder, store)
