"""Names and their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import exists, select

from resit.errors import InputError
from resit.store.bulk import CHUNK, insert, next_number, read, read_where
from resit.store.layout import IMAGE, IMAGE_NAME

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

Numbers = npt.NDArray[np.int64]
NAMED = {"id": "int64", "name": "string"}


def encode(column: pa.ChunkedArray) -> tuple[Numbers, pa.Array]:
    """Codes from 0 for each row, and the distinct values that they stand for."""
    encoded = column.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return np.empty(0, np.int64), pa.array([], column.type)
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks]).astype(np.int64)
    return codes, encoded.chunk(0).dictionary


def find(connection: Connection, table: Table, names: pa.Array, *, where: Any = None) -> Numbers:
    """Numbers of some distinct names; 0 for those that are not there, or for which a condition does not hold."""
    statement = select(table.c.id, table.c.name)
    if where is not None:
        statement = statement.where(where)
    found = read_where(connection, statement, table.c.name, names.to_pylist(), NAMED)
    at = pc.index_in(names, found.column("name").combine_chunks())
    numbers = pc.take(found.column("id"), at)
    return np.array(pc.fill_null(numbers, 0).to_numpy(), dtype=np.int64)


def number(connection: Connection, table: Table, column: pa.ChunkedArray) -> Numbers:
    """The number of each row's name; names that are new get the next ones."""
    codes, names = encode(column)
    return numbers_of(connection, table, names)[codes]


def numbers_of(connection: Connection, table: Table, names: pa.Array, **more: Any) -> Numbers:
    """Numbers of some distinct names; those that are new get the next ones, with more columns if given."""
    numbers = find(connection, table, names)
    missing = numbers == 0
    if missing.any():
        first = next_number(connection, table.c.id)
        numbers[missing] = np.arange(first, first + missing.sum())
        rest = {name: values[missing] for name, values in more.items()}
        insert(connection, table, {"id": numbers[missing], "name": names.filter(pa.array(missing)), **rest})
    return numbers


def number_known(connection: Connection, column: pa.ChunkedArray, where: str) -> Numbers:
    """The number of each row's image.

    Raises
    ------
    InputError
        If images were never added to the store.
    """
    codes, names = encode(column)
    # Names of neighbours in reference sets stand there too, and are no images of the build.
    is_image = exists().where(IMAGE.c.image_id == IMAGE_NAME.c.id)
    numbers = find(connection, IMAGE_NAME, names, where=is_image)
    unknown = numbers == 0
    if unknown.any():
        some = sorted(names.filter(pa.array(unknown)).to_pylist())
        fix = "Add the images to the build first, or check that these rows belong to it. Nothing was stored."
        raise InputError(f"unknown images, {len(some):,} of them: {first_few(some)}", where=where, fix=fix)
    return numbers[codes]


def first_few(names: Sequence[str]) -> str:
    """The first three of some names, and whether there are more."""
    return f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''}"


class Names:
    """All names of a table in the database, to put in the place of their numbers.

    Parameters
    ----------
    connection : sqlalchemy.Connection
    table : sqlalchemy.Table
    """

    def __init__(self, connection: Connection, table: Table) -> None:
        found = read(connection, select(table.c.id, table.c.name).order_by(table.c.id), NAMED)
        self._table = table.name
        self._numbers = found.column("id").to_numpy()
        self._names = found.column("name").combine_chunks()
        self._ranks: Numbers | None = None

    def of(self, numbers: pa.ChunkedArray) -> pa.ChunkedArray:
        """The names, in pieces: text of more than 2 GB does not fit in one."""
        at = self._at(numbers)
        pieces = [self._names.take(pa.array(at[start : start + CHUNK])) for start in range(0, len(at), CHUNK)]
        return pa.chunked_array(pieces, pa.string())

    def ranks(self, numbers: pa.ChunkedArray) -> Numbers:
        """Places of the names in the order of their bytes."""
        if self._ranks is None:
            self._ranks = np.empty(len(self._names), np.int64)
            self._ranks[pc.sort_indices(self._names).to_numpy()] = np.arange(len(self._names))
        return self._ranks[self._at(numbers)]

    def _at(self, numbers: pa.ChunkedArray) -> Numbers:
        wanted = numbers.to_numpy()
        at = np.asarray(np.searchsorted(self._numbers, wanted), dtype=np.int64)
        if len(wanted) and not (at.max() < len(self._numbers) and np.array_equal(self._numbers[at], wanted)):
            fix = "Put back a copy from before: rows were changed by another program."
            raise InputError("rows that refer to names that are not there", where=f"table {self._table}", fix=fix)
        return at


def in_order(table: pa.Table, ranks: Sequence[npt.NDArray[Any]]) -> pa.Table:
    """A table sorted by columns of numbers, the first of which weighs most."""
    return table.take(pa.array(np.lexsort(tuple(reversed(ranks)))))
