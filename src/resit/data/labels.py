"""The accepted labels of a test set: found beside the answers, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data import entries
from resit.data.addresses import HOUSEHOLD, URL_NAMES, households
from resit.data.arrays import open_npy
from resit.data.columns import find_column, plain
from resit.data.entries import Entries
from resit.data.guard import reading
from resit.data.paths import short_list, split_set, whole_path
from resit.data.read_json import read_json
from resit.data.tables import TABLE_SUFFIXES, Table, read_table
from resit.errors import InputError

MANIFEST = "resit.benchmark"
LABEL_SUFFIXES = (".npy", ".json", *TABLE_SUFFIXES)


@dataclass(frozen=True)
class LabelSheet:
    """Accepted labels as they were written.

    Parameters
    ----------
    entries : Entries
        Accepted classes of each example.
    ids : ndarray of str, shape (n,), optional
        Identities of the examples.
    groups : mapping of str to ndarray of str, shape (n,)
        All other columns.
    source : str
        The file, or how they were given.
    manifest : mapping of str to object
        What our own store says about the benchmark; empty for other files.
    """

    entries: Entries
    ids: npt.NDArray[np.str_] | None = None
    groups: Mapping[str, npt.NDArray[np.str_]] = field(default_factory=dict)
    source: str = "labels"
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.entries.values)

    def take(self, rows: npt.NDArray[np.intp]) -> LabelSheet:
        """The labels of some of the examples."""
        return LabelSheet(
            Entries(self.entries.values[rows], self.entries.was_text),
            None if self.ids is None else self.ids[rows],
            {name: column[rows] for name, column in self.groups.items()},
            self.source,
            self.manifest,
        )


def no_labels(path: Path) -> InputError:
    """Error for answers without labels, with the ways to give them."""
    fix = "Give labels=… (on the command line --labels), or put NAME_labels.npy or NAME.csv beside the folder NAME."
    return InputError("no labels found beside the answers", where=path, fix=fix)


def find_labels(path: Path) -> Path | None:
    """Find the labels of a folder or file NAME: ``NAME_labels.*``, ``NAME-labels.*``, ``NAME.csv``, or ``labels.*`` inside.

    Raises
    ------
    InputError
        If there is more than one, so that it is not clear which holds.
    """
    with reading(path):
        return _only(path, _label_candidates(whole_path(path)))


def _label_candidates(path: Path) -> list[Path]:
    inside, name = (path, path.name) if path.is_dir() else (path.parent, path.stem)
    beside = path.parent
    stems = [beside / f"{name}_labels", beside / f"{name}-labels", inside / "labels"]
    candidates = [stem.with_name(stem.name + suffix) for stem in stems for suffix in LABEL_SUFFIXES]
    if path.is_dir():
        candidates += [beside / f"{name}{suffix}" for suffix in TABLE_SUFFIXES]
    return [candidate for candidate in candidates if candidate != path and candidate.is_file()]


def _only(path: Path, found: list[Path]) -> Path | None:
    if len(found) > 1:
        raise InputError(
            f"more than one file of labels: {short_list(found)}", where=path, fix="Say which one holds: labels=… (--labels)."
        )
    return found[0] if found else None


def find_classes(path: Path) -> Path | None:
    """The class list in or beside a folder or file of answers: ``classes.csv`` or ``NAME_classes.csv``."""
    with reading(path):
        path = whole_path(path)
        name = path.name if path.is_dir() else path.stem
        beside = path.parent
        candidates = (path / "classes.csv", *(beside / f"{start}classes.csv" for start in (f"{name}_", f"{name}-", "")))
        return next((candidate for candidate in candidates if candidate.is_file()), None)


def read_labels(source: object) -> LabelSheet:
    """Read labels from a file, an array, or a list of labels or of lists of accepted labels. ``FILE::COLUMN`` names one.

    Raises
    ------
    InputError
        If they cannot be read, or are neither whole numbers nor text.
    """
    if isinstance(source, (str, Path)):
        return _read_file(*split_set(source))
    if isinstance(source, np.ndarray) and source.dtype != object:
        return LabelSheet(entries.from_array(source, "labels"))
    if isinstance(source, (Sequence, np.ndarray)):
        return LabelSheet(entries.from_list(list(source), "labels"))
    raise InputError(f"labels of type {type(source).__name__}", where="labels", fix="Give a path, an array or a list.")


def _read_file(path: Path, column: str | None = None) -> LabelSheet:
    suffix = path.suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return labels_of_table(read_table(path), label=column)
    if column is not None:
        raise InputError(
            f"a column {column!r} of a {suffix or 'nameless'} file",
            where=path,
            fix="Only tables have columns: leave out ::COLUMN.",
        )
    if suffix not in LABEL_SUFFIXES:
        raise InputError(f"labels in a {suffix or 'nameless'} file", where=path, fix=f"Use one of {', '.join(LABEL_SUFFIXES)}.")
    if suffix == ".npy":
        return LabelSheet(entries.from_array(open_npy(path), path), source=str(path))
    return LabelSheet(*read_json(path), source=str(path))


def labels_of_table(table: Table, *, groups: bool = True, label: str | None = None) -> LabelSheet:
    """Labels, ids and, if wanted, all other columns of a table with one row an example.

    Parameters
    ----------
    table : Table
    groups : bool
        Whether the other columns are wanted. Addresses of Dollar Street also give a column ``household``.
    label : str, optional
        The column of labels. Default: the one that is known as such.

    Raises
    ------
    InputError
        If no column is known as the label, or there is none of that name.
    """
    id_column = find_column(table.columns, "id")
    addresses = None if not groups else next((column for column in table.columns if plain(column) in URL_NAMES), None)
    if id_column is None and addresses is not None and len(table.distinct(addresses)[0]) == len(table):
        id_column = addresses
    label_column = label if label is not None else find_column(table.columns, "label")
    others = [column for column in table.columns if column != id_column]
    if label_column is None and len(others) == 1:
        label_column = others[0]
    if label_column is None:
        raise InputError(
            f"no column of labels among {', '.join(table.columns)}", where=table.source, fix="Call it label (and the ids id)."
        )
    columns = [column for column in others if groups and column != label_column and _is_flat(table, column)]
    found = {column.removeprefix("group:"): table.texts(column) for column in columns}
    homes = None if addresses is None or HOUSEHOLD in found else households(table.texts(addresses))
    return LabelSheet(
        entries.from_columns(table, [label_column]),
        None if id_column is None else table.texts(id_column),
        found if homes is None else {**found, HOUSEHOLD: homes},
        table.source,
        table.document(MANIFEST),
    )


def embedded_labels(table: Table) -> LabelSheet | None:
    """Labels that stand in the table of answers itself."""
    if find_column(table.columns, "label") is None:
        return None
    return labels_of_table(table, groups=False)


def _is_flat(table: Table, column: str) -> bool:
    return not str(table.column(column).type).startswith(("list", "large_list", "fixed_size_list", "struct", "map"))
