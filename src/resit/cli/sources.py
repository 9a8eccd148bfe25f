"""Paths and the options that belong to single paths, read into what the library compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resit.cli.options import pairs, sizes
from resit.errors import UsageError

if TYPE_CHECKING:
    from resit.data.accuracies import Accuracies
    from resit.data.predictions import Predictions


@dataclass(frozen=True)
class PathOptions:
    """What the user said about the paths: options as they were written, None where absent."""

    names: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    classes: str | None = None
    n: str | None = None
    unit: str | None = None
    columns: Sequence[str] | None = None

    def given(self) -> list[str]:
        """Name the options that are there."""
        values = {"--name": self.names, "--labels": self.labels, "--classes": self.classes, "--n": self.n}
        return [option for option, value in {**values, "--unit": self.unit, "--column": self.columns}.items() if value]


def in_order(values: Sequence[str] | None, option: str, paths: Sequence[Path]) -> list[str | None]:
    """Give each path its value, or None where the option is absent.

    Raises
    ------
    UsageError
        If there are more or fewer values than paths.
    """
    if not values:
        return [None] * len(paths)
    if len(values) != len(paths):
        raise UsageError(f"given {len(values)} times for {len(paths)} paths", where=option, fix="Give it once for each path.")
    return list(values)


def labels_of(values: Sequence[str] | None, paths: Sequence[Path], names: Sequence[str | None]) -> list[str | None]:
    """Find the labels of each path: in the order of the paths, or told by ``SET=PATH``.

    Raises
    ------
    UsageError
        If both forms are mixed, a set is not among the paths, or the count does not fit.
    """
    from resit.data.paths import default_name, split_set

    split = [split_set(path) for path in paths]
    defaults = [test_set or default_name(file) for file, test_set in split]
    known = [{name, default, path.name, path.stem} for name, default, path in zip(names, defaults, paths, strict=True)]
    named = {value: value.partition("=")[0].strip() for value in values or () if "=" in value and not Path(value).exists()}
    if not named:
        return in_order(values, "--labels", paths)
    if len(named) != len(set(values or ())):
        raise UsageError("some values say SET=PATH and some do not", where="--labels", fix="Use one form for all.")
    found: list[str | None] = [None] * len(paths)
    for key, value in pairs(named, "--labels", "SET=PATH").items():
        places = [place for place, names_of in enumerate(known) if key in names_of]
        if len(places) != 1:
            sets = ", ".join(name or default for name, default in zip(names, defaults, strict=True))
            problem = "is the name of several test sets" if places else "is not the name of a test set"
            raise UsageError(f"{key!r} {problem}", where="--labels", fix=f"The test sets are {sets}.")
        found[places[0]] = value
    return found


def load_all(paths: Sequence[Path], options: PathOptions, progress: Callable[[str], None]) -> list[Predictions | Accuracies]:
    """Read every path with the options that are its own.

    Parameters
    ----------
    paths : sequence of Path
        What to read.
    options : PathOptions
        What the user said about the paths.
    progress : callable
        Told what is being read.

    Returns
    -------
    list of Predictions or Accuracies
    """
    from resit.data import load

    names = in_order(options.names, "--name", paths)
    labels = labels_of(options.labels, paths, names)
    counts = sizes(options.n, len(paths))
    columns = pairs(options.columns, "--column", "ROLE=COLUMN") or None
    found = []
    for path, name, label, n in zip(paths, names, labels, counts, strict=True):
        progress(f"Reading {path}")
        found.append(load(path, labels=label, classes=options.classes, n=n, name=name, columns=columns, unit=options.unit))
    return found
