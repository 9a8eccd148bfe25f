"""A bias report drawn: a page with pictures and tables, the figures for a paper, and the table for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from resit.build.bias_record import ESTIMATES, Accuracies, BiasReport, Figure, Shape
from resit.report import format as fmt
from resit.report.charts import SCHEMA
from resit.report.figures import export, picture
from resit.report.frame import Spec
from resit.report.markup import Table, to_csv, to_latex, to_markdown
from resit.report.page import environment, styles
from resit.report.palette import COLOURS, SHAPES
from resit.report.write import write

Record = dict[str, object]
SETS = ("original", "new")


def write_bias(report: BiasReport, directory: Path, name: str) -> Path:
    """Write the page, figures, tables and ``result.json`` of a bias report.

    Parameters
    ----------
    report : BiasReport
        What is shown.
    directory : Path
        Where they go: a new or empty directory, or an earlier report.
    name : str
        Of the build and its revision.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    OutputError
        If the directory holds something else than a report, or cannot be written.
    """
    return write(directory, lambda: bias_files(report, name))


def bias_files(report: BiasReport, name: str) -> dict[str, bytes]:
    """All files of the report.

    Parameters
    ----------
    report : BiasReport
        What is shown.
    name : str
        Of the build and its revision.

    Returns
    -------
    dict of bytes
        Contents by path.
    """
    named = list(specs(report))
    drawn = {path: content for stem, _, spec in named for path, content in export(f"figures/{stem}", spec)}
    records, table = accuracy_records(report), accuracy_table(report)
    texts = {"csv": to_csv(records), "md": to_markdown(table), "tex": to_latex(table)}
    kit = environment()
    page = kit.get_template("bias.html.j2").render(
        report=report,
        name=name,
        table=table,
        fits=fits_table(report),
        pictures=[(label, picture(spec)) for _, label, spec in named],
        styles=styles(kit),
    )
    written = {f"tables/accuracies.{kind}": text.encode() for kind, text in texts.items()}
    result = json.dumps(report.to_record(), indent=1, ensure_ascii=False) + "\n"
    return {"result.json": result.encode(), **drawn, **written, "index.html": page.encode()}


def specs(report: BiasReport) -> Iterator[tuple[str, str, Spec]]:
    """Name, caption and specification of each picture."""
    if report.shape is not None:
        yield "frequencies", "Share of images by true selection frequency, estimated", frequencies(report.shape)
        if report.shape.accuracy is not None:
            yield "curve", "Accuracy given the true frequency, mean of models", curve(report.shape)
    if any(getattr(report.mean, f"{name}_drop").value is not None for name in ESTIMATES):
        caption = f"The drop, and what is left of it, with {100 * report.level:g}% intervals"
        yield "drops", caption, drops(report.mean)


def frequencies(shape: Shape) -> Spec:
    """Both distributions of the true frequency, as steps."""
    data = [
        {"set": name, "x": low, "y": 100 * share}
        for name in SETS
        for (low, _), share in zip(pairwise(shape.edges), getattr(shape, name), strict=True)
    ]
    data += [{"set": name, "x": shape.edges[-1], "y": 100 * getattr(shape, name)[-1]} for name in SETS]
    scale, legend = {"domain": list(SETS), "range": list(COLOURS[:2])}, {"title": None, "orient": "bottom"}
    return {
        "$schema": SCHEMA,
        "data": {"values": data},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5},
        "encoding": {
            "x": _axis("x", "true selection frequency"),
            "y": _axis("y", "images, %"),
            "color": {"field": "set", "type": "nominal", "scale": scale, "legend": legend},
            "strokeDash": {"field": "set", "type": "nominal", "scale": {"domain": list(SETS)}, "legend": legend},
        },
    }


def curve(shape: Shape) -> Spec:
    """Accuracy in the middle of each bin."""
    middles = [(low + high) / 2 for low, high in pairwise(shape.edges)]
    data = [{"x": x, "y": 100 * y} for x, y in zip(middles, shape.accuracy or (), strict=True)]
    return {
        "$schema": SCHEMA,
        "data": {"values": data},
        "mark": {"type": "line", "strokeWidth": 1.5, "color": COLOURS[0]},
        "encoding": {"x": _axis("x", "true selection frequency"), "y": _axis("y", "accuracy on new images, %")},
    }


def drops(mean: Accuracies) -> Spec:
    """The drop as observed and by each estimate."""
    rows = [("observed", mean.drop), *((name, getattr(mean, f"{name}_drop")) for name in ESTIMATES)]
    data = [_point(name, figure) for name, figure in rows if figure.value is not None]
    y = {"field": "name", "type": "nominal", "title": None, "sort": None}
    x = {**_axis("x", "original minus new, points"), "scale": {"zero": True}}
    reach = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    point = {"type": "point", "filled": True, "size": 30, "opacity": 1, "color": COLOURS[0], "shape": SHAPES[0]}
    return {
        "$schema": SCHEMA,
        "data": {"values": data},
        "height": {"step": 16},
        "layer": [
            {"transform": [{"filter": "isValid(datum.low)"}], "mark": {"type": "rule"}, "encoding": reach},
            {"mark": point, "encoding": {"x": x, "y": y}},
        ],
    }


def _point(name: str, figure: Figure) -> Record:
    ends = {"x": figure.value, "low": figure.low, "high": figure.high}
    return {"name": name, **{key: 100 * value for key, value in ends.items() if value is not None}}


def _axis(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title}


def accuracy_records(report: BiasReport) -> list[Record]:
    """One record a model and one of their mean, figures as they are."""
    names = ("original", "new", *ESTIMATES, "drop", *(f"{name}_drop" for name in ESTIMATES))
    found: list[Record] = []
    for one in (report.mean, *report.models):
        record: Record = {"model": one.name}
        for name in names:
            figure: Figure = getattr(one, name)
            record |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
        found.append(record)
    return found


def accuracy_table(report: BiasReport) -> Table:
    """What people read of every model."""
    heading = ("Model", "Original, %", "New, %", *(f"{name}, %" for name in ESTIMATES), "Drop, points", "Left, points")
    rows = tuple(
        (
            one.name,
            *(_text(getattr(one, name)) for name in (*SETS, *ESTIMATES)),
            _text(one.drop),
            _text(one.parametric_drop),
        )
        for one in (report.mean, *report.models)
    )
    caption = (
        "Naive, jackknife and parametric: accuracy on the new set at the original's true frequencies. "
        f"Left: of the drop, by the parametric estimate. Brackets hold {100 * report.level:g}% intervals"
    )
    return Table(heading, rows, 1, caption)


def _text(figure: Figure) -> str:
    if figure.value is None:
        return fmt.MISSING
    return f"{fmt.number(100 * figure.value, 2)} {fmt.bounds(figure.low, figure.high, 2, 100)}".strip()


def fits_table(report: BiasReport) -> Table:
    """How the mixtures of betas were fitted."""
    heading = ("Pool", "Betas", "", "Log-likelihood", "Held out, an image", "Effective images", "Steps", "Ended")
    rows = tuple(
        (
            name,
            str(trial.components),
            "taken" if trial.components == len(fit.betas) else "",
            fmt.number(trial.log_likelihood, 1),
            fmt.number(trial.held_out, 5),
            ", ".join(f"{size:,.0f}" for size in trial.effective),
            f"{trial.steps:,}",
            ("at a maximum" if trial.converged else "before a maximum") + (", at a bound" if trial.at_boundary else ""),
        )
        for name, fit in report.mixtures.items()
        for trial in fit.trials
    )
    return Table(heading, rows, 3, "Mixtures of betas by number of components, fitted to the counts of votes")
