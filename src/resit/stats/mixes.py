"""Whether two sets have the same mix of cells."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def same_mix(original: npt.ArrayLike, new: npt.ArrayLike) -> float:
    """p-value of the chi-squared test that counts of two sets come from one mix.

    Parameters
    ----------
    original, new : array_like of int, shape (K,)
        Images of each cell. Cells that are empty in both do not count.

    Returns
    -------
    float
        1 where there is nothing to compare.

    References
    ----------
    Pearson (1900), Philosophical Magazine 50.
    """
    from scipy.special import chdtrc

    counts = np.array([original, new], float)
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2 or not counts.sum(axis=1).all():
        return 1.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chdtrc(counts.shape[1] - 1, statistic))
