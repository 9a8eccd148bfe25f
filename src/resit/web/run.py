"""Runs the server, and makes the links that people come with."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from resit.build.steps.label import pages_of, planned_tasks
from resit.build.steps.opened import Build, Tell, open_build, silent
from resit.errors import OutputError
from resit.store.opening import needed
from resit.web.class_texts import class_texts
from resit.web.settings import Settings, check_settings
from resit.web.times import moment

if TYPE_CHECKING:
    from resit.store.accounts import Account

Say = Callable[[str], None]
EXTRA = "web"
CACHE = 4_096  # KiB of a SQLite file for each of the connections, of which there are many
LARGE = 20_000  # images, from which on planning takes much memory
SWITCH = 0.0005  # seconds until a thread that computes lets one go on that has clicks to save
OPEN_TO_OTHERS = (
    "Anybody in the network can reach this address, and what is sent is not encrypted. "
    "For people elsewhere put a reverse proxy with TLS before it: --behind-proxy https://…"
)


def invite_to(folder: str | Path, role: str, name: str | None, settings: Settings) -> tuple[Account, str]:
    """Invite somebody to a build.

    Parameters
    ----------
    folder : path
    role : {'annotator', 'reviewer', 'admin'}
    name : str or None
    settings : Settings

    Returns
    -------
    account : Account
    link : str
        It is not kept: it cannot be shown again.
    """
    check_settings(settings)
    with open_build(folder) as build:
        return _invited(build, role, name, settings)


def _invited(build: Build, role: str, name: str | None, settings: Settings) -> tuple[Account, str]:
    from resit.store.accounts import invite

    with build.store.writing() as connection:
        account, secret = invite(connection, role, name, moment())
    return account, f"{settings.address}/invite/{secret}"


def revoke_from(folder: str | Path, name: str) -> int:
    """Take back all invites of somebody, and end their sessions.

    Returns
    -------
    int
        Invites that were good until now.
    """
    needed("sqlalchemy", EXTRA)
    from resit.store.accounts import revoke

    with open_build(folder) as build, build.store.writing() as connection:
        return revoke(connection, name, moment())


def serve(
    folder: str | Path,
    settings: Settings,
    *,
    texts: str | Path | None = None,
    similar: str | Path | None = None,
    runs: Sequence[str | Path] = (),
    say: Say = print,
    tell: Tell = silent,
) -> None:
    """Serve the pages of a build until the process is ended.

    Tasks are planned for candidates that are in none. Where nobody can open the admin page, an invite for it is made and said.

    Parameters
    ----------
    folder : path
    settings : Settings
    texts, similar : path, optional
        Tables of what people look for in each class (class_id, text, synonyms, link), and of the similar classes of each.
    runs : sequence of path, optional
        Folders of answers of models on images of the build, which reviewers see on demand.
    say, tell : callable, optional
        Told what people must know, and what is being done.

    Raises
    ------
    InputError
        If a table or folder cannot be read, or does not fit the build.
    UsageError
        If the settings do not fit, or a library is not installed.
    OutputError
        If the server cannot listen there, or another one serves the build.
    """
    check_settings(settings)
    uvicorn = needed("uvicorn", EXTRA)
    needed("fastapi", EXTRA)
    from resit.web.app import make_app
    from resit.web.guard import Guard
    from resit.web.office import open_office
    from resit.web.one_server import one_server
    from resit.web.runs import read_runs

    with open_build(folder, cache=CACHE) as build, one_server(build.path, settings.address):
        found = class_texts(build, texts)
        answers, lines = read_runs(build, runs)
        tell("Planning tasks")
        plan = _planned_apart(folder, similar) if _is_large(build) else _plan(folder, similar)
        desk = open_office(build, settings, found, similar=similar, runs=answers)
        desk.demands.get()
        config = uvicorn.Config(
            Guard(make_app(desk)),
            host=settings.host,
            port=settings.port,
            log_level="warning",
            access_log=False,  # the addresses of invites stand in it
            proxy_headers=settings.behind_proxy is not None,
            server_header=False,
            lifespan="on",
            timeout_keep_alive=30,
            timeout_graceful_shutdown=5,
        )
        sys.setswitchinterval(SWITCH)
        gc.freeze()  # the build, of which nothing becomes garbage; to look through it stops all for a moment
        try:
            listening = _listen(settings)
            say(plan)
            for line in lines:
                say(line)
            for line in _greeting(build, settings):
                say(line)
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            desk.saver.close()


def _is_large(build: Build) -> bool:
    from sqlalchemy import func, select

    from resit.store.layout import IMAGE

    with build.store.reading() as connection:
        return bool((connection.scalar(select(func.count()).select_from(IMAGE)) or 0) > LARGE)


def _planned_apart(folder: str | Path, similar: str | Path | None) -> str:
    """Plan tasks in a process of its own: it takes memory that the server would keep for as long as it runs."""
    try:
        with ProcessPoolExecutor(1, get_context("spawn")) as apart:
            return apart.submit(_plan, folder, similar).result()
    except BrokenProcessPool as error:
        what = "the planning of tasks was ended from outside, or begun by a script that is not guarded"
        fix = "Make room in memory; in a script, call serve under `if __name__ == '__main__':`."
        raise OutputError(what, where=folder, fix=fix) from error


def _plan(folder: str | Path, similar: str | Path | None) -> str:
    with open_build(folder) as build:
        plan, people = planned_tasks(build, similar)
        pages_of(build, build.store.tasks(), people)
    return str(plan)


def _listen(settings: Settings) -> object:
    """A socket that listens; taken before anything is said, so that nothing is said in vain."""
    import socket

    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Only where the protocol is named does asyncio send small answers at once, and not after 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        fix = "End the other program, or choose another --port or --host."
        where = f"{settings.host}:{settings.port}"
        raise OutputError(f"cannot listen: {error.strerror or error}", where=where, fix=fix) from error
    return listening


def _greeting(build: Build, settings: Settings) -> list[str]:
    lines = [f"Serving {build.config.name} at {settings.address}; Ctrl-C ends it."]
    if not settings.is_local and settings.behind_proxy is None:
        lines.append(OPEN_TO_OTHERS)
    from resit.store.accounts import has_admin

    with build.store.reading() as connection:
        known = has_admin(connection)
    if not known:
        _, link = _invited(build, "admin", None, settings)
        lines.append(f"Admin page (keep this link for yourself; it is not shown again): {link}")
    return lines
