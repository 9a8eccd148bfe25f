"""People on the same images, as the page shows them: rows of a table and of a chart; nothing is estimated here."""

from __future__ import annotations

from dataclasses import dataclass

from resit.report import format as fmt
from resit.report.dotplot import DotPlot, Line, plot
from resit.report.markup import Table
from resit.study.human_result import HumanAccuracy, Marks
from resit.study.result import Estimate


@dataclass(frozen=True, slots=True)
class HumanView:
    """What the page shows: the record, its table, and its chart where anybody handed in."""

    human: HumanAccuracy
    table: Table
    plot: DotPlot | None


def human_view(human: HumanAccuracy | None) -> HumanView | None:
    """People's accuracy as the page shows it, or None where nobody was asked."""
    if human is None:
        return None
    lines = [_line(row.person, row.original.accuracy, row.new.accuracy, row.change) for row in human.people]
    if (pooled := human.pooled) is not None and pooled.n_people > 1:
        lines.append(_line("All people", pooled.original, pooled.new, pooled.change))
    if (beside := human.models) is not None:
        means = (Estimate(value) for value in (beside.mean_original, beside.mean_new, beside.mean_change))
        lines.append(_line(f"Models, mean of {len(beside.models):,}", *means))
    return HumanView(human, _table(human), plot(lines, unit="% right") if lines else None)


def _line(name: str, old: Estimate, new: Estimate, change: Estimate) -> Line:
    spans = tuple(
        (100 * figure.low, 100 * figure.high, f"span {kind}")
        for figure, kind in ((old, "old"), (new, "new"))
        if figure.low is not None and figure.high is not None
    )
    dots = tuple((100 * (figure.estimate or 0.0), style) for figure, style in ((old, "dot hollow"), (new, "dot")))
    return Line("", name, fmt.points(change.estimate, 1), spans, dots)


def _table(human: HumanAccuracy) -> Table:
    rows: list[tuple[str, ...]] = [
        (row.person, _marks(row.original), _marks(row.new), fmt.change(row.change), *_empty(row.original, row.new))
        for row in human.people
    ]
    if (pooled := human.pooled) is not None and pooled.n_people > 1:
        rows.append(("All people", _percent(pooled.original), _percent(pooled.new), fmt.change(pooled.change), "", ""))
    if (beside := human.models) is not None:
        means = (fmt.number(100 * value, 1) for value in (beside.mean_original, beside.mean_new))
        rows.append((f"Models, mean of {len(beside.models):,}", *means, fmt.points(beside.mean_change), "", ""))
    heading = ("Who", "Original, %", "New, %", "Change, points", "No answer", "“I do not know”")
    return Table(heading, tuple(rows), 1, "Accuracy of people and models on the images of the exam, in percent")


def _percent(figure: Estimate) -> str:
    factor, digits = 100, 1
    value = None if figure.estimate is None else factor * figure.estimate
    return f"{fmt.number(value, digits)} {fmt.bounds(figure.low, figure.high, digits, factor)}".strip()


def _marks(marks: Marks) -> str:
    return f"{_percent(marks.accuracy)} ({marks.correct:,} of {marks.n:,})"


def _empty(old: Marks, new: Marks) -> tuple[str, str]:
    return f"{old.unanswered + new.unanswered:,}", f"{old.unknown + new.unknown:,}"
