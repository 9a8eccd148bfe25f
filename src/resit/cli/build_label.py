"""``resit build label``: ask people about candidates."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from resit.cli.build_mturk import fetch, publish, tell
from resit.cli.options import BUILD, INPUT, OUTPUT, Debug, Folder, Json, Similar, Texts

To = Annotated[
    Literal["mturk", "label-studio", "csv"], typer.Option("--to", help="What the files are for.", rich_help_panel=OUTPUT)
]
ImagesAt = Annotated[
    str,
    typer.Option(
        "--images-at",
        metavar="URL",
        help="Address at which the build's folder images/ is served. Default: its path here.",
        rich_help_panel=OUTPUT,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Default: exports in the build.", rich_help_panel=OUTPUT),
]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who decides. Default: your user name.")]

label = typer.Typer(
    name="label",
    help="Ask people about candidates: export tasks, import votes, see how well people answer.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@label.callback()
def _label(ctx: typer.Context, folder: Folder) -> None:
    ctx.meta[BUILD] = folder


@label.command()
def export(
    ctx: typer.Context,
    to: To,
    images_at: ImagesAt = "",
    similar: Similar = None,
    texts: Texts = None,
    output: Output = None,
    debug: Debug = False,
) -> None:
    """Plan tasks for candidates that are in none, and write all tasks that still need people."""
    from resit.build.steps.label import export_tasks
    from resit.build.steps.opened import open_build
    from resit.cli.show import progress

    with open_build(ctx.meta[BUILD]) as build, progress() as tell:
        done = export_tasks(build, to, folder=output, images_at=images_at, similar=similar, texts=texts, tell=tell)
    typer.echo(done)


@label.command("test")
def qualification(
    ctx: typer.Context,
    to: To,
    of: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="ID", help="Class to ask about. Repeatable. Default: the first three."),
    ] = None,
    people: Annotated[int, typer.Option(min=1, metavar="N", help="How many people are to take it.")] = 1,
    images_at: ImagesAt = "",
    similar: Similar = None,
    texts: Texts = None,
    output: Output = None,
    debug: Debug = False,
) -> None:
    """Write a short test of originals alone, for people to pass before they vote."""
    from resit.build.steps.label import export_test
    from resit.build.steps.opened import open_build
    from resit.cli.show import progress

    with open_build(ctx.meta[BUILD]) as build, progress() as tell:
        done = export_test(
            build,
            to,
            classes=of,
            people=people,
            folder=output,
            images_at=images_at,
            similar=similar,
            texts=texts,
            tell=tell,
        )
    typer.echo(done)


@label.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Results of Mechanical Turk or Label Studio, or plain CSV.")],
    kind: Annotated[
        Literal["mturk", "label-studio", "csv"] | None,
        typer.Option("--from", help="What the file is of. Default: found out.", rich_help_panel=INPUT),
    ] = None,
    debug: Debug = False,
) -> None:
    """Read votes. The same file again changes nothing."""
    from resit.build.steps.label import import_votes
    from resit.build.steps.opened import open_build

    with open_build(ctx.meta[BUILD]) as build:
        done = import_votes(build, file, kind)
    typer.echo(done)


@label.command()
def people(
    ctx: typer.Context,
    consensus: Annotated[bool, typer.Option("--consensus", help="Fit the model of Dawid and Skene too.")] = False,
    reject_below: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="FRACTION", help="Reject those whose accuracy on controls is below it."),
    ] = None,
    reject_untested: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="FRACTION", help="Reject those who were not right on so much of the test."),
    ] = None,
    by: By = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say how well people answer: accuracy on controls, and agreement; reject those who answer badly."""
    from resit.build.steps import people as step
    from resit.build.steps.label import rejected_people
    from resit.build.steps.opened import open_build

    with open_build(ctx.meta[BUILD]) as build:
        if reject_untested is not None:
            step.reject_unfit_people(build, reject_untested, by=by or getpass.getuser())
        if reject_below is not None:
            step.reject_people(build, reject_below, by=by or getpass.getuser())
        out = sorted(rejected_people(build.store.assignments()))
        done = step.people(build, consensus=consensus)
    if as_json:
        typer.echo(json.dumps({**done.to_dict(), "rejected": out}, indent=1, ensure_ascii=False))
        return
    typer.echo(done)
    if out:
        typer.echo(f"Rejected, and not counted above: {', '.join(out)}")


def _decide(
    ctx: typer.Context, assignments: list[str], status: Literal["accepted", "rejected"], by: str | None, reason: str
) -> None:
    from resit.build.steps.label import decide
    from resit.build.steps.opened import open_build

    with open_build(ctx.meta[BUILD]) as build:
        done = decide(build, assignments, status, by=by or getpass.getuser(), reason=reason)
    typer.echo(f"{done.new:,} assignments {status}")


Assignments = Annotated[list[str], typer.Argument(metavar="ASSIGNMENT...", help="Names of assignments.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept.")]


@label.command()
def reject(ctx: typer.Context, assignments: Assignments, reason: Reason = "", by: By = None, debug: Debug = False) -> None:
    """Take the votes of assignments out."""
    _decide(ctx, assignments, "rejected", by, reason)


@label.command()
def accept(ctx: typer.Context, assignments: Assignments, reason: Reason = "", by: By = None, debug: Debug = False) -> None:
    """Take the votes of assignments back in."""
    _decide(ctx, assignments, "accepted", by, reason)


label.command()(publish)
label.command()(fetch)
label.command()(tell)
