"""What a study of groups says in words: no more than the intervals do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median

from resit.study.groups_result import GroupStudy, ModelGroups, NamedPair, PercentileGap, Trend
from resit.study.result import Estimate
from resit.study.verdict import bracket, metric_label

SHOWN = 10.0


def study_sentences(study: GroupStudy, level: float, min_size: int) -> Iterator[str]:
    """How far groups are apart: figures for one model, a summary for several."""
    start = f"{metric_label(study.metric)} on {study.set.name} by {study.by}"
    if len(study.models) == 1:
        yield from _one(study.models[0], start)
    else:
        yield from _several(study, start, level)
    if study.small:
        worst = _most([one.disparity_all.worst or "" for one in study.models], len(study.models))
        count = f"{len(study.small)} group{'s' if len(study.small) > 1 else ''} with too few examples (under {min_size})"
        count += "" if study.n_clusters is None else " or clusters (under 10)"
        yield f"{start}: {count} not counted in this; with them the worst is {worst}."


def trend_sentence(trend: Trend, original: str) -> str | None:
    """Whether disparity goes with accuracy on the original; only for differences as they are."""
    if trend.measure.endswith("normalised"):
        return None
    start = f"{metric_label(trend.metric)} on {trend.set} by {' × '.join(trend.columns)}, over {trend.n_models:,} models"
    slope = trend.slope
    if slope.estimate is None:
        return f"{start}: no line of {trend.measure} against accuracy on {original}: {slope.reason}."
    if slope.low is None or slope.high is None:
        return f"{start}: the slope of {trend.measure} has no interval: {slope.reason}."
    figure = f"{start}: {trend.measure} changes by {_number(slope.estimate)}{bracket(slope)} points for a point on {original}"
    if slope.low <= 0 <= slope.high:
        return f"{figure}; the interval holds 0, so neither growing nor shrinking is shown."
    return f"{figure}: it is {'larger' if slope.low > 0 else 'smaller'} for models that are better there."


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _points(value: float) -> str:
    return f"{100 * value:.2f}".replace("-", "−")


def _reach(figure: Estimate) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f" [{_points(figure.low)}, {_points(figure.high)}]"


def _one(one: ModelGroups, start: str) -> Iterator[str]:
    found = one.disparity
    if found.difference.estimate is None:
        yield f"{start}: groups are not compared: {found.difference.reason}."
        return
    scores = {score.group: score.accuracy.estimate or 0.0 for score in one.groups}
    ends = [f"{name} ({_points(scores[name])} %)" for name in (found.best, found.worst) if name is not None]
    text = f"{start}: {ends[0]} is best and {ends[1]} worst, {_points(found.difference.estimate)} points apart"
    text += _reach(found.difference)
    if found.difference.low is not None and found.difference.low <= 0:
        text += ", an interval that reaches 0: no two groups are shown to differ"
    null = found.null
    if null is not None and null.mean is not None and null.p_value is not None:
        text += f". Labels permuted over {null.unit} put them {_points(null.mean)} apart on average (p = {null.p_value:.2g})"
    yield f"{text}."
    if one.pair is not None:
        yield _pair(one.pair, start)
    for gap in one.percentile_gaps:
        if gap.percent == SHOWN:
            yield _gap(gap, start)


def _pair(pair: NamedPair, start: str) -> str:
    value = pair.difference
    figure = f"{start}: {pair.first} minus {pair.second} is {_points(value.estimate or 0.0)} points{_reach(value)}"
    if value.low is None or value.high is None:
        return f"{figure}; {value.reason}."
    if value.low <= 0 <= value.high:
        return f"{figure}; the interval holds 0, so neither is shown to be ahead."
    return f"{figure}: {pair.first if value.low > 0 else pair.second} is ahead."


def _gap(gap: PercentileGap, start: str) -> str:
    figure = (
        f"{start}: of {gap.n_groups} groups the best {gap.percent:g} % ({gap.n_each}) and the worst are "
        f"{_points(gap.difference)} points apart"
    )
    if gap.null.mean is None or gap.null.p_value is None:
        return f"{figure}; {gap.null.reason}."
    return f"{figure}; permuted labels put them {_points(gap.null.mean)} apart on average (p = {gap.null.p_value:.2g})."


def _several(study: GroupStudy, start: str, level: float) -> Iterator[str]:
    found = [one.disparity for one in study.models if one.disparity.difference.estimate is not None]
    if not found:
        yield f"{start}: groups are not compared: {study.models[0].disparity.difference.reason}."
        return
    values = [one.difference.estimate or 0.0 for one in found]
    text = (
        f"{start}, {len(found):,} models: best minus worst group is {_points(min(values))} to {_points(max(values))} points, "
        f"median {_points(median(values))}"
    )
    lows = [one.difference.low for one in found if one.difference.low is not None]
    parts = []
    if lows:
        parts.append(f"the interval lies above 0 for {sum(low > 0 for low in lows):,} of {len(lows):,}")
    p = [one.null.p_value for one in found if one.null is not None and one.null.p_value is not None]
    if p:
        parts.append(f"it is more than permuted labels give (p ≤ {1 - level:.2g}) for {sum(q <= 1 - level for q in p):,}")
    told = f". Taken one by one, {' and '.join(parts)}" if parts else ""
    yield f"{text}{told}. Worst: {_most([one.worst or '' for one in found], len(found))}."
    pairs = [one.pair for one in study.models if one.pair is not None]
    if pairs:
        yield _several_pairs(pairs, start)


def _several_pairs(pairs: list[NamedPair], start: str) -> str:
    values = [pair.difference for pair in pairs]
    estimates = [value.estimate or 0.0 for value in values]
    first, second = pairs[0].first, pairs[0].second
    ahead = sum(value.low is not None and value.low > 0 for value in values)
    behind = sum(value.high is not None and value.high < 0 for value in values)
    return (
        f"{start}: {first} minus {second} is {_points(min(estimates))} to {_points(max(estimates))} points, median "
        f"{_points(median(estimates))}; taken one by one, {first} is ahead for {ahead:,} of {len(pairs):,} models and {second} "
        f"for {behind:,}."
    )


def _most(names: list[str], models: int) -> str:
    name, count = Counter(names).most_common(1)[0]
    return name if models == 1 else f"{name} for {count:,} of {models:,} models"
