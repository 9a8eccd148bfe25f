"""What ``resit evaluate`` shows on standard output."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from resit.cli.show import bullet, on_output
from resit.evaluate.record import Answered, Evaluation

LABELS = "labels.parquet"
FEWEST = 2


def show_evaluation(result: Evaluation, *, quiet: bool) -> None:
    """Print what a run did: a table a benchmark, warnings, and what to do next.

    Parameters
    ----------
    result : Evaluation
    quiet : bool
        Print the folders alone.
    """
    if quiet:
        print(*result.folders, sep="\n")
        return
    console = on_output()
    for (name, space), found in groupby(result.answered, key=lambda one: (one.benchmark, one.label_space)):
        rows = list(found)
        console.print(Text.assemble((name, "bold"), f" (n = {rows[0].n:,}), answers out of {space}"))
        console.print(Padding(_table(rows), (0, 0, 1, 2)))
    if result.notices:
        console.print(f"Warnings: {len(result.notices)}", style="bold yellow")
        for notice in result.notices:
            bullet(console, f"{notice.where}: {notice.message}", indent=2, mark=Text("!", "yellow"))
        console.print()
    _next(console, result)


def _table(rows: list[Answered]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("model", "top-1", "right", "unreadable", "invalid", "state"):
        table.add_column(heading, justify="left" if heading in ("model", "state") else "right", overflow="fold")
    for one in rows:
        counts = (f"{one.correct:,}", f"{one.unreadable:,}", f"{one.invalid:,}")
        table.add_row(Text(one.model), f"{one.top1:.2%}", *counts, one.state)
    return table


def _next(console: Console, result: Evaluation) -> None:
    folders = " ".join(map(shlex.quote, result.folders))
    console.print(Text(f"Answers: {folders}"))
    if len(result.folders) < 2:
        return
    if _on_all(result.folders) >= FEWEST:
        console.print(Text.assemble("Next: ", (f"resit compare {folders}", "bold")))
    else:
        console.print("Next: ask another model in the same way; a comparison is of several.")


def _on_all(folders: Sequence[str]) -> int:
    """Models whose answers are in all folders, from this run or an earlier one."""
    stored = [{file.name for file in Path(folder).glob("*.parquet")} - {LABELS} for folder in folders]
    return len(set.intersection(*stored))
