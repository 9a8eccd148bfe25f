"""Intervals for proportions and their differences, vectorised over models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Numbers = npt.ArrayLike


@dataclass(frozen=True, slots=True)
class Interval:
    """Estimates with lower and upper bounds, arrays of one shape."""

    estimate: Array
    low: Array
    high: Array


def z_value(level: float) -> float:
    """Two-sided standard normal quantile of a confidence level in (0, 1)."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))


def clopper_pearson(correct: Numbers, n: Numbers, level: float = 0.95) -> Interval:
    """Exact interval of a proportion.

    Parameters
    ----------
    correct, n : array_like, broadcastable
        Number right and number asked.
    level : float, optional
        Confidence level.

    Returns
    -------
    Interval
        The outer bound is exactly 0 at ``correct == 0`` and exactly 1 at ``correct == n``; NaN where ``n`` is 0 or unknown.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26(4).
    """
    from scipy.special import betaincinv

    k, m = np.broadcast_arrays(np.asarray(correct, float), np.asarray(n, float))
    tail = (1 - level) / 2
    known = m > 0
    k, m = np.where(known, k, np.nan), np.where(known, m, np.nan)
    low = np.where(k == 0, 0.0, betaincinv(np.maximum(k, 0.5), m - k + 1, tail))
    high = np.where(k == m, 1.0, betaincinv(k + 1, np.maximum(m - k, 0.5), 1 - tail))
    return Interval(k / m, np.where(known, low, np.nan), np.where(known, high, np.nan))


def wilson(correct: Numbers, n: Numbers, level: float = 0.95) -> Interval:
    """Score interval of a proportion, the building block of Newcombe's methods.

    Parameters
    ----------
    correct, n : array_like, broadcastable
        Number right and number asked.
    level : float, optional
        Confidence level.

    Returns
    -------
    Interval
        NaN where ``n`` is 0 or unknown.

    References
    ----------
    Wilson (1927), JASA 22(158).
    """
    k, m = np.broadcast_arrays(np.asarray(correct, float), np.asarray(n, float))
    m = np.where(m > 0, m, np.nan)
    z = z_value(level)
    p = k / m
    centre = (p + z**2 / (2 * m)) / (1 + z**2 / m)
    half = z / (1 + z**2 / m) * np.sqrt(p * (1 - p) / m + z**2 / (4 * m**2))
    low = np.where(k == 0, 0.0, centre - half)
    high = np.where(k == m, 1.0, centre + half)
    return Interval(p, np.where(np.isnan(m), np.nan, low), np.where(np.isnan(m), np.nan, high))


def newcombe(correct_1: Numbers, n_1: Numbers, correct_2: Numbers, n_2: Numbers, level: float = 0.95) -> Interval:
    """Hybrid score interval of the difference p2 - p1 of two independent proportions.

    Parameters
    ----------
    correct_1, n_1, correct_2, n_2 : array_like, broadcastable
        Number right and number asked on each set.
    level : float, optional
        Confidence level.

    Returns
    -------
    Interval
        NaN where a number asked is 0 or unknown.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 873-890, method 10.
    """
    one, two = wilson(correct_1, n_1, level), wilson(correct_2, n_2, level)
    difference = two.estimate - one.estimate
    low = difference - np.hypot(two.estimate - two.low, one.high - one.estimate)
    high = difference + np.hypot(two.high - two.estimate, one.estimate - one.low)
    return Interval(difference, low, high)


def newcombe_paired(both: Numbers, only_1: Numbers, only_2: Numbers, neither: Numbers, level: float = 0.95) -> Interval:
    """Score interval of the difference p1 - p2 of two proportions on the same examples.

    Parameters
    ----------
    both, only_1, only_2, neither : array_like, broadcastable
        How many examples both, only the first, only the second and neither got right.
    level : float, optional
        Confidence level.

    Returns
    -------
    Interval
        NaN where there are no examples.

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17, 2635-2650, method 10 (score limits, continuity-corrected phi).
    """
    a, b, c, d = np.broadcast_arrays(*(np.asarray(part, float) for part in (both, only_1, only_2, neither)))
    n = a + b + c + d
    one, two = wilson(a + b, n, level), wilson(a + c, n, level)
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    covariance = a * d - b * c
    corrected = np.where(covariance > 0, np.maximum(covariance - n / 2, 0), covariance)
    phi = np.divide(corrected, np.sqrt(margins), out=np.zeros_like(n), where=margins > 0)
    difference = one.estimate - two.estimate

    def reach(mine: Array, other: Array) -> Array:
        return np.asarray(np.sqrt(np.maximum(mine**2 - 2 * phi * mine * other + other**2, 0)), float)

    low = difference - reach(one.estimate - one.low, two.high - two.estimate)
    high = difference + reach(one.high - one.estimate, two.estimate - two.low)
    return Interval(difference, low, high)


def normal(estimate: Numbers, standard_error: Numbers, level: float = 0.95) -> Interval:
    """Normal interval from a standard error.

    Parameters
    ----------
    estimate, standard_error : array_like, broadcastable
        Estimates and their standard errors; NaN where not known.
    level : float, optional
        Confidence level.

    Returns
    -------
    Interval
    """
    value, error = np.broadcast_arrays(np.asarray(estimate, float), np.asarray(standard_error, float))
    half = z_value(level) * error
    return Interval(value, value - half, value + half)


def percentile(replicates: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Percentile interval over the last axis.

    Parameters
    ----------
    replicates : ndarray of float, shape (..., B)
        Bootstrap replicates without NaN.
    level : float, optional
        Confidence level.

    Returns
    -------
    low, high : ndarray of float, shape (...)
    """
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=-1)
    return low, high
