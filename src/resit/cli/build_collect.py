"""``resit build collect``: candidates from folders, tables and searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from resit.cli.options import INPUT, Debug, Folder
from resit.errors import UsageError

SEARCH, MANNERS = "Searches", "Downloads"


def collect(
    folder: Folder,
    source: Annotated[
        list[str],
        typer.Option(
            "--from",
            metavar="SOURCE",
            help="folder:PATH, csv:PATH, parquet:PATH, hf:PATH or ID@SPLIT, flickr:, openverse:. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ],
    class_map: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Table of label and class_id, where labels are no ids.", rich_help_panel=INPUT),
    ] = None,
    terms: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Table of class_id, kind and term: what to search by.", rich_help_panel=SEARCH),
    ] = None,
    wanted: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Candidates of a class; short ones are searched more widely. Default: twice per_class.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    uploaded: Annotated[
        str | None, typer.Option(metavar="DAY..DAY", help="First and last day of upload.", rich_help_panel=SEARCH)
    ] = None,
    taken: Annotated[
        str | None, typer.Option(metavar="DAY..DAY", help="First and last day of taking.", rich_help_panel=SEARCH)
    ] = None,
    longer: Annotated[
        str | None, typer.Option(metavar="DAY..DAY", help="Days for classes that are short.", rich_help_panel=SEARCH)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Results of a query.", rich_help_panel=SEARCH)] = 200,
    more: Annotated[
        int, typer.Option(min=1, metavar="N", help="Results of a query where a class is short.", rich_help_panel=SEARCH)
    ] = 1000,
    rate: Annotated[float, typer.Option(min=0.01, help="Requests a second to one host.", rich_help_panel=MANNERS)] = 5.0,
    per_host: Annotated[int, typer.Option(min=1, help="Requests at once to one host.", rich_help_panel=MANNERS)] = 4,
    agent: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What servers are told of who asks; say how to reach you.", rich_help_panel=MANNERS),
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Allow addresses inside your own network.", rich_help_panel=MANNERS)
    ] = False,
    debug: Debug = False,
) -> None:
    """Collect candidates. What was collected before stays; repeated, it goes on where it stopped."""
    from resit.build.collect import Manners, Search
    from resit.build.steps.gather import gather
    from resit.build.steps.opened import open_build
    from resit.cli.show import progress

    manners = Manners(rate=rate, per_host=per_host, allow_private=allow_private, agent=agent or Manners.agent)
    with open_build(folder) as build:
        search = Search(
            uploaded=_days(uploaded, "--uploaded"),
            taken=_days(taken, "--taken"),
            longer=_days(longer, "--longer"),
            limit=limit,
            more=more,
            wanted=2 * build.config.per_class if wanted is None else wanted,
        )
        for text in source:
            with progress() as tell:
                done = gather(
                    build,
                    text,
                    class_map=class_map,
                    terms=terms,
                    search=search,
                    manners=manners,
                    progress=_told(tell),
                )
            typer.echo(done)


def _told(tell: Callable[[str], object]) -> Callable[[str, int, int], object]:
    return lambda stage, found, failed: tell(f"{stage}: {found:,} found, {failed:,} failed")


def _days(value: str | None, option: str) -> tuple[str, str]:
    if value is None:
        return "", ""
    first, dots, last = value.partition("..")
    if not dots:
        raise UsageError(f"{value!r} is not of the form DAY..DAY", where=option, fix="Write 2012-07-11..2013-07-11")
    return first.strip(), last.strip()
