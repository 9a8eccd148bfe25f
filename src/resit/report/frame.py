"""Bounds and axes of a scatter on one scale, as parts of a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from resit.report.scales import BACK, FORWARD, backward, forward, ticks
from resit.study.result import Band, Comparison, ModelRow

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
    fit = comparison.fits.get(scale)
    x = _bounds(scale, edge, _values(shown, "original"))
    y = _bounds(scale, edge, [*_values(shown, "new"), *_reach(fit.band if fit else None)])
    return Frame(scale, edge, x, y)


def _values(rows: Iterable[ModelRow], which: str) -> list[float]:
    scores = [getattr(row, which) for row in rows]
    return [value for score in scores for value in (score.accuracy, score.low, score.high) if value is not None]


def _reach(band: Band | None) -> list[float]:
    return [] if band is None else [*band.low, *band.high]


def _bounds(scale: str, edge: float, values: list[float]) -> Bounds:
    inside = [min(max(value, edge), 1 - edge) for value in values]
    low, high = forward(scale, min(inside)), forward(scale, max(inside))
    room = ROOM * (high - low) or 0.05
    return low - room, high + room
