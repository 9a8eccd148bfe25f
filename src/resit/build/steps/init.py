"""Begin a build: its folder and configuration, and the original test set with the votes that it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.build.clock import now
from resit.build.config import SCHEMA_NAME, BuildConfig
from resit.build.folder import CONFIG_NAME, DATABASE_NAME, FOLDERS, BuildFolder
from resit.build.keys import among
from resit.build.steps.opened import INIT, Build, Tell, load_original, silent
from resit.build.steps.originals import ROW, missing_votes, original_ids, original_rows, read_counts
from resit.build.steps.salt import make_salt
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.card import NAME
from resit.data.load_benchmark import GLOB, SCHEME, find
from resit.errors import InputError, Notice, OutputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

# What an interrupted beginning leaves behind, beside half-written files.
BEGUN = {*FOLDERS, SCHEMA_NAME, DATABASE_NAME, *(f"{DATABASE_NAME}-{end}" for end in ("wal", "shm", "journal"))}
HALF = re.compile(rf"\.({re.escape(SCHEMA_NAME)}|{re.escape(CONFIG_NAME)})\.[0-9a-f]+\.part")


@dataclass(frozen=True)
class Begun:
    """What a build begins with.

    Parameters
    ----------
    folder : BuildFolder
    images : int
        Originals, those with the same bytes once.
    classes : int
    without_votes : int
        Originals that nobody voted on yet.
    again : bool
        Whether the same build was there already.
    notices : tuple of Notice
    """

    folder: BuildFolder
    images: int
    classes: int
    without_votes: int
    again: bool
    notices: tuple[Notice, ...] = ()

    def __str__(self) -> str:
        head = (
            f"{self.folder.path}: {self.images:,} originals of {self.classes:,} classes, "
            f"{self.without_votes:,} of them without votes"
        )
        lines = [head + (" (was there already)" if self.again else ""), *map(str, self.notices)]
        return "\n".join([*lines, f"Next: read {CONFIG_NAME} in it, then collect candidates."])


def new_config(**values: Any) -> BuildConfig:
    """A configuration of some values by key, the others as they are by default; sections are mappings.

    Raises
    ------
    UsageError
        If a value does not fit.
    """
    from pydantic import ValidationError

    try:
        return BuildConfig.model_validate(values)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(map(str, fault["loc"]))
        what = fault["msg"].removeprefix("Value error, ")
        raise UsageError(f"{key}: {what}", where="configuration", fix="Correct it.") from None


def init_build(path: str | Path, config: BuildConfig, *, tell: Tell = silent) -> Begun:
    """Begin a build; interrupted, the same call again goes on, and repeated it changes nothing.

    Parameters
    ----------
    path : path
        Its folder, new or empty.
    config : BuildConfig
        Paths in it that lead to files here are kept from the root, so that the build can be run from anywhere.
    tell : callable, optional
        Told what is being done.

    Raises
    ------
    InputError
        If the original or its counts cannot be read; nothing is made then. If the build was begun with another original.
    UsageError
        If the new test set cannot be called so.
    OutputError
        If another build is in the folder or in the database, or it cannot be written.
    """
    if not NAME.fullmatch(config.name):
        fix = "Use letters, digits, hyphens, dots and underscores: --name."
        raise UsageError(f"a name that cannot be a test set's: {config.name!r}", where="name", fix=fix)
    config = _from_root(config)
    for place in config.references:
        find(place)
    benchmark = load_original(config)
    if not benchmark.n:
        raise InputError("a test set without examples", where=config.original.source, fix="Name another.")
    ids = original_ids(benchmark, tell)
    rows = original_rows(benchmark, ids)
    counts = read_counts(config.original.counts, benchmark, ids) if config.original.counts else None
    folder = _made(Path(path), config)
    with folder.store() as store:
        before = Build(folder, store).last(INIT)
        if before is not None:
            _refuse_other(rows, store.images("original"), config)
        tell("Storing originals")
        store.add_images(rows)
        if counts is not None:
            store.add_counts(counts)
        make_salt(folder)
        if before is None:
            store.note(INIT, _facts(benchmark), now())
        without = missing_votes(rows, store.counts())
    notices = (*benchmark.notices, *_hidden_groups(benchmark))
    return Begun(folder, len(rows), benchmark.n_classes, without, before is not None, notices)


def _hidden_groups(benchmark: Benchmark) -> list[Notice]:
    if ROW not in benchmark.groups:
        return []
    message = f"The column {ROW} is not kept among the attributes of images: there it is their place in the test set."
    return [Notice("column-row", benchmark.name, message)]


def _made(path: Path, config: BuildConfig) -> BuildFolder:
    if not (path / CONFIG_NAME).exists():
        if path.is_dir() and not all(_is_left_behind(entry.name) for entry in path.iterdir()):
            raise OutputError("a folder with something else in it", where=path, fix="Name a new folder.")
        _refuse_taken(path, config.database)
        return BuildFolder.create(path, config)
    there = BuildFolder.open(path)
    if there.config != config:
        raise OutputError("another build already", where=path, fix=f"Edit its {CONFIG_NAME}, or name another folder.")
    return there


def _is_left_behind(name: str) -> bool:
    return name in BEGUN or HALF.fullmatch(name) is not None


def _refuse_taken(path: Path, database: str | None) -> None:
    """Refuse a database that holds a build already: two of them would be mixed."""
    from resit.store import open_store

    if database is None or not ("://" in database or (path / database).exists()):
        return
    with open_store(database if "://" in database else path / database, create=True) as store:
        if any(note.step == INIT for note in store.notes()):
            fix = "Name another database, or go on in the folder of that build."
            raise OutputError("another build is in the database already", where=store.where, fix=fix)


def _refuse_other(rows: pa.Table, stored: pa.Table, config: BuildConfig) -> None:
    """Refuse originals that are not those that the build was begun with."""
    if not (len(rows) == len(stored) and among(rows, stored).all()):
        fix = "Give back the files that the build was begun with, or begin another build."
        raise InputError("the original test set has changed", where=config.original.source, fix=fix)


def _facts(benchmark: Benchmark) -> dict[str, Any]:
    classes = benchmark.classes or tuple(ClassInfo(str(index), str(index)) for index in range(benchmark.n_classes))
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "label_space": benchmark.label_space,
        "n": benchmark.n,
        "fingerprint": benchmark.content_fingerprint,
        "classes": [[info.id, info.name] for info in classes],
    }


def _from_root(config: BuildConfig) -> BuildConfig:
    original = config.original
    files = {name: from_root(value) for name in ("source", "classes", "counts") if (value := getattr(original, name))}
    references = tuple(map(from_root, config.references))
    return config.model_copy(update={"original": original.model_copy(update=files), "references": references})


def from_root(place: str) -> str:
    """A path or glob of files here as one from the root; names, addresses and NAME=PATH stay as they are."""
    name, equals, path = place.partition("=")
    if equals and not Path(place).exists():
        return f"{name}={from_root(path)}"
    if SCHEME.match(place) or not (Path(place).exists() or GLOB.search(place)):
        return place
    return str(Path(place).absolute())
