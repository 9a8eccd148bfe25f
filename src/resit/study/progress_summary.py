"""A study of progress for people: plain text for the terminal, HTML for notebooks."""

from __future__ import annotations

from html import escape

from resit.data.paths import counted
from resit.study.progress_result import Progress, Rate
from resit.study.verdict import metric_label, shown

COLUMNS = ("set", "metric", "models", "mean", "rate", "R²", "rate, logit", "net improvement", "gap")


def row(result: Progress, rate: Rate) -> tuple[str, ...]:
    """What a table says of a rate, in the order of :data:`COLUMNS`."""
    linear, gap = rate.fits["linear"], result.gap(rate)
    return (
        rate.new.name,
        metric_label(rate.metric),
        f"{rate.n_models:,}",
        f"{100 * rate.mean_new:.2f}",
        shown(linear.slope),
        "n/a" if linear.r2 is None else f"{linear.r2:.3f}",
        shown(rate.fits["logit"].slope),
        f"{100 * rate.net_improvement.difference:.1f}",
        "standard" if gap is None else shown(gap.ratio),
    )


def to_text(result: Progress) -> str:
    """The summary that ``print(result)`` shows."""
    rows = [COLUMNS, *(row(result, rate) for rate in result.rates)]
    widths = [max(len(cells[at]) for cells in rows) for at in range(len(COLUMNS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in rows]
    lines = [f"Progress on {result.original.name}, and what goes with it elsewhere", "", *table, ""]
    lines += [f"  • {sentence}" for sentence in result.verdict]
    if result.left_out:
        lines += ["", f"{counted(len(result.left_out), 'model is', 'models are')} not on all sets and left out."]
    lines += [f"  ! [{warning.code}] {warning.where}: {warning.message}" for warning in result.warnings]
    return "\n".join(lines).rstrip()


def to_html(result: Progress) -> str:
    """The summary that a notebook shows."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row(result, rate))}</tr>" for rate in result.rates)
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in result.verdict)
    cautions = "".join(f"<li><b>{escape(w.where)}</b>: {escape(w.message)}</li>" for w in result.warnings)
    title = f"<p>Progress on <b>{escape(result.original.name)}</b></p>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{title}{table}{said}{f'<ul>{cautions}</ul>' if cautions else ''}</div>"
