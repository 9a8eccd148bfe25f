"""What every strategy is: settings, and a draw for one class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from resit.build.keys import Bools, Ints
from resit.build.sampling.pool import ClassPool, Votes
from resit.build.sampling.records import ClassDraw
from resit.errors import UsageError

FIFTHS = 5


@dataclass(frozen=True, kw_only=True)
class Strategy(ABC):
    """How the images of a class are drawn among its candidates.

    Parameters
    ----------
    edges : tuple of int, optional
        Edges of the bins of selection frequency, in fifths. Bins hold their lower edge.

    Raises
    ------
    UsageError
        If the edges are not rising numbers from 1 to 4.
    """

    name: ClassVar[str]
    # Whether images are chosen by their votes, so that these votes cannot measure them.
    by_votes: ClassVar[bool] = True

    edges: tuple[int, ...] = (1, 2, 3, 4)

    def __post_init__(self) -> None:
        if list(self.edges) != sorted(set(self.edges)) or not set(self.edges) <= set(range(1, FIFTHS)):
            raise UsageError(f"edges {self.edges}", where=self.name, fix="Give rising whole numbers from 1 to 4, in fifths.")

    @property
    def needs(self) -> str | None:
        """Name of the attribute that images are told apart by, or None."""
        return None

    @property
    def settings(self) -> dict[str, Any]:
        """Its settings, as they are recorded."""
        return asdict(self)

    def prepared(self, candidates: Votes, originals: Votes, class_ids: Sequence[str]) -> Self:  # noqa: ARG002
        """The strategy after a look at everything, before the first class is drawn."""
        return self

    @abstractmethod
    def draw(self, pool: ClassPool, rng: np.random.Generator) -> ClassDraw:
        """Draw for one class.

        Parameters
        ----------
        pool : ClassPool
        rng : numpy.random.Generator
            Of this class alone.
        """

    def bins(self, selected: Ints, shown: Ints) -> Ints:
        """Bin of each image by its frequency, in whole numbers, from 0."""
        return np.searchsorted(np.array(self.edges, np.int64), FIFTHS * selected // shown, side="right").astype(np.int64)

    def bin_names(self) -> list[str]:
        """The bins as intervals."""
        ends = [0.0, *(edge / FIFTHS for edge in self.edges), 1.0]
        return [f"[{low:g}, {high:g}{']' if high == 1 else ')'}" for low, high in pairwise(ends)]


def keep_then_draw(rng: np.random.Generator, here: Ints, previous: Bools, target: int) -> tuple[Ints, Ints]:
    """Keep images of the previous revision up to a target, and draw the rest from the others, uniformly.

    Parameters
    ----------
    rng : numpy.random.Generator
    here : ndarray of int64
        Rows to choose among, in the order of their images' ids.
    previous : ndarray of bool
        For all rows of the class: whether the previous revision has the image.
    target : int
        How many are wanted.

    Returns
    -------
    kept, drawn : ndarray of int64
    """
    kept = choose(rng, here[previous[here]], target)
    return kept, choose(rng, here[~previous[here]], target - len(kept))


def choose(rng: np.random.Generator, rows: Ints, count: int) -> Ints:
    """A uniform draw of ``count`` rows, in their order; all of them where there are no more."""
    if count >= len(rows):
        return rows
    return rows[np.sort(rng.choice(len(rows), count, replace=False, shuffle=False))]
