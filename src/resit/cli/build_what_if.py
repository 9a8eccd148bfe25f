"""``resit build what-if``: votes and bins to choose, before anything is collected."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from resit.cli.options import Debug, Json
from resit.errors import UsageError

CROWD, SIZES = "The people", "The build"


def what_if(
    votes: Annotated[str, typer.Option(metavar="N,N,…", help="Numbers of votes on each image to try.")] = "5,10,20,40",
    bins: Annotated[
        str, typer.Option(metavar="EDGES/EDGES/…", help="Edges of bins to try, in fifths; empty: one bin.")
    ] = "/4/2,4/1,2,3,4",
    classes: Annotated[int, typer.Option(min=1, metavar="N", help="Number of classes.", rich_help_panel=SIZES)] = 10,
    originals: Annotated[int, typer.Option(min=1, metavar="N", help="Of each class.", rich_help_panel=SIZES)] = 100,
    candidates: Annotated[int, typer.Option(min=1, metavar="N", help="Of each class.", rich_help_panel=SIZES)] = 200,
    per_class: Annotated[int, typer.Option(min=1, metavar="N", help="Wanted images.", rich_help_panel=SIZES)] = 20,
    people: Annotated[int, typer.Option(min=1, metavar="N", help="How many there are.", rich_help_panel=CROWD)] = 100,
    skill: Annotated[
        float, typer.Option(min=0.5, max=1, help="Mean probability that a person answers right.", rich_help_panel=CROWD)
    ] = 0.97,
    spam: Annotated[
        float, typer.Option(min=0, max=1, metavar="FRACTION", help="People who select blindly.", rich_help_panel=CROWD)
    ] = 0.0,
    repeats: Annotated[int, typer.Option(min=2, metavar="N", help="Builds for each setting.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is random.")] = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what numbers of votes and bins do to the accuracy on a matched test set, by images that are only numbers."""
    from resit.simulate.people import Crowd
    from resit.simulate.what_if import Sizes
    from resit.simulate.what_if import what_if as library_what_if

    found = library_what_if(
        _numbers(votes, "--votes"),
        [_numbers(part, "--bins") for part in bins.split("/")],
        crowd=Crowd(people, skill, spam),
        sizes=Sizes(classes, originals, candidates, per_class),
        repeats=repeats,
        seed=seed,
    ).to_pylist()
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    typer.echo("votes  edges (fifths)  shift, points    sd  drawn upward   short")
    for row in found:
        shift, sd = (f"{100 * row[name]:{sign}.2f}" for name, sign in (("shift", "+"), ("sd", "")))
        shares = f"{row['upward']:>12.1%}  {row['short']:>6.1%}"
        typer.echo(f"{row['votes']:>5}  {row['edges'] or 'one bin':<14}  {shift:>13}  {sd:>4}  {shares}")


def _numbers(text: str, option: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    for part in parts:
        if not part.isdecimal():
            raise UsageError(f"{part!r} is no whole number", where=option, fix="Write numbers with commas: 5,10,20")
    return tuple(map(int, parts))
