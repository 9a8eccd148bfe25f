"""Pairs of images whatever their order: the rows of a table of neighbours, and the verdicts, by one number a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.keys import PAIR
from resit.build.review import UNSURE, current

if TYPE_CHECKING:
    import pyarrow as pa

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Paired:
    """Neighbours by pair.

    Parameters
    ----------
    rows : pyarrow.Table
        PAIRS, without images that are their own neighbours in a reference set: there is nothing to look at.
    key : ndarray of int64, shape (rows,)
        The same for rows of the same two images; in the order of the smaller and the larger id.
    sure, unsure : ndarray of bool, shape (rows,)
        Whether the pair has a verdict that is not unsure, or one that is.
    """

    rows: pa.Table
    key: Ints
    sure: Bools
    unsure: Bools


def paired(pairs: pa.Table, verdicts: pa.Table, neighbours: int) -> Paired:
    """Neighbours by pair, with what people said.

    Parameters
    ----------
    pairs : pyarrow.Table
        PAIRS. Rows with ranks beyond ``neighbours`` are no longer on a list, and are left out.
    verdicts : pyarrow.Table
        All events, VERDICTS.
    neighbours : int

    Raises
    ------
    InputError
        If a kind, verdict or time is none.
    """
    import pyarrow.compute as pc

    rows = pairs.filter(pc.and_(pc.not_equal(pairs["image"], pairs["other"]), pc.less_equal(pairs["rank"], neighbours)))
    coded = [rows[name].combine_chunks().dictionary_encode() for name in PAIR]
    ids = _sorted_ids(coded)
    one, two = (_codes(column.dictionary, ids)[np.asarray(column.indices)] for column in coded)
    key = _keys(one, two, len(ids))
    held = current(verdicts)
    held = held.filter(pc.equal(held["kind"], "pair"))
    first, second = (_codes(held[name], ids) for name in PAIR)
    known = np.minimum(first, second) >= 0
    judged = _keys(first, second, len(ids))
    doubt = np.asarray(pc.equal(held["verdict"], UNSURE), bool)
    return Paired(rows, key, np.isin(key, judged[known & ~doubt]), np.isin(key, judged[known & doubt]))


def _sorted_ids(coded: list[pa.DictionaryArray]) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pc.unique(pa.concat_arrays([column.dictionary for column in coded]))
    return ids.take(pc.sort_indices(ids))


def _codes(values: pa.Array | pa.ChunkedArray, ids: pa.Array) -> Ints:
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(pc.index_in(values, value_set=ids), -1), np.int64)


def _keys(one: Ints, two: Ints, n: int) -> Ints:
    found: Ints = np.minimum(one, two) * n + np.maximum(one, two)
    return found
