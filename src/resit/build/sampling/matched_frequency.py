"""MatchedFrequency: each class gets the original's histogram of selection frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from resit.build.keys import Ints
from resit.build.sampling.binned import fill, short_of_originals
from resit.build.sampling.pool import ClassPool
from resit.build.sampling.records import ClassDraw
from resit.build.sampling.strategy import Strategy
from resit.stats.largest_remainder import apportion


@dataclass(frozen=True, kw_only=True)
class MatchedFrequency(Strategy):
    """Draw so that the histogram of observed frequencies is that of the original, class by class.

    The histogram of the original's images with enough votes is scaled to the wanted number by largest remainder, ties to the
    higher bin. Each bin keeps images of the previous revision, is filled with a uniform draw, and where it is short takes
    from higher bins.

    Parameters
    ----------
    minimum_votes : int, optional
        Fewest votes of an original image that counts.
    minimum_originals : int, optional
        Fewest such images; a class with fewer gets none.

    References
    ----------
    Recht, B., et al. (2019). Do ImageNet classifiers generalize to ImageNet? ICML, appendix C.1.
    """

    name: ClassVar[str] = "matched-frequency"

    minimum_votes: int = 10
    minimum_originals: int = 20

    def draw(self, pool: ClassPool, rng: np.random.Generator) -> ClassDraw:
        """Draw for one class; see :class:`Strategy`."""
        originals = self.histogram(pool)
        if originals.sum() < max(self.minimum_originals, 1):
            return short_of_originals(self, pool, originals, max(self.minimum_originals, 1), self.minimum_votes)
        return fill(self, pool, originals, self.targets(pool, originals), rng)

    def targets(self, pool: ClassPool, originals: Ints) -> Ints:
        """How many images each bin should have, shape (bins,)."""
        return apportion(originals, pool.wanted)

    def histogram(self, pool: ClassPool) -> Ints:
        """Originals with enough votes in each bin, shape (bins,)."""
        enough = pool.originals.shown >= max(self.minimum_votes, 1)
        bins = self.bins(pool.originals.selected[enough], pool.originals.shown[enough])
        return np.bincount(bins, minlength=len(self.edges) + 1).astype(np.int64)
