"""A retraining for people: plain text for the terminal, HTML for notebooks."""

from __future__ import annotations

from html import escape

from resit.study.result import Estimate
from resit.study.retrain_result import Outcome, Retrained
from resit.study.verdict import metric_label

COLUMNS = ("set", "metric", "group", "n", "before, %", "after, %", "change, points")
ALL = "all"
MOST_ROWS = 60


def _percent(value: Estimate | None) -> str:
    return "n/a" if value is None or value.estimate is None else f"{100 * value.estimate:.1f}"


def _points(value: Estimate | None) -> str:
    if value is None or value.estimate is None:
        return "n/a"
    text = f"{100 * value.estimate:+.1f}"
    if value.low is not None and value.high is not None:
        text += f" [{100 * value.low:+.1f}, {100 * value.high:+.1f}]"
    return text.replace("-", "−")


def rows(outcome: Outcome) -> list[tuple[str, ...]]:
    """What a table says of one set by one metric: all examples, every group, best minus worst."""
    start = (outcome.set.name, metric_label(outcome.metric))
    before, change = outcome.before, outcome.change
    n = f"{outcome.set.n:,}" if outcome.set.n else "n/a"
    old = None if before is None else before.accuracy
    own = None if change is None else change.overall.difference
    found: list[tuple[str, ...]] = []
    found.append((*start, ALL, n, _percent(old), _percent(outcome.after.accuracy), _points(own)))
    for at, score in enumerate(outcome.after.groups):
        old = None if before is None else before.groups[at].accuracy
        own = None if change is None else change.groups[at].change.difference
        name = f"{score.group} (small)" if score.small else score.group
        found.append((*start, name, f"{score.n:,}", _percent(old), _percent(score.accuracy), _points(own)))
    old = None if before is None else before.disparity.difference
    own = None if change is None else change.disparity
    gap = outcome.after.disparity.difference
    found.append((*start, "best − worst, points", "", _percent(old), _percent(gap), _points(own)))
    return found


def _every(result: Retrained) -> list[tuple[str, ...]]:
    return [row for outcome in result.outcomes for row in rows(outcome)]


def to_text(result: Retrained) -> str:
    """The summary that ``print(result)`` shows."""
    found = _every(result)
    shown = [COLUMNS, *found[:MOST_ROWS]]
    widths = [max(len(cells[at]) for cells in shown) for at in range(len(COLUMNS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in shown]
    lines = [f"A new last layer for {result.model}", "", *table]
    if len(found) > MOST_ROWS:
        lines.append(f"… and {len(found) - MOST_ROWS:,} more; result.outcomes has them all.")
    lines += ["", *(f"  • {sentence}" for sentence in result.verdict)]
    lines += [f"  ! [{warning.code}] {warning.where}: {warning.message}" for warning in result.warnings]
    return "\n".join(lines).rstrip()


def to_html(result: Retrained) -> str:
    """The summary that a notebook shows."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in COLUMNS)
    cells = _every(result)[:MOST_ROWS]
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in result.verdict)
    cautions = "".join(f"<li><b>{escape(w.where)}</b>: {escape(w.message)}</li>" for w in result.warnings)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{table}{said}{f'<ul>{cautions}</ul>' if cautions else ''}</div>"
