"""axe-core finds nothing to complain of on any page, on a desktop and on a phone, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reviewable import folder, pets
from sat_made import with_exam
from served import Served, begun

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")
Axe = needs("axe_playwright_python.sync_playwright").Axe

__all__ = ["folder", "pets"]

Open = Callable[..., Any]
SCREENS = {
    "desktop, light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "phone, dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "has_touch": True, "is_mobile": True},
}


@pytest.fixture(params=SCREENS)
def screen(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {**SCREENS[request.param], "bypass_csp": True}


@pytest.fixture
def voting(tmp_path: Path) -> Iterator[Served]:
    with Served(begun(tmp_path)) as served:
        yield served


@pytest.fixture
def reviewing(folder: Path) -> Iterator[Served]:
    with Served(folder) as served:
        yield served


@pytest.fixture
def sitting(tmp_path: Path) -> Iterator[Served]:
    with Served(with_exam(tmp_path, show_answers=True)) as served:
        yield served


def complaints(page: Any) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:200]} {node['failureSummary']}" for one in found for node in one["nodes"]]


def test_voting_and_admin(voting: Served, opened: Open, screen: dict[str, Any]):
    page = opened(voting.link("admin"), **screen)
    for path in ("/admin", "/vote", "/review", "/pairs", "/build", "/exam", "/nowhere"):
        page.goto(f"{voting.address}{path}")
        assert complaints(page) == [], path
    voter = voting.client("annotator", "Ann")
    assert voter.finish(voter.page()[0]).status_code == 200
    page.goto(f"{voting.address}/admin/person?name=Ann")
    assert complaints(page) == []
    page.click("main tbody a")
    page.wait_for_url("**/admin/answers/*")
    assert complaints(page) == []
    page.goto(f"{voting.address}/vote")
    page.keyboard.press("z")
    page.wait_for_selector("#zoom[open]")
    assert complaints(page) == []


def test_an_invite_that_is_none(voting: Served, opened: Open, screen: dict[str, Any]):
    page = opened(f"{voting.address}/invite/none", **screen)
    assert complaints(page) == []


def test_reviewing(reviewing: Served, opened: Open, screen: dict[str, Any]):
    page = opened(reviewing.link("reviewer"), **screen)
    assert complaints(page) == []
    for path in ("/review", "/review/1", "/pairs"):
        page.goto(f"{reviewing.address}{path}")
        assert complaints(page) == [], path


def test_the_exam(sitting: Served, opened: Open, screen: dict[str, Any]):
    page = opened(sitting.link(), **screen)
    assert complaints(page) == [], "choice"
    page.goto(f"{sitting.address}/exam")
    assert complaints(page) == []
    page.click("#unknown")
    page.click("#done")
    page.wait_for_selector("#sure[open]")
    assert complaints(page) == [], "dialog"
    with page.expect_navigation():
        page.click("#sure .main")
    page = opened(sitting.link("admin"), **screen)
    page.goto(f"{sitting.address}/exam")
    assert page.locator("table").count() == 1
    assert complaints(page) == [], "results"
