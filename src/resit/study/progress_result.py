"""The records that a study of progress returns: schema ``resit.progress/1``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from resit.study.result import Caution, Estimate, Fit, Repair, SetInfo
from resit.study.serialize import Stored

SCHEMA = "resit.progress/1"


@dataclass(frozen=True, slots=True)
class Point:
    """One model: its key and its accuracy on the original and on the new set."""

    model: str
    original: float
    new: float


@dataclass(frozen=True, slots=True)
class NetImprovement:
    """Best minus worst model on a set. It has no interval: picking the two extremes makes it too large by chance."""

    best: str
    worst: str
    difference: float


@dataclass(frozen=True, slots=True)
class Rate:
    """Progress on one set by one metric: the slope of accuracy on it against accuracy on the original, by scale."""

    new: SetInfo
    metric: str
    n_models: int
    mean_original: float
    mean_new: float
    fits: dict[str, Fit]
    net_improvement: NetImprovement
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Progress gap: rate on the standard set divided by rate on another. Not available, "unbounded", where that may be 0."""

    standard: str
    other: str
    metric: str
    scale: str
    ratio: Estimate


@dataclass(frozen=True)
class Progress(Stored):
    """What progress on the original set goes with on other sets."""

    SCHEMA: ClassVar[str] = SCHEMA

    schema: str
    level: float
    seed: int
    original: SetInfo
    standard: str
    rates: tuple[Rate, ...]
    gaps: tuple[Gap, ...]
    verdict: tuple[str, ...]
    left_out: tuple[str, ...]
    repairs: tuple[Repair, ...]
    warnings: tuple[Caution, ...]
    settings: dict[str, str]
    versions: dict[str, str]

    def gap(self, rate: Rate, scale: str = "linear") -> Gap | None:
        """The gap between the standard set and that of a rate; None for the standard set itself."""
        found = (gap for gap in self.gaps if (gap.other, gap.metric, gap.scale) == (rate.new.name, rate.metric, scale))
        return next(found, None)

    def __str__(self) -> str:
        from resit.study.progress_summary import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from resit.study.progress_summary import to_html

        return to_html(self)
