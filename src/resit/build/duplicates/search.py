"""Exact nearest neighbours in blocks: float32 products tell which rows may be among them, exact distances which are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.build.duplicates.metrics import Doubles, Floats, Metric, slack, squares
from resit.build.duplicates.rows import Array, Ints, Rows

# Candidates whose products with a block are looked at together.
TILE = 512
# Rows whose products tell a first bound.
SAMPLE = 512
LEAST_BLOCK, MOST_BLOCK = 64, 4096
# Pairs that are scored together.
SCORE = 1024


@dataclass(frozen=True)
class Hits:
    """Rows that may be among the nearest, or are.

    Parameters
    ----------
    query : ndarray of int64, shape (n,)
        Place of the candidate among those that are searched for.
    row : ndarray of int64, shape (n,)
    value : ndarray of float64, shape (n,)
        Product with the row, the larger the nearer, or the distance.
    """

    query: Ints
    row: Ints
    value: Doubles

    def __len__(self) -> int:
        return len(self.query)

    def where(self, chosen: npt.NDArray[np.bool_] | Ints) -> Hits:
        """Some of them, in the order given."""
        return Hits(self.query[chosen], self.row[chosen], self.value[chosen])


NO_HITS = Hits(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


def together(parts: Iterable[Hits]) -> Hits:
    """Hits of several parts, one after the other."""
    some = [NO_HITS, *parts]
    return Hits(*(np.concatenate([getattr(part, name) for part in some]) for name in ("query", "row", "value")))


def block_size(width: int, memory: int) -> int:
    """Rows of a block that keep the search within its memory.

    Parameters
    ----------
    width : int
        Numbers in a row.
    memory : int
        Bytes in all.
    """
    return int(np.clip(memory // 16 // (8 * width + 8 * TILE), LEAST_BLOCK, MOST_BLOCK))


@dataclass(frozen=True)
class Screened:
    """What a search by products found.

    Parameters
    ----------
    hits : Hits
        With products, by candidate, the nearest first. The k nearest, and all that tie with them, are among these.
    longest : float
        Length of the longest prepared row, which decides how far products may be from the true ones.
    """

    hits: Hits
    longest: float


def screen(metric: Metric, queries: Array, blocks: Iterable[tuple[Ints, Array]], k: int) -> Screened:
    """Rows that may be among the k nearest of some candidates.

    Parameters
    ----------
    metric : Metric
    queries : ndarray, shape (n, …)
        Rows of the candidates.
    blocks : iterable of (ndarray of int64, ndarray)
        Numbers of some rows, and these.
    k : int
    """
    views = metric.views(queries)
    lengths = _lengths(views)
    limit = np.full(len(queries), -np.inf)
    found, longest = NO_HITS, 0.0
    for numbers, rows in blocks:
        prepared = metric.row(rows)
        squared = squares(prepared)
        longest = max(longest, float(np.sqrt(squared.max(initial=0))))
        error = slack(lengths, views.shape[2], longest, metric.biased)
        minus = (squared / 2).astype(np.float32) if metric.biased else None
        fresh = _products(views, prepared, minus, limit, error, k)
        found, limit = _trimmed(together([found, *(Hits(hit.query, numbers[hit.row], hit.value) for hit in fresh)]), error, k)
    return Screened(found, longest)


def merged(metric: Metric, queries: Array, parts: Iterable[Screened], k: int) -> Hits:
    """What searches through several parts of the rows found, as one search through all of them would have.

    Parameters
    ----------
    metric : Metric
    queries : ndarray, shape (n, …)
    parts : iterable of Screened
    k : int
    """
    parts = list(parts)
    longest = max((part.longest for part in parts), default=0.0)
    views = metric.views(queries)
    error = slack(_lengths(views), views.shape[2], longest, metric.biased)
    return _trimmed(together(part.hits for part in parts), error, k)[0]


def numbered(blocks: Iterable[tuple[int, Array]], only: npt.NDArray[np.bool_] | None = None) -> Iterator[tuple[Ints, Array]]:
    """Blocks with the numbers of their rows, those of ``only`` where it is given."""
    for start, rows in blocks:
        numbers = np.arange(start, start + len(rows))
        if only is None:
            yield numbers, rows
        else:
            chosen = only[start : start + len(rows)]
            yield numbers[chosen], rows[chosen]


def _lengths(views: Floats) -> Doubles:
    """Length of the longest view of each candidate."""
    found: Doubles = np.sqrt(np.max([squares(view) for view in views], axis=0))
    return found


def _products(views: Floats, rows: Floats, minus: Floats | None, limit: Doubles, error: Doubles, k: int) -> Iterator[Hits]:
    # Used again for each tile: fresh memory costs as much as the comparison.
    room = np.empty((min(len(views), 2), TILE, len(rows)), np.float32)
    for first in range(0, views.shape[1], TILE):
        tile = slice(first, first + TILE)
        product = room[0, : len(limit[tile])]
        np.matmul(views[0, tile], rows.T, out=product)
        for view in views[1:, tile]:
            other = np.matmul(view, rows.T, out=room[1, : len(product)])
            np.maximum(product, other, out=product)
        if minus is not None:
            product -= minus
        lowest = limit[tile]
        if len(rows) > k and not np.isfinite(lowest).all():
            # The k-th of some rows is no larger than that of all.
            sample = product[:, : max(k + 1, SAMPLE)]
            lowest = np.partition(sample, sample.shape[1] - k, axis=1)[:, sample.shape[1] - k] - 2 * error[tile]
        # Rounded down, so that none is lost.
        bound = np.nextafter(lowest.astype(np.float32), np.float32(-np.inf))
        query, row = np.divmod(np.flatnonzero(product >= bound[:, None]), len(rows))
        yield Hits(query + first, row, product[query, row].astype(np.float64))


def _trimmed(hits: Hits, error: Doubles, k: int) -> tuple[Hits, Doubles]:
    """Hits that may still be among the k nearest, and the smallest product of one that may."""
    order = np.lexsort((-hits.value, hits.query))
    hits = hits.where(order)
    firsts = np.searchsorted(hits.query, np.arange(len(error)))
    ends = np.append(firsts[1:], len(hits))
    limit = np.full(len(error), -np.inf)
    full = ends - firsts >= k
    limit[full] = hits.value[firsts[full] + k - 1] - 2 * error[full]
    return hits.where(hits.value >= limit[hits.query]), limit


def score(metric: Metric, queries: Array, rows: Rows, hits: Hits, size: int) -> Hits:
    """The same hits with exact distances, in the order of rows.

    Parameters
    ----------
    metric : Metric
    queries : ndarray, shape (n, …)
        Rows of the candidates.
    rows : Rows
        All that was searched.
    hits : Hits
    size : int
        Rows of a block.
    """
    hits = hits.where(np.argsort(hits.row, kind="stable"))
    needed = np.zeros(rows.n, bool)
    needed[hits.row] = True
    distance = np.empty(len(hits))
    for start, block in rows.blocks(size, needed):
        begin, end = np.searchsorted(hits.row, [start, start + len(block)])
        for first in range(begin, end, SCORE):
            part = slice(first, min(first + SCORE, end))
            distance[part] = metric.exact(queries[hits.query[part]], block[hits.row[part] - start])
    return Hits(hits.query, hits.row, distance)
