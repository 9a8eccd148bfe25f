"""Bias that the jackknife over votes leaves, as mixtures of betas and curves of accuracy tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resit.stats.beta_binomial import BetaMixture, Patterns, cell_middles
from resit.stats.beta_mixture import fit_mixture, refit
from resit.stats.corrected import Lean
from resit.stats.frequency_curve import PENALTY, SMOOTHER, curves
from resit.stats.image_draws import Sums

Array = npt.NDArray[np.float64]
REDRAWS = 200  # at most: each needs fits of its own


class Leaving(NamedTuple):
    """How many votes a jackknife has, and leaves out.

    Parameters
    ----------
    votes, delete : int
        n and d.
    panel : float or None
        Number N of votes that the n were drawn from without replacement; None if votes are independent.
    """

    votes: int
    delete: int
    panel: float | None

    @property
    def kept(self) -> int:
        """Votes n - d that are left."""
        return self.votes - self.delete

    def jackknife(self, full: Array, fewer: Array) -> Array:
        """Go on from A_{n-d} through A_n to N votes, or to endlessly many, along a line in 1/n."""
        left = 1.0 if self.panel is None else 1 - self.votes / self.panel
        return full + left * self.kept / self.delete * (full - fewer)


def left_over(
    original: Patterns, new: Patterns, old: Sequence[Sums], sums: Sequence[Sums], leaving: Leaving, seed: int
) -> Lean:
    """Truth minus jackknife, expected under what is fitted to the votes and answers.

    Parameters
    ----------
    original, new : Patterns
    old, sums : sequence of Sums
        Of original and new images: first as they are, then redrawn.
    leaving : Leaving
    seed : int
        Of the fits.

    Returns
    -------
    Lean
        For the mean of the models and for each, of the images as they are and of the first redrawn ones.
    """
    images = [np.concatenate([one.images for one in side])[: REDRAWS + 1] for side in (old, sums)]
    right = np.concatenate([one.right for one in sums])[: REDRAWS + 1]
    fits = [fit_mixture(counts, seed=seed) for counts in (original, new)]
    mixtures = [
        [fit.mixture, *(refit(counts, many[1:], fit.mixture) if len(many) > 1 else [])]
        for fit, counts, many in zip(fits, (original, new), images, strict=True)
    ]
    chances = [_chances(number) for number in (leaving.votes, leaving.kept)]
    found = [
        _of(target, pool, new, own, answers, chances, leaving)
        for target, pool, own, answers in zip(*mixtures, images[1], right, strict=True)
    ]
    given = new, images[1][0], right[0], chances, leaving
    smoother = _of(fits[0].mixture, fits[1].mixture, *given, SMOOTHER * PENALTY)
    richer = _of(fits[0].richer, fits[1].richer, *given)
    doubt = np.hypot(smoother - found[0], richer - found[0])
    return Lean(found[0], np.array(found[1:]).reshape(len(found) - 1, len(found[0])), doubt)


def _chances(votes: int) -> Array:
    """Chance of each number selected, by true frequency; shape (votes + 1, CELLS)."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(votes + 1)[:, None], votes, cell_middles()), float)


def _of(
    target: BetaMixture,
    pool: BetaMixture,
    counts: Patterns,
    images: Array,
    right: Array,
    chances: list[Array],
    leaving: Leaving,
    penalty: float = PENALTY,
) -> Array:
    there = images > 0
    posterior = pool.posterior(counts.selected[there], counts.shown[there])
    found = curves(posterior, images[there], right[:, there] / images[there], penalty)
    old, cells = target.cells(), pool.cells()
    full, fewer = (_matched(chance, old, cells, found) for chance in chances)
    return np.asarray(found @ old - leaving.jackknife(full, fewer), float)


def _matched(chance: Array, old: Array, new: Array, found: Array) -> Array:
    """What matching on votes gives where these are the distributions and curves."""
    joint = chance * new
    given = (joint @ found.T) / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray((chance @ old) @ given, float)
