"""Estimates as figures of a bias report, or why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from resit.build.bias_record import Accuracies, Figure, Fitted, Shape
from resit.stats.beta_binomial import Patterns, cell_middles
from resit.stats.beta_mixture import MixtureFit
from resit.stats.corrected import Corrected, Estimate
from resit.stats.frequency_matching import ByVotes
from resit.stats.frequency_mixtures import ByMixtures

Array = npt.NDArray[np.float64]
NO_MODELS = "no model's correctness on these images was given"
NO_IMAGES = "no image is selected"
BINS = 20


def figure_of(found: Estimate | None) -> Figure:
    """A figure, or that no model was given."""
    if found is None:
        return Figure(None, None, NO_MODELS)
    ends = [None if np.isnan(one) else one for one in (found.error, found.low, found.high)]
    return Figure(found.value, ends[0], "", ends[1], ends[2])


def over_images(values: Array, reason: str, level: float) -> Figure:
    """Mean over images, or why there is none.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
    reason : str
        Where there is no image.
    level : float
    """
    if not len(values):
        return Figure(None, None, reason)
    if len(values) == 1:
        return Figure(float(values[0]), None)
    return _normal(float(values.mean()), float(np.var(values, ddof=1) / len(values)), level)


def _normal(value: float, variance: float, level: float) -> Figure:
    from scipy.special import ndtri

    error = float(np.sqrt(variance))
    reach = float(ndtri((1 + level) / 2)) * error
    return Figure(value, error, "", value - reach, value + reach)


def accuracies(
    names: Sequence[str],
    old: Array | None,
    new: Array | None,
    mixed: ByMixtures | str,
    matched: ByVotes | str,
    level: float,
) -> Iterator[Accuracies]:
    """Accuracies of the mean of the models, then of each.

    Parameters
    ----------
    names : sequence of str, length M
    old, new : ndarray of float, shape (M, n), or None
        Correctness on images of each set.
    mixed : ByMixtures or str
        Or why there are no such estimates.
    matched : ByVotes or str
    level : float
    """
    for place in range(-1, len(names)):
        sides = [None if one is None else one.mean(axis=0) if place < 0 else one[place] for one in (old, new)]
        ours, theirs = (Figure(None, None, NO_MODELS) if one is None else over_images(one, NO_IMAGES, level) for one in sides)
        parametric = mixed if isinstance(mixed, str) else mixed.corrected
        naive, jackknife = (matched, matched) if isinstance(matched, str) else (matched.naive, matched.jackknife)
        found = [_corrected(one, place) for one in (naive, jackknife, parametric)]
        figures = (ours, theirs, *(one[0] for one in found), _drop(ours, theirs, level), *(one[1] for one in found))
        yield Accuracies("mean of models" if place < 0 else names[place], *figures)


def _corrected(found: Corrected | str | None, place: int) -> tuple[Figure, Figure]:
    """Accuracy and drop by one estimate."""
    if found is None or isinstance(found, str):
        nothing = Figure(None, None, found or NO_MODELS)
        return nothing, nothing
    if place < 0:
        return figure_of(found.accuracy), figure_of(found.drop)
    drop = found.drop_by_model[place] if found.drop_by_model else None
    return figure_of(found.accuracy_by_model[place]), figure_of(drop)


def _drop(old: Figure, new: Figure, level: float) -> Figure:
    """Of two independent sets of images."""
    if old.value is None or new.value is None:
        return Figure(None, None, old.reason or new.reason)
    if old.error is None or new.error is None:
        return Figure(old.value - new.value, None)
    return _normal(old.value - new.value, old.error**2 + new.error**2, level)


def fitted(found: MixtureFit) -> Fitted:
    """A fit as a record of plain values."""
    one = found.mixture
    betas = tuple(zip(one.a.tolist(), one.b.tolist(), one.weight.tolist(), strict=True))
    return Fitted(found.images, found.patterns, found.trials, betas)


def shape(found: ByMixtures, new: Patterns) -> Shape:
    """Shares of images, and accuracy, by true frequency.

    Parameters
    ----------
    found : ByMixtures
    new : Patterns
        Votes on the new images.
    """
    edges = np.linspace(0, 1, BINS + 1)
    at = np.minimum((cell_middles() * BINS).astype(int), BINS - 1)
    weights = new.weights()
    posterior = weights @ found.pool.mixture.posterior(new.selected, new.shown) / weights.sum()
    shares = [np.bincount(at, one, minlength=BINS) for one in (found.original.mixture.cells(), posterior)]
    accuracy = None
    if found.curve is not None:
        accuracy = tuple((np.bincount(at, found.curve, minlength=BINS) / np.bincount(at, minlength=BINS)).tolist())
    return Shape(tuple(edges.tolist()), tuple(shares[0].tolist()), tuple(shares[1].tolist()), accuracy)
