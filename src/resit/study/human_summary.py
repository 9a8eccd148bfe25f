"""People's accuracy for people: plain text for the terminal, HTML for notebooks."""

from __future__ import annotations

from html import escape

from resit.study.estimate import Estimate
from resit.study.human_result import HumanAccuracy, Marks
from resit.study.verdict import points

COLUMNS = ("person", "original", "new", "change, points", "no answer", "“I do not know”")


def rows(result: HumanAccuracy) -> list[tuple[str, ...]]:
    """What a table says: everybody, all together, and the models beside, in the order of :data:`COLUMNS`."""
    found: list[tuple[str, ...]] = [
        (
            one.person,
            _marks(one.original),
            _marks(one.new),
            _change(one.change),
            f"{one.original.unanswered + one.new.unanswered:,}",
            f"{one.original.unknown + one.new.unknown:,}",
        )
        for one in result.people
    ]
    if (pooled := result.pooled) is not None and pooled.n_people > 1:
        found.append(("all people", _percent(pooled.original), _percent(pooled.new), _change(pooled.change), "", ""))
    if (beside := result.models) is not None:
        means = (f"{100 * value:.1f}" for value in (beside.mean_original, beside.mean_new))
        found.append((f"models ({len(beside.models):,})", *means, points(beside.mean_change), "", ""))
    return found


def _percent(figure: Estimate) -> str:
    if figure.estimate is None:
        return "n/a"
    around = "" if figure.low is None or figure.high is None else f" [{100 * figure.low:.1f}, {100 * figure.high:.1f}]"
    return f"{100 * figure.estimate:.1f}{around}"


def _marks(marks: Marks) -> str:
    return f"{_percent(marks.accuracy)} ({marks.correct:,} of {marks.n:,})"


def _change(figure: Estimate) -> str:
    around = "" if figure.low is None or figure.high is None else f" [{points(figure.low)}, {points(figure.high)}]"
    return f"{points(figure.estimate or 0.0)}{around}"


def to_text(result: HumanAccuracy) -> str:
    """The summary that ``print(result)`` shows."""
    lines = [f"{result.exam}: people on {result.n_original:,} original and {result.n_new:,} new images", result.rule, ""]
    if result.people:
        table = [COLUMNS, *rows(result)]
        widths = [max(len(row[at]) for row in table) for at in range(len(COLUMNS))]
        lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
        lines += ["", *(f"  • {sentence}" for sentence in result.verdict)]
    else:
        lines.append(f"No figures: {result.reason}.")
    lines += [f"  ! [{warning.code}] {warning.where}: {warning.message}" for warning in result.warnings]
    return "\n".join(lines).rstrip()


def to_html(result: HumanAccuracy) -> str:
    """The summary that a notebook shows."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows(result))
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in result.verdict or (f"No figures: {result.reason}.",))
    cautions = "".join(f"<li><b>{escape(w.where)}</b>: {escape(w.message)}</li>" for w in result.warnings)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if result.people else ""
    return f"<div><p><b>{escape(result.exam)}</b></p>{table}{said}{f'<ul>{cautions}</ul>' if cautions else ''}</div>"
