"""Accuracy that a new set would have if its images' true frequencies were those of the original: from mixtures of betas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats.beta_binomial import BetaMixture, Patterns
from resit.stats.beta_mixture import MixtureFit, fit_mixture, refit
from resit.stats.corrected import Corrected, Estimate, check_redraws, corrected, estimates
from resit.stats.frequency_curve import PENALTY, SMOOTHER, curves
from resit.stats.frequency_matching import check_models
from resit.stats.image_draws import Sums, answers, as_they_are, drawn
from resit.stats.resample import generator

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ByMixtures:
    """Estimates from both pools' true frequencies as mixtures of betas.

    Parameters
    ----------
    original_frequency, new_frequency, frequency_shift : Estimate
        Mean true frequency of the original and of the new images, and new minus original.
    corrected : Corrected or None
        Accuracy of the new set at the original's true frequencies; None without correctness on the new images.
    accuracy_shift : Estimate or None
        Accuracy that the shift of frequency gains, by how correctness rises with frequency among the original images; None
        without correctness on them.
    original, pool : MixtureFit
    curve : ndarray of float, shape (CELLS,), or None
        Accuracy given the true frequency, mean of the models, at :func:`resit.stats.beta_binomial.cell_middles`; None without
        correctness on the new images.
    """

    original_frequency: Estimate
    new_frequency: Estimate
    frequency_shift: Estimate
    corrected: Corrected | None
    accuracy_shift: Estimate | None
    original: MixtureFit
    pool: MixtureFit
    curve: Array | None


@dataclass(frozen=True, slots=True)
class _Side:
    """One set of images, with the answers on them."""

    counts: Patterns
    rows: Array | None

    @classmethod
    def of(cls, counts: Patterns, correct: npt.ArrayLike | None) -> _Side:
        return cls(counts, None if correct is None else answers(correct, counts))


def _joined(pieces: list[Sums]) -> Sums:
    return Sums(np.concatenate([one.images for one in pieces]), np.concatenate([one.right for one in pieces]))


def by_mixtures(
    original: Patterns,
    pool: Patterns,
    new: Patterns,
    *,
    correct_new: npt.ArrayLike | None = None,
    correct_original: npt.ArrayLike | None = None,
    resamples: int = 200,
    level: float = 0.95,
    seed: int = 0,
) -> ByMixtures:
    """Estimate from mixtures of betas, which stays right where the votes on new images selected them.

    True frequencies s of the originals and of the pool of candidates are mixtures of betas. An image that was selected by its
    votes has, given them, the same posterior as any image of the pool with these votes. Correctness given s is a smooth curve
    that lies in [0, 1] and does not fall (:func:`resit.stats.frequency_curve.curves`); it is fitted by least squares to
    correctness given the votes, averaged over the posterior. The corrected accuracy is the mean of the curve over the
    originals' mixture. Its interval allows for what resampling does not see: what a tenfold penalty on bends
    changes, and what one more beta in each mixture does, are taken as errors beside that of resampling.

    Parameters
    ----------
    original : Patterns
        Votes on original images.
    pool : Patterns
        Votes on all images that were selected from.
    new : Patterns
        Votes on the selected images; with fresh ones, their sums.
    correct_new, correct_original : array_like of float, shape (M, n) or (n,), optional
        Whether each model is right on each new and each original image, or the share of models that are.
    resamples : int, optional
        Of images with their votes, for the standard errors: mixtures and curves are fitted again to each, with the same numbers
        of components. Originals, pool and new images are redrawn independently; where new images were matched to the originals,
        the errors of the two shifts are therefore too large, up to threefold in simulations.
    level : float, optional
        Of the intervals.
    seed : int, optional

    Returns
    -------
    ByMixtures

    Raises
    ------
    UsageError
        If correctness does not fit the images, the sets were answered by different numbers of models, or there are no such
        intervals.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, section 4.2.
    """
    check_redraws(resamples, level)
    fits = fit_mixture(original, seed=seed), fit_mixture(pool, seed=seed)
    old, whole, chosen = _Side.of(original, correct_original), _Side.of(pool, None), _Side.of(new, correct_new)
    if old.rows is not None and chosen.rows is not None:
        check_models(chosen.rows, old.rows)
    mixtures = fits[0].mixture, fits[1].mixture
    value = _values(old, chosen, _first(old), _first(chosen), mixtures)
    again = []
    streams = [drawn(generator(seed, 2, at), one.counts, one.rows, resamples) for at, one in enumerate((old, whole, chosen))]
    draws = [_joined(list(stream)) for stream in streams]
    refitted = [refit(one, draw.images, start) for one, draw, start in zip((original, pool), draws, mixtures, strict=False)]
    for row in range(resamples):
        of_old, of_new = ((draw.images[row], draw.right[row]) for draw in (draws[0], draws[2]))
        again.append(_values(old, chosen, of_old, of_new, (refitted[0][row], refitted[1][row])))
    return _told(old, chosen, fits, value, again, level)


@dataclass(frozen=True, slots=True)
class _Values:
    """Of one draw: frequencies (3,), corrected accuracies (R,), what the shift gains (1,), accuracies on the original (R,)."""

    frequencies: Array
    corrected: Array
    gain: Array
    accuracy: Array


def _first(side: _Side) -> tuple[Array, Array]:
    sums: Sums = as_they_are(side.counts, side.rows)
    return sums.images[0], sums.right[0]


def _values(
    old: _Side, new: _Side, of_old: tuple[Array, Array], of_new: tuple[Array, Array], mixtures: tuple[BetaMixture, BetaMixture]
) -> _Values:
    counts, (target, pool) = new.counts, mixtures
    share = of_new[0] / of_new[0].sum()
    means = target.mean, float(share @ pool.posterior_mean(counts.selected, counts.shown))
    cells, posterior = target.cells(), pool.posterior(counts.selected, counts.shown)
    gain = []
    if old.rows is not None:
        theirs = target.posterior(old.counts.selected, old.counts.shown)
        gain = [float((share @ posterior - cells) @ _curves(theirs, of_old[0], of_old[1][:1])[0])]
    found = np.empty(0) if new.rows is None else _curves(posterior, *of_new) @ cells
    accuracy = of_old[1].sum(axis=1) / of_old[0].sum()
    return _Values(np.array([*means, means[1] - means[0]]), found, np.array(gain), accuracy)


def _curves(posterior: Array, images: Array, right: Array, penalty: float = PENALTY) -> Array:
    """Of the patterns that were drawn."""
    there = images > 0
    return curves(posterior[there], images[there], right[:, there] / images[there], penalty)


def _told(
    old: _Side, new: _Side, fits: tuple[MixtureFit, MixtureFit], value: _Values, again: list[_Values], level: float
) -> ByMixtures:
    def many(name: str) -> Array:
        rows = [getattr(one, name) for one in again]
        return np.array(rows).reshape(len(rows), -1)

    frequencies = estimates(value.frequencies, many("frequencies"), level)
    accuracy = None if old.rows is None else (value.accuracy, many("accuracy"))
    found, curve = None, None
    if new.rows is not None:
        images, right = _first(new)
        posterior = fits[1].mixture.posterior(new.counts.selected, new.counts.shown)
        curve = _curves(posterior, images, right[:1])[0]
        smoother = _curves(posterior, images, right, SMOOTHER * PENALTY) @ fits[0].mixture.cells()
        more = fits[1].richer.posterior(new.counts.selected, new.counts.shown)
        richer = _curves(more, images, right) @ fits[0].richer.cells()
        doubt = np.hypot(smoother - value.corrected, richer - value.corrected)
        found = corrected(value.corrected, many("corrected"), accuracy, level, doubt=doubt)
    return ByMixtures(
        original_frequency=frequencies[0],
        new_frequency=frequencies[1],
        frequency_shift=frequencies[2],
        corrected=found,
        accuracy_shift=estimates(value.gain, many("gain"), level)[0] if old.rows is not None else None,
        original=fits[0],
        pool=fits[1],
        curve=curve,
    )
