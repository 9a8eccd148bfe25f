"""What can come of scoring many models on one test set: bounds that hold for any data, and what the data at hand suggest."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

Array = npt.NDArray[np.float64]
Right = npt.NDArray[np.bool_]
STEPS = np.geomspace(1e-4, 0.5, 2_000)
DRAWS = 20_000
MOST_TRIED = 1e300  # as far as floats go, less room to multiply


def fixed_models_bound(accuracy: npt.ArrayLike, n: int, tried: int, level: float) -> Array:
    """How far true accuracy may lie below the one that was scored, for all of several models that were fixed beforehand.

    Clopper and Pearson's lower bound at error (1 - level) / tried, taken from the accuracy (union bound).

    Parameters
    ----------
    accuracy : array_like of float, shape (M,)
        Fractions right of n.
    n : int
        Examples.
    tried : int
        Models that were scored, at least one.
    level : float

    Returns
    -------
    ndarray of float, shape (M,)
    """
    from scipy.special import betaincinv

    _check(n, tried, level)
    scored = np.asarray(accuracy, float)
    right = scored * n
    low = betaincinv(np.maximum(right, np.finfo(float).tiny), n - right + 1, (1 - level) / tried)
    return np.where(right > 0, scored - low, 0.0)


def leaderboard_bound(n: int, tried: int, level: float) -> float:
    """How far the best score may lie above the truth if only new best scores were told, and each model followed from them.

    Parameters
    ----------
    n : int
        Examples.
    tried : int
        Models that were scored.
    level : float

    Returns
    -------
    float
        At most 1: then it says nothing.

    References
    ----------
    Blum and Hardt (2015), The Ladder, theorem 3.1, with the step that makes it smallest:
    P(error > e + step) <= exp(-2 e² n + (1 / step + 2) log(4 tried / step) + 1). Who is told less cannot gain more: where
    :func:`full_scores_bound` is smaller, it holds.
    """
    _check(n, tried, level)
    words = (1 / STEPS + 2) * (math.log(4 * tried) - np.log(STEPS)) + 1 - np.log(1 - level)
    return min(full_scores_bound(n, tried, level), float((STEPS + np.sqrt(words / (2 * n))).min()))


def full_scores_bound(n: int, tried: int, level: float) -> float:
    """How far a score may lie above the truth if every score was told exactly, and each model followed from all before.

    There are at most (n + 1) ** (tried - 1) runs of scores before the last model, so as many models that could be the last.

    Parameters
    ----------
    n, tried : int
    level : float

    Returns
    -------
    float
        At most 1: then it says nothing.

    References
    ----------
    Dwork et al. (2015), Generalization in adaptive data analysis and holdout reuse, section 3 (description length).
    """
    _check(n, tried, level)
    words = float(tried - 1) * math.log(n + 1) + math.log(tried) - math.log(1 - level)
    return min(1.0, math.sqrt(words / (2 * n)))


def best_by_chance(right: Right, rng: np.random.Generator, draws: int = DRAWS) -> float:
    """By how much the best of these models would look better than it is if all were equally good.

    Mean of the largest of normal errors with the covariance that the models' answers have: similar models gain less.

    Parameters
    ----------
    right : ndarray of bool, shape (M, n)
    rng : numpy.random.Generator
    draws : int, optional
    """
    scores = right.astype(np.float32)
    n = scores.shape[1]
    scores -= scores.mean(axis=1, keepdims=True)
    covariance = (scores @ scores.T).astype(float) / n**2
    values, vectors = np.linalg.eigh(covariance)
    factor = vectors * np.sqrt(np.maximum(values, 0))
    return float((rng.standard_normal((draws, len(factor))) @ factor.T).max(axis=1).mean())


def equally_lucky(gain: float, spread: float) -> float:
    """How many models of independent errors of one spread would give the same gain of the best.

    Parameters
    ----------
    gain : float
        Expected largest error.
    spread : float
        Standard deviation of one error.

    Returns
    -------
    float
        Between 1 and a million.
    """
    from scipy.optimize import brentq

    wanted = gain / spread if spread > 0 else 0.0
    if wanted <= 0:
        return 1.0
    most = 1e6
    if wanted >= _largest(most):
        return most
    return float(np.exp(brentq(lambda log: _largest(np.exp(log)) - wanted, 0.0, np.log(most))))


def _largest(count: float) -> float:
    """Mean of the largest of some standard normal numbers: the integral of its distribution."""
    from scipy.special import log_ndtr

    grid = np.linspace(-9, 9, 3_601)
    below = np.exp(count * log_ndtr(grid))
    return float(np.trapezoid((grid > 0) - below, grid))


def _check(n: int, tried: int, level: float) -> None:
    if n < 1 or not 1 <= tried <= MOST_TRIED or not 0 < level < 1:
        what = f"{n} examples, {tried} models, level {level}"
        fix = f"Give at least one of each, at most {MOST_TRIED:g} models, and a level between 0 and 1."
        raise UsageError(what, where="reuse", fix=fix)
