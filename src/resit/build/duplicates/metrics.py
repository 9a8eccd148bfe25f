"""Distances by which neighbours are searched: each is told by products of prepared vectors, and scored exactly afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.build.duplicates.rows import PIXELS, SIDE, Array
from resit.errors import UsageError

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
FEATURES = "features:"
# Squares of 2 × 2 pixels that a shifted picture is averaged to; a shift by one of them is two pixels, a sixteenth of the side.
GRID = 16
MIDDLE = slice(1, GRID - 1)
SHIFTS = tuple((down, right) for down in range(3) for right in range(3))
ROUNDING = 2.0**-24  # of one float32 operation


@dataclass(frozen=True)
class Metric:
    """A distance by which neighbours are searched.

    The nearest have the largest ``max over views v of v · row − bias(row)``.

    Parameters
    ----------
    name : str
    kind : str
        Which rows it takes: pixels, or those of a model.
    views : callable
        Prepares candidates: rows (n, …) to float32 (views, n, d).
    row : callable
        Prepares what is searched: rows (n, …) to float32 (n, d).
    biased : bool
        Whether the bias is half the squared length of the prepared row; else there is none.
    exact : callable
        Distances of pairs, float64 (n,), given the rows of one and of the other: the same to the last bit in every order,
        number and grouping of pairs.
    """

    name: str
    kind: str
    views: Callable[[Array], Floats]
    row: Callable[[Array], Floats]
    biased: bool
    exact: Callable[[Array, Array], Doubles]


def metric_named(name: str) -> Metric:
    """A distance by its name: l2, correlation, shifted, mirrored, or ``features:`` and a model.

    Raises
    ------
    UsageError
        If there is none of this name.
    """
    if name in SEARCHED:
        return SEARCHED[name]
    if name.startswith(FEATURES) and len(name) > len(FEATURES):
        return Metric(name, name.removeprefix(FEATURES), _one(_unit), _unit, False, _cosine)
    fix = f"There are {', '.join((*SEARCHED, *SCORED))}, and {FEATURES}MODEL."
    raise UsageError(f"no distance {name!r}", where="metrics", fix=fix)


def squares(prepared: Array) -> Doubles:
    """Squared length of each row, shape (n,); see :func:`dots`."""
    return dots(prepared, prepared)


def dots(rows: Array, others: Array) -> Doubles:
    """Products of the rows of two arrays, pair by pair, shape (n,).

    Up to 256 numbers are summed in float32, which is exact for whole numbers up to 255, and these sums in float64.
    """
    part = math.gcd(rows.shape[1], 256)
    if part < 64:
        found: Doubles = np.einsum("ij,ij->i", rows, others, dtype=np.float64)
        return found
    one, two = (np.ascontiguousarray(side).reshape(-1, part) for side in (rows, others))
    summed: Doubles = np.einsum("ij,ij->i", one, two).reshape(len(rows), -1).sum(axis=1, dtype=np.float64)
    return summed


def slack(lengths: Doubles, width: int, longest: float, biased: bool) -> Doubles:
    """How far a product of float32 may be from the true one, for each candidate, shape (n,).

    Parameters
    ----------
    lengths : ndarray, shape (n,)
        Of the longest view of each candidate.
    width : int
        Numbers in a prepared row.
    longest : float
        Length of the longest prepared row.
    biased : bool

    Notes
    -----
    In whatever order d products are summed, the error is at most about d·u times the product of the two lengths, u = 2⁻²⁴; the
    lengths themselves are sums of up to 256 numbers in float32.

    References
    ----------
    Higham, N. J. (2002). Accuracy and stability of numerical algorithms, section 3.1. SIAM.
    """
    found: Doubles = (width + 600) * ROUNDING * longest * (lengths + (longest if biased else 0))
    return found


def _flat(rows: Array) -> Array:
    return rows.reshape(len(rows), int(np.prod(rows.shape[1:])))


def _one(make: Callable[[Array], Floats]) -> Callable[[Array], Floats]:
    return lambda rows: make(rows)[None]


def _centred(rows: Array) -> Floats:
    """Pixels from −128 to 127: differences stay, and products are smaller."""
    return np.subtract(_flat(rows), np.float32(128), dtype=np.float32)


def _unit(rows: Array) -> Floats:
    """Rows of length 1; a row of zeros stays so."""
    flat = _flat(rows)
    largest = np.abs(flat).max(axis=1, initial=0, keepdims=True)
    scaled = np.divide(flat, largest, out=np.zeros_like(flat, np.float32), where=largest > 0, casting="same_kind")
    length = np.sqrt(squares(scaled))[:, None]
    found: Floats = np.divide(scaled, length, out=scaled, where=length > 0, casting="same_kind")
    return found


def _correlated(rows: Array) -> Floats:
    """Rows without their mean, of length 1. One of a single colour becomes the constant row: orthogonal to all others."""
    flat = _flat(rows).astype(np.float32)
    width = flat.shape[1]
    # The sums are whole numbers that float32 holds.
    mean = (flat @ np.ones(width, np.float32)).astype(np.float64) / width
    whole = np.rint(mean)
    # First the whole part, which is exact, then the small rest.
    flat -= whole.astype(np.float32)[:, None]
    flat -= (mean - whole).astype(np.float32)[:, None]
    length = np.sqrt(squares(flat))
    single = length == 0
    flat[single], length[single] = 1, np.sqrt(width)
    flat *= (1 / length).astype(np.float32)[:, None]
    return flat


def _averaged(rows: Array) -> Array:
    """Sums of 2 × 2 pixels, uint16, shape (n, GRID, GRID, 3)."""
    side = SIDE // GRID
    found: Array = rows.reshape(len(rows), GRID, side, GRID, side, 3).sum(axis=(2, 4), dtype=np.uint16)
    return found


def _middle(rows: Array) -> Array:
    return _averaged(rows)[:, MIDDLE, MIDDLE]


def _windows(rows: Array) -> list[Array]:
    squares, size = _averaged(rows), GRID - 2
    return [squares[:, down : down + size, right : right + size] for down, right in SHIFTS]


def _euclidean(rows: Array, others: Array) -> Doubles:
    return squares(np.subtract(_flat(rows), _flat(others), dtype=np.float32)) / 255**2


def _one_minus_correlation(rows: Array, others: Array) -> Doubles:
    """All sums are whole numbers below 2⁵³, so none is rounded."""
    kind = np.float32 if rows.dtype == np.uint8 else np.float64
    x, y = _flat(rows).astype(kind), _flat(others).astype(kind)
    n, sum_x, sum_y = x.shape[1], x.sum(axis=1, dtype=np.float64), y.sum(axis=1, dtype=np.float64)
    covariance = n * dots(x, y) - sum_x * sum_y
    spread_x, spread_y = n * squares(x) - sum_x**2, n * squares(y) - sum_y**2
    both = np.sqrt(spread_x * spread_y)
    found = np.divide(covariance, both, out=np.zeros_like(both), where=both > 0)
    found[(spread_x == 0) & (spread_y == 0)] = 1
    distance: Doubles = np.maximum(1 - found, 0)
    return distance


def _shifted(rows: Array, others: Array) -> Doubles:
    middle = _middle(others)
    found: Doubles = np.min([_one_minus_correlation(window, middle) for window in _windows(rows)], axis=0)
    return found


def _mirrored(rows: Array, others: Array) -> Doubles:
    return _one_minus_correlation(_averaged(rows)[:, :, ::-1], _averaged(others))


def _cosine(rows: Array, others: Array) -> Doubles:
    """Sums of each row alone, along it, so that the other pairs of a call do not matter."""
    x, y = (np.ascontiguousarray(one, np.float64) for one in (rows, others))
    both = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    cosine = np.divide((x * y).sum(axis=1), both, out=np.zeros_like(both), where=both > 0)
    found: Doubles = np.maximum(1 - cosine, 0)
    return found


SEARCHED = {
    "l2": Metric("l2", PIXELS, _one(_centred), _centred, True, _euclidean),
    "correlation": Metric("correlation", PIXELS, _one(_correlated), _correlated, False, _one_minus_correlation),
    "shifted": Metric(
        "shifted",
        PIXELS,
        lambda rows: np.stack([_correlated(window) for window in _windows(rows)]),
        lambda rows: _correlated(_middle(rows)),
        False,
        _shifted,
    ),
    "mirrored": Metric(
        "mirrored",
        PIXELS,
        _one(lambda rows: _correlated(_averaged(rows)[:, :, ::-1])),
        lambda rows: _correlated(_averaged(rows)),
        False,
        _mirrored,
    ),
}
# Distances of pairs that the others found.
SCORED = ("dssim", "relative")
DEFAULT_METRICS = ("l2", "correlation", "shifted", *SCORED)
