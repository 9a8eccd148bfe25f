"""Accuracy of groups of examples: micro, class-macro and standardised, with intervals redrawn from counts alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats.resample import chunks

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int_]
Bools = npt.NDArray[np.bool_]


def count_right(right: Bools, codes: Ints, groups: int) -> Ints:
    """How many answers are right in each group.

    Parameters
    ----------
    right : ndarray of bool, shape (M, n)
        Which answers are right.
    codes : ndarray of int, shape (n,)
        Group of each example, numbered from 0.
    groups : int
        Number of groups G.

    Returns
    -------
    ndarray of int, shape (M, G)
    """
    return np.array([np.bincount(codes[row], minlength=groups) for row in right], int).reshape(len(right), groups)


@dataclass(frozen=True)
class Cells:
    """Pairs of group and class that have examples, L of them, in the order of groups.

    Parameters
    ----------
    code : ndarray of int, shape (n,)
        Cell of each example.
    group, stratum, n : ndarray of int, shape (L,)
        Group, class and number of examples of each cell.
    groups : int
        Number of groups G.
    """

    code: Ints
    group: Ints
    stratum: Ints
    n: Ints
    groups: int

    @property
    def classes_of(self) -> Ints:
        """Number of classes that each group has, shape (G,)."""
        return np.bincount(self.group, minlength=self.groups)


def make_cells(codes: Ints, strata: Ints, groups: int) -> Cells:
    """Cross groups with classes.

    Parameters
    ----------
    codes, strata : ndarray of int, shape (n,)
        Group and class of each example, numbered from 0.
    groups : int
        Number of groups G.

    Returns
    -------
    Cells
    """
    classes = int(strata.max(initial=-1)) + 1
    found, code, n = np.unique(codes.astype(np.int64) * classes + strata, return_inverse=True, return_counts=True)
    return Cells(code, found // classes, found % classes, n, groups)


def macro_weights(cells: Cells) -> Array:
    """Weight of each cell in the class-macro accuracy of its group: its classes count the same.

    Returns
    -------
    ndarray of float, shape (L,)
    """
    return 1 / cells.classes_of[cells.group]


def standard_weights(cells: Cells, compared: Bools) -> tuple[Array, int, float]:
    """Weights that give all compared groups the same mix of classes.

    Direct standardisation: over the classes that every compared group has, each in its share of the compared groups' examples.

    Parameters
    ----------
    cells : Cells
    compared : ndarray of bool, shape (G,)
        Groups that are compared.

    Returns
    -------
    weights : ndarray of float, shape (L,)
        0 for classes that some compared group lacks, and for groups that are not compared.
    classes : int
        Number of classes that all compared groups have.
    share : float
        Share of the compared groups' examples that are in them.

    References
    ----------
    Breslow and Day (1987), Statistical Methods in Cancer Research II, section 2.3.
    """
    inside = compared[cells.group]
    width = int(cells.stratum.max(initial=-1)) + 1
    common = np.bincount(cells.stratum[inside], minlength=width) == compared.sum()
    size = np.bincount(cells.stratum[inside], cells.n[inside], minlength=width)
    total = size[common].sum()
    if total == 0:
        return np.zeros(len(cells.n)), 0, 0.0
    weights = np.where(inside & common[cells.stratum], size[cells.stratum] / total, 0.0)
    return weights, int(common.sum()), float(total / size.sum())


def weighted(cells: Cells, correct: Ints, weights: Array) -> Array:
    """Weighted accuracy of each group.

    Parameters
    ----------
    cells : Cells
    correct : ndarray of int, shape (L,)
        Number right in each cell.
    weights : ndarray of float, shape (L,)

    Returns
    -------
    ndarray of float, shape (G,)
        NaN for groups whose weights are all 0.
    """
    value: Array = np.bincount(cells.group, weights * correct / cells.n, minlength=cells.groups).astype(float)
    there = np.bincount(cells.group, weights, minlength=cells.groups) > 0
    return np.where(there, value, np.nan)


def lone_share(cells: Cells, weights: Array) -> Array:
    """Weight, in each group, of cells with one example, which a stratified bootstrap cannot redraw. Shape (G,)."""
    return np.bincount(cells.group, weights * (cells.n == 1), minlength=cells.groups).astype(float)


def bootstrap_cells(rng: np.random.Generator, cells: Cells, correct: Ints, weights: Array, resamples: int) -> Array:
    """Weighted accuracies of groups over examples redrawn within cells.

    Drawing the examples of a cell with replacement makes its number right binomial, so no example is touched.

    Parameters
    ----------
    rng : numpy.random.Generator
    cells : Cells
    correct : ndarray of int, shape (L,)
        Number right in each cell.
    weights : ndarray of float, shape (S, L)
        Rows of weights, such as class-macro and standardised ones.
    resamples : int
        Number of resamples B.

    Returns
    -------
    ndarray of float, shape (S, B, G)

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 8.
    """
    share = correct / cells.n
    varies = (share > 0) & (share < 1) & (weights != 0).any(axis=0)
    still = np.where(varies, 0.0, weights * share)
    base: Array = np.stack([np.bincount(cells.group, row, minlength=cells.groups) for row in still]).astype(float)
    found = np.repeat(base[:, None, :], resamples, axis=1)
    if not varies.any() or resamples == 0:
        return found
    present, starts = np.unique(cells.group[varies], return_index=True)
    size, chance, factor = cells.n[varies], share[varies], weights[:, varies] / cells.n[varies]
    at = 0
    for own, rows in chunks(rng, resamples, len(size)):
        drawn = own.binomial(size, chance, size=(rows, len(size)))
        for row, scale in enumerate(factor):
            found[row, at : at + rows][:, present] += np.add.reduceat(drawn * scale, starts, axis=1)
        at += rows
    return found


def bootstrap_groups(rng: np.random.Generator, correct: Ints, n: Ints, resamples: int) -> Array:
    """Accuracies of groups over examples redrawn from all of them, so that the sizes of groups vary too.

    Parameters
    ----------
    rng : numpy.random.Generator
    correct, n : ndarray of int, shape (G,)
        Number right and number asked in each group.
    resamples : int
        Number of resamples B.

    Returns
    -------
    ndarray of float, shape (B, G)
        NaN where a group vanishes from a resample.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 6.
    """
    total = int(n.sum())
    sizes = rng.multinomial(total, n / total, size=resamples)
    share = np.divide(correct, n, out=np.zeros(len(n)), where=n > 0)
    right = rng.binomial(sizes, share)
    found: Array = np.divide(right, sizes, out=np.full(sizes.shape, np.nan), where=sizes > 0)
    return found
