"""How much of the spread of accuracies between models is sampling noise of the examples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def noise_from_pairs(both: npt.NDArray[np.int64], n: int, gain: Array) -> float:
    """Expected contribution of example sampling to the variance over models, from the answers themselves.

    With C the covariance of the M (scaled) accuracies over redrawn examples, the variance (divisor M) of the accuracies over
    models is inflated by (tr C - 1'C1 / M) / M: noise that all models share cancels.

    Parameters
    ----------
    both : ndarray of int, shape (M, M)
        How many examples both models of a pair got right.
    n : int
        Number of examples.
    gain : ndarray of float, shape (M,)
        Derivative of the scale at each accuracy (ones on the linear scale).

    Returns
    -------
    float
        NaN for fewer than two examples.
    """
    if n < 2:
        return np.nan
    p = np.diagonal(both) / n
    covariance = (both / n - np.multiply.outer(p, p)) / (n - 1) * np.multiply.outer(gain, gain)
    models = len(p)
    return float((np.trace(covariance) - covariance.sum() / models) / models)


def noise_from_counts(accuracy: Array, n: Array, gain: Array) -> float:
    """The same as if the noise of the models were independent: an upper bound where only counts are known.

    Parameters
    ----------
    accuracy, n, gain : ndarray of float, shape (M,)
        Fractions right, numbers asked, derivative of the scale.

    Returns
    -------
    float
        NaN where a model was asked fewer than two examples.
    """
    variance = accuracy * (1 - accuracy) / np.where(n > 1, n - 1, np.nan)
    return float((gain**2 * variance).mean() * (1 - 1 / len(accuracy)))
