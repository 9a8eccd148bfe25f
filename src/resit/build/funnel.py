"""The funnel: how many candidates each class has after each step, what is missing, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from resit.build.keys import Ints, votes_of
from resit.data.benchmark import ClassInfo
from resit.data.paths import short_list
from resit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Reasons of exclusion that have a column of their own; others are told apart under `other`.
REASONS = {
    "blacklisted": "blacklisted",
    "too_few_votes": "too-few-votes",
    "near_duplicates": "near-duplicate",
    "unreviewed": "unreviewed",
}

REVIEW, STUCK = "Review near-duplicates", "Collect more candidates, or get votes on originals"
SAMPLE = "Make a revision (sample)"
COUNTED = slice(1, -1)  # fields of a row that are columns of the table: all but the class's id and the reason


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """One class, or all of them.

    Parameters
    ----------
    class_id, name : str
        Empty id: all classes.
    collected : int
        Candidates.
    failed : int
        What could not be fetched or read, and is no candidate.
    voted : int
        Candidates with enough votes.
    blacklisted, too_few_votes, near_duplicates, unreviewed, other : int
        Candidates that are excluded, each under the first reason that holds.
    eligible : int
        Candidates that are not excluded.
    wanted, selected, short : int
        Images that the new test set should have, has, and lacks.
    why : str, optional
        Why the last sampling could not fill the class from these very candidates.
    """

    class_id: str
    name: str
    collected: int
    failed: int
    voted: int
    blacklisted: int
    too_few_votes: int
    near_duplicates: int
    unreviewed: int
    other: int
    eligible: int
    wanted: int
    selected: int
    short: int
    why: str = ""

    @property
    def next(self) -> str:
        """What to do next for this class, in a sentence; empty where nothing is missing."""
        if not self.short:
            return ""
        if self.eligible >= self.wanted and self.why:
            return f"{STUCK}: sampling found {self.why}."
        if self.eligible >= self.wanted:
            return f"{SAMPLE}: enough candidates are eligible."
        lack = self.wanted - self.eligible
        if self.too_few_votes:
            return f"Get votes: {self.too_few_votes:,} candidates have too few."
        if self.unreviewed:
            return f"{REVIEW}: {self.unreviewed:,} candidates wait for it."
        return f"Collect candidates: at least {lack:,} more are needed."


@dataclass(frozen=True)
class Funnel:
    """The funnel of a build.

    Parameters
    ----------
    rows : tuple of FunnelRow
        One a class, in the order of the classes.
    total : FunnelRow
        Their sum.
    minimum_votes : int
        From how many votes on an image has enough.
    """

    rows: tuple[FunnelRow, ...]
    total: FunnelRow
    minimum_votes: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes, followed by the id where a name is there twice."""
        count = Counter(row.name for row in self.rows)
        return tuple(f"{row.name} ({row.class_id})" if count[row.name] > 1 else row.name for row in self.rows)

    @property
    def next(self) -> str:
        """What to do next, in a sentence."""
        if not self.total.collected:
            return "Collect candidates: there are none yet."
        short = [(label, row.next) for label, row in zip(self.labels, self.rows, strict=True) if row.short]
        if not short:
            return "Nothing is short: review what is selected, or release it."
        for start in ("Get votes", REVIEW, SAMPLE, STUCK, "Collect candidates"):
            some = [label for label, step in short if step.startswith(start)]
            if some:
                return f"{start}: {_counted(some)} {'is' if len(some) == 1 else 'are'} short ({short_list(some)})."
        raise AssertionError("every short class has a next step")

    def to_rows(self) -> list[tuple[str, ...]]:
        """A header, a line a class and the total, as text for a table."""
        names = [field.name for field in fields(FunnelRow)][COUNTED]
        head = ("class", *(name.replace("_", " ") for name in names[1:]), "next")
        lines = zip((*self.labels, "all"), (*self.rows, self.total), strict=True)
        body = [
            (label, *(f"{getattr(row, name):,}" for name in names[1:]), row.next if row.class_id else "")
            for label, row in lines
        ]
        return [head, *body]

    def __str__(self) -> str:
        table = self.to_rows()
        widths = [max(len(line[place]) for line in table) for place in range(len(table[0]))]
        lines = [
            "  ".join(text.ljust(w) if place in (0, len(widths) - 1) else text.rjust(w) for place, (text, w) in row).rstrip()
            for row in (list(enumerate(zip(line, widths, strict=True))) for line in table)
        ]
        return "\n".join([*lines, self.next])


def funnel(
    images: pa.Table,
    counts: pa.Table,
    excluded: pa.Table,
    selected: pa.Table,
    classes: Sequence[ClassInfo],
    wanted: int | Mapping[str, int],
    *,
    minimum_votes: int = 10,
    failed: pa.Table | None = None,
    why: Mapping[str, str] | None = None,
) -> Funnel:
    """Count the candidates of each class after each step.

    Parameters
    ----------
    images : pyarrow.Table
        IMAGES; rows that are no candidates are not counted.
    counts : pyarrow.Table
        COUNTS; rows on other images are not counted.
    excluded : pyarrow.Table
        EXCLUDED, at most one row a candidate.
    selected : pyarrow.Table
        SELECTED, of the last revision; empty where there is none.
    classes : sequence of ClassInfo
        All classes, in order.
    wanted : int or mapping of str to int
        How many images each class should have; or by id.
    minimum_votes : int, optional
        From how many votes on an image has enough.
    failed : pyarrow.Table, optional
        With a column class_id, a row for everything that could not be fetched or read.
    why : mapping of str to str, optional
        By class, why the last sampling could not fill it from these very candidates.

    Returns
    -------
    Funnel

    Raises
    ------
    InputError
        If a table has a class that is not among the classes.
    """
    columns = _columns(images, counts, excluded, [info.id for info in classes], minimum_votes, failed)
    want = dict.fromkeys((info.id for info in classes), wanted) if isinstance(wanted, int) else wanted
    columns["wanted"] = np.array([want.get(info.id, 0) for info in classes], np.int64)
    columns["selected"] = _Classes([info.id for info in classes]).count(selected, "selected")
    columns["short"] = np.maximum(columns["wanted"] - columns["selected"], 0)
    told = why or {}
    rows = tuple(
        FunnelRow(info.id, info.name, **_at(columns, place), why=told.get(info.id, "")) for place, info in enumerate(classes)
    )
    total = {name: int(column.sum()) for name, column in columns.items()}
    return Funnel(rows, FunnelRow("", "all", **total, why=""), minimum_votes)


def _at(columns: Mapping[str, Ints], place: int) -> dict[str, int]:
    return {name: int(column[place]) for name, column in columns.items()}


def _columns(
    images: pa.Table, counts: pa.Table, excluded: pa.Table, ids: list[str], minimum_votes: int, failed: pa.Table | None
) -> dict[str, Ints]:
    """The columns of the funnel up to eligible."""
    import pyarrow as pa
    import pyarrow.compute as pc

    candidates = images.filter(pc.equal(images["role"], "candidate"))
    per_class = _Classes(ids)
    shown = votes_of(candidates, counts)["shown"]
    collected = per_class.count(candidates, "images")
    columns = {
        "collected": collected,
        "failed": np.zeros(len(ids), np.int64) if failed is None else per_class.count(failed, "failed"),
        "voted": per_class.count(candidates.filter(pa.array(shown >= minimum_votes)), "images"),
    }
    known = {
        name: per_class.count(excluded.filter(pc.equal(excluded["reason"], reason)), "excluded")
        for name, reason in REASONS.items()
    }
    out = per_class.count(excluded, "excluded")
    return {**columns, **known, "other": out - np.sum(list(known.values()), axis=0), "eligible": collected - out}


class _Classes:
    """Counts rows by class."""

    def __init__(self, ids: Sequence[str]) -> None:
        import pyarrow as pa

        self._ids = pa.array(ids, pa.string())

    def count(self, table: pa.Table, what: str) -> Ints:
        import pyarrow.compute as pc

        found = pc.index_in(table["class_id"].cast(self._ids.type), value_set=self._ids)
        if found.null_count:
            strange = pc.unique(table["class_id"].filter(pc.is_null(found))).to_pylist()
            what = f"classes in {what} that the build does not have: {short_list(sorted(map(str, strange)))}"
            raise InputError(what, where="funnel", fix="Check the ids of the classes.")
        return np.bincount(np.asarray(found, np.int64), minlength=len(self._ids)).astype(np.int64)


def _counted(some: Sequence[str]) -> str:
    return f"{len(some):,} class{'' if len(some) == 1 else 'es'}"
