"""A figure with its interval, and accuracies corrected for the bias of matching, for the mean of the models and for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

Array = npt.NDArray[np.float64]
NAN = float("nan")


class Estimate(NamedTuple):
    """A figure with its standard error over resampled images, and its interval; NaN where there were no resamples."""

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Corrected:
    """Accuracy on the new set at the original's true frequencies.

    Parameters
    ----------
    accuracy : Estimate
        Mean of the models.
    drop : Estimate or None
        Accuracy on the original minus this: the drop that the bias of matching does not explain. None without answers on the
        original.
    accuracy_by_model, drop_by_model : tuple of Estimate
        Of each model, in their order; drops only with answers on the original.
    """

    accuracy: Estimate
    drop: Estimate | None
    accuracy_by_model: tuple[Estimate, ...]
    drop_by_model: tuple[Estimate, ...]


class Lean(NamedTuple):
    """What is expected to lie between figures and the truth.

    Parameters
    ----------
    value : ndarray of float, shape (R,)
        Truth minus figure.
    replicates : ndarray of float, shape (B', R)
        The same of the first redrawn images.
    doubt : ndarray of float, shape (R,)
        Error of the value that resampling does not see.
    """

    value: Array
    replicates: Array
    doubt: Array


def check_redraws(resamples: int, level: float) -> None:
    """Refuse what gives no standard error or no interval.

    Raises
    ------
    UsageError
    """
    if resamples < 2:
        raise UsageError(f"{resamples} resamples", where="resamples", fix="A standard error needs two and more.")
    if not 0 < level < 1:
        raise UsageError(f"a confidence level lies between 0 and 1, not {level}", where="level", fix="Try 0.95.")


def estimates(
    value: Array, replicates: Array, level: float, lean: Lean | None = None, doubt: Array | None = None
) -> tuple[Estimate, ...]:
    """Figures with normal intervals, whose standard errors are those of replicates.

    Parameters
    ----------
    value : ndarray of float, shape (R,)
    replicates : ndarray of float, shape (B, R)
    level : float
    lean : Lean, optional
        The interval then reaches over both the figure's own and that of figure plus lean, with the errors of each.
    doubt : ndarray of float, shape (R,), optional
        Error that resampling does not see; squares are added for the interval.

    Returns
    -------
    tuple of Estimate, length R
    """
    from scipy.special import ndtri

    width = float(ndtri((1 + level) / 2))
    error = _spread(replicates)
    whole = error if doubt is None else np.hypot(error, doubt)
    low, high = value - width * whole, value + width * whole
    if lean is not None:
        spread = _spread(replicates[: len(lean.replicates)] + lean.replicates)
        middle, reach = value + lean.value, width * np.hypot(spread, lean.doubt)
        low, high = np.minimum(low, middle - reach), np.maximum(high, middle + reach)
    columns = (value, error, low, high)
    return tuple(Estimate(*map(float, row)) for row in zip(*columns, strict=True))


def _spread(replicates: Array) -> Array:
    return np.std(replicates, axis=0, ddof=1) if len(replicates) > 1 else np.full(replicates.shape[1], NAN)


def corrected(
    value: Array,
    replicates: Array,
    original: tuple[Array, Array] | None,
    level: float,
    lean: Lean | None = None,
    doubt: Array | None = None,
) -> Corrected:
    """Corrected accuracies from those of the mean of the models and of each.

    Parameters
    ----------
    value : ndarray of float, shape (R,)
    replicates : ndarray of float, shape (B, R)
    original : tuple of ndarray or None
        Accuracies on the original in the same form, from the same redrawn images.
    level : float
    lean, doubt
        As :func:`estimates`.
    """
    mean, *each = estimates(value, replicates, level, lean, doubt)
    if original is None:
        return Corrected(mean, None, tuple(each), ())
    other = None if lean is None else Lean(-lean.value, -lean.replicates, lean.doubt)
    drop, *drops = estimates(original[0] - value, original[1] - replicates, level, other, doubt)
    return Corrected(mean, drop, tuple(each), tuple(drops))
