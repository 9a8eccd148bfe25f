"""Lists of neighbours that were found before, as hits; and the candidates whose lists cannot be gone on from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.duplicates.rows import Ints, Sets
from resit.build.duplicates.search import NO_HITS, Hits

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Stored:
    """Neighbours that were found before.

    Parameters
    ----------
    hits : mapping of str to Hits
        By metric; the candidate's row stands as query, with distances.
    length : ndarray of int64, shape (candidates,)
        Of each candidate's shortest list; 0 where one names an image that is no longer there.
    """

    hits: Mapping[str, Hits]
    length: Ints

    def of(self, metric: str, rows: Ints) -> Hits:
        """Hits of some candidates, in rising order, as places among these."""
        hits = self.hits.get(metric, NO_HITS)
        place = np.searchsorted(rows, hits.query)
        chosen = rows[np.minimum(place, len(rows) - 1)] == hits.query if len(rows) else np.zeros(len(hits), bool)
        return Hits(place[chosen], hits.row[chosen], hits.value[chosen])


def stored_lists(pairs: pa.Table | None, sets: Sets, metrics: Sequence[str], k: int) -> Stored:
    """Lists that were stored, as rows of the sets.

    Parameters
    ----------
    pairs : pyarrow.Table or None
        PAIRS.
    sets : Sets
    metrics : sequence of str
        All that are wanted.
    k : int
        Length of a list; rows that later ones pushed beyond it do not count.
    """
    import pyarrow.compute as pc

    if pairs is None:
        return Stored({}, np.zeros(sets.candidates, np.int64))
    pairs = pairs.filter(pc.and_(pc.less_equal(pairs["rank"], k), pc.is_in(pairs["metric"], value_set=_texts(metrics))))
    names = np.repeat(np.array(sets.references, object), np.diff(sets.starts))
    known = _joined(_texts(names), _texts(sets.ids))
    candidate = _places(pairs["image"], _texts(sets.ids[: sets.candidates]))
    other = _places(_joined(pairs["reference"], pairs["other"]), known)
    lost = (candidate >= 0) & (other < 0)
    length = np.full(sets.candidates, k)
    length[candidate[lost]] = 0
    kept = (candidate >= 0) & (other >= 0)
    hits = {}
    for metric in metrics:
        own = np.asarray(pc.equal(pairs["metric"], metric), bool) & kept
        hits[metric] = Hits(candidate[own], other[own], np.asarray(pairs["distance"], np.float64)[own])
        length = np.minimum(length, np.bincount(candidate[own], minlength=sets.candidates))
    return Stored(hits, length)


def _texts(values: Sequence[str] | npt.NDArray[np.object_]) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, pa.string())


def _joined(names: pa.Array | pa.ChunkedArray, ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [one.cast(pa.large_string()) for one in (names, ids)]
    return pc.binary_join_element_wise(*texts, pa.scalar("\0", pa.large_string()))


def _places(values: pa.Array | pa.ChunkedArray, known: pa.Array | pa.ChunkedArray) -> Ints:
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(pc.index_in(values, value_set=known), -1), np.int64)
