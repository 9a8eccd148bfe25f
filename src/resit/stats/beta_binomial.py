"""True frequencies behind counts of votes: a mixture of betas, fitted to beta-binomial counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
CELLS = 256
MOST_COMPONENTS = 3
CONCENTRATIONS = (3.0, 15.0)
# Of the logarithms of the shapes, and of the weights before they are normalised.
SHAPES, WEIGHTS = (-4.0, 6.0), (-8.0, 8.0)
STEPS = 1_000


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


def fit(
    counts: Patterns,
    *,
    weights: npt.ArrayLike | None = None,
    components: int | None = None,
    start: BetaMixture | None = None,
) -> BetaMixture:
    """Fit a mixture of betas by maximum likelihood of the beta-binomial counts.

    Shapes lie between exp(-4) and exp(6). Without a number of components, the one of 1 to 3 with the least BIC is taken.

    Parameters
    ----------
    counts : Patterns
    weights : array_like of float, shape (U,), optional
        How many images have each pattern; default each image once.
    components : int, optional
        Number of betas.
    start : BetaMixture, optional
        Where to start, with the same number of components; default: components at quantiles of the frequencies, more and less
        concentrated, of which the likelier end is taken.

    Returns
    -------
    BetaMixture
        Components in the order of their means.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, section 4.2.
    """
    many = counts.weights() if weights is None else np.asarray(weights, np.float64)
    if start is not None:
        return _climb(counts, many, _packed(start))
    found = []
    for number in range(1, MOST_COMPONENTS + 1) if components is None else (components,):
        ends = [_climb(counts, many, _first(counts, many, number, c)) for c in CONCENTRATIONS]
        found.append(max(ends, key=lambda end: end.log_likelihood))
    size = np.log(many.sum())
    return min(found, key=lambda one: (3 * len(one.a) - 1) * size - 2 * one.log_likelihood)


def _log_joint(k: Array, n: Array, a: Array, b: Array, log_weight: Array) -> Array:
    from scipy.special import betaln

    return np.asarray(betaln(k + a, n - k + b) - betaln(a, b) + log_weight, float)


def _first(counts: Patterns, weights: Array, number: int, concentration: float) -> Array:
    smooth = (counts.selected + 0.5) / (counts.shown + 1)
    order = np.argsort(smooth, kind="stable")
    at = np.searchsorted(np.cumsum(weights[order]), (np.arange(number) + 0.5) / number * weights.sum())
    mean = smooth[order][np.minimum(at, len(order) - 1)]
    # Components that start alike would stay alike.
    mean = np.clip(mean * (1 - 0.3 * np.arange(number)[::-1] / number), 0.01, 0.99)
    return np.concatenate([np.log(concentration * mean), np.log(concentration * (1 - mean)), np.zeros(number)])


def _packed(mixture: BetaMixture) -> Array:
    return np.concatenate([np.log(mixture.a), np.log(mixture.b), np.log(np.maximum(mixture.weight, np.exp(WEIGHTS[0])))])


def _climb(counts: Patterns, weights: Array, start: Array) -> BetaMixture:
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    k, n = counts.selected[:, None].astype(float), counts.shown[:, None].astype(float)
    number = len(start) // 3
    bounds = [SHAPES] * (2 * number) + [WEIGHTS] * number
    end = minimize(_loss, start, (k, n, weights), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
    a, b, raw = np.exp(end.x[:number]), np.exp(end.x[number : 2 * number]), end.x[2 * number :]
    order = np.argsort(a / (a + b), kind="stable")
    return BetaMixture(a[order], b[order], np.exp(raw - logsumexp(raw))[order], -float(end.fun * weights.sum()))


def _loss(x: Array, k: Array, n: Array, weights: Array) -> tuple[float, Array]:
    """Mean negative log-likelihood and its gradient."""
    from scipy.special import digamma, logsumexp

    number, whole = len(x) // 3, weights.sum()
    a, b, raw = np.exp(x[:number]), np.exp(x[number : 2 * number]), x[2 * number :]
    log_weight = raw - logsumexp(raw)
    joint = _log_joint(k, n, a, b, log_weight)
    each = logsumexp(joint, axis=1)
    share = np.exp(joint - each[:, None]) * weights[:, None]
    both = digamma(a + b) - digamma(n + a + b)
    by_a = (share * (digamma(k + a) - digamma(a) + both)).sum(axis=0) * a
    by_b = (share * (digamma(n - k + b) - digamma(b) + both)).sum(axis=0) * b
    gradient = np.concatenate([by_a, by_b, share.sum(axis=0) - whole * np.exp(log_weight)])
    return -float(weights @ each) / whole, -gradient / whole
