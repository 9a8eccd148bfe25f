"""What a retraining says in words: no more than the intervals do."""

from __future__ import annotations

from collections.abc import Iterator

from resit.study.groups_result import ModelGroups
from resit.study.result import Estimate
from resit.study.retrain_result import Change, Outcome
from resit.study.verdict import metric_label, points


def outcome_sentences(outcome: Outcome) -> Iterator[str]:
    """Accuracy, disparity and the named pair of one set by one metric, before and after."""
    how = "by heads that did not see the example's fold" if outcome.trained == "cross-fitted" else "by a head trained elsewhere"
    start = f"{metric_label(outcome.metric)} on {outcome.set.name}, {how}"
    if outcome.before is None or outcome.change is None:
        yield f"{start}: {_percent(outcome.after.accuracy)} after retraining; before is not available: {outcome.reason}."
        yield from _alone(outcome)
        return
    yield (
        f"{start}: {_percent(outcome.before.accuracy)} before and {_percent(outcome.after.accuracy)} after, a change of "
        f"{_moved(outcome.change.overall.difference, 'accuracy')}."
    )
    yield from _disparity(outcome, outcome.before, outcome.change)
    yield from _pair(outcome, outcome.before, outcome.change)


def _alone(outcome: Outcome) -> Iterator[str]:
    found = outcome.after.disparity
    if found.difference.estimate is not None:
        yield (
            f"{_start(outcome)}: best minus worst group is {_points(found.difference.estimate)} points after "
            f"({found.best}, {found.worst})."
        )


def _disparity(outcome: Outcome, before: ModelGroups, change: Change) -> Iterator[str]:
    first, last = before.disparity, outcome.after.disparity
    if first.difference.estimate is None or last.difference.estimate is None:
        yield f"{_start(outcome)}: groups are not compared: {first.difference.reason}."
        return
    yield (
        f"{_start(outcome)}: best minus worst group is {_points(first.difference.estimate)} points before "
        f"({first.best}, {first.worst}) and {_points(last.difference.estimate)} after ({last.best}, {last.worst}), a change of "
        f"{_moved(change.disparity, 'disparity')}."
    )


def _pair(outcome: Outcome, before: ModelGroups, change: Change) -> Iterator[str]:
    first, last = before.pair, outcome.after.pair
    if first is None or last is None or change.pair is None:
        return
    values = [_points(one.difference.estimate or 0.0) for one in (first, last)]
    yield (
        f"{_start(outcome)}: {first.first} minus {first.second} is {values[0]} points before and {values[1]} after, a change "
        f"of {_moved(change.pair, 'difference')}."
    )


def _start(outcome: Outcome) -> str:
    return f"{metric_label(outcome.metric)} on {outcome.set.name} by {outcome.column}"


def _moved(figure: Estimate, what: str) -> str:
    if figure.estimate is None:
        return f"n/a points ({figure.reason})"
    value = f"{points(figure.estimate)} points"
    if figure.low is None or figure.high is None:
        return f"{value} ({figure.reason})"
    value += f" [{points(figure.low)}, {points(figure.high)}]"
    if figure.low <= 0 <= figure.high:
        return f"{value}; the interval holds 0, so no change of {what} is shown"
    return value


def _percent(figure: Estimate) -> str:
    return "n/a" if figure.estimate is None else f"{100 * figure.estimate:.2f} %"


def _points(value: float) -> str:
    return f"{100 * value:.2f}".replace("-", "−")
