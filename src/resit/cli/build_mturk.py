"""``resit build label … publish``, ``fetch`` and ``tell``: Mechanical Turk through its API."""

from __future__ import annotations

from typing import Annotated

import typer

from resit.cli.options import BUILD, Debug, Similar, Texts

Production = Annotated[bool, typer.Option("--production", help="Where people are paid. Default: the sandbox.")]


def publish(
    ctx: typer.Context,
    reward: Annotated[str, typer.Option(metavar="DOLLARS", help="For one task, such as 0.40.")],
    images_at: Annotated[str, typer.Option("--images-at", metavar="URL", help="https address of the build's folder images/.")],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="What people read first.")] = None,
    minutes: Annotated[int, typer.Option(min=1, metavar="N", help="Time that a person has for a task.")] = 20,
    days: Annotated[int, typer.Option(min=1, metavar="N", help="How long tasks are offered.")] = 7,
    qualification: Annotated[str, typer.Option(metavar="ID", help="Qualification type that people need with score 1.")] = "",
    similar: Similar = None,
    texts: Texts = None,
    production: Production = False,
    debug: Debug = False,
) -> None:
    """Offer tasks on Mechanical Turk to as many more people as they need. Doing it again offers nothing twice."""
    from resit.build.steps.mturk import offer_tasks
    from resit.build.steps.opened import open_build
    from resit.build.voting.mturk_api import HitSettings, connect
    from resit.cli.show import progress

    settings = HitSettings(reward, title or HitSettings.title, minutes=minutes, days=days, qualification=qualification)
    with open_build(ctx.meta[BUILD]) as build, progress() as tell:
        client = connect(production=production)
        done = offer_tasks(build, client, settings, images_at=images_at, similar=similar, texts=texts, tell=tell)
    typer.echo(done)


def fetch(ctx: typer.Context, production: Production = False, debug: Debug = False) -> None:
    """Fetch from Mechanical Turk what people answered. Doing it again changes nothing."""
    from resit.build.steps.mturk import take_from_mturk
    from resit.build.steps.opened import open_build
    from resit.build.voting.mturk_api import connect

    with open_build(ctx.meta[BUILD]) as build:
        done = take_from_mturk(build, connect(production=production))
    typer.echo(done)


def tell(ctx: typer.Context, production: Production = False, debug: Debug = False) -> None:
    """Approve and reject assignments on Mechanical Turk as they were accepted and rejected here."""
    from resit.build.steps.mturk import tell_mturk
    from resit.build.steps.opened import open_build
    from resit.build.voting.mturk_api import connect

    with open_build(ctx.meta[BUILD]) as build:
        done = tell_mturk(build, connect(production=production))
    typer.echo(f"{done:,} decisions told")
