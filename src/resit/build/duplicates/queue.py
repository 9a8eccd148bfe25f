"""The pairs of images that people still have to look at, those that are likeliest the same first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.duplicates.paired import paired
from resit.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

# The first of these that there is decides the order.
ORDERS = ("relative", "dssim", "shifted", "correlation", "l2")


def review_queue(
    pairs: pa.Table,
    verdicts: pa.Table,
    targets: Mapping[str, float | None],
    *,
    order: str | None = None,
    neighbours: int = 30,
) -> pa.Table:
    """One row for each pair of images without a verdict, nearest first.

    Parameters
    ----------
    pairs : pyarrow.Table
        PAIRS.
    verdicts : pyarrow.Table
        All events, VERDICTS. A pair that somebody is unsure of comes last.
    targets : mapping of str to float or None
        Distance up to which people review the pairs of each metric. A pair is in the queue if it is within the target of one.
        None: the metric brings no pairs in. Where no metric has a target, all pairs are in the queue.
    order : str, optional
        Metric whose distances decide the order. Default: ``relative`` where it is there, else ``dssim``, ``shifted``,
        ``correlation`` or ``l2``, else the first by name. Pairs without such a distance follow, by their best rank.
    neighbours : int
        Length of the lists; pairs that were pushed off them are left out.

    Returns
    -------
    pyarrow.Table
        PAIRS. Of the rows of a pair the one that decided its place.

    Raises
    ------
    InputError
        If a kind, verdict or time of the verdicts is none.
    UsageError
        If there are no distances of the metric that is to decide the order.
    """
    import pyarrow as pa

    found = paired(pairs, verdicts, neighbours)
    rows, key = found.rows, found.key
    if not len(rows):
        return rows
    metric = rows["metric"].combine_chunks().dictionary_encode()
    names = metric.dictionary.to_pylist()
    chosen = _order(names, order)
    which = np.asarray(metric.indices)
    distance = np.asarray(rows["distance"], np.float64)
    wanted = ~found.sure & np.isin(key, key[_within(names, which, distance, targets)])
    kept = np.flatnonzero(wanted)
    later = np.array([name != chosen for name in names])[which[kept]]
    value = np.where(later, np.asarray(rows["rank"], np.float64)[kept], distance[kept])
    by_name = np.argsort(np.argsort(names))[which[kept]]
    by_text = [_places(rows[name].take(pa.array(kept))) for name in ("reference", "image")]
    best = np.lexsort((*by_text, by_name, value, later, key[kept]))
    first = np.append(True, key[kept][best][1:] != key[kept][best][:-1])[: len(best)]
    best = best[first]
    turn = np.lexsort((key[kept][best], value[best], later[best], found.unsure[kept][best]))
    return rows.take(pa.array(kept[best[turn]]))


def _order(names: list[str], order: str | None) -> str:
    if order is None:
        return next((name for name in ORDERS if name in names), min(names))
    if order not in names:
        fix = f"There are {', '.join(sorted(names))}."
        raise UsageError(f"no distances {order!r} to go by", where="order", fix=fix)
    return order


def _within(
    names: list[str], which: npt.NDArray[np.int32], distance: npt.NDArray[np.float64], targets: Mapping[str, float | None]
) -> npt.NDArray[np.bool_]:
    """Which rows are within the target of their metric."""
    if all(target is None for target in targets.values()):
        return np.ones(len(which), bool)
    limits = [targets.get(name) for name in names]
    most = np.array([-np.inf if limit is None else limit for limit in limits])
    found: npt.NDArray[np.bool_] = distance <= most[which]
    return found


def _places(texts: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Place of each text among the distinct ones in order."""
    coded = texts.combine_chunks().dictionary_encode()
    order = np.argsort(np.argsort(np.array(coded.dictionary.to_pylist(), object)))
    found: npt.NDArray[np.int64] = order[np.asarray(coded.indices)] if len(order) else np.empty(0, np.int64)
    return found
