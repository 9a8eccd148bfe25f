"""A build with pages to vote on, a server of its own process, and a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served import Served, begun

from databases import address, postgresql, schema_of_its_own

# What the browser says of itself where a request is refused or the connection is lost.
EXPECTED = re.compile(r"Failed to load resource: (net::ERR_|the server responded with a status of 4)")
__all__ = ["address", "postgresql"]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Where a build is kept: None for a SQLite file of its own, or the address of an empty schema of PostgreSQL."""
    return None if request.param == "sqlite" else schema_of_its_own(request.getfixturevalue("postgresql"))


@pytest.fixture
def served(tmp_path: Path, database: str | None) -> Iterator[Served]:
    """A server of a build of two classes with two pages of candidates each."""
    with Served(begun(tmp_path, database=database)) as server:
        yield server


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page as somebody who was invited; at the end nothing must have been complained of or asked for elsewhere."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def open_page(link: str, **more: Any) -> Any:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | more))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        home = "/".join(link.split("/")[:3])
        page.on("console", lambda message: complaints.append(message.text) if not EXPECTED.search(message.text) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(home) else complaints.append(request.url))
        page.goto(link)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
