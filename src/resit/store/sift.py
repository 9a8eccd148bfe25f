"""Takes from rows those that are not stored yet, by their key, and refuses what contradicts itself or what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import select

from resit.store.bulk import Values, insert, read_where
from resit.store.names import Numbers
from resit.store.records import Added

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table


@dataclass(frozen=True, slots=True)
class Sifted:
    """What a look into the database found.

    Parameters
    ----------
    fresh : ndarray of int
        Rows to store.
    met : ndarray of int
        Rows whose key is stored.
    stored : dict of str to ndarray
        The columns that were compared, as they are stored, for the rows of `met`.
    n : int
        Rows that were given.
    """

    fresh: Numbers
    met: Numbers
    stored: dict[str, npt.NDArray[Any]]
    n: int

    def added(self, changed: int = 0) -> Added:
        """How many were new."""
        return Added(len(self.fresh), self.n - len(self.fresh), changed)


def sift(
    connection: Connection,
    table: Table,
    columns: Mapping[str, npt.NDArray[Any]],
    keys: Sequence[str],
    *,
    compared: Sequence[str] = (),
    old: Numbers | None = None,
    first: npt.NDArray[Any] | None = None,
) -> Sifted:
    """Find the rows whose key is not stored.

    Parameters
    ----------
    connection : sqlalchemy.Connection
    table : sqlalchemy.Table
    columns : mapping of str to ndarray
        At least the keys and what is compared.
    keys : sequence of str
        Columns of whole numbers; stored rows are looked up by the first.
    compared : sequence of str
        Columns that are read for rows that are stored.
    old : ndarray of int, optional
        The values of the first key that may be stored. Default: all.
    first : ndarray, optional
        Of rows with one key the lowest by this is taken. Default: the first.
    """
    looked_up = np.unique(columns[keys[0]] if old is None else old)
    names = (*keys, *compared)
    schema = {name: "double" if name == "distance" else "int64" for name in names}
    statement = select(*(table.c[name] for name in names))
    stored = read_where(connection, statement, table.c[keys[0]], looked_up.tolist(), schema)
    there = {name: stored.column(name).to_numpy() for name in names}
    key, old_key = _packed([columns[name] for name in keys], [there[name] for name in keys])
    order = np.lexsort((key,) if first is None else (first, key))
    lead = order[np.flatnonzero(np.diff(key[order], prepend=-1))]
    old_order = np.argsort(old_key)
    at = np.searchsorted(old_key[old_order], key[lead])
    found = np.zeros(len(lead), bool)
    inside = at < len(old_key)
    found[inside] = old_key[old_order][at[inside]] == key[lead][inside]
    rows = old_order[at[found]]
    return Sifted(lead[~found], lead[found], {name: there[name][rows] for name in compared}, len(key))


def refuse_contradictions(
    columns: Mapping[str, npt.NDArray[Any]],
    keys: Sequence[str],
    compared: Sequence[str],
    sifted: Sifted,
    refuse: Callable[[int], NoReturn],
) -> None:
    """Call ``refuse`` with the first row that says another thing than a row of the same key, given or stored."""
    bad = [sifted.met[columns[name][sifted.met] != sifted.stored[name]] for name in compared]
    key, _ = _packed([columns[name] for name in keys], [np.empty(0, np.int64)] * len(keys))
    order = np.argsort(key, kind="stable")
    twice = np.diff(key[order]) == 0
    for name in compared:
        differ = twice & (np.diff(columns[name][order]) != 0)
        bad.append(order[1:][differ])
    if len(wrong := np.concatenate([np.empty(0, np.int64), *bad])):
        refuse(int(wrong.min()))


def store_fresh(connection: Connection, table: Table, columns: Mapping[str, Values], sifted: Sifted) -> Added:
    """Append the rows that are not stored yet."""
    if len(sifted.fresh):
        rows = {name: _taken(column, sifted.fresh) for name, column in columns.items()}
        insert(connection, table, rows)
    return sifted.added()


def _taken(column: Values, rows: Numbers) -> Values:
    if isinstance(column, np.ndarray):
        return column[rows]
    return column.take(pa.array(rows))


def _packed(new: Sequence[npt.NDArray[Any]], old: Sequence[npt.NDArray[Any]]) -> tuple[Numbers, Numbers]:
    """One number for each key. Numbers of names are dense, so that the product of their ranges stays far below 2**63."""
    keys = np.zeros(len(new[0]), np.int64), np.zeros(len(old[0]), np.int64)
    for one, other in zip(new, old, strict=True):
        size = int(max(one.max(initial=0), other.max(initial=0))) + 1
        keys = keys[0] * size + one, keys[1] * size + other
    return keys
