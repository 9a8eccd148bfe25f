"""How many examples are needed, and what a given number of them can tell."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from resit.stats.intervals import clopper_pearson, z_value
from resit.stats.pairs import mcnemar_exact

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def independent_discordance(accuracy: float, difference: float) -> float:
    """Fraction of examples that exactly one of two models gets right if their errors were independent.

    Parameters
    ----------
    accuracy : float
        Mean accuracy of the two models.
    difference : float
        Difference of their accuracies.

    Returns
    -------
    float
    """
    low, high = accuracy - difference / 2, accuracy + difference / 2
    return low * (1 - high) + high * (1 - low)


def paired_sample_size(difference: float, discordance: float, power: float = 0.8, level: float = 0.95) -> int:
    """Examples needed to tell two models apart on the same examples.

    Parameters
    ----------
    difference : float
        True difference of accuracies, delta; not 0.
    discordance : float
        Fraction of examples that exactly one model gets right, psi; at least the absolute difference.
    power, level : float, optional
        Wanted chance of a significant difference, and confidence level of the test.

    Returns
    -------
    int
        ceil((z_(alpha/2) sqrt(psi) + z_beta sqrt(psi - delta^2))^2 / delta^2).

    References
    ----------
    Miettinen (1968), Biometrics 24(2); Connor (1987), Biometrics 43(1).
    """
    from scipy.special import ndtri

    spread = z_value(level) * math.sqrt(discordance) + float(ndtri(power)) * math.sqrt(discordance - difference**2)
    return math.ceil(spread**2 / difference**2)


def mcnemar_power(n: int, difference: float, discordance: float, level: float = 0.95) -> float:
    """Chance that the exact McNemar test finds a difference.

    Parameters
    ----------
    n : int
        Number of examples.
    difference, discordance : float
        As in :func:`paired_sample_size`.
    level : float, optional
        Confidence level of the test.

    Returns
    -------
    float
        Summed over the number of discordant examples, leaving out less than 1e-12 of its distribution.
    """
    from scipy.special import bdtr, bdtrc

    weight, d, edge, possible = _discordant(n, discordance, level)
    share = (discordance + difference) / (2 * discordance)
    reject = np.where(possible, bdtr(edge, d, share) + bdtrc(d - edge - 1, d, share), 0.0)
    return float((weight * reject).sum())


def order_power(n: int, difference: float, discordance: float, level: float = 0.95) -> float:
    """Chance that the exact McNemar test finds a difference and finds the better model better.

    Parameters
    ----------
    n : int
        Number of examples.
    difference, discordance, level : float
        As in :func:`mcnemar_power`; the difference is above 0.

    Returns
    -------
    float
    """
    from scipy.special import bdtrc

    weight, d, edge, possible = _discordant(n, discordance, level)
    share = (discordance + difference) / (2 * discordance)
    return float((weight * np.where(possible, bdtrc(d - edge - 1, d, share), 0.0)).sum())


def _discordant(n: int, discordance: float, level: float) -> tuple[Array, Ints, Array, Bools]:
    """Chances of each number d of discordant examples, d, the largest smaller count that is significant, if there is one."""
    from scipy.special import bdtrik, gammaln, xlog1py, xlogy

    spread = 8 * math.sqrt(n * discordance * (1 - discordance)) + 40
    lowest, highest = max(0, math.floor(n * discordance - spread)), min(n, math.ceil(n * discordance + spread))
    d = np.arange(lowest, highest + 1)
    log_weight = gammaln(n + 1) - gammaln(d + 1) - gammaln(n - d + 1)
    log_weight += xlogy(d, discordance) + xlog1py(n - d, -discordance)
    guess = np.floor(bdtrik((1 - level) / 2, d, 0.5))
    guess = np.clip(np.where(np.isfinite(guess), guess, 0), 0, d // 2)
    critical = np.full(len(d), -1.0)
    for count in (guess - 1, guess, guess + 1):  # the inverse may be off by one where it is a whole number
        edge = np.clip(count, 0, d // 2)
        critical = np.where((count == edge) & (mcnemar_exact(edge, d - edge) <= 1 - level), count, critical)
    return np.exp(log_weight), d.astype(np.int64), np.maximum(critical, 0), critical >= 0


def expected_width(accuracy: float, n: int, level: float = 0.95) -> float:
    """Expected width of the exact interval of an accuracy with n examples.

    Parameters
    ----------
    accuracy : float
        True accuracy.
    n : int
        Number of examples.
    level : float, optional

    Returns
    -------
    float
        Mean over the binomial number right, leaving out less than 1e-12 of its distribution.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    spread = 8 * math.sqrt(n * accuracy * (1 - accuracy)) + 40
    k = np.arange(max(0, math.floor(n * accuracy - spread)), min(n, math.ceil(n * accuracy + spread)) + 1)
    log_chance = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, accuracy) + xlog1py(n - k, -accuracy)
    exact = clopper_pearson(k, n, level)
    return float(np.exp(log_chance) @ (exact.high - exact.low))


def smallest(enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """The smallest whole number from ``low`` to ``high`` that is enough, where all larger ones are too; None if none is."""
    if not enough(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
