"""Pictures of a finding as Vega-Lite specifications: names stand on the vertical axis, numbers on the horizontal one."""

from __future__ import annotations

from resit.report.charts import SCHEMA
from resit.report.frame import Spec
from resit.report.palette import COLOURS, SHAPES
from resit.study.explain_result import Picture, Series, Unit

FACTOR = {"fraction": 100.0, "points": 100.0, "count": 1.0, "number": 1.0}
SIGN = {"fraction": ", %", "points": ", points", "count": "", "number": ""}
HIGH = 14  # pixels of a row with a name


def spec_of(picture: Picture) -> Spec:
    """The specification of a picture.

    Parameters
    ----------
    picture : Picture
        At least one series with a point.
    """
    named = any(isinstance(point.x, str) for series in picture.series for point in series.points)
    names = [series.name for series in picture.series]
    shapes = {"domain": names, "range": [SHAPES[at % len(SHAPES)] for at in range(len(names))]}
    colours = {"domain": names, "range": [COLOURS[at % len(COLOURS)] for at in range(len(names))]}
    legend = {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 220} if len(names) > 1 else None
    looks = {
        "color": {"field": "series", "type": "nominal", "scale": colours, "legend": legend},
        "shape": {"field": "series", "type": "nominal", "scale": shapes, "legend": legend},
    }
    layers = [layer for series in picture.series for layer in _layers(series, picture, looks, named=named)]
    if picture.line_at is not None:
        layers.insert(0, _rule(FACTOR[picture.y_unit] * picture.line_at, named=named))
    tall: Spec = {"height": max(60, rows_of(picture) * HIGH * min(len(names), 2))} if named else {}
    return {"$schema": SCHEMA, "layer": layers, **tall}


def rows_of(picture: Picture) -> int:
    """How many names stand on the vertical axis; 0 where numbers do."""
    return len({point.x for series in picture.series for point in series.points if isinstance(point.x, str)})


def _axes(picture: Picture, *, named: bool) -> tuple[Spec, Spec]:
    """Channels of what is on the picture's x and y."""
    y: Spec = {"field": "y", "type": "quantitative", "title": _title(picture.y, picture.y_unit), "scale": {"zero": False}}
    if named:
        return {"field": "x", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 240}}, y
    x = {"field": "x", "type": "quantitative", "title": _title(picture.x, picture.x_unit), "scale": {"zero": False}}
    return x, y


def _title(text: str, unit: Unit) -> str:
    return f"{text}{SIGN[unit]}"


def _share_rows(picture: Picture) -> bool:
    """Whether a name has marks of several series, which stand beside each other."""
    places = [{point.x for point in series.points} for series in picture.series]
    return sum(map(len, places)) > len(set().union(*places))


def _layers(series: Series, picture: Picture, looks: Spec, *, named: bool) -> list[Spec]:
    x_factor, y_factor = FACTOR[picture.x_unit], FACTOR[picture.y_unit]
    values = []
    for point in series.points:
        at = point.x if isinstance(point.x, str) else x_factor * point.x
        row: dict[str, object] = {"series": series.name, "x": at, "y": y_factor * point.y}
        if point.low is not None and point.high is not None:
            row |= {"low": y_factor * point.low, "high": y_factor * point.high}
        values.append(row)
    name, value = _axes(picture, named=named)
    across, along = ("y", "x") if named else ("x", "y")
    place: Spec = {across: name, along: value, **looks}
    beside = named and _share_rows(picture)
    if beside:
        place["yOffset"] = {"field": "series", "type": "nominal", "sort": [one.name for one in picture.series]}
    data = {"values": values}
    reach = {**{key: item for key, item in place.items() if key != "shape"}, along: {**value, "field": "low"}}
    reach[f"{along}2"] = {"field": "high"}
    with_bounds = [row for row in values if "low" in row]
    found: list[Spec] = []
    if with_bounds:
        mark: Spec = {"type": "area", "opacity": 0.2} if series.mark == "band" else {"type": "rule", "strokeWidth": 1}
        found.append({"data": {"values": with_bounds}, "mark": mark, "encoding": reach})
    marks: dict[str, Spec] = {
        "point": {"type": "point", "filled": True, "size": 26, "opacity": 1},
        "line": {"type": "line", "strokeWidth": 1.5},
        "band": {"type": "line", "strokeWidth": 1.5},
        "bar": {"type": "bar", "opacity": 0.7},
    }
    shown = place if series.mark == "point" else {key: item for key, item in place.items() if key != "shape"}
    if series.mark == "bar":
        shown[along] = {**value, "scale": {"zero": True}}
    if series.mark in ("line", "band") and not named:
        shown["order"] = {"field": "x", "type": "quantitative"}
    return [*found, {"data": data, "mark": marks[series.mark], "encoding": shown}]


def _rule(at: float, *, named: bool) -> Spec:
    channel = "x" if named else "y"
    mark = {"type": "rule", "strokeDash": [4, 3], "color": "#808080"}
    return {"data": {"values": [{"at": at}]}, "mark": mark, "encoding": {channel: {"field": "at", "type": "quantitative"}}}
