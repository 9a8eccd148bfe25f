"""Images of normal difficulty and models of different ability: what makes accuracies of two sets a line on the probit scale."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.stats.scales import forward, off_the_edge

Array = npt.NDArray[np.float64]
Right = npt.NDArray[np.bool_]
NODES = 96
MOST = 0.9999


def shared_difficulty(right: Right) -> float | None:
    """Correlation of what decides two models' answers on an image, by how often both are right.

    A model of ability s is right on an image of difficulty t, normal over images, with probability Phi(s - t). Two models are
    then both right as often as two normal numbers of this correlation are below their thresholds: the spread of difficulty is
    sqrt(r / (1 - r)) in units of the noise of one answer.

    Parameters
    ----------
    right : ndarray of bool, shape (M, n)

    Returns
    -------
    float or None
        None for fewer than two models, or where models agree less or more than any correlation from 0 can make them.

    References
    ----------
    Recht et al. (2019), §5.3.
    """
    from scipy.optimize import brentq

    count, n = right.shape
    if count < 2:
        return None
    thresholds = forward(off_the_edge(right.mean(axis=1), n), "probit")
    on_image = right.sum(axis=0, dtype=float)
    both = float((on_image * (on_image - 1)).mean())
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()

    def excess(correlation: float) -> float:
        from scipy.special import ndtr

        share = ndtr((thresholds[:, None] - np.sqrt(correlation) * nodes) / np.sqrt(1 - correlation))
        return float(weights @ (share.sum(axis=0) ** 2 - (share**2).sum(axis=0))) - both

    if excess(0.0) >= 0 or excess(MOST) <= 0:
        return None
    return float(brentq(excess, 0.0, MOST, xtol=1e-10))


def predicted_slope(original: float, new: float) -> float:
    """Slope of the probit line that two sets' correlations of :func:`shared_difficulty` make."""
    return float(np.sqrt((1 - new) / (1 - original)))
