"""A build that is served by a process of its own, as people start it, and people who ask it without a browser."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import steps_made as made
from resit.web.settings import Settings

if TYPE_CHECKING:
    import httpx
    import pyarrow as pa

CANDIDATES = {name: tuple(f"{name}/web {number}" for number in range(8)) for name in made.CLASSES}
PAGE = 6  # images on a page: four candidates and two controls
PEOPLE = 2


def begun(root: Path, *, people: int = PEOPLE, **more: Any) -> Path:
    """A build whose candidates make two pages for each of two classes."""
    from resit.build.steps.gather import gather
    from resit.build.steps.opened import open_build

    votes = {"task": PAGE, "positive": 1, "negative": 1, "people": people}
    folder = made.begin(root, votes=votes, **more).folder.path
    source = (
        f"folder:{made.write_images(root / 'web', {one: made.picture(one) for some in CANDIDATES.values() for one in some})}"
    )
    with open_build(folder) as build:
        gather(build, source)
    return folder


def free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


class Served:
    """A server; in a ``with``. It can be killed and started again."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder, self.words, self.port = folder, words, free_port()
        self.settings = Settings(port=self.port)
        self.address = self.settings.address
        self.said = ""
        self.callers: list[Caller] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        for caller in self.callers:
            caller.http.close()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()

    def start(self) -> None:
        import httpx

        command = [sys.executable, "-m", "resit", "serve", str(self.folder), "--port", str(self.port), *self.words]
        self.process: Any = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        lines = []
        while line := self.process.stdout.readline():
            lines.append(line)
            if line.startswith("Serving "):
                break
        self.said = "".join(lines)
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if httpx.get(f"{self.address}/health").text == "ok":
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError(self.said + self.process.stdout.read())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def link(self, role: str = "annotator", name: str | None = None) -> str:
        from resit.web.run import invite_to

        return invite_to(self.folder, role, name, self.settings)[1]

    def client(self, role: str = "annotator", name: str | None = None) -> Caller:
        return self.caller(self.link(role, name))

    def caller(self, link: str) -> Caller:
        self.callers.append(Caller(link))
        return self.callers[-1]

    def votes(self) -> pa.Table:
        from resit.build.steps.opened import open_build

        with open_build(self.folder) as build:
            return build.store.votes(accepted=False)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Rows of a table of the database."""
        from sqlalchemy import text

        from resit.build.steps.opened import open_build

        with open_build(self.folder) as build, build.store.reading() as connection:
            return [dict(row._mapping) for row in connection.execute(text(f"SELECT * FROM {table}"))]


class Caller:
    """Somebody who opened a link, without a browser."""

    def __init__(self, link: str) -> None:
        import httpx

        # A connection that the server ended while it was idle would be left open here.
        one_use = httpx.Limits(max_keepalive_connections=0)
        self.http = httpx.Client(base_url="/".join(link.split("/")[:3]), follow_redirects=True, timeout=30, limits=one_use)
        self.first = self.http.get(link, headers={"accept": "text/html"})

    def get(self, path: str) -> httpx.Response:
        return self.http.get(path)

    @cached_property
    def token(self) -> str:
        found = re.search(r'(?:data-csrf|name="csrf" value)="([0-9a-f]+)"', self.first.text)
        assert found, self.first.text
        return found[1]

    def page(self) -> tuple[str, list[str]]:
        """Task and addresses of the images of the page that is given; no task where nothing waits."""
        text = self.get("/vote").text
        task = re.search(r'data-task="(\w+)"', text)
        return (task[1] if task else "", re.findall(r'<img src="([^"]+)"', text))

    def post(self, path: str, body: dict[str, Any], *, csrf: str | None = None) -> httpx.Response:
        return self.http.post(path, json=body, headers={"x-csrf-token": self.token if csrf is None else csrf})

    def click(self, task: str, *positions: int, selected: bool = True, event: str = "") -> httpx.Response:
        name = event or f"e{time.monotonic_ns()}"
        clicks = [{"event": f"{name}-{at}", "position": at, "selected": selected} for at in positions]
        return self.post(f"/vote/{task}/clicks", {"clicks": clicks})

    def finish(self, task: str, *positions: int) -> httpx.Response:
        return self.post(f"/vote/{task}/finish", {"selected": list(positions)})
