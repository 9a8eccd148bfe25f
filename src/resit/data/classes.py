"""Which class an id or a name means: by the class list, never by rank in a folder or file."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import ClassInfo
from resit.data.columns import plain
from resit.data.entries import Entries
from resit.data.label_spaces import IMAGENET_1K
from resit.data.numbers import parse_numbers
from resit.data.paths import short_list
from resit.data.tables import Table, read_table
from resit.errors import InputError, Notice

# A list that goes further has numbers that are no class indices.
MOST_CLASSES = 1_000_000
BY_CHANCE = 0.01
IMAGENET_1K_IDS = "791ce0333040dd24"
INDEX_NAMES = ("label", "index", "class_index", "target", "class_id")
ID_NAMES = ("wnid", "synset", "id", "class", "key")
NAME_NAMES = ("name", "class_name", "names", "description", "words", "text")


@dataclass
class ClassMap:
    """Maps what was written to class indices.

    Parameters
    ----------
    classes : list of ClassInfo
        In the order of the indices; empty where an index is its own id.
    source : str
        Class list that it comes from; empty where there is none.
    by_name : bool
        Whether the classes were only met as names, so that new names may still join and numbers mean nothing.
    unlisted : tuple of int
        Indices that a class list has no row for; they are called by their number.
    """

    classes: list[ClassInfo] = field(default_factory=list)
    source: str = ""
    by_name: bool = False
    unlisted: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        names = Counter(info.name for info in self.classes)
        self._index = {info.name: i for i, info in enumerate(self.classes) if names[info.name] == 1}
        self._index |= {info.id: i for i, info in enumerate(self.classes)}
        self._ambiguous = {name for name, count in names.items() if count > 1} - self._index.keys()

    def doubts(self, labels: Entries) -> list[Notice]:
        """What may be meant otherwise in a class list, where labels are read by it."""
        told = []
        if self.unlisted:
            first = " Classes are numbered from 0: does the list begin with 1?" if 0 in self.unlisted else ""
            message = f"There is no row for class {short_list(self.unlisted)}, which is called by its number.{first}"
            told.append(Notice("class-list-gaps", self.source, message))
        odd = [i for i, info in enumerate(self.classes) if info.id.isdecimal() and int(info.id) != i]
        if labels.kind != "ids":
            return told
        if any(int(self.classes[i].id) < len(self.classes) for i in odd):
            message = (
                f"Ids of the class list are numbers too, such as {self.classes[odd[0]].id} for class {odd[0]}. Labels that are "
                "numbers are taken for places in the list, from 0, and not for ids: check that they are."
            )
            told.append(Notice("numbers-or-ids", self.source, message))
        return told + self.unused(labels.values)

    def unused(self, labels: npt.NDArray[Any]) -> list[Notice]:
        """The doubt that numbers are of a shorter list: they use each class up to one, and none of the many beyond it.

        Nothing is said where labels drawn evenly from the whole list would miss the rest by chance in 1 % of all cases or more.
        """
        given = labels[labels >= 0]
        used, listed = np.unique(given), len(self.classes)
        last = len(used) - 1
        if not 1 <= last < listed - 1 or used[-1] != last or (len(used) / listed) ** len(given) >= BY_CHANCE:
            return []
        first = self.classes[0]
        name = first.id if first.id == first.name else f"{first.id} ({first.name})"
        message = (
            f"Labels are the numbers 0 to {last}, each of them, while {listed:,} classes are listed, so that 0 means {name} "
            f"and no label is beyond {last}. Is it the class list of these labels? By another one right answers count as wrong."
        )
        if listed == len(used) + 1:
            message += " With one class too many, a background class may stand first, and all labels be one off."
        return [Notice("class-list-longer", self.source, message)]

    def indices(self, entries: Entries, where: object) -> npt.NDArray[np.int64]:
        """Class index of each entry, -1 for none. Shape (n, k).

        Raises
        ------
        InputError
            If an entry is outside of the class list, or cannot be told to be one of its classes.
        """
        return self._of_names(entries.values, where) if entries.kind == "names" else self._of_ids(entries.values, where)

    def _of_ids(self, ids: npt.NDArray[Any], where: object) -> npt.NDArray[np.int64]:
        if self.by_name:
            raise InputError(
                "class ids, while the labels are class names",
                where=where,
                fix="Give the class list that says which id is which class: --classes FILE (CSV of label and wnid or name).",
            )
        low, high = (int(ids.min()), int(ids.max())) if ids.size else (0, 0)
        if low < -1:
            raise InputError(f"negative class id {low}", where=where, fix="Class ids start at 0; -1 is no answer.")
        if self.classes and high >= len(self.classes):
            raise InputError(
                f"class id {high} is outside of the {len(self.classes)} classes of {self.source}",
                where=where,
                fix="Ids start at 0. Is there a background class, or is it another class list?",
            )
        if high > np.iinfo(np.int32).max:
            raise InputError(f"class id {high} is too large", where=where, fix="Class ids need to be below 2147483648.")
        return ids

    def _of_names(self, names: npt.NDArray[np.str_], where: object) -> npt.NDArray[np.int64]:
        if not self.classes:
            raise InputError(
                f"class names such as {_first_name(names)!r}, while the labels are class ids",
                where=where,
                fix="Give the class list that says which name is which id: --classes FILE (CSV of label and wnid or name).",
            )
        distinct, inverse = np.unique(names, return_inverse=True)
        written = [name for name in distinct.tolist() if name]
        twice = [name for name in written if name in self._ambiguous]
        if twice:
            raise InputError(
                f"more than one class is called {', '.join(map(repr, twice))}",
                where=where,
                fix="Write the classes' ids instead.",
            )
        unknown = [name for name in written if name not in self._index]
        if unknown and not self.by_name:
            raise InputError(
                f"classes that are not in the class list: {short_list(map(repr, unknown))}",
                where=where,
                fix=f"See {self.source}.",
            )
        for name in unknown:
            self._index[name] = len(self.classes)
            self.classes.append(ClassInfo(name, name))
        codes = np.array([self._index[name] if name else -1 for name in distinct.tolist()], np.int64)
        return codes[inverse].reshape(names.shape)

    def label_space(self, n_scored: int, n_seen: int) -> str:
        """Name of the set of classes: ``imagenet-1k`` where it is that one, else how many are listed, scored, or seen.

        Parameters
        ----------
        n_scored : int
            Number of classes that models gave scores for; 0 where they answered with ids.
        n_seen : int
            One more than the largest id among labels and answers.
        """
        ids = sorted(info.id for info in self.classes)
        if len(ids) == 1000 and hashlib.sha256(" ".join(ids).encode()).hexdigest()[:16] == IMAGENET_1K_IDS:
            return IMAGENET_1K
        if ids and not self.by_name:
            return f"{len(ids)} listed classes"
        return f"{n_scored} scored classes" if n_scored else f"{max(len(ids), n_seen)} classes"


def _first_name(names: npt.NDArray[np.str_]) -> str:
    return next((name for name in names.ravel().tolist() if name), "")


def by_labels(labels: Entries, where: object) -> tuple[ClassMap, list[Notice]]:
    """The class map where no class list is known: numbers by value, names in the order of the text."""
    if labels.kind == "names":
        names = sorted({name for name in labels.values.ravel().tolist() if name})
        return ClassMap([ClassInfo(name, name) for name in names], by_name=True), []
    numbers = [value for value in np.unique(labels.values).tolist() if value >= 0]
    distinct = [str(value) for value in numbers]
    notices = []
    if labels.was_text and distinct != sorted(distinct):
        message = (
            f"Classes are whole numbers stored as text ({short_list(distinct, 3)}); they are taken by value. A tool that sorts "
            f"folder names would number them {short_list(sorted(distinct), 3)}: check that the answers were not."
        )
        notices.append(Notice("numbers-as-text", str(where), message))
    if len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1)):
        message = (
            f"Labels are numbered from 1 to {len(numbers)}; they are taken by value, so that class 0 has no example. Class "
            "indices start at 0: check that the labels do not."
        )
        notices.append(Notice("numbers-from-1", str(where), message))
    return ClassMap(), notices


def read_class_list(path: Path) -> ClassMap:
    """Read a class list: columns label (index), wnid or id, and name; without label, rows are in order.

    Raises
    ------
    InputError
        If the file has none of these columns, or an index or id twice.
    """
    table = read_table(path)
    known = {plain(column): column for column in table.columns}
    index_column, id_column, name_column = (
        next((known[name] for name in names if name in known), None) for names in (INDEX_NAMES, ID_NAMES, NAME_NAMES)
    )
    if id_column is None and name_column is None:
        raise InputError(
            f"no column of ids or names among {', '.join(table.columns)}", where=path, fix="A class list has label, wnid, name."
        )
    ids = table.texts(id_column or name_column or "").tolist()
    names = table.texts(name_column).tolist() if name_column else ids
    if len(set(ids)) != len(ids):
        twice = [item for item, count in Counter(ids).items() if count > 1]
        raise InputError(
            f"classes there twice: {short_list(twice)}", where=path, fix="Each class needs an id of its own (wnid)."
        )
    index = _indices(table, index_column, path) if index_column else list(range(len(ids)))
    found = {i: ClassInfo(key, name) for i, key, name in zip(index, ids, names, strict=True)}
    if max(found) >= MOST_CLASSES:
        raise InputError(
            f"class {max(found):,} of {len(ids):,}", where=path, fix=f"Number the classes from 0; {MOST_CLASSES:,} are read."
        )
    unlisted = tuple(i for i in range(max(found) + 1) if i not in found)
    if taken := {str(i) for i in unlisted} & set(ids):
        raise InputError(
            f"numbers without a class that are ids of other classes: {short_list(sorted(taken))}",
            where=path,
            fix="List every class from 0 on, or number them without gaps.",
        )
    listed = [found.get(i, ClassInfo(str(i), str(i))) for i in range(max(found) + 1)]
    return ClassMap(listed, source=str(path), unlisted=unlisted)


def _indices(table: Table, column: str, path: Path) -> list[int]:
    numbers = parse_numbers(table.texts(column))
    if (
        numbers is None
        or not np.all(numbers.values >= 0)
        or np.any(numbers.values % 1)
        or len(set(numbers.values)) < len(table)
    ):
        raise InputError(
            f"column {column!r} does not number the classes", where=path, fix="Write 0, 1, 2, … with each number once at most."
        )
    return [int(value) for value in numbers.values]
