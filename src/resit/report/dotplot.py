"""Rows of dots on one axis, placed in percent of the width, so that the page can draw them at any size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from resit.report import format as fmt
from resit.report.scales import rounds

Mark = tuple[float, str]
Reach = tuple[float, float, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One row in its own units: what it is called, what it says, its spans and its dots, each with a style."""

    key: str
    label: str
    text: str
    spans: tuple[Reach, ...]
    dots: tuple[Mark, ...]
    flag: str = ""


@dataclass(frozen=True, slots=True)
class DotPlot:
    """Rows whose places are percent of the width; ``ticks`` and ``zero`` are too."""

    rows: tuple[Line, ...]
    ticks: tuple[tuple[float, str], ...]
    zero: float | None
    unit: str
    note: str


def plot(lines: Sequence[Line], *, unit: str, note: str = "", zero: bool = False, whole: bool = False) -> DotPlot:
    """Place rows on a common axis.

    Parameters
    ----------
    lines : sequence of Line
        Rows in their own units.
    unit : str
        What the axis counts.
    note : str
        What is not drawn, and where it is found.
    zero : bool
        Whether zero is on the axis, with a line.
    whole : bool
        Whether the axis counts whole things.

    Returns
    -------
    DotPlot
    """
    values = [at for line in lines for at, _ in line.dots] + [end for line in lines for span in line.spans for end in span[:2]]
    low, high = min([*values, 0.0] if zero else values), max([*values, 0.0] if zero else values)
    room = 0.03 * (high - low) or 1.0
    low, high = low - room, high + room

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    rows = tuple(_placed(line, place) for line in lines)
    ticks = tuple((place(at), fmt.number(at, 0 if at % 1 == 0 else 1)) for at in rounds(low, high, whole=whole))
    return DotPlot(rows, ticks, place(0.0) if zero else None, unit, note)


def _placed(line: Line, place: Callable[[float], float]) -> Line:
    spans = tuple((place(min(a, b)), place(max(a, b)), style) for a, b, style in line.spans)
    dots = tuple((place(at), style) for at, style in line.dots)
    return replace(line, spans=spans, dots=dots)
