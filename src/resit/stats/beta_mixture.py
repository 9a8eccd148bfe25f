"""Mixtures of betas fitted to counts of votes: EM from many starts, the number of components by held-out likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.stats.beta_binomial import BetaMixture, Patterns
from resit.stats.beta_likelihood import Likelihood
from resit.stats.resample import generator

Array = npt.NDArray[np.float64]
MOST_COMPONENTS = 3
RESTARTS, FOLDS = 8, 5
# Of the logarithms of the shapes, and of the weights before they are normalised.
SHAPES, WEIGHTS = (-4.0, 6.0), (-8.0, 8.0)
EM_STEPS, INNER = 40, 3
FINISHED = 2  # of the starts, the likeliest ones after EM
STEPS, AGAIN = 1_000, 30  # at most, of a first fit; of one that starts near its end
CURVED = (0, 1, 2, 4, 8, 14, 20)  # of these steps, those before which curvature is computed again
ALIKE = 1e-6  # log-likelihood an image
FLAT, LEAST = 1e-3, 1e-7  # curvature that a step allows for, at first and at least
SIDE = 1e-4  # on either side, of differences
NEAR = 1e-3  # of the bounds, on their scale


@dataclass(frozen=True, slots=True)
class Trial:
    """A fit with one number of components.

    Parameters
    ----------
    components : int
    log_likelihood : float
        Of all counts, without binomial coefficients.
    held_out, held_out_error : float or None
        Log-likelihood an image of folds that were left out of the fit; and the standard error of how much less it is than that
        of the best number, 0 for this. None where there was nothing to choose.
    effective : tuple of float
        Images that each component stands for, in the order of the components.
    steps : int
        Of the last climb to the maximum, after EM.
    converged : bool
        Whether that climb ended at a maximum.
    at_boundary : bool
        Whether a shape lies at a bound, exp(-4) or exp(6): a pool of almost equal frequencies, or one of almost 0 and 1.
    restarts, agreeing : int
        Starts that were followed to the end, and how many of these ended at the same likelihood as the best.
    """

    components: int
    log_likelihood: float
    held_out: float | None
    held_out_error: float | None
    effective: tuple[float, ...]
    steps: int
    converged: bool
    at_boundary: bool
    restarts: int
    agreeing: int


@dataclass(frozen=True, slots=True)
class MixtureFit:
    """A mixture, and how it was come by.

    Parameters
    ----------
    mixture : BetaMixture
    trials : tuple of Trial
        By number of components.
    tried : tuple of BetaMixture
        Of each trial.
    images, patterns : int
        How many images, and different pairs of counts, it was fitted to.
    """

    mixture: BetaMixture
    trials: tuple[Trial, ...]
    tried: tuple[BetaMixture, ...]
    images: int
    patterns: int

    @property
    def chosen(self) -> Trial:
        """The trial that the mixture is of."""
        return next(trial for trial in self.trials if trial.components == len(self.mixture.a))

    @property
    def richer(self) -> BetaMixture:
        """The mixture with one component more; the same where none was tried."""
        return next((one for one in self.tried if len(one.a) == len(self.mixture.a) + 1), self.mixture)


@dataclass(frozen=True, slots=True)
class _End:
    """Where a climb ended."""

    mixture: BetaMixture
    steps: int
    converged: bool


def fit_mixture(
    counts: Patterns, *, components: int | None = None, restarts: int = RESTARTS, folds: int = FOLDS, seed: int = 0
) -> MixtureFit:
    """Fit a mixture of betas by maximum likelihood of the beta-binomial counts.

    EM goes on from ``restarts`` starts at once; its M-step is generalised: a few steps of the fixed-point iteration, each of
    which raises the likelihood. The likeliest ends are then followed to their maximum by L-BFGS with shapes between exp(-4) and
    exp(6), as EM is slow near it. The number of components is the smallest whose held-out
    log-likelihood is within one standard error of the best; with n votes an image at most (n + 1) / 3 are tried, as more cannot
    be told apart from n + 1 counts.

    Parameters
    ----------
    counts : Patterns
    components : int, optional
        Number of betas; default: 1 to 3 are tried.
    restarts : int, optional
    folds : int, optional
        Of images, for the held-out likelihood.
    seed : int, optional
        Of the starts and the folds.

    Returns
    -------
    MixtureFit
        Components in the order of their means.

    Raises
    ------
    UsageError
        If there is no component, start, or second fold.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, section 4.2. Minka, T. (2000).
    Estimating a Dirichlet distribution.
    """
    if restarts < 1 or folds < 2 or (components is not None and components < 1):
        what = f"{components} components, {restarts} starts, {folds} folds"
        raise UsageError(what, where="mixture of betas", fix="Give at least one component and start, and two folds.")
    weights = counts.weights()
    most = min(MOST_COMPONENTS, max(1, (int(counts.shown.max()) + 1) // 3))
    numbers = range(1, most + 1) if components is None else (components,)
    full = Likelihood(counts, weights)
    ends = {number: _searched(full, number, restarts, seed) for number in numbers}
    best = {number: max(found, key=_height) for number, found in ends.items()}
    left = _left_out(counts, {number: end.mixture for number, end in best.items()}, folds, seed) if most > 1 else {}
    left = left if components is None else {}
    top = left[max(left, key=lambda number: left[number].mean())] if left else None
    close = [number for number, found in left.items() if top is not None and (top - found).mean() <= _error(top - found)]
    chosen = min(close, default=numbers[0])
    trials = tuple(_trial(full, ends[number], left.get(number), top) for number in numbers)
    tried = tuple(best[number].mixture for number in numbers)
    return MixtureFit(best[chosen].mixture, trials, tried, int(weights.sum()), len(weights))


def refit(counts: Patterns, weights: Array, start: BetaMixture) -> list[BetaMixture]:
    """Mixtures of other numbers of images a pattern, with as many components, all at once.

    Damped Newton steps, of which those are kept that raise the likelihood: for resamples of the images that the start was
    fitted to.

    Parameters
    ----------
    counts : Patterns
    weights : ndarray of float, shape (B, U)
        How many images have each pattern.
    start : BetaMixture
        The maximum for much the same images.

    Returns
    -------
    list of BetaMixture, length B
        Components in the order of the start's.
    """
    likelihood = Likelihood(counts, weights)
    bounds = _bounds(len(start.a))
    x = np.tile(_packed(start), (len(weights), 1))
    loss, slope = _loss(x, likelihood)
    damping = np.full((len(x), 1), FLAT)
    for step in range(AGAIN):
        if step in CURVED:
            values, vectors = np.linalg.eigh(_curvature(likelihood, x))
        along = np.einsum("bij,bi->bj", vectors, slope) / np.maximum(np.abs(values), damping)
        move = -np.einsum("bij,bj->bi", vectors, along)
        to = np.clip(x + move / np.maximum(np.abs(move).max(axis=1, keepdims=True), 1), *bounds)
        after, slope_after = _loss(to, likelihood)
        better = after < loss
        x, slope = (np.where(better[:, None], new, old) for new, old in ((to, x), (slope_after, slope)))
        loss = np.where(better, after, loss)
        damping = np.clip(np.where(better[:, None], damping / 4, damping * 8), LEAST, 1)
    a, b, weight = _unpacked(x)
    whole = weights.sum(axis=1)
    return [BetaMixture(a[row], b[row], weight[row], -float(loss[row] * whole[row])) for row in range(len(x))]


def _curvature(likelihood: Likelihood, x: Array) -> Array:
    """Second derivatives of the losses, from differences of their gradients; shape (B, P, P)."""
    found = np.empty((*x.shape, x.shape[1]))
    for place in range(x.shape[1]):
        side = np.zeros(x.shape[1])
        side[place] = SIDE
        found[:, place] = (_loss(x + side, likelihood)[1] - _loss(x - side, likelihood)[1]) / (2 * SIDE)
    return (found + found.transpose(0, 2, 1)) / 2


def _height(end: _End) -> float:
    return end.mixture.log_likelihood


def _searched(likelihood: Likelihood, number: int, restarts: int, seed: int) -> list[_End]:
    """Ends of the likeliest starts."""
    a, b, log_weight = _starts(likelihood, number, restarts if number > 1 else 1, generator(seed, 7, number))
    for _ in range(EM_STEPS):
        found = likelihood.expected(a, b, log_weight)
        log_weight = np.log(np.maximum(found.images / likelihood.weights.sum(), np.exp(WEIGHTS[0])))
        for _ in range(INNER):
            for_a, for_b, both = likelihood.slopes(found, a, b)
            both = np.maximum(both, np.finfo(float).tiny)
            a, b = (np.clip(shape * up / both, *np.exp(SHAPES)) for shape, up in ((a, for_a), (b, for_b)))
    reached = likelihood.expected(a, b, log_weight).log_likelihood
    order = np.argsort(-reached, kind="stable")[:FINISHED]
    return [_climb(likelihood, BetaMixture(a[row], b[row], np.exp(log_weight[row]), 0.0)) for row in order]


def _starts(likelihood: Likelihood, number: int, restarts: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Components at quantiles of the frequencies, moved at random, more and less concentrated; each shape (R, K)."""
    counts, weights = likelihood.counts, likelihood.weights
    smooth = (counts.selected + 0.5) / (counts.shown + 1)
    order = np.argsort(smooth, kind="stable")
    level = (np.arange(number) + rng.uniform(0.2, 0.8, (restarts, number))) / number * weights.sum()
    at = np.minimum(np.searchsorted(np.cumsum(weights[order]), level), len(order) - 1)
    # Components that start alike would stay alike.
    lower = 1 - 0.5 * rng.random((restarts, number)) * np.arange(number)[::-1] / number
    mean = np.clip(smooth[order][at] * lower, 0.01, 0.99)
    concentration = np.exp(rng.uniform(np.log(2), np.log(40), (restarts, number)))
    return concentration * mean, concentration * (1 - mean), np.full((restarts, number), -np.log(number))


def _climb(likelihood: Likelihood, start: BetaMixture) -> _End:
    from scipy.optimize import minimize

    number, whole = len(start.a), likelihood.weights.sum()
    limits = {"maxiter": STEPS, "ftol": 1e-11, "gtol": 1e-6}
    ends = list(zip(*_bounds(number), strict=True))
    end = minimize(_loss, _packed(start), (likelihood,), jac=True, method="L-BFGS-B", bounds=ends, options=limits)
    a, b, weight = _unpacked(end.x)
    order = np.argsort(a / (a + b), kind="stable")
    found = BetaMixture(a[order], b[order], weight[order], -float(end.fun * whole))
    return _End(found, int(end.nit), bool(end.success))


def _packed(mixture: BetaMixture) -> Array:
    weight = np.log(np.maximum(mixture.weight, np.exp(WEIGHTS[0])))
    return np.concatenate([np.log(mixture.a), np.log(mixture.b), weight])


def _bounds(number: int) -> tuple[Array, Array]:
    low, high = np.array([*[SHAPES] * (2 * number), *[WEIGHTS] * number]).T
    return low, high


def _unpacked(x: Array) -> tuple[Array, Array, Array]:
    first, second, raw = np.split(x, 3, axis=-1)
    share = np.exp(raw - raw.max(axis=-1, keepdims=True))
    return np.exp(first), np.exp(second), share / share.sum(axis=-1, keepdims=True)


def _loss(x: Array, likelihood: Likelihood) -> tuple[Array, Array]:
    """Mean negative log-likelihood and its gradient; of one mixture, or of each of many."""
    whole = likelihood.weights.sum(axis=-1)
    a, b, weight = _unpacked(x)
    found = likelihood.expected(a, b, np.log(weight))
    for_a, for_b, both = likelihood.slopes(found, a, b)
    raw = found.images - whole[..., None] * weight
    gradient = np.concatenate([(for_a - both) * a, (for_b - both) * b, raw], axis=-1)
    return -found.log_likelihood / whole, -gradient / whole[..., None]


def _left_out(counts: Patterns, full: dict[int, BetaMixture], folds: int, seed: int) -> dict[int, Array]:
    """Log-likelihood an image of each fold, by number of components, when fitted to the other folds."""
    weights = counts.weights()
    images = np.repeat(np.arange(len(weights)), weights.astype(np.int64))
    fold = generator(seed, 8).permutation(len(images)) % folds
    inside = np.array([np.bincount(images[fold == one], minlength=len(weights)) for one in range(folds)], float)
    inside = inside[(inside.sum(axis=1) > 0) & (inside.sum(axis=1) < weights.sum())]
    if not len(inside):
        return {}
    return {
        number: np.array(
            [_log_likelihood(counts, part, _climb(Likelihood(counts, weights - part), mixture).mixture) for part in inside]
        )
        for number, mixture in full.items()
    }


def _log_likelihood(counts: Patterns, weights: Array, mixture: BetaMixture) -> float:
    """An image."""
    log_weight = np.log(np.maximum(mixture.weight, np.finfo(float).tiny))
    found = Likelihood(counts, weights).expected(mixture.a, mixture.b, log_weight)
    return float(found.log_likelihood / weights.sum())


def _error(folds: Array) -> float:
    return float(np.std(folds, ddof=1) / np.sqrt(len(folds))) if len(folds) > 1 else 0.0


def _trial(likelihood: Likelihood, ends: list[_End], left: Array | None, top: Array | None) -> Trial:
    best = max(ends, key=_height)
    mixture, whole = best.mixture, likelihood.weights.sum()
    shapes = np.log(np.concatenate([mixture.a, mixture.b]))
    images = likelihood.expected(mixture.a, mixture.b, np.log(mixture.weight)).images
    return Trial(
        components=len(mixture.a),
        log_likelihood=mixture.log_likelihood,
        held_out=None if left is None else float(left.mean()),
        held_out_error=None if left is None or top is None else _error(top - left),
        effective=tuple(images.tolist()),
        steps=best.steps,
        converged=best.converged,
        at_boundary=bool((shapes < SHAPES[0] + NEAR).any() or (shapes > SHAPES[1] - NEAR).any()),
        restarts=len(ends),
        agreeing=sum(bool(mixture.log_likelihood - _height(end) <= ALIKE * whole) for end in ends),
    )
