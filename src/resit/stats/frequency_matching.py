"""Accuracy that a new set would have if its images' true selection frequencies were those of the original: three estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.stats.beta_binomial import BetaMixture, Patterns, cell_middles, fit
from resit.stats.resample import generator, resample_examples

Array = npt.NDArray[np.float64]
NAN = float("nan")
DEGREE = 4
HEAVY = 1e4
LEVEL_SEEN = 1e-9


class Estimate(NamedTuple):
    """A figure with its standard error over resampled images."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class ByVotes:
    """Estimates that match on observed frequencies.

    Parameters
    ----------
    naive : Estimate
        Biased where frequencies are noisy.
    jackknife : Estimate
        With the leading part of this bias taken out.
    votes, deleted : int
        Votes n that were matched on, and how many of them, d, the jackknife leaves out.
    uncovered : float
        Share of original images at a frequency that no new image has. They are taken to be answered like new images of the
        nearest frequency.
    """

    naive: Estimate
    jackknife: Estimate
    votes: int
    deleted: int
    uncovered: float


@dataclass(frozen=True, slots=True)
class ByMixtures:
    """Estimates from both pools' true frequencies as mixtures of betas.

    Parameters
    ----------
    original_frequency, new_frequency, frequency_shift : Estimate
        Mean true frequency of the original and of the new images, and new minus original.
    accuracy : Estimate or None
        Of the new set at the original's true frequencies; None without correctness on the new images.
    accuracy_shift : Estimate or None
        Accuracy that the shift of frequency gains, by how correctness rises with frequency among the original images; None
        without correctness on them.
    original, pool : BetaMixture
    """

    original_frequency: Estimate
    new_frequency: Estimate
    frequency_shift: Estimate
    accuracy: Estimate | None
    accuracy_shift: Estimate | None
    original: BetaMixture
    pool: BetaMixture


def levels(counts: Patterns, votes: int) -> Array:
    """Probability of each number selected among ``votes`` votes drawn from those that each image has.

    Parameters
    ----------
    counts : Patterns
        Of U patterns.
    votes : int

    Returns
    -------
    ndarray of float, shape (U, votes + 1)
        Hypergeometric; 0 and 1 where an image has just that many votes.

    Raises
    ------
    UsageError
        If an image has fewer votes.
    """
    from scipy.special import gammaln

    if votes < 1 or votes > counts.shown.min():
        what = f"{votes:,} votes of images that have {int(counts.shown.min()):,} and more"
        raise UsageError(what, where="frequencies", fix="Match on fewer votes, or leave images with fewer out.")
    k, n, j = counts.selected[:, None], counts.shown[:, None], np.arange(votes + 1)
    possible = (j <= k) & (votes - j <= n - k)

    def ways(whole: npt.NDArray[np.int64], part: npt.NDArray[np.int64]) -> Array:
        inside = np.clip(part, 0, whole)
        return np.asarray(gammaln(whole + 1) - gammaln(inside + 1) - gammaln(whole - inside + 1), float)

    found = np.where(possible, np.exp(ways(k, j) + ways(n - k, votes - j) - ways(n, np.full_like(n, votes))), 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True), float)


def by_votes(
    original: Patterns,
    new: Patterns,
    correct: npt.ArrayLike,
    votes: int,
    *,
    delete: int = 1,
    resamples: int = 200,
    seed: int = 0,
) -> ByVotes:
    """Estimate by observed frequency: naive, and by the delete-d jackknife.

    With A_n the sum over k of p_original(k) times the mean correctness of new images with k of n votes, the naive estimate is
    A_n and the jackknife (n A_n - (n - d) A_{n-d}) / d. Where images have more than n votes, and for A_{n-d}, frequencies are
    averaged over all ways to choose the votes, so nothing is drawn. Where no new image has k votes, those with the nearest
    number stand in: leaving these originals out would lift A_n over A_{n-d}, and the jackknife by n/d as much.

    Parameters
    ----------
    original, new : Patterns
        Votes on both sets. Those on the new images must not have selected them.
    correct : array_like of float, shape (n,)
        Share of models that are right on each new image.
    votes : int
        Votes n to match on; no image has fewer.
    delete : int, optional
        Votes d to leave out.
    resamples : int, optional
        Of images, for the standard errors. Images of both sets are redrawn independently; where new images were matched to the
        originals, the error of the naive estimate is therefore about a fifth too small in simulations.
    seed : int, optional

    Returns
    -------
    ByVotes

    Raises
    ------
    UsageError
        If an image has too few votes, or no vote would be left.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, sections 3 and 4.1.
    """
    if not 1 <= delete < votes:
        raise UsageError(f"{delete} of {votes} votes to leave out", where="jackknife", fix="Leave at least one, and keep one.")
    y, fewer = _correct(correct, new), votes - delete
    columns_of = [np.hstack([levels(counts, votes), levels(counts, fewer)])[counts.of] for counts in (original, new)]
    old, weight, right = columns_of[0], columns_of[1], columns_of[1] * y[:, None]
    at_all = _matched(old.sum(axis=0), weight.sum(axis=0), right.sum(axis=0), votes, delete)
    drawn_old = resample_examples(generator(seed, 0), old, resamples)
    drawn_new = resample_examples(generator(seed, 1), np.hstack([weight, right]), resamples)
    width = weight.shape[1]
    again = _matched(drawn_old, drawn_new[:, :width], drawn_new[:, width:], votes, delete)
    naive, jackknife = (Estimate(float(at_all[i]), _spread(again[..., i])) for i in range(2))
    return ByVotes(naive, jackknife, votes, delete, float(at_all[2]))


def _matched(old: Array, weight: Array, right: Array, votes: int, delete: int) -> Array:
    """Naive, jackknife and uncovered share, of sums over images; shape (..., 3)."""
    parts, uncovered = [], []
    for part in (slice(0, votes + 1), slice(votes + 1, None)):
        seen = weight[..., part] > LEVEL_SEEN
        mean = right[..., part] / np.where(seen, weight[..., part], 1)
        share = old[..., part] / old[..., part].sum(axis=-1, keepdims=True)
        uncovered.append((share * ~seen).sum(axis=-1))
        parts.append((share * np.take_along_axis(mean, _nearest(seen), axis=-1)).sum(axis=-1))
    jackknife = (votes * parts[0] - (votes - delete) * parts[1]) / delete
    return np.stack([parts[0], jackknife, uncovered[0]], axis=-1)


def _nearest(seen: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """For each level the nearest that is seen, of two the lower; at least one is."""
    here = np.arange(seen.shape[-1])
    below = np.maximum.accumulate(np.where(seen, here, -len(here)), axis=-1)
    above = np.flip(np.minimum.accumulate(np.flip(np.where(seen, here, 2 * len(here)), axis=-1), axis=-1), axis=-1)
    return np.where(here - below <= above - here, below, above).astype(np.intp)


def by_mixtures(
    original: Patterns,
    pool: Patterns,
    new: Patterns,
    *,
    correct_new: npt.ArrayLike | None = None,
    correct_original: npt.ArrayLike | None = None,
    resamples: int = 100,
    seed: int = 0,
) -> ByMixtures:
    """Estimate from mixtures of betas, which stays right where the votes on new images selected them.

    True frequencies s of the originals and of the pool of candidates are mixtures of betas. An image that was selected by its
    votes has, given them, the same posterior as any image of the pool with these votes. Correctness given s is a polynomial of
    degree 4 in Bernstein form that lies in [0, 1] and does not fall; it is fitted by least squares to correctness given the
    votes, averaged over the posterior.

    Parameters
    ----------
    original : Patterns
        Votes on original images.
    pool : Patterns
        Votes on all images that were selected from.
    new : Patterns
        Votes on the selected images; with fresh ones, their sums.
    correct_new, correct_original : array_like of float, shape (n,), optional
        Share of models that are right on each new and each original image.
    resamples : int, optional
        Of images, for the standard errors. Originals, pool and new images are redrawn independently; where new images were
        matched to the originals, the errors of the two shifts are therefore too large, up to threefold in simulations.
    seed : int, optional

    Returns
    -------
    ByMixtures

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, section 4.2.
    """
    sides = _Side.of(original, correct_original), _Side.of(pool, None), _Side.of(new, correct_new)
    draws = [side.as_it_is() for side in sides]
    mixtures = fit(original), fit(pool)
    value = _estimates(sides, draws, mixtures)
    again = np.empty((resamples, len(value)))
    for place, rng in enumerate(generator(seed, 2).spawn(resamples)):
        draws = [side.drawn(rng) for side in sides]
        refitted = [
            fit(side.counts, weights=draw.weights, start=mixture)
            for side, draw, mixture in zip(sides[:2], draws[:2], mixtures, strict=True)
        ]
        again[place] = _estimates(sides, draws, (refitted[0], refitted[1]))
    found = [Estimate(float(one), _spread(many)) for one, many in zip(value, again.T, strict=True)]
    return ByMixtures(
        original_frequency=found[0],
        new_frequency=found[1],
        frequency_shift=found[2],
        accuracy=None if correct_new is None else found[3],
        accuracy_shift=None if correct_original is None else found[4],
        original=mixtures[0],
        pool=mixtures[1],
    )


def curve(posterior: Array, weights: Array, correct: Array) -> Array:
    """Correctness given the true frequency: between 0 and 1, nowhere falling, smooth.

    Parameters
    ----------
    posterior : ndarray of float, shape (U, CELLS)
        Of the true frequency, given each pattern of votes.
    weights : ndarray of float, shape (U,)
        How many images have the pattern.
    correct : ndarray of float, shape (U,)
        Their mean correctness.

    Returns
    -------
    ndarray of float, shape (CELLS,)
    """
    from scipy.optimize import nnls
    from scipy.special import comb

    j, s = np.arange(DEGREE + 1), cell_middles()[:, None]
    bernstein = comb(DEGREE, j) * s**j * (1 - s) ** (DEGREE - j)
    # Coefficients that rise are sums of steps; steps and what is left to 1 are not negative and sum to 1.
    steps = bernstein @ np.tril(np.ones((DEGREE + 1, DEGREE + 1)))
    root = np.sqrt(weights / weights.sum())
    design = np.hstack([root[:, None] * (posterior @ steps), np.zeros((len(root), 1))])
    found, _ = nnls(np.vstack([design, np.full(DEGREE + 2, HEAVY)]), np.append(root * correct, HEAVY))
    return np.asarray(np.clip(steps @ found[:-1], 0, 1), float)


class _Draw(NamedTuple):
    """Number of images of each pattern, and their mean correctness where it is known."""

    weights: Array
    correct: Array | None


@dataclass(frozen=True, slots=True)
class _Side:
    """One set of images."""

    counts: Patterns
    correct: Array | None

    @classmethod
    def of(cls, counts: Patterns, correct: npt.ArrayLike | None) -> _Side:
        return cls(counts, None if correct is None else _correct(correct, counts))

    def as_it_is(self) -> _Draw:
        weights = self.counts.weights()
        return _Draw(weights, None if self.correct is None else self.counts.weights(self.correct) / weights)

    def drawn(self, rng: np.random.Generator) -> _Draw:
        """As many images, drawn with replacement."""
        weights, size = self.counts.weights(), len(self.counts.of)
        if self.correct is None:
            return _Draw(rng.multinomial(size, weights / size).astype(float), None)
        images = np.bincount(rng.integers(size, size=size), minlength=size)
        weights = self.counts.weights(images)
        return _Draw(weights, self.counts.weights(images * self.correct) / np.maximum(weights, 1))


def _estimates(sides: Sequence[_Side], draws: Sequence[_Draw], mixtures: tuple[BetaMixture, BetaMixture]) -> Array:
    """Frequencies of the original and the new set and their shift, accuracy, and what the shift gains; shape (5,)."""
    (original, _, new), (of_original, of_pool) = draws, mixtures
    counts = sides[2].counts
    share = new.weights / new.weights.sum()
    old_mean, new_mean = of_original.mean, float(share @ of_pool.posterior_mean(counts.selected, counts.shown))
    target, accuracy, gain = of_original.cells(), NAN, NAN
    posterior = of_pool.posterior(counts.selected, counts.shown)
    if new.correct is not None:
        accuracy = float(target @ curve(posterior, new.weights, new.correct))
    if original.correct is not None:
        old = of_original.posterior(sides[0].counts.selected, sides[0].counts.shown)
        gain = float((share @ posterior - target) @ curve(old, original.weights, original.correct))
    return np.array([old_mean, new_mean, new_mean - old_mean, accuracy, gain])


def _correct(correct: npt.ArrayLike, counts: Patterns) -> Array:
    found = np.asarray(correct, np.float64)
    if found.shape != counts.of.shape or not ((found >= 0) & (found <= 1)).all():
        what = "correctness that is not one number from 0 to 1 for each image"
        raise UsageError(what, where="frequencies", fix="Give the share of models that are right, image by image.")
    return found


def _spread(replicates: Array) -> float:
    return float(np.std(replicates, ddof=1)) if len(replicates) > 1 else NAN
