"""The records that an explanation returns. What is not available is None, with the reason beside it.

Field names are the keys of ``result.json`` (schema ``resit.explain/1``). Accuracies and parts of the drop are fractions.
The drop is original minus new accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from resit.study.estimate import Caution, Estimate
from resit.study.result import SetInfo
from resit.study.serialize import Stored

SCHEMA = "resit.explain/1"
State = Literal["ran", "not run", "failed"]
Unit = Literal["fraction", "points", "count", "number"]
Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a hypothesis. ``fraction`` is shown in percent, ``points`` is a difference of fractions."""

    name: str
    unit: Unit
    value: Estimate
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: every row has a cell for each column. A column of text has the unit ``number``."""

    title: str
    columns: tuple[str, ...]
    units: tuple[Unit, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a picture, with an interval in y where there is one. ``x`` is text where the axis has names."""

    x: float | str
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one colour. ``line``: joined in their order; ``band``: their intervals are an area."""

    name: str
    points: tuple[Point, ...]
    mark: Literal["point", "line", "bar", "band"] = "point"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture; ``line_at`` is a horizontal line that means no effect."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    x_unit: Unit = "number"
    y_unit: Unit = "fraction"
    line_at: float | None = None


@dataclass(frozen=True, slots=True)
class Tile:
    """An image of a gallery: a thumbnail as a data address, what it is, and from which set."""

    image: str
    caption: str
    origin: Literal["original", "new"]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a hypothesis returns; see :class:`Finding`, of which it is the part that was computed."""

    verdict: str
    effect: bool | None = None
    part: Estimate | None = None
    kind: Literal["estimate", "bound"] = "estimate"
    figures: tuple[Figure, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    pictures: tuple[Picture, ...] = ()
    gallery: tuple[Tile, ...] = ()
    warnings: tuple[Caution, ...] = ()

    def parts(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one hypothesis says of the drop.

    ``effect`` tells whether what it looks for was found by its own rule; None where it has none. ``part`` is how much of the
    drop it explains (``kind`` estimate) or could explain at most (``bound``); positive where it makes the new set look worse.
    """

    name: str
    title: str
    question: str
    source: str
    state: State
    verdict: str
    effect: bool | None = None
    part: Estimate | None = None
    kind: Literal["estimate", "bound"] = "estimate"
    figures: tuple[Figure, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    pictures: tuple[Picture, ...] = ()
    gallery: tuple[Tile, ...] = ()
    warnings: tuple[Caution, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of the drop: by estimates alone, and at least, where every part were as large as its interval allows.

    Parts of hypotheses overlap, so that adding them takes away too much rather than too little. ``counted`` names those added.
    """

    by_estimates: float
    at_least: float
    counted: tuple[str, ...]


@dataclass(frozen=True)
class Explanation(Stored):
    """Why models score lower on a new test set, hypothesis by hypothesis. ``verdict`` tells the drop and what is left."""

    SCHEMA: ClassVar[str] = SCHEMA

    schema: str
    level: float
    seed: int
    metric: str
    original: SetInfo
    new: SetInfo
    n_models: int
    drop: Estimate
    findings: tuple[Finding, ...]
    left: Left
    verdict: tuple[str, ...]
    warnings: tuple[Caution, ...]
    settings: dict[str, str]
    versions: dict[str, str]

    def finding(self, name: str) -> Finding:
        """The finding of one hypothesis.

        Raises
        ------
        KeyError
            If it was not asked for.
        """
        return {finding.name: finding for finding in self.findings}[name]

    def __str__(self) -> str:
        from resit.study.explain_summary import to_text

        return to_text(self)
