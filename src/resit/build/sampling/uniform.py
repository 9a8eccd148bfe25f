"""Uniform: any eligible image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from resit.build.sampling.pool import ClassPool
from resit.build.sampling.records import ClassDraw
from resit.build.sampling.strategy import Strategy
from resit.build.sampling.whole import draw_whole


@dataclass(frozen=True, kw_only=True)
class Uniform(Strategy):
    """Draw uniformly among all eligible images, keeping those of the previous revision."""

    name: ClassVar[str] = "uniform"
    by_votes: ClassVar[bool] = False

    def draw(self, pool: ClassPool, rng: np.random.Generator) -> ClassDraw:
        """Draw for one class; see :class:`Strategy`."""
        return draw_whole(pool, pool.rows, rng, f"{len(pool.rows):,} eligible candidates")
