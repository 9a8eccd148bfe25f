"""Answers to examples by id: every example once, in the benchmark's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.labels import LabelSheet
from resit.data.paths import counted, short_list
from resit.data.sheets import check_count
from resit.errors import InputError, Notice

Rows = npt.NDArray[np.intp]
Ids = npt.NDArray[np.str_]


@dataclass(frozen=True)
class Listing:
    """How the rows of a file of labels became examples, where some say the same twice.

    Parameters
    ----------
    rows : ndarray of int, shape (n,)
        Row of each example.
    first : ndarray of int, shape (rows of the file,)
        For each row, the one that stands for it.
    """

    rows: Rows
    first: Rows


class Joiner:
    """Brings answers into the benchmark's order.

    Parameters
    ----------
    ids : ndarray of str, shape (n,), or None
        Identities of the examples, each once. None: taken from the first answers that have ids.
    n : int
        Number of examples.
    listing : Listing or None
        Rows of the file of labels, for answers without ids; None: a row an example.
    source : str
        Where the labels come from, for messages.
    """

    def __init__(self, ids: Ids | None, n: int, listing: Listing | None, source: str = "") -> None:
        self.ids, self.n, self.source = ids, n, source
        self._listing = listing
        self._last: tuple[Ids, Rows, Rows, int] | None = None
        self._notices: list[Notice] = []
        self._collapsed: list[tuple[str, int]] = []

    def join(self, values: npt.NDArray[Any], ids: Ids | None, where: str) -> npt.NDArray[Any]:
        """Answers in the benchmark's order. Shapes (rows, k) and (n, k).

        Raises
        ------
        InputError
            If an example is missing, unknown, or answered twice in different ways.
        """
        if ids is None:
            return self._by_position(values, where)
        if self.ids is None:
            self._adopt(ids, where)
        if self._last is None or not (self._last[0] is ids or np.array_equal(self._last[0], ids)):
            self._last = (ids, *self._order(ids, where))
        _, order, first, extra = self._last
        if extra:
            _refuse_conflicts(values, ids, first, where)
            self._collapsed.append((where, extra))
        return values[order]

    def follow(self, values: npt.NDArray[Any], ids: Ids | None) -> npt.NDArray[Any]:
        """What stands beside answers that were joined just before, in the benchmark's order.

        Of rows that are there again, the first counts.

        Parameters
        ----------
        values : ndarray, shape (rows, …)
        ids : ndarray of str or None
            As of the answers.
        """
        if ids is None:
            listing = self._listing
            return values if listing is None or len(values) != len(listing.first) else values[listing.rows]
        assert self._last is not None
        return values[self._last[1]]

    def notices(self) -> list[Notice]:
        """What was seen while joining, about all files together."""
        if not self._collapsed:
            return self._notices
        (where, extra), *others = self._collapsed
        also = f" The same holds for {len(others)} more files: {short_list(name for name, _ in others)}." if others else ""
        message = (
            f"{extra} examples are answered twice, in the same way, as padding by a distributed sampler does; "
            f"each was counted once.{also}"
        )
        return [*self._notices, Notice("duplicates-collapsed", where, message)]

    def _by_position(self, values: npt.NDArray[Any], where: str) -> npt.NDArray[Any]:
        if self._listing is not None and len(values) == len(self._listing.first):
            _refuse_conflicts(values, None, self._listing.first, where)
            return values[self._listing.rows]
        check_count(len(values), self.n, where)
        return values

    def _adopt(self, ids: Ids, where: str) -> None:
        check_count(len(ids), self.n, where)
        distinct, counts = np.unique(ids, return_counts=True)
        if len(distinct) < len(ids):
            raise InputError(
                f"ids that are there twice, while the labels have no ids: {short_list(distinct[counts > 1])}",
                where=where,
                fix="Give labels with ids.",
            )
        self.ids = ids
        self._notices.append(ids_from_answers(self.source, where))

    def _order(self, ids: Ids, where: str) -> tuple[Rows, Rows, int]:
        """Row of each example, the row that stands for each row, and how many rows are there again."""
        assert self.ids is not None
        distinct, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        sorter = np.argsort(self.ids)
        if not np.array_equal(distinct, self.ids[sorter]):
            raise _different_ids(len(ids), distinct, self.ids[sorter], where)
        order = np.empty(self.n, np.intp)
        order[sorter] = first
        return order, first[inverse], len(ids) - len(distinct)


def ids_from_answers(labels: str, answers: str) -> Notice:
    """Notice that labels without ids were taken to be in the order of a file of answers that has them."""
    message = f"The labels have no ids; they are taken to be in the order of {answers}. Check that they are."
    return Notice("ids-from-answers", labels, message)


def _refuse_conflicts(values: npt.NDArray[Any], ids: Ids | None, first: Rows, where: str) -> None:
    conflict = np.any(values[first] != values, axis=1)
    if conflict.any():
        rows = [f"row {row}" for row in np.flatnonzero(conflict)] if ids is None else ids[conflict].tolist()
        raise InputError(
            f"the same id with different values: {short_list(dict.fromkeys(rows))}",
            where=where,
            fix="Each example needs one answer; remove the rows that do not hold.",
        )


def _different_ids(found: int, ours: Ids, theirs: Ids, where: str) -> InputError:
    extra, missing = np.setdiff1d(ours, theirs), np.setdiff1d(theirs, ours)
    parts = [f"{found} answers, but {len(theirs)} labels"]
    if missing.size:
        parts.append(f"{missing.size} examples have no answer ({short_list(missing, 3)})")
    if extra.size:
        parts.append(f"{extra.size} answers have no label ({short_list(extra, 3)})")
    return InputError(
        "; ".join(parts), where=where, fix="Check that both are of the same test set, and that ids are written alike."
    )


def collapse_labels(labels: LabelSheet, notices: list[Notice]) -> tuple[LabelSheet, Listing | None]:
    """Labels with each id once, and how their rows became examples; rows that say the same twice collapse with a notice.

    Raises
    ------
    InputError
        If an id has two different labels.
    """
    if labels.ids is None:
        return labels, None
    _, first, inverse = np.unique(labels.ids, return_index=True, return_inverse=True)
    if len(first) == labels.n:
        return labels, None
    _refuse_conflicts(labels.entries.values, labels.ids, first[inverse], labels.source)
    twice = counted(labels.n - len(first), "example is", "examples are")
    message = f"{twice} listed twice with the same label; each was counted once."
    notices.append(Notice("duplicates-collapsed", labels.source, message))
    rows = np.sort(first)
    return labels.take(rows), Listing(rows, first[inverse])
