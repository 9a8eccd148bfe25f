"""Counts of votes, equal ones taken together, and the mixture of betas that their true frequencies may be of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
CELLS = 256


@dataclass(frozen=True, slots=True)
class Patterns:
    """Counts that are equal taken together.

    Parameters
    ----------
    selected, shown : ndarray of int64, shape (U,)
        Each different pair of counts once.
    of : ndarray of int64, shape (n,)
        Pattern of each image.
    """

    selected: Ints
    shown: Ints
    of: Ints

    def weights(self, images: npt.ArrayLike | None = None) -> Array:
        """How many images have each pattern, shape (U,), each image counted as often as ``images`` says."""
        counted = None if images is None else np.asarray(images, np.float64)
        return np.bincount(self.of, counted, minlength=len(self.selected)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class BetaMixture:
    """Distribution of the true frequency in a pool of images.

    Parameters
    ----------
    a, b : ndarray of float, shape (K,)
        Shapes of the components.
    weight : ndarray of float, shape (K,)
        Sums to 1.
    log_likelihood : float
        Of the counts that it was fitted to, without the binomial coefficients.
    """

    a: Array
    b: Array
    weight: Array
    log_likelihood: float

    @property
    def mean(self) -> float:
        """Mean true frequency."""
        return float(self.weight @ (self.a / (self.a + self.b)))

    def cells(self) -> Array:
        """Probability of each cell of :func:`cell_edges`, shape (CELLS,)."""
        from scipy.special import betainc

        return np.asarray(self.weight @ np.diff(betainc(self.a[:, None], self.b[:, None], cell_edges()), axis=1), float)

    def posterior_mean(self, selected: npt.ArrayLike, shown: npt.ArrayLike) -> Array:
        """Expected true frequency of images with these counts, which draw it towards the pool's mean.

        Parameters
        ----------
        selected, shown : array_like of int, shape (n,)

        Returns
        -------
        ndarray of float, shape (n,)
        """
        k, n = np.asarray(selected, float)[:, None], np.asarray(shown, float)[:, None]
        joint = _log_joint(k, n, self.a, self.b, np.log(np.maximum(self.weight, np.finfo(float).tiny)))
        share = np.exp(joint - joint.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        return np.asarray((share * (self.a + k) / (self.a + self.b + n)).sum(axis=1), float)

    def posterior(self, selected: npt.ArrayLike, shown: npt.ArrayLike) -> Array:
        """Probability of each cell for images with these counts.

        Parameters
        ----------
        selected, shown : array_like of int, shape (n,)

        Returns
        -------
        ndarray of float, shape (n, CELLS)
            Rows sum to 1.
        """
        k, n = np.asarray(selected, float)[:, None], np.asarray(shown, float)[:, None]
        middle = cell_middles()
        log = k * np.log(middle) + (n - k) * np.log1p(-middle) + np.log(np.maximum(self.cells(), np.finfo(float).tiny))
        found = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(found / found.sum(axis=1, keepdims=True), float)


@cache
def cell_edges() -> Array:
    """Edges of the cells that distributions of frequency are computed on, finer near 0 and 1; shape (CELLS + 1,)."""
    edges = np.sin(np.linspace(0, np.pi / 2, CELLS + 1)) ** 2
    edges.flags.writeable = False
    return np.asarray(edges, float)


@cache
def cell_middles() -> Array:
    """Middles of the cells, shape (CELLS,)."""
    edges = cell_edges()
    middles = np.asarray((edges[1:] + edges[:-1]) / 2, float)
    middles.flags.writeable = False
    return middles


def patterns(selected: npt.ArrayLike, shown: npt.ArrayLike) -> Patterns:
    """Take images with equal counts together.

    Parameters
    ----------
    selected, shown : array_like of int, shape (n,)
        Times selected, and times shown.

    Raises
    ------
    UsageError
        If there is no image, one was never shown, or one was selected more often than shown or less often than never.
    """
    k, n = np.asarray(selected, np.int64), np.asarray(shown, np.int64)
    if not len(k):
        raise UsageError("no image with votes", where="frequencies", fix="Give counts of at least one image.")
    if (n < 1).any() or (k < 0).any() or (k > n).any():
        raise UsageError("counts outside 0 to the times shown, at least 1", where="frequencies", fix="Check the counts.")
    step = int(n.max()) + 1
    codes, of = np.unique(n * step + k, return_inverse=True)
    return Patterns(codes % step, codes // step, of.ravel().astype(np.int64))


def _log_joint(k: Array, n: Array, a: Array, b: Array, log_weight: Array) -> Array:
    from scipy.special import betaln

    return np.asarray(betaln(k + a, n - k + b) - betaln(a, b) + log_weight, float)
