"""How wide the interval of a line's slope will be with so many models, from how models lie around the line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.stats.intervals import percentile
from resit.stats.lines import fit_line, fit_rows, has_spread
from resit.stats.resample import chunks, generator

Array = npt.NDArray[np.float64]
MOST_FAILED = 0.05
FEWEST = 3


@dataclass(frozen=True, slots=True)
class Cloud:
    """Models around a line: what planned ones are drawn from.

    Parameters
    ----------
    x, y : ndarray of float, shape (K,)
        Accuracies on the original and on the new set.
    noise_x, noise_y : ndarray of float, shape (K,)
        Variance of the sampling noise in them that a model does not share with the others.
    """

    x: Array
    y: Array
    noise_x: Array
    noise_y: Array

    def __post_init__(self) -> None:
        if not has_spread(self.x):
            what = "no line: it needs at least three models whose original accuracies are not all equal"
            raise UsageError(what, where="models", fix="Give more models, or others.")


@dataclass(frozen=True, slots=True)
class SlopeInterval:
    """Interval in which slopes of sets of models lie, their mean, and the share of sets without a line."""

    mean: float
    low: float
    high: float
    failed: float

    @property
    def width(self) -> float:
        """High minus low; infinite where more than 5 % of the sets have no line."""
        return self.high - self.low if self.failed <= MOST_FAILED else float("inf")


def planned(cloud: Cloud, noise_x: npt.ArrayLike, noise_y: npt.ArrayLike) -> tuple[Cloud, Array, Array]:
    """The cloud with another sampling noise, as it would be with other numbers of examples.

    Where there will be more noise, the difference is what to add. Where there will be less, residuals from the line are scaled
    down together, by the variance that goes.

    Parameters
    ----------
    cloud : Cloud
    noise_x, noise_y : array_like of float, shape (K,)
        Planned variances.

    Returns
    -------
    cloud : Cloud
    add_x, add_y : ndarray of float, shape (K,)
        Variance of noise to add to each.
    """
    line = fit_line(cloud.x, cloud.y)
    residual = cloud.y - line.at(cloud.x)
    more_x, more_y = np.asarray(noise_x, float) - cloud.noise_x, np.asarray(noise_y, float) - cloud.noise_y
    gone = float(np.mean(line.slope**2 * np.maximum(-more_x, 0) + np.maximum(-more_y, 0)))
    variance = float(np.mean(residual**2))
    scale = np.sqrt(max(0.0, 1 - gone / variance)) if variance > 0 else 1.0
    moved = Cloud(cloud.x, line.at(cloud.x) + scale * residual, np.asarray(noise_x, float), np.asarray(noise_y, float))
    return moved, np.maximum(more_x, 0), np.maximum(more_y, 0)


def slope_interval(
    cloud: Cloud,
    models: int,
    *,
    add_x: npt.ArrayLike = 0.0,
    add_y: npt.ArrayLike = 0.0,
    level: float = 0.95,
    resamples: int = 4_000,
    seed: int = 0,
) -> SlopeInterval:
    """Slopes of sets of models that are drawn from a cloud.

    Each model is drawn with its residual, because models far from the others, which weigh most, may also scatter more. With as
    many models as the cloud has and nothing to add, this is the percentile interval of the bootstrap over models.

    Parameters
    ----------
    cloud : Cloud
        Of K models.
    models : int
        How many are drawn, with replacement.
    add_x, add_y : array_like of float, shape (K,) or ()
        Variance of normal noise to add, anew for each draw.
    level : float, optional
    resamples : int, optional
        Sets of models.
    seed : int, optional

    Returns
    -------
    SlopeInterval

    Raises
    ------
    UsageError
        If there are fewer than three models.
    """
    if models < FEWEST:
        raise UsageError(f"a line through {models} models", where="models", fix=f"Plan for {FEWEST} or more.")
    spread_x, spread_y = (np.sqrt(np.broadcast_to(np.asarray(add, float), cloud.x.shape)) for add in (add_x, add_y))
    slopes = []
    for rng, count in chunks(generator(seed, models), resamples, models):
        rows = rng.integers(len(cloud.x), size=(count, models))
        x, y = cloud.x[rows], cloud.y[rows]
        if spread_x.any():
            x = x + spread_x[rows] * rng.standard_normal(x.shape)
        if spread_y.any():
            y = y + spread_y[rows] * rng.standard_normal(y.shape)
        slopes.append(fit_rows(x, y)[0])
    found = np.concatenate(slopes)
    fine = found[np.isfinite(found)]
    if not len(fine):
        return SlopeInterval(np.nan, np.nan, np.nan, 1.0)
    low, high = percentile(fine, level)
    return SlopeInterval(float(fine.mean()), float(low), float(high), 1 - len(fine) / len(found))
