"""Keyword-matched: each class gets the original's distribution of a source attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from resit.build.keys import Ints
from resit.build.sampling.pool import ClassPool
from resit.build.sampling.records import Cell, ClassDraw
from resit.build.sampling.strategy import Strategy, keep_then_draw
from resit.errors import UsageError
from resit.stats.largest_remainder import apportion


@dataclass(frozen=True, kw_only=True)
class KeywordMatched(Strategy):
    """Draw so that an attribute, such as the keyword that found an image, is distributed as among the originals of the class.

    The wanted number is shared out by largest remainder. Images without the attribute are of a keyword of their own,
    ``(missing)``. A keyword that lacks candidates is short: no other stands in for it.

    Parameters
    ----------
    attribute : str
        Name of the attribute.
    floor : int, optional
        Fewest images of each keyword that originals of the class have.
    balanced : bool, optional
        Whether the wanted number is kept exactly, the other keywords giving what the floor takes. Otherwise what the floor
        adds comes on top of it.

    Raises
    ------
    UsageError
        If there is no attribute, or the floor is below 0; when drawing, if floors alone are more than the wanted number.

    References
    ----------
    Recht, B., et al. (2018). Do CIFAR-10 classifiers generalize to CIFAR-10? arXiv:1806.00451, appendix B.1.
    """

    name: ClassVar[str] = "keyword"
    by_votes: ClassVar[bool] = False

    attribute: str
    floor: int = 0
    balanced: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.attribute or self.floor < 0:
            raise UsageError("no attribute, or a floor below 0", where=self.name, fix="Name an attribute of the images.")

    @property
    def needs(self) -> str:
        """Name of the attribute."""
        return self.attribute

    def draw(self, pool: ClassPool, rng: np.random.Generator) -> ClassDraw:
        """Draw for one class; see :class:`Strategy`."""
        if pool.values is None or pool.originals.values is None or not len(pool.originals.values):
            nothing = np.empty(0, np.int64)
            return ClassDraw(nothing, nothing, nothing, (), pool.wanted, "no originals to match")
        keywords, counts = np.unique(pool.originals.values.astype(str), return_counts=True)
        values = pool.values.astype(str)
        kept, drawn, cells = [], [], []
        for keyword, count, target in zip(keywords, counts, self._targets(pool, counts), strict=True):
            parts = keep_then_draw(rng, np.flatnonzero(values == keyword), pool.previous, int(target))
            kept.append(parts[0])
            drawn.append(parts[1])
            cells.append(Cell(str(keyword), int(count), int(target), len(parts[0]), len(parts[1])))
        short = [f"{cell.name} lacks {cell.missing:,}" for cell in cells if cell.missing]
        why = f"too few eligible candidates: {', '.join(short)}" if short else ""
        wanted = sum(cell.target for cell in cells)
        return ClassDraw(np.concatenate(kept), np.concatenate(drawn), np.empty(0, np.int64), tuple(cells), wanted, why)

    def _targets(self, pool: ClassPool, counts: Ints) -> Ints:
        if not pool.wanted:
            return np.zeros(len(counts), np.int64)
        if self.balanced:
            try:
                return apportion(counts, pool.wanted, self.floor)
            except UsageError as error:
                fix = "Lower the floor, or want more images of each class."
                raise UsageError(f"class {pool.class_id}: {error.what}", where=self.name, fix=fix) from None
        return np.maximum(apportion(counts, pool.wanted), self.floor)
