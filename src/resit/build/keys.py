"""Rows of tables matched by more than one column: by image and class, or by the two images of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

IMAGE = ("image", "class_id")
PAIR = ("image", "other")
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def keys(table: pa.Table, columns: Sequence[str] = IMAGE) -> pa.ChunkedArray:
    """One text a row that tells rows apart by some columns of text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [table[name].cast(pa.large_string()) for name in columns]
    return pc.binary_join_element_wise(*texts, pa.scalar("\0", pa.large_string()))


def among(table: pa.Table, others: pa.Table, columns: Sequence[str] = IMAGE) -> Bools:
    """Which rows of a table have their values in some columns also in another table.

    Returns
    -------
    ndarray of bool, shape (rows of ``table``,)
    """
    import pyarrow.compute as pc

    return np.asarray(pc.is_in(keys(table, columns), value_set=keys(others, columns).combine_chunks()), bool)


def rows_in(table: pa.Table, others: pa.Table, columns: Sequence[str] = IMAGE) -> Ints:
    """The first row of ``others`` with the same values in some columns, for each row of ``table``; -1 where there is none.

    Returns
    -------
    ndarray of int64, shape (rows of ``table``,)
    """
    import pyarrow.compute as pc

    found = pc.index_in(keys(table, columns), value_set=keys(others, columns).combine_chunks())
    return np.asarray(pc.fill_null(found, -1), np.int64)


def votes_of(table: pa.Table, counts: pa.Table) -> dict[str, Ints]:
    """Columns selected and shown of COUNTS for the image and class of each row; 0 where there are none.

    Returns
    -------
    dict of str to ndarray of int64, shape (rows of ``table``,)
    """
    places = rows_in(table, counts)
    return {name: np.append(np.asarray(counts[name], np.int64), 0)[places] for name in ("selected", "shown")}


def firsts(table: pa.Table, columns: Sequence[str] = IMAGE) -> Bools:
    """Which rows are the first with their values in some columns.

    Returns
    -------
    ndarray of bool, shape (rows of ``table``,)
    """
    codes = keys(table, columns).combine_chunks().dictionary_encode().indices.to_numpy()
    found = np.zeros(len(table), bool)
    found[np.unique(codes, return_index=True)[1]] = True
    return found
