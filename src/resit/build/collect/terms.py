"""What each class is searched by: synonyms, parents, compounds and other terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from resit.data.benchmark import ClassInfo
from resit.data.columns import plain
from resit.data.paths import short_list
from resit.data.tables import read_table
from resit.errors import InputError

KINDS = ("synonym", "parent", "compound", "other")
COLUMNS = ("class_id", "kind", "term")


@dataclass(frozen=True, slots=True)
class ClassTerms:
    """Terms of one class.

    Parameters
    ----------
    class_id : str
    synonyms : tuple of str
        Names of the class itself.
    parents : tuple of str
        What it is a kind of; searched together with a synonym.
    compounds, others : tuple of str
        Whole queries for the last stages.
    """

    class_id: str
    synonyms: tuple[str, ...]
    parents: tuple[str, ...] = ()
    compounds: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def class_terms(classes: Sequence[ClassInfo], path: str | Path | None = None) -> tuple[ClassTerms, ...]:
    """The terms of all classes.

    Parameters
    ----------
    classes : sequence of ClassInfo
    path : path, optional
        A table with the columns ``class_id``, ``kind`` (synonym, parent, compound or other) and ``term``. A class without
        synonyms in it is searched by its name.

    Raises
    ------
    InputError
        If the table has other columns, kinds or classes, or an empty term.
    """
    rows = _rows(Path(path), classes) if path is not None else {}

    def terms(info: ClassInfo, kind: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(rows.get((info.id, kind), ())))

    return tuple(
        ClassTerms(
            info.id,
            terms(info, "synonym") or (info.name.replace("_", " "),),
            terms(info, "parent"),
            terms(info, "compound"),
            terms(info, "other"),
        )
        for info in classes
    )


def _rows(path: Path, classes: Sequence[ClassInfo]) -> dict[tuple[str, str], list[str]]:
    table = read_table(path)
    named = {plain(column): column for column in table.columns}
    missing = [name for name in COLUMNS if name not in named]
    if missing:
        raise InputError(f"no column {short_list(missing)}", where=path, fix=f"Terms have {', '.join(COLUMNS)}.")
    ids, kinds, terms = (table.texts(named[name]).tolist() for name in COLUMNS)
    unknown = sorted(set(ids) - {info.id for info in classes})
    if unknown:
        raise InputError(f"ids of no class: {short_list(unknown)}", where=path, fix="Write them as in the class list.")
    odd = sorted(set(kinds) - set(KINDS))
    if odd:
        raise InputError(f"kinds of terms {short_list(map(repr, odd))}", where=path, fix=f"Use {', '.join(KINDS)}.")
    if "" in terms:
        raise InputError(f"no term in row {terms.index('') + 1}", where=path, fix="Write one, or remove the row.")
    found: dict[tuple[str, str], list[str]] = {}
    for key, kind, term in zip(ids, kinds, terms, strict=True):
        found.setdefault((key, kind), []).append(term)
    return found
