"""Means over persons and images where every person saw every image: both are resampled."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.stats.resample import chunks, draw_counts

Array = npt.NDArray[np.float64]
Right = npt.NDArray[np.bool_]


def crossed_means(rng: np.random.Generator, old: Right, new: Right, resamples: int) -> Array:
    """Replicates of two means whose rows are the same persons and whose columns are two independent sets of images.

    A replicate draws persons with replacement, the same for both sets, and images with replacement within each set. Its
    variance is that of the persons, plus that of the images, plus up to three times that of their interaction, so that
    it is too large rather than too small where there are persons enough; the persons' part is too small by the factor
    (I - 1) / I.

    Parameters
    ----------
    rng : numpy.random.Generator
    old : ndarray of bool, shape (I, n)
        Whether each person is right on each image.
    new : ndarray of bool, shape (I, n')
    resamples : int
        Number of resamples B.

    Returns
    -------
    ndarray of float, shape (B, 2)
        Mean of old and of new.

    References
    ----------
    Owen (2007), The pigeonhole bootstrap, Annals of Applied Statistics 1(2), section 4.
    """
    people = len(old)
    parts = []
    for own, size in chunks(rng, resamples, max(old.shape[1], new.shape[1])):
        drawn = draw_counts(own, size, people) / people
        sums = [((drawn @ right) * draw_counts(own, size, right.shape[1])).mean(axis=1) for right in (old, new)]
        parts.append(np.stack(sums, axis=1))
    return np.concatenate(parts) if parts else np.empty((0, 2))
