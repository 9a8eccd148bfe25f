"""A study of progress drawn: a page with pictures and a table, the figures for a paper, and the table for other programs."""

from __future__ import annotations

from collections.abc import Iterator

from resit.report import format as fmt
from resit.report.charts import SCHEMA, Rows
from resit.report.figures import export, picture
from resit.report.frame import Spec, straight
from resit.report.markup import Table, to_csv, to_latex, to_markdown
from resit.report.page import environment, styles
from resit.report.palette import COLOURS, REST, SHAPES
from resit.study.progress_result import Progress, Rate

MOST_POINTS = 300


def progress_files(result: Progress) -> dict[str, bytes]:
    """All files of the report but ``result.json``.

    Parameters
    ----------
    result : Progress
        What is shown.

    Returns
    -------
    dict of bytes
        Contents by path.
    """
    drawn = {path: content for name, spec in specs(result) for path, content in export(f"figures/{name}", spec)}
    records, table = rate_records(result), rates_table(result)
    texts = {"csv": to_csv(records), "md": to_markdown(table), "tex": to_latex(table)}
    page = _page(result, table)
    return drawn | {f"tables/progress.{kind}": text.encode() for kind, text in texts.items()} | {"index.html": page.encode()}


def _page(result: Progress, table: Table) -> str:
    kit = environment()
    pictures = {name: picture(spec) for name, spec in specs(result)}
    return str(kit.get_template("progress.html.j2").render(result=result, pictures=pictures, table=table, styles=styles(kit)))


def specs(result: Progress) -> Iterator[tuple[str, Spec]]:
    """Name and specification of each figure: models and lines, then rates, by metric."""
    for metric in dict.fromkeys(rate.metric for rate in result.rates):
        mine = [rate for rate in result.rates if rate.metric == metric]
        yield f"progress-{fmt.slug(metric)}", lines(mine, result.original.name)
        yield f"rates-{fmt.slug(metric)}", rates(mine, result.original.name)


def _looks(sets: list[str]) -> Spec:
    """A colour and a shape for each set; beyond seven they share grey."""
    rest = [REST] * max(0, len(sets) - len(COLOURS))
    colours, shapes = zip(*(list(zip(COLOURS, SHAPES, strict=True))[: len(sets)] + rest), strict=True)
    legend = {"title": None, "orient": "bottom", "direction": "vertical", "labelLimit": 220}
    return {
        "color": {"field": "set", "type": "nominal", "scale": {"domain": sets, "range": colours}, "legend": legend},
        "shape": {"field": "set", "type": "nominal", "scale": {"domain": sets, "range": shapes}, "legend": legend},
    }


def lines(found: list[Rate], original: str) -> Spec:
    """Accuracy on each set against accuracy on the original, with the lines of the linear scale and their bands."""
    metric = fmt.metric(found[0].metric)
    points: Rows = [{"set": r.new.name, "x": 100 * p.original, "y": 100 * p.new} for r in found for p in r.points]
    looks = _looks([rate.new.name for rate in found])
    x = {"field": "x", "type": "quantitative", "title": f"{original}, {metric} accuracy, %", "scale": {"zero": False}}
    low, high = min(point["y"] for point in points), max(point["y"] for point in points)
    reach = {"domain": [max(0, low - 2), min(100, high + 2)], "nice": False}  # a line may leave it: it is clipped
    y = {"field": "y", "type": "quantitative", "title": f"{metric} accuracy on the set, %", "scale": reach}
    size = 16 if len(found[0].points) <= MOST_POINTS else 5
    coloured = {"x": x, "y": y, "color": looks["color"]}
    return {
        "$schema": SCHEMA,
        "layer": [
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": size, "opacity": 0.7},
                "encoding": {"x": x, "y": y, **looks},
            },
            {
                "data": {"values": _bands(found)},
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "area", "opacity": 0.2, "clip": True},
                "encoding": {**coloured, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {"data": {"values": _bands(found)}, "mark": {"type": "line", "strokeWidth": 1, "clip": True}, "encoding": coloured},
        ],
    }


def _bands(found: list[Rate]) -> Rows:
    """The lines point by point, each with its band where it has one."""
    data: Rows = []
    for rate in found:
        fit = rate.fits["linear"]
        if fit.band is None:
            points = straight(fit, [point.original for point in rate.points])
        else:
            points = list(zip(fit.band.x, fit.band.fit, fit.band.low, fit.band.high, strict=True))
        ends = ("x", "y", "low", "high")
        data += [{"set": rate.new.name} | {name: 100 * at for name, at in zip(ends, point, strict=False)} for point in points]
    return data


def rates(found: list[Rate], original: str) -> Spec:
    """The rates with their intervals, on the linear and on the logit scale."""
    data = [
        {"set": rate.new.name, "scale": scale, "rate": fit.slope.estimate, "low": fit.slope.low, "high": fit.slope.high}
        for rate in found
        for scale, fit in rate.fits.items()
        if fit.slope.estimate is not None
    ]
    title = f"slope against {original}, {fmt.metric(found[0].metric)}"
    x = {"field": "rate", "type": "quantitative", "title": title, "scale": {"zero": False}}
    y = {"field": "set", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 160}}
    row = {"field": "scale", "type": "nominal", "title": None, "sort": None, "header": {"labelFontSize": 8.5}}
    interval = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    return {
        "$schema": SCHEMA,
        "data": {"values": data},
        "facet": {"row": row},
        "spec": {
            "height": {"step": 14},
            "layer": [
                {
                    "transform": [{"filter": "isValid(datum.low)"}],
                    "mark": {"type": "rule", "style": "interval"},
                    "encoding": interval,
                },
                {"mark": {"type": "point", "filled": True, "size": 24, "color": COLOURS[0]}, "encoding": {"x": x, "y": y}},
            ],
        },
        "resolve": {"scale": {"x": "independent"}},
    }


def rate_records(result: Progress) -> list[dict[str, object]]:
    """One record a set, metric and scale, figures as they are."""
    found: list[dict[str, object]] = []
    for rate in result.rates:
        for scale, fit in rate.fits.items():
            gap = result.gap(rate, scale)
            found.append(
                {
                    "set": rate.new.name,
                    "metric": rate.metric,
                    "scale": scale,
                    "n_models": fit.n_models,
                    "mean_accuracy": rate.mean_new,
                    "rate": fit.slope.estimate,
                    "rate_low": fit.slope.low,
                    "rate_high": fit.slope.high,
                    "r2": fit.r2,
                    "net_improvement": rate.net_improvement.difference,
                    "standard": result.standard,
                    "gap": gap and gap.ratio.estimate,
                    "gap_low": gap and gap.ratio.low,
                    "gap_high": gap and gap.ratio.high,
                }
            )
    return found


def rates_table(result: Progress) -> Table:
    """What people read: a row for each set and metric."""
    heading = ("Set", "Metric", "Models", "Mean, %", "Rate", "R²", "Rate, logit", "Net improvement", "Gap", "Gap, logit")
    rows = tuple(
        (
            rate.new.name,
            fmt.metric(rate.metric),
            f"{rate.n_models:,}",
            fmt.number(100 * rate.mean_new, 2),
            fmt.estimate(rate.fits["linear"].slope),
            fmt.number(rate.fits["linear"].r2),
            fmt.estimate(rate.fits["logit"].slope),
            fmt.number(100 * rate.net_improvement.difference, 1),
            *(_gap(result, rate, scale) for scale in ("linear", "logit")),
        )
        for rate in result.rates
    )
    caption = f"Rate: points for a point on {result.original.name}; gap: rate on {result.standard} divided by rate on the set"
    return Table(heading, rows, 2, caption)


def _gap(result: Progress, rate: Rate, scale: str) -> str:
    gap = result.gap(rate, scale)
    if gap is None:
        return "standard"
    return fmt.estimate(gap.ratio) if gap.ratio.estimate is not None else f"{fmt.MISSING}: {gap.ratio.reason}"
