"""The tables of a study of groups: every group of every model, disparities with their nulls, trends over models."""

from __future__ import annotations

from collections.abc import Sequence

from resit.report import format as fmt
from resit.report.markup import Table
from resit.study.groups_result import Disparity, Groups, GroupStudy, ModelGroups, Null
from resit.study.result import Estimate

Record = dict[str, object]


def _figures(name: str, value: Estimate) -> Record:
    return {name: value.estimate, f"{name}_low": value.low, f"{name}_high": value.high}


def group_records(result: Groups) -> list[Record]:
    """One record a set, metric, grouping, model and group, figures as they are."""
    return [
        {
            "set": study.set.name,
            "metric": study.metric,
            "by": study.by,
            "model": one.model,
            "group": score.group,
            "n": score.n,
            "correct": score.correct,
            **_figures("accuracy", score.accuracy),
            **_figures("class_macro", score.class_macro),
            **_figures("standardised", score.standardised),
            "small": score.small,
            "n_classes": score.n_classes,
            "n_clusters": score.n_clusters,
        }
        for study in result.studies
        for one in study.models
        for score in one.groups
    ]


def groups_table(result: Groups, studies: Sequence[GroupStudy]) -> Table:
    """What people read of every group."""
    heading = ("Set", "Metric", "By", "Model", "Group", "n", "Correct", "Accuracy, %", "Class-macro, %", "Standardised, %")
    rows = tuple(
        (
            study.set.name,
            fmt.metric(study.metric),
            study.by,
            one.model,
            f"{score.group} (small)" if score.small else score.group,
            f"{score.n:,}",
            f"{score.correct:,}",
            *(_percent(value) for value in (score.accuracy, score.class_macro, score.standardised)),
        )
        for study in studies
        for one in study.models
        for score in one.groups
    )
    small = f"small: under {result.settings['min_size']} examples"
    caption = f"Accuracy by group; brackets hold {100 * result.level:g}% intervals; {small}"
    return Table(heading, rows, 5, caption)


def _percent(value: Estimate) -> str:
    if value.estimate is None:
        return fmt.MISSING
    return f"{fmt.number(100 * value.estimate, 2)} {fmt.bounds(value.low, value.high, 2, 100)}".strip()


def disparity_records(result: Groups) -> list[Record]:
    """One record a set, metric, grouping and model: disparity, null, pair and percentile gaps, figures as they are."""
    return [_disparity_record(study, one) for study in result.studies for one in study.models]


def _disparity_record(study: GroupStudy, one: ModelGroups) -> Record:
    nothing = Estimate(None)
    found, pair = one.disparity, one.pair
    record: Record = {
        "set": study.set.name,
        "metric": study.metric,
        "by": study.by,
        "model": one.model,
        "accuracy": one.accuracy.estimate,
        "best": found.best,
        "worst": found.worst,
        **_figures("disparity", found.difference),
        **_figures("normalised", found.normalised),
        **_null("null", found.null),
        "worst_with_small": one.disparity_all.worst,
        **_figures("disparity_with_small", one.disparity_all.difference),
        "pair": None if pair is None else f"{pair.first} minus {pair.second}",
        **_figures("pair_difference", nothing if pair is None else pair.difference),
        **_figures("pair_normalised", nothing if pair is None else pair.normalised),
    }
    by_percent = {gap.percent: gap for gap in one.percentile_gaps}
    for percent in (5.0, 10.0, 25.0):
        gap = by_percent.get(percent)
        record[f"gap_{percent:g}"] = None if gap is None else gap.difference
        record |= _null(f"gap_{percent:g}", None if gap is None else gap.null)
    return record


def _null(name: str, null: Null | None) -> Record:
    fields = ("mean", "upper", "p_value")
    return {f"{name}_{field}": None if null is None else getattr(null, field) for field in fields}


def disparity_table(result: Groups) -> Table:
    """What people read of disparity: best and worst group, how far apart, by chance, the pair, any percentile gaps."""
    many = any(one.percentile_gaps for study in result.studies for one in study.models)
    heading = ("Set", "Metric", "By", "Model", "Best", "Worst", "Best minus worst, points", "Normalised", "By chance", "p")
    ends = tuple(f"Gap {percent} %, points" for percent in (5, 10, 25)) if many else ()
    rows = tuple(
        (
            study.set.name,
            fmt.metric(study.metric),
            study.by,
            one.model,
            one.disparity.best or fmt.MISSING,
            _worst(one),
            _points(one.disparity.difference),
            fmt.estimate(one.disparity.normalised) if one.disparity.normalised.estimate is not None else fmt.MISSING,
            *_chance(one.disparity),
            "–" if one.pair is None else _points(one.pair.difference),
            *(_gap(one, percent) for percent in (5.0, 10.0, 25.0) if many),
        )
        for study in result.studies
        for one in study.models
    )
    pair = result.settings["pair"]
    caption = "Differences between groups; by chance: mean and upper quantile where group labels are permuted"
    return Table((*heading, "Pair" if pair == "none" else f"{pair}, points", *ends), rows, 6, caption)


def _worst(one: ModelGroups) -> str:
    without, counted = one.disparity.worst, one.disparity_all.worst
    if without == counted:
        return without or fmt.MISSING
    return f"{without or fmt.MISSING} (with small groups: {counted})"


def _points(value: Estimate) -> str:
    if value.estimate is None:
        return f"{fmt.MISSING}: {value.reason}"
    return f"{fmt.number(100 * value.estimate, 2)} {fmt.bounds(value.low, value.high, 2, 100)}".strip()


def _chance(found: Disparity) -> tuple[str, str]:
    null = found.null
    if null is None or null.mean is None or null.upper is None or null.p_value is None:
        return fmt.MISSING, fmt.MISSING
    mean, upper = fmt.number(100 * null.mean, 2), fmt.number(100 * null.upper, 2)
    return f"{mean}, up to {upper}", fmt.p_value(null.p_value).removeprefix("= ")


def _gap(one: ModelGroups, percent: float) -> str:
    gap = next((gap for gap in one.percentile_gaps if gap.percent == percent), None)
    if gap is None:
        return "–"
    p = "" if gap.null.p_value is None else f" (p {fmt.p_value(gap.null.p_value)})"
    return f"{fmt.number(100 * gap.difference, 2)}{p}"


def trend_records(result: Groups) -> list[Record]:
    """One record a set, metric, grouping and measure of disparity."""
    return [
        {
            "set": trend.set,
            "metric": trend.metric,
            "by": " × ".join(trend.columns),
            "measure": trend.measure,
            "n_models": trend.n_models,
            **_figures("slope", trend.slope),
            "intercept": trend.intercept,
            "r2": trend.r2,
        }
        for trend in result.trends
    ]


def trends_table(result: Groups) -> Table:
    """What people read of disparity against original accuracy."""
    heading = ("Set", "Metric", "By", "Disparity", "Models", "Slope", "R²")
    rows = tuple(
        (
            trend.set,
            fmt.metric(trend.metric),
            " × ".join(trend.columns),
            trend.measure,
            f"{trend.n_models:,}",
            fmt.estimate(trend.slope) if trend.slope.estimate is not None else f"{fmt.MISSING}: {trend.slope.reason}",
            fmt.number(trend.r2),
        )
        for trend in result.trends
    )
    name = "" if result.original is None else f" on {result.original.name}"
    return Table(heading, rows, 4, f"Disparity against accuracy{name}: points for a point, over models")
