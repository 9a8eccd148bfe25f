"""The scatter of original against new accuracy, as a Vega-Lite specification made from the records alone."""

from __future__ import annotations

from typing import Any

from resit.report import format as fmt
from resit.report.frame import Frame, Spec, frame, line_of
from resit.report.palette import Palette, palette
from resit.study.result import Comparison, ModelRow

Rows = list[dict[str, Any]]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name that is never fetched
CROWD = 300
FOUND = "find=='' || indexof(lower(datum.key+' '+datum.family), lower(find))>=0"
DIGITS = 6
TINY = 1e-12  # a line is not bent at the edge where models of 0% stand; it leaves the frame


def rows(comparison: Comparison) -> Rows:
    """The models as the charts read them.

    Parameters
    ----------
    comparison : Comparison
        What to draw.

    Returns
    -------
    list of dict
    """
    series = palette(comparison.models).series
    return [_row(row, series[row.key]) for row in comparison.models]


def _row(row: ModelRow, series: str) -> dict[str, Any]:
    old, new, change = row.original, row.new, row.change
    figures = {
        "x": old.accuracy,
        "x1": old.low,
        "x2": old.high,
        "y": new.accuracy,
        "y1": new.low,
        "y2": new.high,
        "d": change.estimate,
        "d1": change.low,
        "d2": change.high,
        "r": old.rank,
        "s": new.rank,
    }
    words = {"key": row.key, "series": series, "family": row.family or "", "baseline": row.baseline}
    return words | {name: None if value is None else round(value, DIGITS) for name, value in figures.items()}


def bands(comparison: Comparison, scale: str) -> Rows:
    """The line over the baseline models, point by point, with its band where it has one; empty where there is no line."""
    return [dict(zip(("x", "y", "low", "high"), map(_short, point), strict=False)) for point in line_of(comparison, scale)]


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def scatter(comparison: Comparison, original: str, scale: str, *, paper: bool = False, near: bool = False) -> Spec:
    """Original against new accuracy: diagonal, line and band, intervals, models.

    Parameters
    ----------
    comparison : Comparison
        What to draw.
    original : str
        Name of the original set.
    scale : str
        ``linear``, ``probit`` or ``logit``.
    paper : bool
        With a legend, colours and its data, for a figure; else without, with words on hover, for the page. On paper a crowd
        of models goes without intervals: they would be one smear.
    near : bool
        Whether only the models of the line need be inside.

    Returns
    -------
    dict
        A Vega-Lite specification that reads the datasets ``models`` and ``band``, and two parameters: ``find``, a part of the
        names to bring out, and ``at``, the model to put a ring around.
    """
    area = frame(comparison, scale, near=near)
    metric = fmt.metric(comparison.metric)
    titles = (f"{original}, {metric} accuracy", f"{comparison.new.name}, {metric} accuracy")
    axes = {name: area.channel(name, title) for name, title in zip(("x", "y"), titles, strict=True)}
    crowd = comparison.n_models > CROWD
    band, line = _line(area, axes)
    reach = [] if crowd and paper else _intervals(area, axes, crowd=crowd)
    models = [*reach, _points(area, axes, comparison, original, paper=paper), *([] if paper else [_ring(area, axes)])]
    layers = [_diagonal(area, axes), band, *([*models, line] if crowd or paper else [line, *models])]
    for layer in layers if near else [band, line] if _leaves(comparison, area) else []:
        layer["mark"]["clip"] = True  # only where something is to be cut: it slows the converter down
    spec: Spec = {"$schema": SCHEMA, "params": [{"name": name, "value": ""} for name in ("find", "at")], "layer": layers}
    if paper:
        spec["datasets"] = {"models": rows(comparison), "band": bands(comparison, scale)}
    return spec


def _leaves(comparison: Comparison, area: Frame) -> bool:
    """Whether the line or its band goes beyond what the frame holds."""
    return any(not area.edge <= at <= 1 - area.edge for point in line_of(comparison, area.scale) for at in point[1:])


def _mark(kind: str, style: str, **more: Any) -> Spec:
    return {"type": kind, "style": style, **more}


def _diagonal(area: Frame, axes: Spec) -> Spec:
    low, high = max(area.x[0], area.y[0]), min(area.x[1], area.y[1])
    ends = [{"tx": end, "ty": end} for end in (low, high) if low < high]
    return {"data": {"values": ends}, "mark": _mark("line", "diagonal"), "encoding": axes}


def _line(area: Frame, axes: Spec) -> tuple[Spec, Spec]:
    data, known = {"name": "band"}, {"filter": "isValid(datum.low)"}
    edges = {"x": axes["x"], "y": {**axes["y"], "field": "tlow"}, "y2": {"field": "thigh"}}
    around = [known, *area.place("x", "low", "high", edge=TINY)]
    band = {"data": data, "transform": around, "mark": _mark("area", "band"), "encoding": edges}
    line = {"data": data, "transform": area.place("x", "y", edge=TINY), "mark": _mark("line", "fit"), "encoding": axes}
    return band, line


def _intervals(area: Frame, axes: Spec, *, crowd: bool) -> list[Spec]:
    opacity = _if(FOUND, 0.12 if crowd else 0.45, 0.06)
    layers: list[Spec] = []
    for name in ("x", "y"):
        ends = {name: {**axes[name], "field": f"t{name}1"}, f"{name}2": {"field": f"t{name}2"}}
        known = {"filter": f"isValid(datum.{name}1) && isValid(datum.{name}2)"}
        layer = {
            "data": {"name": "models"},
            "transform": [known, *area.place("x", "y", f"{name}1", f"{name}2")],
            "mark": _mark("rule", "interval"),
            "encoding": {**axes, **ends, "strokeOpacity": opacity},
        }
        layers.append(layer)
    return layers


def _ring(area: Frame, axes: Spec) -> Spec:
    around = [{"filter": "datum.key == at"}, *area.place("x", "y")]
    mark = _mark("point", "at", aria=False, tooltip=None)
    return {"data": {"name": "models"}, "transform": around, "mark": mark, "encoding": {**axes, "size": {"value": 420}}}


def _points(area: Frame, axes: Spec, comparison: Comparison, original: str, *, paper: bool) -> Spec:
    look = palette(comparison.models)
    few = comparison.n_models <= CROWD
    size = (14 if paper else 55) if few else (8 if paper else 26)
    encoding = {
        **axes,
        **_series(look, paper=paper),
        "strokeOpacity": _if(FOUND, 1 if few else 0.6, 0.1),
        "fillOpacity": _if(FOUND, 0.8 if few else 0.25, 0.05),
        "size": _if(f"find!='' && ({FOUND})", 130, size),
    }
    words: list[Spec] = []
    if not paper:
        encoding["tooltip"], words = _tooltip(comparison, original)
    return {
        "data": {"name": "models"},
        "transform": [*area.place("x", "y"), *words],
        "mark": _mark("point", "model", opacity=1),
        "encoding": encoding,
    }


def _if(test: str, yes: Any, no: Any) -> Spec:
    return {"condition": {"test": test, "value": yes}, "value": no}


def _series(look: Palette, *, paper: bool) -> Spec:
    labels = [item.label for item in look.looks]
    key = {"title": None, "orient": "bottom", "columns": 3} if paper and len(labels) > 1 else None
    field = {"field": "series", "type": "nominal"}
    colours = {"range": [item.colour for item in look.looks]} if paper else {}  # the page has its own, dark or light
    colour = {**field, "scale": {"domain": labels, **colours}}
    shape = {**field, "scale": {"domain": labels, "range": [item.shape for item in look.looks]}, "legend": key}
    return {
        "stroke": {**colour, "legend": key},
        "fill": {"condition": {"test": "datum.baseline", **colour, "legend": None}, "value": "transparent"},
        "shape": shape,
    }


def _tooltip(comparison: Comparison, original: str) -> tuple[list[Spec], list[Spec]]:
    """Words on hover and the transforms that make them of the figures."""
    words = {
        "old": (original, _said("x", ".2f", "%")),
        "new": (comparison.new.name, _said("y", ".2f", "%")),
        "change": ("change, points", _said("d", "+.2f", "")),
        "ranks": ("rank", "datum.r+' → '+datum.s"),
    }
    titled = [{"field": "key", "type": "nominal", "title": "model"}]
    if any(row.family for row in comparison.models):
        titled.append({"field": "family", "type": "nominal", "title": "family"})
    titled += [{"field": name, "type": "nominal", "title": title} for name, (title, _) in words.items()]
    return titled, [{"calculate": formula, "as": name} for name, (_, formula) in words.items()]


def _said(name: str, form: str, unit: str) -> str:
    def number(field: str) -> str:
        return f"format(100*datum.{field},'{form}')"

    ends = f"' ['+{number(f'{name}1')}+', '+{number(f'{name}2')}+']'"
    return f"{number(name)}+'{unit}'+(isValid(datum.{name}1)?{ends}:'')"
