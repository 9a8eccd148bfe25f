"""What a command shows: progress on standard error, a summary on standard output."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from resit.data.paths import counted

if TYPE_CHECKING:
    from resit.study.explain_result import Explanation
    from resit.study.groups_result import Groups
    from resit.study.progress_result import Progress
    from resit.study.result import Comparison, Estimate, Result, SetInfo
    from resit.study.retrain_result import Retrained

Shown = TypeVar("Shown", "Result", "Progress", "Groups", "Retrained", "Explanation")
NOT_AVAILABLE = "n/a"
WIDE = 120


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show the step at hand on standard error: on a terminal with the time it takes, else at most a line a minute, for a log.

    Parameters
    ----------
    quiet : bool, optional
        Show nothing.

    Yields
    ------
    callable
        To be told each step.
    """
    console = Console(stderr=True)
    if quiet:
        yield lambda _: None
        return
    if not console.is_terminal:
        yield _lines()
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("Starting", total=None)
        yield lambda step: shown.update(task, description=escape(step))


def _lines(every: float = 60.0) -> Callable[[str], None]:
    """Print a step where it has been long since the last one."""
    last = time.monotonic()

    def tell(step: str) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= every:
            last = now
            typer.echo(f"{datetime.now():%H:%M:%S} {step}", err=True)

    return tell


def show(result: Shown, summary: Callable[[Shown], None], directory: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Write the report of a result, then print the result: a reader that stops reading loses no report.

    Parameters
    ----------
    result : Result, Progress, Groups, Retrained or Explanation
        What was found.
    summary : callable
        Prints the result for people.
    directory : Path or None
        Where the report goes; None for no report.
    as_json, quiet : bool
        Print JSON, or only where the report is.

    Raises
    ------
    OutputError
        If the report cannot be written; the result is printed nonetheless.
    """

    def figures() -> None:
        if as_json:
            typer.echo(result.to_json())
        elif not quiet:
            summary(result)

    try:
        index = None if directory is None else _written(result, directory, quiet=quiet)
    except Exception:
        figures()
        raise
    figures()
    if index is not None:
        say(index, aside=as_json, quiet=quiet)


def _written(result: Result | Progress | Groups | Retrained | Explanation, directory: Path, *, quiet: bool) -> Path:
    from resit.report import report

    with progress(quiet=quiet) as tell:
        tell("Writing the report")
        return report(result, directory)


def say(index: Path, *, aside: bool, quiet: bool) -> None:
    """Say where the report is: on standard error where standard output is for JSON; only the path where quiet.

    Parameters
    ----------
    index : Path
        The page to open.
    aside : bool
        Whether standard output is taken.
    quiet : bool
        Whether to print the path alone, or nothing where standard output is taken.
    """
    if not (aside and quiet):
        console = Console(stderr=aside, soft_wrap=True, highlight=False)
        console.print(escape(str(index)) if quiet else f"Report: [bold]{escape(str(index))}[/bold]")


def summary(result: Result) -> None:
    """Print what a comparison found: a table, the verdict in words, repairs and warnings.

    Parameters
    ----------
    result : Result
        What was found.
    """
    from resit.study.summary import overlap_text
    from resit.study.verdict import metric_label

    console = on_output()
    console.print(Text.assemble("Original: ", (_set(result.original), "bold")))
    for info, found in _by_set(result):
        console.print(Text.assemble("\nNew: ", (_set(info), "bold")))
        console.print(Padding(_table(found), (0, 0, 0, 2)))
        for comparison in found:
            console.print(Padding(Text(metric_label(comparison.metric), "bold"), (1, 0, 0, 2)))
            for sentence in comparison.verdict:
                bullet(console, sentence, indent=2)
    if result.overlaps:
        console.print()
    for overlap in result.overlaps:
        bullet(console, overlap_text(result, overlap.first, overlap.second))
    if result.human is not None:
        console.print(Text.assemble("\nPeople on the same images: ", (result.human.exam, "bold")))
        for sentence in result.human.verdict or (f"No figures: {result.human.reason}.",):
            bullet(console, sentence, indent=2)
        for warning in result.human.warnings:
            bullet(console, f"{warning.where}: {warning.message}", indent=2, mark=Text("!", "yellow"))
    ending(console, result)


def progress_summary(result: Progress) -> None:
    """Print what a study of progress found: a table, the gaps in words, repairs and warnings.

    Parameters
    ----------
    result : Progress
        What was found.
    """
    from resit.study.progress_summary import COLUMNS, row

    console = on_output()
    console.print(Text.assemble("Progress on ", (_set(result.original), "bold"), ", and what goes with it elsewhere\n"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    shown = ("set", "metric", "rate", "R²", "gap")
    for name in shown:
        table.add_column(name, justify="left" if name in ("set", "metric") else "right", overflow="fold")
    for rate in result.rates:
        cells = dict(zip(COLUMNS, row(result, rate), strict=True))
        table.add_row(*(cells[name] for name in shown))
    console.print(Padding(table, (0, 0, 1, 2)))
    for sentence in result.verdict:
        bullet(console, sentence, indent=2)
    if result.left_out:
        bullet(console, f"{counted(len(result.left_out), 'model is', 'models are')} not on all sets and left out.", indent=2)
    ending(console, result)


def ending(console: Console, result: Result | Progress | Groups) -> None:
    """Print what ends every summary: repairs and warnings."""
    if result.repairs:
        console.print("\nRepaired as you asked", style="bold")
        for repair in result.repairs:
            bullet(console, f"{repair.kind} {repair.value}: {repair.effect}", indent=2)
    if result.warnings:
        console.print(f"\nWarnings: {len(result.warnings)}", style="bold yellow")
        for warning in result.warnings:
            bullet(console, f"{warning.where}: {warning.message}", indent=2, mark=Text("!", "yellow"))
    console.print()


def on_output() -> Console:
    """Standard output: as wide as its terminal, or wide enough for any table where it is none."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console


def _by_set(result: Result) -> Iterator[tuple[SetInfo, list[Comparison]]]:
    names = dict.fromkeys(comparison.new.name for comparison in result.comparisons)
    for name in names:
        found = [comparison for comparison in result.comparisons if comparison.new.name == name]
        yield found[0].new, found


def _table(found: list[Comparison]) -> Table:
    from resit.study.verdict import metric_label

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    for heading in ("mean change, points", "slope of the line", "R²", "real swaps"):
        table.add_column(heading, justify="right")
    for comparison in found:
        line = comparison.fits.get("linear")
        swaps = comparison.real_swaps
        table.add_row(
            metric_label(comparison.metric),
            _points(comparison.mean_change_interval),
            _interval(line.slope) if line else NOT_AVAILABLE,
            _number(line.r2 if line else None),
            NOT_AVAILABLE if swaps is None else f"{len(swaps)} of {comparison.n_pairs:,}",
        )
    return table


def _set(info: SetInfo) -> str:
    return f"{info.name} (n = {info.n:,})" if info.n else info.name


def _number(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.3f}"


def _interval(value: Estimate) -> str:
    if value.low is None or value.high is None:
        return _number(value.estimate)
    return f"{_number(value.estimate)} [{value.low:.3f}, {value.high:.3f}]"


def _points(value: Estimate) -> str:
    from resit.study.verdict import points

    if value.estimate is None:
        return NOT_AVAILABLE
    bounds = "" if value.low is None or value.high is None else f" [{points(value.low)}, {points(value.high)}]"
    return f"{points(value.estimate)}{bounds}"


def bullet(console: Console, text: str, *, indent: int = 0, mark: Text | str = "•") -> None:
    """Print a text after a mark, its further lines under its first.

    Parameters
    ----------
    console : Console
        Where to.
    text : str
        Taken as it is, without markup.
    indent : int, optional
        Columns before the mark.
    mark : Text or str, optional
        What stands before it.
    """
    grid = Table.grid(padding=(0, 1))
    grid.add_row(mark, Text(text))
    console.print(Padding(grid, (0, 0, 0, indent), expand=False))
