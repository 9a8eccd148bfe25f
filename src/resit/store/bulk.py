"""Many rows at once, through the database driver itself: SQLAlchemy's own way is several times slower."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlalchemy import ARRAY, Column, Connection, Table, any_, bindparam, func, select

from resit.store.opening import is_sqlite
from resit.store.schemas import table as empty

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select

CHUNK = 50_000
# Values that are looked up at once.
WANTED = 20_000

# A NumPy or an Arrow array: Arrow has no types that mypy knows.
Values = Any


def insert(connection: Connection, table: Table, columns: Mapping[str, Values]) -> None:
    """Append rows to a table.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction that writes.
    table : sqlalchemy.Table
    columns : mapping of str to array
        Columns of equal length, NumPy or Arrow.
    """
    names = ", ".join(columns)
    driver: Any = connection.connection.dbapi_connection
    if is_sqlite(connection):
        places = ", ".join("?" * len(columns))
        driver.executemany(f"INSERT INTO {table.name} ({names}) VALUES ({places})", _rows(columns))
        return
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
        for row in _rows(columns):
            copy.write_row(row)


def _rows(columns: Mapping[str, Values]) -> Iterator[tuple[Any, ...]]:
    n = len(next(iter(columns.values())))
    for start in range(0, n, CHUNK):
        parts = (column[start : start + CHUNK] for column in columns.values())
        yield from zip(*(part.tolist() if isinstance(part, np.ndarray) else part.to_pylist() for part in parts), strict=True)


def read(connection: Connection, statement: Select[Any], schema: dict[str, str]) -> pa.Table:
    """What a SELECT finds, as an Arrow table of a schema; its columns in the statement's order.

    Parameters
    ----------
    connection : sqlalchemy.Connection
    statement : sqlalchemy.Select
    schema : dict of str to str
        Arrow types by column.
    """
    return _fetched(connection, statement.execution_options(stream_results=True), schema)


def _fetched(connection: Connection, statement: Select[Any], schema: dict[str, str]) -> pa.Table:
    kinds = empty(schema).schema
    batches = []
    for rows in connection.execute(statement).partitions(CHUNK):
        columns = zip(zip(*rows, strict=True), kinds.types, strict=True)
        batches.append(pa.record_batch([pa.array(column, kind) for column, kind in columns], kinds))
    return pa.Table.from_batches(batches, kinds)


def read_where(
    connection: Connection, statement: Select[Any], column: Column[Any], values: Iterable[Any], schema: dict[str, str]
) -> pa.Table:
    """What a SELECT finds where a column has one of many values."""
    rest = iter(values)
    parts = [empty(schema)]
    while chunk := list(islice(rest, WANTED)):
        parts.append(_fetched(connection, statement.where(_is_one_of(connection, column, chunk)), schema))
    return pa.concat_tables(parts)


def _is_one_of(connection: Connection, column: Column[Any], values: list[Any]) -> ColumnElement[bool]:
    """That a column has one of some values, which are sent as one: thousands of parameters take longer than the look-up."""
    if is_sqlite(connection):
        return column.in_(select(func.json_each(json.dumps(values)).table_valued("value").c.value))
    return column == any_(bindparam(None, values, ARRAY(column.type)))


@cache
def _highest(column: Column[Any]) -> Select[Any]:
    return select(func.max(column))


def next_number(connection: Connection, column: Column[Any]) -> int:
    """The number after the highest of a column, from 1; one writer at a time makes it safe."""
    highest = connection.execute(_highest(column)).scalar()
    return 1 if highest is None else int(highest) + 1
