"""A plan drawn: a page with pictures and a table, the figures for a paper, and the table for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from resit.data.paths import counted
from resit.report import format as fmt
from resit.report.charts import SCHEMA, Rows
from resit.report.figures import export, picture
from resit.report.frame import Spec
from resit.report.markup import Table, to_csv, to_latex, to_markdown
from resit.report.page import environment, styles
from resit.report.palette import COLOURS, SHAPES
from resit.study.plan_result import AnyPlan, ImagesPlan, ModelsPlan, Plan, SwapPlan, VotesPlan

Record = dict[str, object]


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the page of a plan shows: its question, pictures by name and caption, the table, and how it was computed."""

    name: str
    question: str
    pictures: tuple[tuple[str, str, Spec], ...]
    records: list[Record]
    table: Table
    method: str


def plan_files(plan: AnyPlan) -> dict[str, bytes]:
    """All files of the report but ``result.json``.

    Parameters
    ----------
    plan : Plan, VotesPlan, ImagesPlan, ModelsPlan or SwapPlan
        What is shown.

    Returns
    -------
    dict of bytes
        Contents by path.
    """
    sheet = sheet_of(plan)
    drawn = {path: text for name, _, spec in sheet.pictures for path, text in export(f"figures/{name}", spec)}
    texts = {"csv": to_csv(sheet.records), "md": to_markdown(sheet.table), "tex": to_latex(sheet.table)}
    kit = environment()
    pictures = [(caption, picture(spec)) for _, caption, spec in sheet.pictures]
    head, *leads = [line.strip() for line in str(plan).split("\n\n")[0].splitlines()]
    page = kit.get_template("plan.html.j2").render(sheet=sheet, head=head, leads=leads, pictures=pictures, styles=styles(kit))
    return (
        drawn | {f"tables/{sheet.name}.{kind}": text.encode() for kind, text in texts.items()} | {"index.html": page.encode()}
    )


def sheet_of(plan: AnyPlan) -> Sheet:
    """What the page of a plan shows."""
    if isinstance(plan, Plan):
        return _examples(plan)
    if isinstance(plan, VotesPlan):
        return _votes(plan)
    if isinstance(plan, ImagesPlan):
        return _images(plan)
    return _models(plan) if isinstance(plan, ModelsPlan) else _swap(plan)


def _examples(plan: Plan) -> Sheet:
    data = [{"x": w.n, "low": 100 * w.low, "high": 100 * w.high} for w in plan.widths]
    caption = f"Exact interval of an accuracy of {100 * plan.accuracy:g} %, by number of examples"
    spec = {
        "$schema": SCHEMA,
        "data": {"values": data},
        "mark": {"type": "area", "opacity": 0.3, "line": True},
        "encoding": {
            "x": _axis("x", "examples", log=True),
            "y": {**_axis("low", "accuracy, %"), "scale": {"zero": False}},
            "y2": {"field": "high"},
        },
    }
    records: list[Record] = [{"examples": w.n, "low": w.low, "high": w.high} for w in plan.widths]
    rows = tuple((f"{w.n:,}", fmt.bounds(w.low, w.high, 2, 100)) for w in plan.widths)
    table = Table(("Examples", f"{100 * plan.level:g}% interval, %"), rows, 0, caption)
    method = (
        "The number of examples is that of the paired test (Miettinen 1968; Connor 1987); beside it stands the power of "
        "the exact McNemar test with it. Intervals of one accuracy are those of Clopper and Pearson."
    )
    return Sheet("plan", "How many examples tell two models apart?", (("plan-width", caption, spec),), records, table, method)


def _votes(plan: VotesPlan) -> Sheet:
    kinds = ("by votes", "unlimited votes")
    shifts: Rows = [{"x": r.votes, "y": 100 * r.accuracy_shift, "kind": kinds[0]} for r in plan.rows]
    shifts += [{"x": r.votes, "y": 100 * plan.limit.accuracy_shift, "kind": kinds[1]} for r in plan.rows]
    means: Rows = [{"x": r.votes, "y": 100 * r.frequency_shift, "kind": kinds[0]} for r in plan.rows]
    means += [{"x": r.votes, "y": 100 * plan.limit.frequency_shift, "kind": kinds[1]} for r in plan.rows]
    captions = (
        "Bias of accuracy that matching on votes leaves, new minus original",
        "Bias of the true selection frequency, new minus original",
    )
    pictures = (
        ("plan-votes-accuracy", captions[0], lines(shifts, kinds, "votes an image", "shift of accuracy, points")),
        ("plan-votes-frequency", captions[1], lines(means, kinds, "votes an image", "shift of frequency, points")),
    )
    all_rows = (*plan.rows, plan.limit)
    records: list[Record] = [
        {
            "votes": row.votes,
            "frequency": row.new_frequency,
            "frequency_shift": row.frequency_shift,
            "accuracy": row.new_accuracy,
            "accuracy_shift": row.accuracy_shift,
        }
        for row in all_rows
    ]
    rows = tuple(
        (
            "unlimited" if row.votes is None else f"{row.votes:,}",
            fmt.number(row.new_frequency),
            fmt.signed(row.frequency_shift),
            fmt.percent(row.new_accuracy),
            fmt.points(row.accuracy_shift),
        )
        for row in all_rows
    )
    heading = ("Votes", "True frequency", "Shift", "Accuracy", "Shift, points")
    original = f"original: frequency {fmt.number(plan.original_frequency)}, accuracy {fmt.percent(plan.original_accuracy)}"
    table = Table(heading, rows, 1, f"A set matched on observed frequency; {original}")
    method = (
        "Both pools have betas of true frequency. Candidates of a bin of observed frequency are drawn alike, and each bin "
        "has the original's share; given its votes, the true frequency of a candidate has the posterior of its pool "
        "(Engstrom et al. 2020). Summed over all counts of votes, nothing is simulated. With unlimited votes the pools "
        "still differ within bins."
    )
    return Sheet("plan-votes", "How many votes does an image need?", pictures, records, table, method)


def _images(plan: ImagesPlan) -> Sheet:
    sure = f"{100 * plan.sure:g}% of classes"
    kinds = ("half of classes", sure)
    rows = sorted({*plan.rows, plan.candidates}, key=lambda row: row.per_class)
    wide: Rows = [{"x": row.per_class, "y": 100 * row.width, "kind": "width"} for row in rows]
    needed: Rows = [{"x": row.per_class, "y": row.candidates_half, "kind": kinds[0]} for row in rows]
    needed += [{"x": row.per_class, "y": row.candidates_sure, "kind": kinds[1]} for row in rows]
    captions = (
        f"Expected width of the {100 * plan.level:g}% interval of a class's accuracy",
        "Eligible candidates of a class that fill all bins of matched frequency",
    )
    pictures = (
        ("plan-images-width", captions[0], lines(wide, ("width",), "images a class", "width, points", rule=100 * plan.width)),
        ("plan-images-candidates", captions[1], lines(needed, kinds, "images a class", "candidates a class")),
    )
    records: list[Record] = [
        {
            "per_class": row.per_class,
            "width": row.width,
            "candidates_half": row.candidates_half,
            "candidates_sure": row.candidates_sure,
        }
        for row in rows
    ]
    shown = tuple(
        (f"{row.per_class:,}", fmt.number(100 * row.width, 1), _count(row.candidates_half), _count(row.candidates_sure))
        for row in rows
    )
    heading = ("Images a class", "Width, points", "Candidates, half of classes", f"Candidates, {sure}")
    caption = f"Accuracy {fmt.percent(plan.accuracy)}; {plan.votes} votes an image, {plan.originals} originals a class"
    method = (
        "The width is that of Clopper and Pearson's interval, averaged over the number right. Targets of the five bins "
        f"are drawn as for {plan.classes_simulated:,} classes with so many originals and scaled by largest remainder; "
        "candidates fall into bins by their pool's frequencies until none is short."
    )
    table = Table(heading, shown, 0, caption)
    return Sheet("plan-images", "How many images does a class need?", pictures, records, table, method)


def _models(plan: ModelsPlan) -> Sheet:
    data: Rows = [{"x": row.models, "y": row.width, "kind": "width"} for row in plan.rows if row.width is not None]
    caption = f"Width of the {100 * plan.level:g}% interval of the slope, by number of models"
    pictures = (("plan-models", caption, lines(data, ("width",), "models", "width of the interval", rule=plan.width)),)
    records: list[Record] = [{"models": row.models, "low": row.low, "high": row.high, "width": row.width} for row in plan.rows]
    rows = tuple((f"{row.models:,}", fmt.bounds(row.low, row.high), fmt.number(row.width)) for row in plan.rows)
    table = Table(("Models", "Interval of the slope", "Width"), rows, 0, plan.source)
    method = (
        "Sets of models are drawn, each model with its residual from the line and with sampling noise for the planned "
        f"numbers of examples; the interval has the middle {100 * plan.level:g}% of the slopes of {plan.resamples:,} sets "
        f"(seed {plan.seed}). Noise that all models share, as the same examples are hard for all, is not in it."
    )
    return Sheet("plan-models", "How many models does a slope need?", pictures, records, table, method)


def _swap(plan: SwapPlan) -> Sheet:
    kinds = ("original", "new", "both")
    data: Rows = [{"x": row.n, "y": getattr(row, kind), "kind": kind} for kind in kinds for row in plan.rows]
    caption = "Chance that the order is significant, by examples on each set"
    spec = lines(data, kinds, "examples on each set", "chance", rule=plan.power)
    records: list[Record] = [{"n": row.n, "original": row.original, "new": row.new, "both": row.both} for row in plan.rows]
    rows = tuple((f"{row.n:,}", *(fmt.number(getattr(row, kind)) for kind in kinds)) for row in plan.rows)
    table = Table(("Examples", "Original", "New", "Both"), rows, 0, f"{counted(plan.pairs, 'pair')} of {plan.models:,} models")
    method = (
        "A swap counts if both orders are significant: the larger of two exact McNemar p-values, Holm's correction over "
        "all pairs. The power of each test is exact, and the two sets are independent. Pairs that are clear on both "
        f"sets go first; {counted(plan.pairs - plan.clear, 'pair is', 'pairs are')} left, so each p-value must be at most "
        f"{plan.threshold:.3g}."
    )
    return Sheet(
        "plan-swap", "What shows that two models change places?", (("plan-swap", caption, spec),), records, table, method
    )


def _count(value: int | None) -> str:
    return fmt.MISSING if value is None else f"{value:,}"


def _axis(field: str, title: str, *, log: bool = False) -> Spec:
    scale = {"type": "log", "nice": False} if log else {"zero": False}
    axis = {"labelOverlap": "greedy", "format": ",d" if log else ".4~g"}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def lines(data: Rows, kinds: Sequence[str], x: str, y: str, *, rule: float | None = None) -> Spec:
    """Lines with points, one a kind, over numbers on a logarithmic axis; a dashed rule at what is wanted."""
    shared: Spec = {"x": _axis("x", x, log=True), "y": _axis("y", y)}
    if len(kinds) > 1:
        legend = {"title": None, "orient": "bottom"}
        for channel, looks in (("color", COLOURS), ("shape", SHAPES)):
            scale = {"domain": list(kinds), "range": list(looks[: len(kinds)])}
            shared[channel] = {"field": "kind", "type": "nominal", "scale": scale, "legend": legend}
    plain = {name: channel for name, channel in shared.items() if name != "shape"}
    colour = {} if len(kinds) > 1 else {"color": COLOURS[0]}
    layers: list[Spec] = [
        {"data": {"values": data}, "mark": {"type": "line", "strokeWidth": 1, **colour}, "encoding": plain},
        {"data": {"values": data}, "mark": {"type": "point", "filled": True, "size": 24, **colour}, "encoding": shared},
    ]
    if rule is not None:
        encoding = {"y": {**shared["y"], "field": "wanted"}}
        mark = {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1}
        layers.append({"data": {"values": [{"wanted": rule}]}, "mark": mark, "encoding": encoding})
    return {"$schema": SCHEMA, "layer": layers}
