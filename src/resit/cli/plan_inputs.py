"""What the questions of ``resit plan`` share: options, the small parsers of their values, runs, and how a plan is shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from resit.cli.options import INPUT, OUTPUT, pairs
from resit.errors import UsageError

if TYPE_CHECKING:
    from resit.data.accuracies import Accuracies
    from resit.data.predictions import Predictions
    from resit.study.plan_result import AnyPlan

POOLS = "Votes and candidates"
From = Annotated[
    list[Path] | None,
    typer.Option("--from", metavar="RUNS", help="Estimate figures from what models answered.", rich_help_panel=INPUT),
]
FromBoth = Annotated[
    list[Path] | None,
    typer.Option("--from", metavar="RUNS", help="Estimate figures from two sets: original, then new.", rich_help_panel=INPUT),
]
Report = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Write a report with pictures there.", rich_help_panel=OUTPUT),
]
Power = Annotated[float, typer.Option("--power", help="Probability of seeing the difference if it is there.")]
OriginalBeta = Annotated[
    list[str] | None,
    typer.Option(
        "--original-beta", metavar="A,B[,WEIGHT]", help="True frequency of originals. Repeatable.", rich_help_panel=POOLS
    ),
]
CandidatesBeta = Annotated[
    list[str] | None,
    typer.Option(
        "--candidates-beta", metavar="A,B[,WEIGHT]", help="True frequency of candidates. Repeatable.", rich_help_panel=POOLS
    ),
]
OfBuild = Annotated[
    Path | None,
    typer.Option("--build", metavar="BUILD", help="A build whose votes tell both frequencies.", rich_help_panel=POOLS),
]


def betas(values: Sequence[str] | None, option: str) -> list[tuple[float, ...]] | None:
    """Read ``A,B`` or ``A,B,WEIGHT`` words.

    Raises
    ------
    UsageError
        If a part is no number.
    """
    return None if not values else [_numbers(value, option, "Write 2.8,1.15 or 2,1,0.5") for value in values]


def points(value: str | None) -> list[tuple[float, float]] | None:
    """Read ``FREQUENCY=ACCURACY,…``.

    Raises
    ------
    UsageError
        If a part has another form.
    """
    if value is None:
        return None
    found, fix = [], "Write --curve 0.3=0.6,0.7=0.8,1=0.97"
    for part in value.split(","):
        sides = _numbers(part.replace("=", ","), "--curve", fix) if part.count("=") == 1 else ()
        if len(sides) != 2:
            raise UsageError(f"{part!r} is not of the form FREQUENCY=ACCURACY", where="--curve", fix=fix)
        found.append((sides[0], sides[1]))
    return found


def _numbers(value: str, option: str, fix: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in value.split(","))
    except ValueError as error:
        raise UsageError(f"{value!r} are no numbers", where=option, fix=fix) from error


def loaded(
    paths: Sequence[Path] | None,
    labels: Sequence[str] | None = None,
    *,
    most: int = 1,
    alias: Sequence[str] | None = None,
    worst_first: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
) -> list[Predictions | Accuracies] | None:
    """Read the runs of ``--from``, as many as a question takes, and repair them as the user says.

    Raises
    ------
    UsageError
        If there are more or fewer, or there is something to repair and no run.
    """
    choice = {"--labels": labels, "--alias": alias, "--worst-first": worst_first, "--models": models, "--exclude": exclude}
    if not paths:
        if wrong := [option for option, value in choice.items() if value]:
            raise UsageError("there are no runs that it could be about", where=", ".join(wrong), fix="Give --from too.")
        return None
    if len(paths) != most:
        counted = "once" if most == 1 else "twice: the original, then the new set"
        raise UsageError(f"given {len(paths)} times", where="--from", fix=f"Give it {counted}.")
    from resit.cli.show import progress
    from resit.cli.sources import PathOptions, load_all
    from resit.data.checks import check
    from resit.data.predictions import Predictions
    from resit.study.prepare import repair

    with progress() as tell:
        sets = load_all(paths, PathOptions(labels=labels), tell)
    names = pairs(alias, "--alias", "FOUND=NAME")
    repaired = repair(sets, alias=names, worst_first=worst_first or (), models=models or (), exclude=exclude or ())[0]
    for one in repaired:
        for notice in (*one.notices, *(check(one) if isinstance(one, Predictions) else ())):
            typer.echo(f"! {notice.where}: {notice.message}", err=True)
    return repaired


def show_plan(found: AnyPlan, directory: Path | None, *, as_json: bool) -> None:
    """Write the report of a plan where one is wanted, then print the plan."""
    from resit.cli.show import progress, say

    index = None
    if directory is not None:
        from resit.report import report

        with progress() as tell:
            tell("Writing the report")
            index = report(found, directory)
    typer.echo(found.to_json() if as_json else str(found))
    if index is not None:
        say(index, aside=as_json, quiet=False)
