"""How many candidates a class needs until every bin of observed frequency has the images that are wanted of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.stats.largest_remainder import apportion
from resit.stats.resample import generator

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def candidates_needed(
    original: npt.ArrayLike, pool: npt.ArrayLike, per_class: int, originals: int, *, classes: int = 20_000, seed: int = 0
) -> Array:
    """Candidates of each of many simulated classes until no bin is short any more.

    The histogram of a class is that of ``originals`` images, scaled to ``per_class`` by largest remainder. Candidates come one
    by one. In continuous time, with one candidate a unit on average, bin b has its t_b images after a time T_b that is
    Gamma(t_b) / pool_b, independent of the other bins; at the largest T_b the other bins have their targets and a Poisson
    number more. So nothing is drawn candidate by candidate, and the distribution is exact.

    Parameters
    ----------
    original, pool : array_like of float, shape (K,)
        Share of each bin among the original images and among eligible candidates.
    per_class : int
        Images wanted of a class.
    originals : int
        Original images of a class.
    classes : int, optional
        Classes to simulate.
    seed : int, optional

    Returns
    -------
    ndarray of float, shape (classes,)
        Whole numbers; infinite where a bin is wanted of which the pool has nothing.

    Raises
    ------
    UsageError
        If a number is below 1.
    """
    if min(per_class, originals, classes) < 1:
        raise UsageError("a class without images", where="images", fix="Give numbers from 1 on.")
    rng = generator(seed, per_class)
    share = np.asarray(pool, float) / np.sum(pool)
    drawn = rng.multinomial(originals, np.asarray(original, float) / np.sum(original), size=classes)
    histograms, of = np.unique(drawn, axis=0, return_inverse=True)
    targets = np.array([apportion(one, per_class) for one in histograms])[of.ravel()]
    impossible = ((targets > 0) & (share == 0)).any(axis=1)
    speed = np.where(share > 0, share, 1)
    filled = np.where(targets > 0, rng.standard_gamma(np.maximum(targets, 1)) / speed, 0.0)
    done = np.where(impossible, 0.0, filled.max(axis=1))
    later = rng.poisson(share * np.maximum(done[:, None] - filled, 0))
    return np.where(impossible, np.inf, (targets + later).sum(axis=1))
