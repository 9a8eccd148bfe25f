"""Charts for a paper only: change by model, and ranks on both sets; and how all figures for a paper look."""

from __future__ import annotations

from typing import Any

from resit.report import format as fmt
from resit.report.charts import SCHEMA, Rows
from resit.report.frame import Spec
from resit.report.scales import rounds
from resit.study.result import Comparison, ModelRow, Score

WIDTH = 240
NAMED = 80
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
INK, SOFT, LINE, BLUE, ORANGE = "#1d2329", "#6b7580", "#e3e4e0", "#0072B2", "#D55E00"


def theme(room: tuple[int, int] = (WIDTH - 45, WIDTH - 60)) -> Spec:
    """Configuration of the figures: one column wide unless told another width and height, eight-point letters, no title."""
    letters = {"labelFont": FONT, "titleFont": FONT, "labelFontSize": 8, "titleFontSize": 8.5, "titleFontWeight": "normal"}
    strokes = {"gridWidth": 0.5, "domainWidth": 0.6, "tickWidth": 0.6, "tickSize": 3, "titlePadding": 5}
    colours = {"gridColor": LINE, "domainColor": SOFT, "tickColor": SOFT, "labelColor": INK, "titleColor": INK}
    return {
        "background": "white",
        "font": FONT,
        "padding": 2,
        "view": {"stroke": None, "continuousWidth": room[0], "continuousHeight": room[1]},
        "axis": {**letters, **strokes, **colours},
        "legend": {**letters, "symbolSize": 28, "rowPadding": 1, "columnPadding": 8, "labelLimit": 90, "offset": 8},
        "style": {
            "diagonal": {"color": SOFT, "strokeDash": [4, 3], "strokeWidth": 0.8},
            "fit": {"color": INK, "strokeWidth": 1},
            "band": {"color": INK, "fillOpacity": 0.16},
            "interval": {"color": SOFT, "strokeWidth": 0.5},
            "model": {"strokeWidth": 0.7},
        },
    }


def _number(field: str, **more: Any) -> Spec:
    return {"field": field, "type": "quantitative", **more}


def drop(comparison: Comparison) -> Spec:
    """Change of accuracy by model with intervals, largest drop first; names where they can be read.

    Parameters
    ----------
    comparison : Comparison
        What to draw.

    Returns
    -------
    dict
        A Vega-Lite specification with its data.
    """
    data = _drops(comparison)
    named = len(data) <= NAMED
    names = {"labelFontSize": 6, "title": None, "grid": False, "ticks": False, "domain": False, "labelLimit": 100}
    title = [f"Change in {fmt.metric(comparison.metric)} accuracy", f"on {comparison.new.name}, points"]
    x = _number("at", title=title, scale={"zero": False})
    y = {"field": "model", "type": "nominal", "sort": None, "axis": names if named else None}
    fill = {"condition": {"test": "datum.baseline", "value": BLUE}, "value": "white"}
    point = {"type": "point", "size": 11 if named else 3, "strokeWidth": 0.8, "opacity": 1, "stroke": BLUE}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "style": "interval"},
            "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
        },
        {"mark": point, "encoding": {"x": x, "y": y, "fill": fill}},
    ]
    if any(row["at"] > -2 for row in data):
        zero = {"data": {"values": [{"at": 0}]}, "mark": {"type": "rule", "style": "diagonal"}, "encoding": {"x": x}}
        layers.insert(0, zero)
    size = {"width": WIDTH - (95 if named else 20), "height": len(data) * 7.5 if named else 260}
    return {"$schema": SCHEMA, "data": {"values": data}, **size, "layer": layers}


def _drops(comparison: Comparison) -> Rows:
    def change(row: ModelRow) -> float:
        return row.new.accuracy - row.original.accuracy

    return [
        {
            "model": row.key,
            "at": 100 * change(row),
            "low": None if row.change.low is None else 100 * row.change.low,
            "high": None if row.change.high is None else 100 * row.change.high,
            "baseline": row.baseline,
        }
        for row in sorted(comparison.models, key=lambda row: (change(row), row.key))
    ]


def ranks(comparison: Comparison, original: str) -> Spec:
    """Rank on the new against rank on the original set, with simultaneous intervals; real swaps filled.

    Parameters
    ----------
    comparison : Comparison
        What to draw.
    original : str
        Name of the original set.

    Returns
    -------
    dict
        A Vega-Lite specification with its data.
    """
    swapped = {key for swap in comparison.real_swaps or () for key in (swap.first, swap.second)}
    data = [{"swap": row.key in swapped, **_rank(row.original, "x"), **_rank(row.new, "y")} for row in comparison.models]
    most = comparison.n_models
    few = most <= NAMED
    scale = {"domain": [0, most + 1], "nice": False, "reverse": True}
    axis = {"values": rounds(0, most + 1, whole=True)}
    axes = {
        "x": _number("x", scale=scale, axis=axis, title=f"Rank on {original}"),
        "y": _number("y", scale=scale, axis=axis, title=f"Rank on {comparison.new.name}"),
    }
    mark = {"type": "point", "size": 14 if few else 4, "opacity": 1, "strokeWidth": 0.8}
    looks = {channel: _swapped(plain) for channel, plain in (("stroke", BLUE), ("fill", "white"))}
    line = [{"x": end, "y": end} for end in (0, most + 1)]
    layers = [
        {"data": {"values": line}, "mark": {"type": "line", "style": "diagonal"}, "encoding": axes},
        *(_reach(axes, name, 0.5 if few else 0.1) for name in ("x", "y")),
        {"mark": mark, "encoding": {**axes, **looks}},
    ]
    return {"$schema": SCHEMA, "data": {"values": data}, "layer": layers}


def _swapped(plain: str) -> Spec:
    return {"condition": {"test": "datum.swap", "value": ORANGE}, "value": plain}


def _reach(axes: Spec, name: str, opacity: float) -> Spec:
    ends = {name: {**axes[name], "field": f"{name}1"}, f"{name}2": {"field": f"{name}2"}}
    return {
        "transform": [{"filter": "isValid(datum.x1) && isValid(datum.y1)"}],
        "mark": {"type": "rule", "style": "interval"},
        "encoding": {**axes, **ends, "strokeOpacity": {"value": opacity}},
    }


def _rank(score: Score, axis: str) -> dict[str, float | None]:
    interval = score.rank_interval
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {axis: score.rank, f"{axis}1": low, f"{axis}2": high}
