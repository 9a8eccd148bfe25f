"""Scales on which accuracies are compared: linear, probit and logit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def off_the_edge(accuracy: npt.ArrayLike, n: npt.ArrayLike) -> Array:
    """Accuracies of exactly 0 or 1 moved half an example inward, so that probit and logit are finite.

    Parameters
    ----------
    accuracy, n : array_like, broadcastable
        Fractions right, and numbers asked (NaN where not known).

    Returns
    -------
    ndarray of float
        1 / (2n) for 0, 1 - 1 / (2n) for 1; NaN there if n is 0 or not known; all else unchanged.
    """
    p, m = np.broadcast_arrays(np.asarray(accuracy, float), np.asarray(n, float))
    half = 0.5 / np.where(m > 0, m, np.nan)
    return np.where(p <= 0, half, np.where(p >= 1, 1 - half, p))


def forward(accuracy: Array, scale: str) -> Array:
    """Accuracies on a scale.

    Parameters
    ----------
    accuracy : ndarray of float
        Fractions; on probit and logit strictly between 0 and 1.
    scale : {'linear', 'probit', 'logit'}

    Returns
    -------
    ndarray of float
    """
    from scipy.special import logit, ndtri

    return np.asarray({"linear": np.asarray, "probit": ndtri, "logit": logit}[scale](accuracy), float)


def backward(value: Array, scale: str) -> Array:
    """Values on a scale back as accuracies; the inverse of :func:`forward`."""
    from scipy.special import expit, ndtr

    return np.asarray({"linear": np.asarray, "probit": ndtr, "logit": expit}[scale](value), float)


def derivative(accuracy: Array, scale: str) -> Array:
    """Derivative of :func:`forward` with respect to accuracy, for the delta method."""
    from scipy.special import ndtri

    if scale == "probit":
        return np.asarray(np.sqrt(2 * np.pi) * np.exp(ndtri(accuracy) ** 2 / 2), float)
    return 1 / (accuracy * (1 - accuracy)) if scale == "logit" else np.ones_like(accuracy)
