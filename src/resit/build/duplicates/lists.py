"""Lists of neighbours: ranked with ties in one order, and scaled by how near the last neighbour is."""

from __future__ import annotations

import numpy as np

from resit.build.duplicates.metrics import Doubles
from resit.build.duplicates.rows import Ints
from resit.build.duplicates.search import Hits


def ranked(hits: Hits, places: Ints) -> tuple[Hits, Ints]:
    """Neighbours in order, with the rank of each among those of its candidate, from 1.

    Parameters
    ----------
    hits : Hits
        With distances.
    places : ndarray of int64, shape (rows,)
        Place of each row where distances are the same.

    Returns
    -------
    Hits
        By candidate, distance and place.
    ndarray of int64, shape (len(hits),)
    """
    hits = hits.where(np.lexsort((places[hits.row], hits.value, hits.query)))
    first = np.searchsorted(hits.query, hits.query)
    return hits, np.arange(len(hits)) - first + 1


def nearest(hits: Hits, places: Ints, k: int) -> Hits:
    """The k nearest of each candidate, in order."""
    hits, rank = ranked(hits, places)
    return hits.where(rank <= k)


def distinct(hits: Hits, rows: int) -> Hits:
    """Each pair of candidate and row once, the first that is given."""
    return hits.where(np.unique(hits.query * rows + hits.row, return_index=True)[1])


def relative(hits: Hits, nearest_ones: Hits, queries: int, k: int) -> Hits:
    """Distances divided by that of the candidate's last neighbour.

    A picture without details, such as a clear sky, is near many others, and one with many details near none. Divided by the
    distance at which a candidate's k-th neighbour is, distances of different candidates can be compared.

    Parameters
    ----------
    hits : Hits
        With distances.
    nearest_ones : Hits
        The k nearest of each candidate, in order. Where there are fewer than k, nothing is scaled.
    queries : int
        Number of candidates.
    k : int

    References
    ----------
    Zelnik-Manor, L., and Perona, P. (2004). Self-tuning spectral clustering. NeurIPS, section 2: local scaling.
    Jegou, H., Harzallah, H., and Schmid, C. (2007). A contextual dissimilarity measure for accurate and efficient image search.
    CVPR.
    """
    last: Doubles = np.ones(queries)
    ends = np.searchsorted(nearest_ones.query, np.arange(queries), side="right")
    full = np.bincount(nearest_ones.query, minlength=queries) >= k
    last[full] = nearest_ones.value[ends[full] - 1]
    scale = last[hits.query]
    # Where even the last is at 0, all are the same picture.
    return Hits(hits.query, hits.row, np.divide(hits.value, scale, out=np.zeros(len(hits)), where=scale > 0))
