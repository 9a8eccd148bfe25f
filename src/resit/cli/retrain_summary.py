"""What ``resit retrain`` shows on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from resit.cli.show import bullet, on_output
from resit.data.paths import counted

if TYPE_CHECKING:
    from resit.study.retrain_result import Retrained

MOST_ROWS = 40


def retrain_summary(result: Retrained) -> None:
    """Print what a retraining found: a table a set and metric, the verdict in words, the head's file and warnings.

    Parameters
    ----------
    result : Retrained
        What was found.
    """
    from resit.study.retrain_summary import COLUMNS, rows
    from resit.study.verdict import metric_label

    console = on_output()
    for outcome in result.outcomes:
        size = f" (n = {outcome.set.n:,})" if outcome.set.n else ""
        title = f"{outcome.set.name}{size}, {metric_label(outcome.metric)}, by {outcome.column}"
        console.print(Text.assemble((title, "bold"), f": {counted(outcome.n_classes, 'class', 'classes')}"))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name in COLUMNS[2:]:
            table.add_column(name, justify="left" if name == "group" else "right", overflow="fold")
        found = rows(outcome)
        shown = [*found[: MOST_ROWS - 1], found[-1]] if len(found) > MOST_ROWS else found
        for cells in shown:
            table.add_row(*(Text(cell) for cell in cells[2:]))
        console.print(Padding(table, (0, 0, 0, 2)))
        if len(shown) < len(found):
            console.print(f"  … and {counted(len(found) - len(shown), 'more group')}, in the report.")
        console.print()
    for sentence in result.verdict:
        bullet(console, sentence)
    bullet(console, f"The head of all {result.head.n_examples:,} examples (C = {result.head.c:g}) is in {result.head.file}")
    if result.warnings:
        console.print(f"\nWarnings: {len(result.warnings)}", style="bold yellow")
        for warning in result.warnings:
            bullet(console, f"{warning.where}: {warning.message}", indent=2, mark=Text("!", "yellow"))
    console.print()
