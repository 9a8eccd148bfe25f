"""A study of groups for people: plain text for the terminal, HTML for notebooks."""

from __future__ import annotations

from html import escape

from resit.study.groups_result import Groups, GroupStudy, ModelGroups
from resit.study.result import Estimate
from resit.study.verdict import metric_label

COLUMNS = ("set", "metric", "by", "model", "best", "worst", "best − worst, points", "by chance", "p", "pair, points")
MOST_ROWS = 40


def _points(value: Estimate) -> str:
    if value.estimate is None:
        return "n/a"
    text = f"{100 * value.estimate:.1f}"
    if value.low is not None and value.high is not None:
        text += f" [{100 * value.low:.1f}, {100 * value.high:.1f}]"
    return text.replace("-", "−")


def rows(result: Groups) -> list[tuple[str, ...]]:
    """What a table says of each model, in the order of :data:`COLUMNS`."""
    return [row(study, one) for study in result.studies for one in study.models]


def row(study: GroupStudy, one: ModelGroups) -> tuple[str, ...]:
    """One row of the table."""
    found = one.disparity
    null = found.null
    return (
        study.set.name,
        metric_label(study.metric),
        study.by,
        one.model,
        found.best or "n/a",
        found.worst or "n/a",
        _points(found.difference),
        "n/a" if null is None or null.mean is None else f"{100 * null.mean:.1f}",
        "n/a" if null is None or null.p_value is None else f"{null.p_value:.2g}",
        "–" if one.pair is None else _points(one.pair.difference),
    )


def to_text(result: Groups) -> str:
    """The summary that ``print(result)`` shows."""
    found = rows(result)
    shown = [COLUMNS, *found[:MOST_ROWS]]
    widths = [max(len(cells[at]) for cells in shown) for at in range(len(COLUMNS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in shown]
    lines = [f"Groups of {', '.join(dict.fromkeys(study.set.name for study in result.studies))}", "", *table]
    if len(found) > MOST_ROWS:
        lines.append(f"… and {len(found) - MOST_ROWS:,} more; result.studies has them all.")
    lines += ["", *(f"  • {sentence}" for sentence in result.verdict)]
    lines += [f"  ! [{warning.code}] {warning.where}: {warning.message}" for warning in result.warnings]
    return "\n".join(lines).rstrip()


def to_html(result: Groups) -> str:
    """The summary that a notebook shows."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>" for cells in rows(result)[:MOST_ROWS])
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in result.verdict)
    cautions = "".join(f"<li><b>{escape(w.where)}</b>: {escape(w.message)}</li>" for w in result.warnings)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{table}{said}{f'<ul>{cautions}</ul>' if cautions else ''}</div>"
