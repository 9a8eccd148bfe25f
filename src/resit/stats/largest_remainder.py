"""Whole numbers in given proportions, with a given sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

Ints = npt.NDArray[np.int64]


def apportion(weights: npt.ArrayLike, total: int, floor: int = 0) -> Ints:
    """Share out ``total`` in proportion to whole weights by largest remainder; ties go to the higher place.

    Computed in whole numbers: place k gets the integer part of ``total * weight_k / sum of weights``, and what is left goes,
    one each, to the largest remainders. With a floor, places that would get less than it get the floor, and the others share
    the rest; a place of weight 0 gets nothing.

    Parameters
    ----------
    weights : array_like of int, shape (K,)
        None negative.
    total : int
        What to share out.
    floor : int, optional
        Least that a place with weight gets.

    Returns
    -------
    ndarray of int64, shape (K,)
        Sums to ``total``, or to 0 where no place has weight.

    Raises
    ------
    UsageError
        If a weight, the total or the floor is negative, or the floors alone are more than the total.

    References
    ----------
    Hamilton's method; see Balinski and Young (1982), Fair Representation. Recht et al. (2019), appendix C.1, scale histograms
    with it.
    """
    share = np.array(weights, np.int64)
    if total < 0 or floor < 0 or (share < 0).any():
        raise UsageError("weights, a total or a floor below 0", where="largest remainder", fix="Give numbers from 0 on.")
    there = share > 0
    if floor * int(there.sum()) > total:
        what = f"{int(there.sum()):,} places of at least {floor:,} do not go into {total:,}"
        raise UsageError(what, where="largest remainder", fix="Lower the floor, or share out more.")
    out = np.zeros(len(share), np.int64)
    free = there.copy()
    while free.any():
        rest = total - floor * int((there & ~free).sum())
        below = free & _less(share, rest, floor, int(share[free].sum()))
        if not below.any():
            out[free] = _hamilton(share[free].tolist(), rest)
            break
        free &= ~below
    out[there & ~free] = floor
    return out


def _less(share: Ints, rest: int, floor: int, whole: int) -> npt.NDArray[np.bool_]:
    return np.array([weight * rest < floor * whole for weight in share.tolist()], bool)


def _hamilton(weights: Sequence[int], total: int) -> Ints:
    whole = sum(weights)
    parts = [divmod(weight * total, whole) for weight in weights]
    out = np.array([part for part, _ in parts], np.int64)
    order = sorted(range(len(parts)), key=lambda place: (parts[place][1], place), reverse=True)
    out[order[: total - int(out.sum())]] += 1
    return out
