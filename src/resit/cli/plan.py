"""``resit plan``: how many examples tell two models apart."""

from __future__ import annotations

from typing import Annotated

import typer

from resit.cli.options import Debug, Json, Level


def plan(
    accuracy: Annotated[float, typer.Option(help="Accuracy that you expect, as a fraction: 0.76.")],
    difference: Annotated[float, typer.Option(help="Difference between two models that you want to see, as a fraction: 0.01.")],
    discordance: Annotated[
        float | None,
        typer.Option(help="Fraction of examples that exactly one of the two gets right. Default: as if they were independent."),
    ] = None,
    power: Annotated[float, typer.Option(help="Probability of seeing the difference if it is there.")] = 0.8,
    level: Level = 0.95,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say how many examples it takes to tell two models apart, and how wide intervals are."""
    from resit.study.plan import plan as library_plan

    found = library_plan(accuracy, difference, discordance=discordance, power=power, level=level)
    typer.echo(found.to_json() if as_json else str(found))
