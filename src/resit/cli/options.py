"""Options that commands share, and the small parsers of their values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from resit.errors import UsageError


@dataclass
class State:
    """What an ending needs to know of the command that ended."""

    debug: bool = False


def _debug(ctx: typer.Context, value: bool) -> bool:
    if value:
        ctx.ensure_object(State).debug = True
    return value


INPUT, REPAIRS, STATISTICS, OUTPUT = "Input", "Repairs and choice of models", "Statistics", "Output"
WAIVED = "Checks that can be waived"
RUN = "The run"
BUILD = "resit.build"  # where a group keeps the build's folder for its commands
Unit = Literal["percent", "fraction"]
Resampling = Literal["models", "examples", "crossed", "families"]
Weighting = Literal["micro", "class-macro"]

Debug = Annotated[
    bool, typer.Option("--debug", callback=_debug, help="Show the traceback of an error.", rich_help_panel=OUTPUT)
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON on standard output, and nothing else there.", rich_help_panel=OUTPUT)
]
Folder = Annotated[Path, typer.Argument(metavar="BUILD", help="The build's folder.")]
Similar = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Table of class_id and similar. Default: by mean pictures.", rich_help_panel=INPUT),
]
Texts = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Table of class_id and text: what people look for.", rich_help_panel=INPUT),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="[SET=]PATH",
        help="Labels of a test set: one for each path in order, or SET=PATH. Repeatable.",
        rich_help_panel=INPUT,
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes",
        metavar="FILE",
        help="Class list (label, wnid, name) that says which name is which class id.",
        rich_help_panel=INPUT,
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name", metavar="NAME", help="Name of a test set, one for each path in order. Repeatable.", rich_help_panel=INPUT
    ),
]
Sizes = Annotated[
    str | None,
    typer.Option(
        "--n",
        metavar="N,N,…",
        help="Examples in each test set, in the order of the paths; empty where unknown.",
        rich_help_panel=INPUT,
    ),
]
UnitOption = Annotated[
    Unit | None,
    typer.Option("--unit", help="Unit of the accuracy columns, where it should not be inferred.", rich_help_panel=INPUT),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="ROLE=COLUMN",
        help="Column that plays a role, such as model=name or top1=acc. Repeatable.",
        rich_help_panel=INPUT,
    ),
]
ModelTable = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAME", help="Families, kinds and dates of models: a file, or a published name.", rich_help_panel=INPUT
    ),
]
Alias = Annotated[
    list[str] | None,
    typer.Option(metavar="FOUND=NAME", help="A model that has another name in one file. Repeatable.", rich_help_panel=REPAIRS),
]
WorstFirst = Annotated[
    list[str] | None,
    typer.Option(metavar="MODEL@SET", help="A file whose classes are stored worst first. Repeatable.", rich_help_panel=REPAIRS),
]
Models = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Compare only these models. Repeatable.", rich_help_panel=REPAIRS)
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Leave these models out. Repeatable.", rich_help_panel=REPAIRS)
]
AllowDifferentTransforms = Annotated[
    bool,
    typer.Option(
        "--allow-different-transforms",
        help="Compare although a model's images were prepared differently on the two sets.",
        rich_help_panel=WAIVED,
    ),
]
Bootstrap = Annotated[Resampling, typer.Option(help="What the intervals of the line resample.", rich_help_panel=STATISTICS)]
ModelResamples = Annotated[
    int, typer.Option(min=0, metavar="N", help="Resamples over models or families.", rich_help_panel=STATISTICS)
]
ExampleResamples = Annotated[
    int, typer.Option(min=0, metavar="N", help="Resamples over examples, and crossed ones.", rich_help_panel=STATISTICS)
]
WeightingOption = Annotated[
    Weighting, typer.Option(help="Each example counts the same, or each class.", rich_help_panel=STATISTICS)
]
Seed = Annotated[int, typer.Option(help="Seed of everything that is random.", rich_help_panel=STATISTICS)]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the report goes.", rich_help_panel=OUTPUT)]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=OUTPUT)]
Level = Annotated[float, typer.Option("--level", help="Level of the intervals.", rich_help_panel=STATISTICS)]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no summary and no progress: only where the report is.", rich_help_panel=OUTPUT),
]


def pairs(values: Iterable[str] | None, option: str, form: str) -> dict[str, str]:
    """Split ``key=value`` words into a dictionary.

    Parameters
    ----------
    values : iterable of str or None
        What the user wrote after the option, each time.
    option : str
        The option, for messages.
    form : str
        The form that a value should have, for messages.

    Returns
    -------
    dict of str to str

    Raises
    ------
    UsageError
        If a word has no ``=`` or an empty side, or a key is given twice with different values.
    """
    found: dict[str, str] = {}
    for value in values or ():
        key, equals, rest = (part.strip() for part in value.partition("="))
        if not (key and equals and rest):
            raise UsageError(f"{value!r} is not of the form {form}", where=option)
        if found.get(key, rest) != rest:
            raise UsageError(f"{key!r} is given twice, as {found[key]!r} and {rest!r}", where=option)
        found[key] = rest
    return found


def overlaps(values: Iterable[str] | None) -> dict[tuple[str, str], int]:
    """Read ``FIRST,SECOND=COUNT`` words: how many examples two new sets share.

    Raises
    ------
    UsageError
        If a word has another form.
    """
    found: dict[tuple[str, str], int] = {}
    for sets, count in pairs(values, "--overlap", "SET,SET=COUNT").items():
        names = [name.strip() for name in sets.split(",")]
        if len(names) != 2 or not all(names) or not count.isdecimal():
            raise UsageError(f"'{sets}={count}' is not of the form SET,SET=COUNT", where="--overlap", fix="Write v4,v6=1800.")
        found[names[0], names[1]] = int(count)
    return found


def sizes(value: str | None, paths: int) -> list[int | None]:
    """Read ``N,N,…``: one number of examples a path, empty where it is not known.

    Raises
    ------
    UsageError
        If a part is no whole number above 0, or there are more or fewer parts than paths.
    """
    if value is None:
        return [None] * paths
    parts = [part.strip() for part in value.split(",")]
    for part in parts:
        if part and not (part.isdecimal() and int(part) > 0):
            raise UsageError(f"{part!r} is no whole number above 0", where="--n", fix="Write 50000,10000,7500.")
    if len(parts) != paths:
        raise UsageError(f"{len(parts)} sizes for {paths} paths", where="--n", fix="Give one for each path, in their order.")
    return [int(part) if part else None for part in parts]
