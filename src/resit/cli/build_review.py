"""``resit build review``, ``status``, ``diff`` and ``release``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from resit.cli.options import OUTPUT, Debug, Folder, Json
from resit.errors import UsageError

HELD = "Images held out"
ABOUT = "What the release says of itself"


def review(
    folder: Folder,
    status: Annotated[
        bool, typer.Option("--status", help="Only say what is left to look at: what it does without other options.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="DIR", help="Write what is left as lists to fill in.")
    ] = None,
    most: Annotated[int | None, typer.Option(min=1, metavar="N", help="Rows of each list. Default: all.")] = None,
    import_: Annotated[
        list[Path] | None, typer.Option("--import", metavar="FILE", help="Read a list that was filled in. Repeatable.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what people still have to look at; write it as lists, and read their verdicts."""
    from resit.build.steps.look import read_lists, review_state, write_lists
    from resit.build.steps.opened import open_build
    from resit.cli.show import progress

    with open_build(folder) as build, progress() as tell:
        for file in import_ or ():
            done = read_lists(build, file)
            typer.echo(f"{file}: {len(done.verdicts):,} verdicts, {done.blank:,} rows without one", err=as_json)
        if export is not None:
            images, pairs, state = write_lists(build, export, most=most, tell=tell)
            typer.echo(f"wrote {images}\nwrote {pairs}", err=as_json)
        else:
            state = review_state(build)
    typer.echo(json.dumps(state.to_dict(), indent=1) if as_json else state)


def status(folder: Folder, as_json: Json = False, debug: Debug = False) -> None:
    """Show the funnel, class by class, and what to do next."""
    from resit.build.steps.opened import open_build
    from resit.build.steps.status import status as step

    with open_build(folder) as build:
        done = step(build)
    typer.echo(json.dumps(done.to_dict(), indent=1, ensure_ascii=False) if as_json else done)


def diff(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[BUILD] OLD NEW", help="The build's folder (default: this one), two revisions: r3 r7."),
    ],
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what came and what went from one revision to another, and why."""
    from resit.build.steps.changes import changes
    from resit.build.steps.opened import open_build
    from resit.cli.revisions import revision

    if len(words) not in (2, 3):
        raise UsageError(f"{len(words)} words", where="diff", fix="Write `resit build diff mytest/ r3 r7`.")
    folder, (old, new) = (words[0] if len(words) == 3 else "."), map(revision, words[-2:])
    with open_build(folder) as build:
        done = changes(build, old, new)
    typer.echo(json.dumps(done.to_dict(), indent=1, ensure_ascii=False) if as_json else done)


def export(
    folder: Folder,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="ZIP; replaced if it is there.", rich_help_panel=OUTPUT),
    ],
    debug: Debug = False,
) -> None:
    """Write all that is known of the build, but the images, as Parquet tables in one ZIP."""
    from resit.build.steps.export import export_everything
    from resit.build.steps.opened import open_build
    from resit.cli.show import progress

    with open_build(folder) as build, progress() as tell:
        done = export_everything(build, output, tell=tell)
    typer.echo(done)


def release(
    folder: Folder,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Where it goes: new or empty.", rich_help_panel=OUTPUT),
    ],
    revision: Annotated[str | None, typer.Option(metavar="REVISION", help="Default: the last one.")] = None,
    imagefolder: Annotated[
        bool, typer.Option("--imagefolder", help="Write the images in a folder a class too.", rich_help_panel=OUTPUT)
    ] = False,
    webdataset: Annotated[
        bool, typer.Option("--webdataset", help="Write the images as tar files too.", rich_help_panel=OUTPUT)
    ] = False,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(metavar="ATTRIBUTE", help="Attribute of images that is not released. Repeatable.", rich_help_panel=OUTPUT),
    ] = None,
    allow_short: Annotated[bool, typer.Option("--allow-short", help="Release a selection that lacks images.")] = False,
    hold_out: Annotated[
        float, typer.Option(min=0, max=1, metavar="FRACTION", help="Share of each class to hold back.", rich_help_panel=HELD)
    ] = 0.0,
    private: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the images held out go.", rich_help_panel=HELD)
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="A title.", rich_help_panel=ABOUT)] = "",
    description: Annotated[str, typer.Option(metavar="TEXT", help="A description.", rich_help_panel=ABOUT)] = "",
    licence: Annotated[str, typer.Option(metavar="ID", help="Of the whole, such as cc-by-4.0.", rich_help_panel=ABOUT)] = "",
    homepage: Annotated[str, typer.Option(metavar="URL", help="Where to read more.", rich_help_panel=ABOUT)] = "",
    citation: Annotated[str, typer.Option(metavar="TEXT", help="How to cite it.", rich_help_panel=ABOUT)] = "",
    contact: Annotated[str, typer.Option(metavar="TEXT", help="Whom to ask.", rich_help_panel=ABOUT)] = "",
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="YAML: answers to the datasheet's questions by key.", rich_help_panel=ABOUT),
    ] = None,
    debug: Debug = False,
) -> None:
    """Write the selection as a test set that others can use."""
    from resit.build.steps.opened import open_build
    from resit.build.steps.publish import read_answers, release_build
    from resit.cli.revisions import revision as number
    from resit.cli.show import progress

    about = {
        "title": title, "description": description, "licence": licence, "homepage": homepage,
        "citation": citation, "contact": contact,
    }  # fmt: skip
    with open_build(folder) as build, progress() as tell:
        tell("Writing the release")
        done = release_build(
            build,
            output,
            private=private,
            revision=number(revision) if revision else None,
            **about,
            answers=read_answers(answers) if answers else {},
            leave_out=tuple(leave_out or ()),
            imagefolder=imagefolder,
            webdataset=webdataset,
            allow_short=allow_short,
            hold_out=hold_out,
        )
    typer.echo(done)
