"""A Result for people: plain text for the terminal, HTML for notebooks."""

from __future__ import annotations

from html import escape

from resit.data.paths import counted
from resit.study.human_result import HumanAccuracy
from resit.study.result import Comparison, Estimate, Result
from resit.study.verdict import bracket, metric_label, points

COLUMNS = ("new set", "metric", "models", "original", "new", "change", "slope", "R²", "Spearman", "real swaps")


def _row(comparison: Comparison) -> tuple[str, ...]:
    fit = comparison.fits["linear"]

    def shown(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    def slope(figure: Estimate) -> str:
        return "–" if figure.estimate is None else f"{figure.estimate:.3f}{bracket(figure)}"

    return (
        comparison.new.name,
        metric_label(comparison.metric),
        str(comparison.n_models),
        f"{100 * comparison.mean_original:.2f}",
        f"{100 * comparison.mean_new:.2f}",
        points(comparison.mean_change),
        slope(fit.slope),
        shown(fit.r2, ".3f"),
        shown(comparison.spearman, ".3f"),
        "–" if comparison.real_swaps is None else str(len(comparison.real_swaps)),
    )


def to_text(result: Result) -> str:
    """The summary that ``print(result)`` shows."""
    rows = [COLUMNS, *map(_row, result.comparisons)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    table.insert(1, "  ".join("─" * width for width in widths))
    size = f"{result.original.n:,} examples" if result.original.n else "size not known"
    lines = [f"Original: {result.original.name} ({size})", "", *table, ""]
    for comparison in result.comparisons:
        lines += [f"{comparison.new.name}, {metric_label(comparison.metric)}"]
        lines += [f"  • {sentence}" for sentence in comparison.verdict] + [""]
    for overlap in result.overlaps:
        lines.append(f"{overlap_text(result, overlap.first, overlap.second)}")
    if result.human is not None:
        lines += ["", *_people(result.human)]
    if result.warnings:
        lines += ["", f"{counted(len(result.warnings), 'warning')}:"]
        lines += [f"  ! [{warning.code}] {warning.where}: {warning.message}" for warning in result.warnings]
    return "\n".join(lines).rstrip()


def _people(human: HumanAccuracy) -> list[str]:
    """What people do on the same images, in a few lines; its own warnings stand with it."""
    said = human.verdict or (f"No figures: {human.reason}.",)
    lines = [f"People on the same images ({human.exam} of {human.build})", *(f"  • {sentence}" for sentence in said)]
    return lines + [f"  ! [{warning.code}] {warning.where}: {warning.message}" for warning in human.warnings]


def overlap_text(result: Result, first: str, second: str) -> str:
    """What two new sets share, in a sentence."""
    found = next(overlap for overlap in result.overlaps if (overlap.first, overlap.second) == (first, second))
    if found.shared is None:
        return f"{first} and {second}: {found.difference.reason or found.source}."
    text = f"{first} and {second} share {counted(found.shared, 'example')} ({found.source})"
    if not found.shared:
        return text + "."
    return f"{text}: they are not two independent confirmations."


def to_html(result: Result) -> str:
    """The summary that a notebook shows."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _row(c))}</tr>" for c in result.comparisons)
    said = "".join(
        f"<p><b>{escape(c.new.name)}, {escape(metric_label(c.metric))}.</b> {escape(' '.join(c.verdict))}</p>"
        for c in result.comparisons
    )
    cautions = "".join(f"<li><b>{escape(w.where)}</b>: {escape(w.message)}</li>" for w in result.warnings)
    warned = f"<p>{counted(len(result.warnings), 'warning')}:</p><ul>{cautions}</ul>" if result.warnings else ""
    title = f"<p>Original: <b>{escape(result.original.name)}</b></p>"
    people = "" if result.human is None else "".join(f"<p>{escape(line)}</p>" for line in _people(result.human))
    return f"<div>{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}{people}{warned}</div>"
