"""Threshold: images that enough people selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from resit.build.sampling.pool import ClassPool, Votes
from resit.build.sampling.records import ClassDraw
from resit.build.sampling.strategy import Strategy
from resit.build.sampling.whole import draw_whole
from resit.data.paths import short_list
from resit.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Threshold(Strategy):
    """Draw uniformly among images whose selection frequency is at least a threshold, keeping those of the previous revision.

    Parameters
    ----------
    threshold : float, optional
        Lowest frequency.
    exceptions : mapping of str to float, optional
        Another lowest frequency for some classes, by id.

    Raises
    ------
    UsageError
        If a threshold is not from 0 to 1; when drawing, if an exception is of no class.

    References
    ----------
    Recht, B., et al. (2019). Do ImageNet classifiers generalize to ImageNet? ICML, appendix C.1.
    """

    name: ClassVar[str] = "threshold"

    threshold: float = 0.7
    exceptions: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(0 <= value <= 1 for value in (self.threshold, *self.exceptions.values())):
            raise UsageError("a threshold outside 0 to 1", where=self.name, fix="Give fractions, such as 0.7.")

    def prepared(self, candidates: Votes, originals: Votes, class_ids: Sequence[str]) -> Self:  # noqa: ARG002
        """Refuse exceptions for classes that are none; see :class:`Strategy`."""
        if strange := sorted(set(self.exceptions) - set(class_ids)):
            what = f"exceptions for classes that the build does not have: {short_list(strange)}"
            raise UsageError(what, where=self.name, fix="Check the ids of the classes.")
        return self

    def draw(self, pool: ClassPool, rng: np.random.Generator) -> ClassDraw:
        """Draw for one class; see :class:`Strategy`."""
        lowest = self.exceptions.get(pool.class_id, self.threshold)
        # Quotients are rounded correctly, so 7/10 is 0.7.
        above = pool.rows[pool.selected / pool.shown >= lowest]
        return draw_whole(pool, above, rng, f"{len(above):,} eligible candidates with a frequency of at least {lowest:g}")
