"""Accuracy given the true frequency: smooth, nowhere falling, from 0 to 1; fitted to accuracy given the votes."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from resit.stats.beta_binomial import cell_middles

Array = npt.NDArray[np.float64]
DEGREE = 4
HEAVY = 1e4
SMOOTHER = 10  # times the penalty: what that changes is told as doubt about smoothness
PENALTY = 1e-3  # stated, not chosen: see docs/methods.md


@cache
def _steps() -> Array:
    """Bernstein polynomials summed from the last: coefficients that rise are sums of these steps; shape (CELLS, DEGREE + 1)."""
    from scipy.special import comb

    j, s = np.arange(DEGREE + 1), cell_middles()[:, None]
    bernstein = comb(DEGREE, j) * s**j * (1 - s) ** (DEGREE - j)
    found = np.asarray(bernstein @ np.tril(np.ones((DEGREE + 1, DEGREE + 1))), float)
    found.flags.writeable = False
    return found


def curves(posterior: Array, weights: Array, correct: Array, penalty: float = PENALTY) -> Array:
    """Correctness given the true frequency, of several models.

    A polynomial of degree 4 in Bernstein form whose coefficients c do not fall and lie between 0 and 1, so that the curve does
    neither; least squares of correctness averaged over each pattern's posterior, plus penalty times the sum of squared second
    differences of c. In steps of c and what is left to 1 the constraints are: not negative, sum 1. So non-negative least
    squares (Lawson and Hanson, in SciPy) solves it, with the sum as a row of weight 1e4, and no other solver is needed.

    Parameters
    ----------
    posterior : ndarray of float, shape (U, CELLS)
        Of the true frequency, given each pattern of votes.
    weights : ndarray of float, shape (U,)
        How many images have the pattern.
    correct : ndarray of float, shape (R, U)
        Their mean correctness, by model.
    penalty : float, optional

    Returns
    -------
    ndarray of float, shape (R, CELLS)
    """
    from scipy.optimize import nnls

    root = np.sqrt(weights / weights.sum())
    turn, design = np.linalg.qr(root[:, None] * (posterior @ _steps()))
    goal = (root * correct) @ turn
    bends = np.sqrt(penalty) * np.diff(np.tril(np.ones((DEGREE + 1, DEGREE + 1))), n=2, axis=0)
    rows = np.vstack([design, bends])
    rows = np.vstack([np.hstack([rows, np.zeros((len(rows), 1))]), np.full(DEGREE + 2, HEAVY)])
    end = np.append(np.zeros(len(bends)), HEAVY)
    found = np.array([nnls(rows, np.append(one, end))[0][:-1] for one in goal])
    return np.asarray(np.clip(found @ _steps().T, 0, 1), float)
