"""``resit serve``: the pages on which people vote, and where an admin watches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resit.cli.options import INPUT, Debug, Folder, Similar, Texts
from resit.errors import UsageError

SERVER, PEOPLE = "The server", "People"
WHERE = "It opens where the server is at {}: give --host, --port and --behind-proxy here as the running server has them."


def serve(
    folder: Folder,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on. Default: only this machine.", rich_help_panel=SERVER)
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, metavar="N", help="Port to listen on.", rich_help_panel=SERVER)] = 8321,
    behind_proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address (https) at which a reverse proxy shows the pages.", rich_help_panel=SERVER),
    ] = None,
    lease: Annotated[
        float,
        typer.Option(
            min=0.01, metavar="MINUTES", help="Without a click for so long, a page is given to others.", rich_help_panel=SERVER
        ),
    ] = 20.0,
    texts: Texts = None,
    similar: Similar = None,
    runs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR",
            help="Answers of models on a release of the build or on its original; reviewers see them. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    invite: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE", help="Print a link for an annotator, reviewer or admin, and do not serve.", rich_help_panel=PEOPLE
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whom --invite is for. Default: the role with a number.", rich_help_panel=PEOPLE),
    ] = None,
    revoke: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Take back somebody's links and sessions, and do not serve.", rich_help_panel=PEOPLE),
    ] = None,
    debug: Debug = False,
) -> None:
    """Serve the pages on which people vote. The first start prints a link to the admin page, which has all else."""
    from resit.web import run
    from resit.web.settings import Settings

    if name and not invite:
        raise UsageError("a name, and nobody to invite", where="--name", fix="Add --invite annotator.")
    settings = Settings(host, port, behind_proxy, lease)
    if revoke:
        count = run.revoke_from(Path(folder), revoke)
        typer.echo(f"{revoke}: {count:,} links revoked")
    if invite:
        account, link = run.invite_to(Path(folder), invite, name, settings)
        typer.echo(f"{account.name} ({account.role}): {link}")
        typer.echo(WHERE.format(settings.address), err=True)
    if not (revoke or invite):
        run.serve(Path(folder), settings, texts=texts, similar=similar, runs=runs or (), say=_say, tell=_tell)


def _say(line: str) -> None:
    """Print a line at once: who starts the server in the background waits for it."""
    typer.echo(line)
    typer.get_text_stream("stdout").flush()


def _tell(step: str) -> None:
    typer.echo(f"{step} …", err=True)
