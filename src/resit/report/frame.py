"""Bounds and axes of a scatter on one scale, as parts of a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from resit.report.scales import BACK, FORWARD, backward, forward, ticks
from resit.study.result import Comparison, Fit, ModelRow

Spec = dict[str, Any]
Bounds = tuple[float, float]
ROOM = 0.04


@dataclass(frozen=True, slots=True)
class Frame:
    """What a scatter on one scale covers. ``edge`` is how far inside 0 and 1 an accuracy of 0 or 1 is drawn."""

    scale: str
    edge: float
    x: Bounds
    y: Bounds

    def place(self, *fields: str, edge: float | None = None) -> list[Spec]:
        """Transforms that move accuracies to the scale, at least ``edge`` inside 0 and 1: ``x`` becomes ``tx``."""
        inside = self.edge if edge is None else edge
        low, high = repr(inside), repr(1 - inside)
        moved = {name: FORWARD[self.scale].format(f"clamp(datum.{name},{low},{high})") for name in fields}
        return [{"calculate": formula, "as": f"t{name}"} for name, formula in moved.items()]

    def channel(self, name: str, title: str) -> Spec:
        """The channel ``x`` or ``y``, labelled in percent whatever the scale."""
        domain = self.x if name == "x" else self.y
        low, high = (min(max(backward(self.scale, end), 0.0), 1.0) for end in domain)
        values = [forward(self.scale, mark) for mark in ticks(self.scale, low, high)]
        label = f"format(100*({BACK[self.scale]}),'.4~r')+'%'"
        return {
            "field": f"t{name}",
            "type": "quantitative",
            "axis": {"values": values, "labelExpr": label, "title": title},
            "scale": {"domain": list(domain), "nice": False, "zero": False},
        }


def frame(comparison: Comparison, scale: str, *, near: bool = False) -> Frame:
    """The frame that holds the models, their intervals and the line's band.

    Parameters
    ----------
    comparison : Comparison
        What is drawn.
    scale : str
        ``linear``, ``probit`` or ``logit``.
    near : bool
        Whether only the models of the line need be inside.

    Returns
    -------
    Frame
    """
    shown = [row for row in comparison.models if row.baseline or not near] or list(comparison.models)
    sizes = [n for row in comparison.models for n in (row.original.n, row.new.n) if n]
    edge = 0.0 if scale == "linear" else 0.5 / max(sizes, default=5_000)
    x = _bounds(scale, edge, _values(shown, "original"))
    y = _bounds(scale, edge, [*_values(shown, "new"), *(at for point in line_of(comparison, scale) for at in point[1:])])
    return Frame(scale, edge, x, y)


def line_of(comparison: Comparison, scale: str) -> list[tuple[float, ...]]:
    """The line over the baseline models as accuracies: original, new, and the ends of its band where it has one.

    Parameters
    ----------
    comparison : Comparison
        What is drawn.
    scale : str
        ``linear``, ``probit`` or ``logit``.

    Returns
    -------
    list of tuple
        (x, y, low, high) along the band; without one (x, y) at the two ends of the models; empty where there is no line.
    """
    fit = comparison.fits.get(scale)
    if fit is None or fit.slope.estimate is None or fit.intercept.estimate is None:
        return []
    if fit.band is not None:
        return list(zip(fit.band.x, fit.band.fit, fit.band.low, fit.band.high, strict=True))
    return straight(fit, [row.original.accuracy for row in comparison.models if row.baseline])


def straight(fit: Fit, accuracies: Iterable[float]) -> list[tuple[float, ...]]:
    """Both ends of a line without a band, over these original accuracies; 0 and 1 lie on the linear scale alone."""
    slope, intercept = fit.slope.estimate, fit.intercept.estimate
    inside = [value for value in accuracies if fit.scale == "linear" or 0 < value < 1]
    if slope is None or intercept is None or not inside:
        return []
    ends = (min(inside), max(inside))
    return [(end, backward(fit.scale, intercept + slope * forward(fit.scale, end))) for end in ends]


def _values(rows: Iterable[ModelRow], which: str) -> list[float]:
    scores = [getattr(row, which) for row in rows]
    return [value for score in scores for value in (score.accuracy, score.low, score.high) if value is not None]


def _bounds(scale: str, edge: float, values: list[float]) -> Bounds:
    inside = [min(max(value, edge), 1 - edge) for value in values]
    low, high = forward(scale, min(inside)), forward(scale, max(inside))
    room = ROOM * (high - low) or 0.05
    return low - room, high + room
