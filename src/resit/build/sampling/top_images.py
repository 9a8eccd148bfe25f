"""TopImages: those that people selected most often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from resit.build.sampling.pool import ClassPool
from resit.build.sampling.records import ClassDraw
from resit.build.sampling.strategy import Strategy
from resit.build.sampling.whole import whole_class


@dataclass(frozen=True, kw_only=True)
class TopImages(Strategy):
    """Take the first images by frequency, votes and in the previous revision, all descending, then by id, ascending.

    References
    ----------
    Recht, B., et al. (2019). Do ImageNet classifiers generalize to ImageNet? ICML, appendix C.1.
    """

    name: ClassVar[str] = "top-images"

    def draw(self, pool: ClassPool, rng: np.random.Generator) -> ClassDraw:  # noqa: ARG002
        """Take for one class; see :class:`Strategy`."""
        # Rows come in the order of ids, and equal fractions have equal quotients.
        order = np.lexsort((pool.rows, ~pool.previous, -pool.shown, -pool.selected / pool.shown))
        taken = np.sort(order[: pool.wanted])
        before = pool.previous[taken]
        return whole_class(pool, taken[before], taken[~before], f"{len(pool.rows):,} eligible candidates")
