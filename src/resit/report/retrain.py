"""A retraining drawn: a page with pictures and tables, the figures for a paper, and the tables for other programs."""

from __future__ import annotations

from collections.abc import Iterator

from resit.report import format as fmt
from resit.report.charts import SCHEMA, Rows
from resit.report.figures import export, picture
from resit.report.frame import Spec
from resit.report.markup import Table, to_csv, to_latex, to_markdown
from resit.report.page import environment, styles
from resit.report.palette import COLOURS, SHAPES
from resit.study.groups_result import GroupScore
from resit.study.result import Estimate
from resit.study.retrain_result import Outcome, PairedChange, Retrained

Record = dict[str, object]
TIMES = ("before", "after")
ALL = "all examples"
NOTHING = Estimate(None)


def retrain_files(result: Retrained) -> dict[str, bytes]:
    """All files of the report but ``result.json``.

    Parameters
    ----------
    result : Retrained
        What is shown.

    Returns
    -------
    dict of bytes
        Contents by path.
    """
    named = [(_stem(outcome), _title(outcome), accuracies(outcome)) for outcome in result.outcomes]
    drawn = {path: content for name, _, spec in named for path, content in export(f"figures/{name}", spec)}
    tables = {
        "retraining": (group_records(result), groups_table(result, result.outcomes)),
        "folds": (fold_records(result), folds_table(result)),
    }
    texts = {
        f"tables/{name}.{kind}": text
        for name, (records, table) in tables.items()
        for kind, text in (("csv", to_csv(records)), ("md", to_markdown(table)), ("tex", to_latex(table)))
    }
    pictures = [(label, picture(spec)) for _, label, spec in named]
    texts["index.html"] = _page(result, pictures)
    return drawn | {path: text.encode() for path, text in texts.items()}


def _page(result: Retrained, pictures: list[tuple[str, str]]) -> str:
    kit = environment()
    views = [(_title(one), one, groups_table(result, [one])) for one in result.outcomes]
    return str(
        kit.get_template("retrain.html.j2").render(
            result=result,
            sets=list(dict.fromkeys(outcome.set.name for outcome in result.outcomes)),
            pictures=pictures,
            views=views,
            overview=overview_table(result),
            folds=folds_table(result),
            styles=styles(kit),
        )
    )


def _stem(outcome: Outcome) -> str:
    return f"retrain-{fmt.slug(f'{outcome.set.name}-{outcome.column}-{outcome.metric}')}"


def _title(outcome: Outcome) -> str:
    return f"{fmt.metric(outcome.metric)} on {outcome.set.name} by {outcome.column}, before and after"


def _figures(name: str, value: Estimate) -> Record:
    return {name: value.estimate, f"{name}_low": value.low, f"{name}_high": value.high}


def group_records(result: Retrained) -> list[Record]:
    """One record a set, metric and group, figures as they are; all examples, and best minus worst, are groups of their own."""
    return [record for outcome in result.outcomes for record in _records(outcome)]


def _records(outcome: Outcome) -> Iterator[Record]:
    before, after, change = outcome.before, outcome.after, outcome.change
    start: Record = {"set": outcome.set.name, "metric": outcome.metric, "trained": outcome.trained, "by": outcome.column}
    old = NOTHING if before is None else before.accuracy
    paired = None if change is None else change.overall
    yield start | {"group": ALL, "n": outcome.set.n, "small": False} | _row(old, after.accuracy, paired)
    for at, score in enumerate(after.groups):
        old = NOTHING if before is None else before.groups[at].accuracy
        paired = None if change is None else change.groups[at].change
        yield start | {"group": score.group, "n": score.n, "small": score.small} | _row(old, score.accuracy, paired)
    gap = NOTHING if before is None else before.disparity.difference
    moved = NOTHING if change is None else change.disparity
    row = _row(gap, after.disparity.difference, None) | _figures("change", moved)
    yield start | {"group": "best minus worst", "n": None, "small": False} | row


def _row(before: Estimate, after: Estimate, paired: PairedChange | None) -> Record:
    counts = ("both", "only_before", "only_after", "neither", "p_value")
    return {
        **_figures("before", before),
        **_figures("after", after),
        **_figures("change", NOTHING if paired is None else paired.difference),
        **{name: None if paired is None else getattr(paired, name) for name in counts},
    }


def groups_table(result: Retrained, outcomes: tuple[Outcome, ...] | list[Outcome]) -> Table:
    """What people read of every group, before and after."""
    heading = ("Set", "Metric", "Group", "n", "Before, %", "After, %", "Change, points")
    rows = tuple(row for outcome in outcomes for row in _rows(outcome))
    small = f"small: under {result.settings['min_size']} examples"
    caption = f"Accuracy before and after retraining; brackets hold {100 * result.level:g}% intervals; {small}"
    return Table(heading, rows, 3, caption)


def _rows(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    before, after, change = outcome.before, outcome.after, outcome.change
    start = (outcome.set.name, fmt.metric(outcome.metric))
    old = NOTHING if before is None else before.accuracy
    moved = NOTHING if change is None else change.overall.difference
    n = fmt.MISSING if outcome.set.n is None else f"{outcome.set.n:,}"
    yield (*start, ALL, n, _percent(old), _percent(after.accuracy), _points(moved))
    for at, score in enumerate(after.groups):
        old = NOTHING if before is None else before.groups[at].accuracy
        moved = NOTHING if change is None else change.groups[at].change.difference
        yield (*start, _name(score), f"{score.n:,}", _percent(old), _percent(score.accuracy), _points(moved))
    gap = NOTHING if before is None else before.disparity.difference
    moved = NOTHING if change is None else change.disparity
    yield (*start, "best minus worst, points", "", _percent(gap), _percent(after.disparity.difference), _points(moved))
    if after.pair is not None:
        old = NOTHING if before is None or before.pair is None else before.pair.difference
        moved = NOTHING if change is None or change.pair is None else change.pair
        label = f"{after.pair.first} minus {after.pair.second}, points"
        yield (*start, label, "", _percent(old), _percent(after.pair.difference), _points(moved))


def overview_table(result: Retrained) -> Table:
    """What to read first: accuracy and how far groups are apart on each set, before and after."""
    heading = ("Set", "Metric", "Figure", "Before", "After", "Change, points")
    keys = {ALL: "accuracy, %"}
    rows = tuple(
        (row[0], row[1], keys.get(row[2], row[2]), *row[4:])
        for outcome in result.outcomes
        for at, row in enumerate(_rows(outcome))
        if not 0 < at <= len(outcome.after.groups)
    )
    caption = f"Before: the model's own last layer; brackets hold {100 * result.level:g}% intervals"
    return Table(heading, rows, 3, caption)


def _name(score: GroupScore) -> str:
    return f"{score.group} (small)" if score.small else score.group


def _percent(value: Estimate) -> str:
    if value.estimate is None:
        return fmt.MISSING
    return f"{fmt.number(100 * value.estimate, 2)} {fmt.bounds(value.low, value.high, 2, 100)}".strip()


def _points(value: Estimate) -> str:
    return fmt.change(value) if value.estimate is not None else fmt.MISSING


def fold_records(result: Retrained) -> list[Record]:
    """One record a fold and one of the head of all examples: sizes, and accuracy on validation examples by strength."""
    folds: list[Record] = [
        {
            "fold": row.fold,
            "train": row.n_train,
            "validation": row.n_validation,
            "test": row.n_test,
            "untaught": row.n_untaught,
            "c": row.c,
            "converged": row.converged,
            **{f"accuracy_c_{one.c:g}": one.accuracy for one in row.tried},
        }
        for row in result.folds
    ]
    head = result.head
    last: Record = {"fold": "all", "train": head.n_examples, "c": head.c, "converged": head.converged}
    return [*folds, last | {f"accuracy_c_{one.c:g}": one.accuracy for one in head.tried}]


def folds_table(result: Retrained) -> Table:
    """What people read of the heads."""
    heading = ("Fold", "Train", "Validation", "Test", "C", *(f"C = {one.c:g}, %" for one in result.head.tried))
    rows = [
        (
            str(row.fold),
            f"{row.n_train:,}",
            f"{row.n_validation:,}",
            f"{row.n_test:,}",
            f"{row.c:g}",
            *(fmt.number(100 * one.accuracy, 2) for one in row.tried),
        )
        for row in result.folds
    ]
    head = result.head
    tried = (fmt.number(100 * one.accuracy, 2) for one in head.tried)
    rows.append(("all", f"{head.n_examples:,}", "", "", f"{head.c:g}", *tried))
    caption = "Examples of each fold, the chosen C, and accuracy on validation examples by C"
    return Table(heading, tuple(rows), 1, caption)


def accuracies(outcome: Outcome) -> Spec:
    """Accuracy of every group before and after, with intervals; the group that was best before first, small ones last."""
    data: Rows = []
    order: dict[str, tuple[bool, float]] = {}
    sides = (outcome.before, outcome.after)
    for time, side in zip(TIMES, sides, strict=True):
        for score in () if side is None else side.groups:
            name = f"{_name(score)} ({score.n:,})"
            value, low, high = score.accuracy.estimate or 0.0, score.accuracy.low, score.accuracy.high
            order.setdefault(name, (score.small, -value))
            row = {"time": time, "group": name, "x": 100 * value}
            data.append(row if low is None or high is None else row | {"low": 100 * low, "high": 100 * high})
    title = f"{outcome.set.name}, {fmt.metric(outcome.metric)} accuracy, %"
    x = {"field": "x", "type": "quantitative", "title": title, "scale": {"zero": False}}
    names = sorted(order, key=lambda name: order[name])
    y = {"field": "group", "type": "nominal", "title": None, "sort": names, "axis": {"labelLimit": 200}}
    legend = {"title": None, "orient": "bottom"}
    looks: Spec = {}
    for channel, values in (("color", COLOURS), ("shape", SHAPES)):
        scale = {"domain": list(TIMES), "range": [values[1], values[0]]}
        looks[channel] = {"field": "time", "type": "nominal", "scale": scale, "legend": legend}
    beside = {"yOffset": {"field": "time", "type": "nominal", "sort": list(TIMES)}}
    reach = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": looks["color"], **beside}
    point = {"type": "point", "filled": True, "size": 24, "opacity": 1}
    return {
        "$schema": SCHEMA,
        "data": {"values": data},
        "height": {"step": 10},
        "layer": [
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 1},
                "encoding": reach,
            },
            {"mark": point, "encoding": {"x": x, "y": y, **looks, **beside}},
        ],
    }
