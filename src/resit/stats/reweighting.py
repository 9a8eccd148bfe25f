"""How much of a difference between two sets comes from their different mixes of cells, such as classes or bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats.resample import generator, resample_examples

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int_]


@dataclass(frozen=True, slots=True)
class Side:
    """Images of one set.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Of each image, such as the share of models that are right.
    cells : sequence of ndarray of int, shape (n,)
        Cell of each image, numbered from 0, by one or more divisions; -1 for an image that belongs to none and is left out.
    strata : ndarray of int, shape (n,), optional
        Within which images are redrawn.
    """

    values: Array
    cells: Sequence[Ints]
    strata: Ints | None = None


@dataclass(frozen=True, slots=True)
class Reweighted:
    """Mean of the new set, were its cells mixed as those of the original.

    Parameters
    ----------
    plain, reweighted : float
        Mean over the new images as they are, and with the original's mix.
    explained : float
        Reweighted minus plain: what the mix costs the new set.
    replicates : ndarray of float, shape (B,)
        Of ``explained`` over redrawn images; NaN where no cell is in both.
    uncovered : float
        Share of the original in cells that the new set lacks; these are left out, and the others share their weight.
    original_count, new_count : ndarray of int, shape (K,)
        Images in each cell.
    original_mean, new_mean : ndarray of float, shape (K,)
        Mean in each cell; NaN where it has no image.
    """

    plain: float
    reweighted: float
    explained: float
    replicates: Array
    uncovered: float
    original_count: Ints
    new_count: Ints
    original_mean: Array
    new_mean: Array


def reweight(original: Side, new: Side, sizes: Sequence[int], resamples: int, seed: int, purpose: int) -> list[Reweighted]:
    """Post-stratify the new set to the original's mix, by each of several divisions.

    With p(k) the share of the original in cell k and m(k) the mean of the new images in it, the reweighted mean is the sum of
    p(k) m(k) over the cells that both have, over the sum of their p(k). All divisions share the redrawn images.

    Parameters
    ----------
    original, new : Side
        With as many divisions.
    sizes : sequence of int
        Number of cells K of each division.
    resamples : int
    seed, purpose : int
        Of the generators.

    Returns
    -------
    list of Reweighted
        One a division.

    References
    ----------
    Holt and Smith (1979), Journal of the Royal Statistical Society A 142(1): post stratification.
    """
    columns = [_columns(side, sizes) for side in (original, new)]
    whole = [own.sum(axis=0)[None] for own in columns]
    drawn = [
        resample_examples(generator(seed, purpose, at), own, resamples, side.strata)
        for at, (own, side) in enumerate(zip(columns, (original, new), strict=True))
    ]
    found, start = [], 0
    for size in sizes:
        part = slice(start, start + 2 * size)
        start += 2 * size
        found.append(_told(whole[0][:, part], whole[1][:, part], drawn[0][:, part], drawn[1][:, part]))
    return found


def _columns(side: Side, sizes: Sequence[int]) -> Array:
    """A column that counts and one that adds values for each cell, division after division."""
    parts = []
    for cells, size in zip(side.cells, sizes, strict=True):
        inside = (cells[:, None] == np.arange(size)).astype(float)
        parts += [inside, inside * side.values[:, None]]
    return np.concatenate(parts, axis=1)


def _told(old: Array, new: Array, old_drawn: Array, new_drawn: Array) -> Reweighted:
    size = old.shape[1] // 2
    plain, mixed = (float(one[0]) for one in _means(old, new))
    again = _means(old_drawn, new_drawn)
    counts = [own[0, :size] for own in (old, new)]
    means = [_ratio(own[0, size:], own[0, :size]) for own in (old, new)]
    uncovered = float(counts[0][counts[1] == 0].sum() / max(counts[0].sum(), 1))
    whole_numbers = [np.rint(count).astype(int) for count in counts]
    return Reweighted(plain, mixed, mixed - plain, again[1] - again[0], uncovered, *whole_numbers, *means)


def _means(old: Array, new: Array) -> tuple[Array, Array]:
    """Plain and reweighted mean of each row, NaN where there is none."""
    size = old.shape[1] // 2
    count, total = new[:, :size], new[:, size:]
    weight = np.where(count > 0, old[:, :size], 0.0)
    mixed = _ratio((weight * np.nan_to_num(_ratio(total, count))).sum(axis=1), weight.sum(axis=1))
    return _ratio(total.sum(axis=1), count.sum(axis=1)), mixed


def _ratio(upper: Array, lower: Array) -> Array:
    return np.asarray(np.divide(upper, lower, out=np.full(np.shape(upper), np.nan), where=lower > 0), float)
