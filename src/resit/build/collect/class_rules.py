"""Which class of the build a label of a source means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resit.data.benchmark import ClassInfo
from resit.data.columns import plain
from resit.data.paths import short_list
from resit.data.tables import read_table
from resit.errors import InputError, Notice

NONE = ""


@dataclass(frozen=True)
class ClassRules:
    """Maps the labels of a source to the classes of the build.

    Parameters
    ----------
    classes : sequence of ClassInfo
        Of the build.
    mapping : mapping of str to str, optional
        Class id for some of the source's labels (their ids or names); ``""`` leaves a label out. Default: labels are ids, or
        names that only one class has.
    source : str
        Where the mapping comes from, for messages.

    Raises
    ------
    InputError
        If the mapping names an id of no class.
    """

    classes: tuple[ClassInfo, ...]
    mapping: Mapping[str, str] | None = None
    source: str = "class map"

    def __post_init__(self) -> None:
        known = {info.id for info in self.classes}
        unknown = sorted(set((self.mapping or {}).values()) - known - {NONE})
        if unknown:
            raise InputError(
                f"ids of no class: {short_list(map(repr, unknown))}",
                where=self.source,
                fix="Write ids as in the class list, or nothing to leave a label out.",
            )

    def match(self, labels: Sequence[ClassInfo], where: str) -> tuple[list[str], list[Notice]]:
        """Class id of each of a source's labels, ``""`` for those that are left out.

        Parameters
        ----------
        labels : sequence of ClassInfo
            Distinct labels that candidates have, by id and name.
        where : str
            The source, for messages.

        Returns
        -------
        list of str
        list of Notice

        Raises
        ------
        InputError
            If a label means no class, or two, and no mapping says which.

        Notes
        -----
        Whole numbers that are neither ids nor names are taken by value, as positions in the list of classes, if all labels are
        such numbers: never by their rank among the labels.
        """
        names = Counter(info.name for info in self.classes)
        exact = {info.name: info.id for info in self.classes if names[info.name] == 1}
        exact |= {info.id: info.id for info in self.classes}
        found = [self._one(label, exact) for label in labels]
        if self.mapping is None and labels and not any(found) and all(label.id.isdecimal() for label in labels):
            return self._by_value(labels, where)
        unknown = [label for label, key in zip(labels, found, strict=True) if key is None]
        if unknown and self.mapping is None:
            twice = [label.name for label in unknown if names[label.name] > 1]
            what = f"labels that more than one class is called by: {short_list(map(repr, twice))}" if twice else ""
            raise InputError(
                what or f"labels that are none of the classes: {short_list(repr(label.id) for label in unknown)}",
                where=where,
                fix="Say which class each means with a class map: a table with the columns label and class_id.",
            )
        return [key or NONE for key in found], []

    def _one(self, label: ClassInfo, exact: Mapping[str, str]) -> str | None:
        mapping = self.mapping or {}
        for text in (label.id, label.name, str(int(label.id)) if label.id.isdecimal() else label.id):
            if text in mapping:
                return mapping[text]
        return exact.get(label.id, exact.get(label.name))

    def _by_value(self, labels: Sequence[ClassInfo], where: str) -> tuple[list[str], list[Notice]]:
        numbers = [int(label.id) for label in labels]
        if max(numbers) >= len(self.classes):
            raise InputError(
                f"label {max(numbers)}, while there are {len(self.classes)} classes",
                where=where,
                fix="Give a class map: a table with the columns label and class_id.",
            )
        ids = [self.classes[number].id for number in numbers]
        message = f"Labels are whole numbers; they were taken as positions in the class list: {numbers[0]} is {ids[0]!r}."
        return ids, [Notice("labels-by-position", where, message)]


def read_class_map(path: str | Path) -> dict[str, str]:
    """Read a class map: a table with the columns ``label`` and ``class_id``.

    Raises
    ------
    InputError
        If a column is missing, or one label stands for two classes.
    """
    table = read_table(Path(path))
    named = {plain(column): column for column in table.columns}
    if not {"label", "class_id"} <= named.keys():
        shown = ", ".join(table.columns)
        raise InputError(f"no columns label and class_id among {shown}", where=path, fix="A class map has these two columns.")
    found: dict[str, str] = {}
    for label, key in zip(table.texts(named["label"]).tolist(), table.texts(named["class_id"]).tolist(), strict=True):
        if found.setdefault(label, key) != key:
            raise InputError(f"label {label!r} for {found[label]!r} and {key!r}", where=path, fix="Write each label once.")
    return found
