"""What a draw gives: for a class, and for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from resit.build.keys import Ints

if TYPE_CHECKING:
    import pyarrow as pa

MOST_TOLD = 10  # shortages in a summary
KEPT, DRAWN, UPWARD = "kept", "drawn", "upward"
CELLS = {
    "class_id": "string",
    "cell": "string",  # bin of frequency, or keyword; empty where a strategy has no parts
    "originals": "int64",  # original images in it
    "target": "int64",
    "kept": "int64",  # from the parent revision
    "drawn": "int64",
    "upward": "int64",  # taken from higher bins for this one
}


class Cell(NamedTuple):
    """One part of a class's target, and what was found for it."""

    name: str
    originals: int
    target: int
    kept: int
    drawn: int
    upward: int = 0

    @property
    def missing(self) -> int:
        """How many images it lacks."""
        return self.target - self.kept - self.drawn - self.upward


class ClassDraw(NamedTuple):
    """What a strategy drew for one class.

    Parameters
    ----------
    kept, drawn, upward : ndarray of int64
        Rows of the class's pool, each at most once.
    cells : tuple of Cell
    wanted : int
        How many images the class should have.
    why : str
        Why there are fewer; empty where there are not.
    """

    kept: Ints
    drawn: Ints
    upward: Ints
    cells: tuple[Cell, ...]
    wanted: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Shortage:
    """A class that got fewer images than wanted."""

    class_id: str
    wanted: int
    found: int
    why: str

    def __str__(self) -> str:
        return f"{self.class_id}: {self.found:,} of {self.wanted:,}: {self.why}"


@dataclass(frozen=True)
class Drawn:
    """A selection.

    Parameters
    ----------
    selected : pyarrow.Table
        SELECTED, in the order of the classes, then by image.
    shortages : tuple of Shortage
        Classes that are short, in the order of the classes.
    upward : int
        Images that were drawn upward.
    cells : pyarrow.Table
        CELLS: for each class and part of it the target and what was found.
    """

    selected: pa.Table
    shortages: tuple[Shortage, ...]
    upward: int
    cells: pa.Table

    @property
    def valid(self) -> bool:
        """Whether no class is short."""
        return not self.shortages

    def __str__(self) -> str:
        share = f" ({self.upward / len(self.selected):.1%})" if len(self.selected) else ""
        head = f"{len(self.selected):,} images selected, {self.upward:,}{share} of them drawn upward"
        more = len(self.shortages) - MOST_TOLD
        tail = [f"and {more:,} more classes that are short"] if more > 0 else []
        return "\n".join([head, *(f"short: {shortage}" for shortage in self.shortages[:MOST_TOLD]), *tail])
