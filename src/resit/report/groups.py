"""A study of groups drawn: a page with pictures and tables, the figures for a paper, and the tables for other programs."""

from __future__ import annotations

from collections.abc import Iterator

from resit.report import format as fmt
from resit.report.charts import SCHEMA, Rows
from resit.report.figures import export, picture
from resit.report.frame import Spec
from resit.report.group_tables import (
    disparity_records,
    disparity_table,
    group_records,
    groups_table,
    trend_records,
    trends_table,
)
from resit.report.markup import Table, to_csv, to_latex, to_markdown
from resit.report.page import environment, styles
from resit.report.palette import COLOURS, REST, SHAPES
from resit.report.world import with_titles, world
from resit.study.groups_result import Groups, GroupStudy, Trend

MOST_SERIES = len(COLOURS)
MOST_INTERVALS = 4
PERCENT = "accuracy, %"


def groups_files(result: Groups) -> dict[str, bytes]:
    """All files of the report but ``result.json``.

    Parameters
    ----------
    result : Groups
        What is shown.

    Returns
    -------
    dict of bytes
        Contents by path.
    """
    named = list(_named(result))
    drawn = {path: content for name, _, spec, _ in named for path, content in export(f"figures/{name}", spec)}
    tables = {
        "groups": (group_records(result), groups_table(result, result.studies)),
        "disparity": (disparity_records(result), disparity_table(result)),
        "trends": (trend_records(result), trends_table(result)),
    }
    texts = {
        f"tables/{name}.{kind}": text
        for name, (records, table) in tables.items()
        if records
        for kind, text in (("csv", to_csv(records)), ("md", to_markdown(table)), ("tex", to_latex(table)))
    }
    pictures = [(label, _picture(spec, notes), notes) for _, label, spec, notes in named]
    texts["index.html"] = _page(result, pictures, tables["disparity"][1], tables["trends"][1])
    return drawn | {path: text.encode() for path, text in texts.items()}


def _picture(spec: Spec, notes: tuple[str, ...]) -> str:
    """What stands in the page: a map, which alone has notes, says on hover what each country is."""
    return with_titles(picture(spec)) if notes else picture(spec)


def _page(result: Groups, pictures: list[tuple[str, str, tuple[str, ...]]], disparity: Table, trends: Table) -> str:
    kit = environment()
    views = [(f"{fmt.metric(s.metric)} on {s.set.name} by {s.by}", s, groups_table(result, [s])) for s in result.studies]
    return str(
        kit.get_template("groups.html.j2").render(
            result=result,
            sets=list(dict.fromkeys(study.set.name for study in result.studies)),
            pictures=pictures,
            disparity=disparity,
            trends=trends if result.trends else None,
            views=views,
            styles=styles(kit),
        )
    )


def _named(result: Groups) -> Iterator[tuple[str, str, Spec, tuple[str, ...]]]:
    """File name, words, specification and notes of each figure; no two names alike."""
    taken: set[str] = set()

    def unique(stem: str) -> str:
        while stem.lower() in taken:
            stem += "-2"
        taken.add(stem.lower())
        return stem

    for study in result.studies:
        where = f"{fmt.metric(study.metric)} on {study.set.name} by {study.by}"
        stem = fmt.slug(f"{study.set.name}-{'-'.join(study.columns)}-{study.metric}")
        if (drawn := world(study)) is not None:
            yield unique(f"map-{stem}"), drawn.label, drawn.spec, drawn.notes
        yield unique(f"groups-{stem}"), f"Accuracy by group: {where}", accuracies(study), ()
        if any(one.disparity.difference.estimate is not None for one in study.models):
            yield (
                unique(f"disparity-{stem}"),
                f"Best minus worst group, with what chance gives: {where}",
                disparities(study),
                (),
            )
    for trend in result.trends:
        if not trend.measure.endswith("normalised") and result.original is not None and trend.points:
            stem = fmt.slug(f"{trend.set}-{'-'.join(trend.columns)}-{trend.metric}-{trend.measure}")
            label = f"{trend.measure} against accuracy on {result.original.name}: {fmt.metric(trend.metric)} on {trend.set}"
            yield unique(f"trend-{stem}"), label, line(trend, result.original.name), ()


def _looks(models: list[str]) -> Spec:
    """A colour and a shape for each model; beyond seven all are grey and alike."""
    if len(models) > MOST_SERIES:
        return {"color": {"value": REST[0]}, "shape": {"value": "circle"}}
    legend = {"title": None, "orient": "bottom", "direction": "vertical", "labelLimit": 220}
    found: Spec = {}
    for channel, range_ in (("color", COLOURS), ("shape", SHAPES)):
        scale = {"domain": models, "range": list(range_[: len(models)])}
        found[channel] = {"field": "model", "type": "nominal", "scale": scale, "legend": legend if len(models) > 1 else None}
    return found


def accuracies(study: GroupStudy) -> Spec:
    """Accuracy of every model on every group, best group first and small ones last; intervals of few models only."""
    data: Rows = []
    total: dict[str, float] = {}
    small: set[str] = set()
    for one in study.models:
        for score in one.groups:
            low, high = score.accuracy.low, score.accuracy.high
            name = f"{score.group} ({score.n:,}{', small' if score.small else ''})"
            total[name] = total.get(name, 0.0) + (score.accuracy.estimate or 0.0)
            small |= {name} if score.small else set()
            row = {"model": one.model, "group": name, "x": 100 * (score.accuracy.estimate or 0.0)}
            data.append(row if low is None or high is None else row | {"low": 100 * low, "high": 100 * high})
    order = sorted(total, key=lambda name: (name in small, -total[name]))
    title = f"{study.set.name}, {fmt.metric(study.metric)} {PERCENT}"
    x = {"field": "x", "type": "quantitative", "title": title, "scale": {"zero": False}}
    y = {"field": "group", "type": "nominal", "title": None, "sort": order, "axis": {"labelLimit": 200}}
    few = len(study.models) <= MOST_INTERVALS
    looks = _looks([one.model for one in study.models])
    beside = {"yOffset": {"field": "model", "type": "nominal"}} if few and len(study.models) > 1 else {}
    reach = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": looks["color"], **beside}
    known = {"filter": "isValid(datum.low)"}
    point = {"type": "point", "filled": True, "size": 24 if few else 14, "opacity": 1 if few else 0.6}
    layers: list[Spec] = [{"mark": point, "encoding": {"x": x, "y": y, **looks, **beside}}]
    if few:
        layers.insert(0, {"transform": [known], "mark": {"type": "rule", "strokeWidth": 1}, "encoding": reach})
    step = 14 if len(study.models) == 1 or not few else 8 * len(study.models)
    return {"$schema": SCHEMA, "data": {"values": data}, "height": {"step": step}, "layer": layers}


def disparities(study: GroupStudy) -> Spec:
    """Best minus worst group of each model with its interval; a tick at the mean of the null and a bar to its quantile."""
    data: Rows = []
    for one in study.models:
        found = one.disparity
        if found.difference.estimate is None:
            continue
        row: dict[str, object] = {"model": one.model, "x": 100 * found.difference.estimate}
        if found.difference.low is not None and found.difference.high is not None:
            row |= {"low": 100 * found.difference.low, "high": 100 * found.difference.high}
        if found.null is not None and found.null.mean is not None and found.null.upper is not None:
            row |= {"mean": 100 * found.null.mean, "upper": 100 * found.null.upper}
        data.append(row)
    title = f"best minus worst group by {study.by}, points (grey: by chance)"
    x = {"field": "x", "type": "quantitative", "title": title}
    y = {"field": "model", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 200}}
    chance = {"filter": "isValid(datum.mean)"}
    known = {"filter": "isValid(datum.low)"}

    def span(start: str, end: str) -> Spec:
        return {"x": {**x, "field": start}, "x2": {"field": end}, "y": y}

    return {
        "$schema": SCHEMA,
        "data": {"values": data},
        "height": {"step": 14},
        "layer": [
            {
                "transform": [chance],
                "mark": {"type": "rule", "strokeWidth": 5, "color": "#cccccc"},
                "encoding": span("mean", "upper"),
            },
            {
                "transform": [chance],
                "mark": {"type": "tick", "color": REST[0], "thickness": 1.5, "size": 10},
                "encoding": {"x": {**x, "field": "mean"}, "y": y},
            },
            {"transform": [known], "mark": {"type": "rule", "style": "interval"}, "encoding": span("low", "high")},
            {"mark": {"type": "point", "filled": True, "size": 24, "color": COLOURS[0]}, "encoding": {"x": x, "y": y}},
        ],
    }


def line(trend: Trend, original: str) -> Spec:
    """Disparity against accuracy on the original, one point a model, with the line."""
    points: Rows = [{"x": 100 * point.original, "y": 100 * point.disparity} for point in trend.points]
    x = {
        "field": "x",
        "type": "quantitative",
        "title": f"{original}, {fmt.metric(trend.metric)} {PERCENT}",
        "scale": {"zero": False},
    }
    y = {"field": "y", "type": "quantitative", "title": f"{trend.measure}, points", "scale": {"zero": False}}
    point = {"type": "point", "filled": True, "size": 16, "opacity": 0.7, "color": COLOURS[0]}
    layers: list[Spec] = [{"data": {"values": points}, "mark": point, "encoding": {"x": x, "y": y}}]
    if trend.slope.estimate is not None and trend.intercept is not None:
        ends = [end(one.original for one in trend.points) for end in (min, max)]
        drawn = [{"x": 100 * at, "y": 100 * (trend.intercept + trend.slope.estimate * at)} for at in ends]
        layers.append({"data": {"values": drawn}, "mark": {"type": "line", "strokeWidth": 1}, "encoding": {"x": x, "y": y}})
    return {"$schema": SCHEMA, "layer": layers}
