"""The admin page and the steps: invites that are refused, who needs a look, and where what comes next is done."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from served import Served, begun

from extras import needs
from resit.web.settings import Settings

needs("fastapi", "uvicorn", "sqlalchemy")

Open = Callable[..., Any]
LONG = "Zo" + "abcdefghijk" * 7


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(begun(tmp_path_factory.mktemp("admin"), people=50)) as server:
        yield server


def test_an_invite_that_is_refused_stays_in_the_form(served: Served):
    boss = served.client("admin", "Boss")
    served.link("annotator", "Ann")
    body = {"name": "Ann", "role": "reviewer", "csrf": boss.token}
    page = boss.http.post("/admin/invites", data=body, headers={"accept": "text/html"})
    assert page.status_code == 422
    assert "Ann is annotator already" in page.text
    assert 'value="Ann" aria-invalid="true"' in page.text
    assert "<option selected>reviewer" in page.text
    assert boss.post("/admin/invites", body).json()["error"].startswith("invite: Ann is annotator already")


def test_the_address_of_invites_leads_back_to_the_page(served: Served):
    page = served.client("admin").get("/admin/invites")
    assert (page.status_code, page.url.path) == (200, "/admin")


@pytest.mark.parametrize(
    ("more", "told"),
    [({}, True), ({"host": "::1"}, True), ({"host": "0.0.0.0"}, False), ({"behind_proxy": "https://votes.example.org"}, False)],
)
def test_links_open_on_one_machine_alone_where_no_other_is_let_in(more: dict[str, str], told: bool):
    settings: Any = Settings
    assert settings(**more).opens_here_alone == told


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_links_name_the_machine_where_the_server_listens_to_all(host: str):
    assert Settings(host).address == f"http://{socket.gethostname()}:8321"
    assert Settings("::1").address == "http://[::1]:8321"


def test_a_link_that_opens_on_one_machine_alone_is_told(served: Served):
    boss = served.client("admin")
    assert "It only opens on the machine" in boss.post("/admin/invites", {"name": "Bo", "role": "annotator"}).text
    assert "It only opens on the machine" not in boss.get("/admin").text


def test_people_who_need_a_look_come_first(served: Served):
    from resit.build.steps.opened import open_build
    from resit.web.figures import overview
    from resit.web.tasks import Tasks

    served.link("annotator", "Ann")
    zed = served.client("annotator", "Zed")
    with open_build(served.folder) as build:
        for _ in range(2):
            task = zed.page()[0]
            wrong = [one.position for one in Tasks(build.store).get(task).shown if one.role == "negative"]
            zed.click(task, *wrong)
            assert zed.finish(task, *wrong).status_code == 200
        people = overview(build).people
    assert [one.name for one in people if one.needs_a_look] == ["Zed"]
    assert people[0].name == "Zed"
    admin, end = served.client("admin"), time.monotonic() + 20
    while "needs a look</span>" not in (text := admin.get("/admin").text) and time.monotonic() < end:
        time.sleep(0.5)  # figures are kept for a while
    assert text.index('action="/admin/invites"') < text.index("needs a look</span>") < text.index("Revoke Ann")


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        ("Collect candidates: there are none yet.", ""),
        ("Get votes: 2 classes are short (cat, dog).", "/admin#invite"),
        ("Find near-duplicates: `resit build dedupe`; 3 candidates were not compared yet.", "/build#dedupe"),
        ("Review near-duplicates: 1 class is short (cat).", "/pairs"),
        ("Make the next revision (sample again): 1 selected image judged wrong.", "/build#revision"),
        ("Make a revision (sample): 1 class is short (cat).", "/build#revision"),
        ("Look at 3 pairs.", "/pairs"),
        ("Look at 2 images and 3 pairs.", "/review"),
        ("Release it: the last round changed nothing, and nothing is left to look at.", "/build#release"),
    ],
)
def test_what_comes_next_leads_to_where_it_is_done(sentence: str, place: str):
    from resit.web.start import next_place

    state: Any = SimpleNamespace(next=sentence)
    assert next_place(state) == place


def test_the_steps_name_what_people_do_between_them(served: Served):
    text = served.client("admin").get("/build").text
    assert re.findall(r"<li[^>]*>\s*<h2>([^<]+)", text) == [
        *["Plan pages", "Votes", "Near-duplicates", "Pairs", "Revision", "Classes", "Release", "Exam", "Export everything"]
    ]
    for place in ("/admin#invite", "/vote", "/pairs", "/review"):
        assert f'<a href="{place}"' in text
    assert "resit build exam BUILD make" in text
    for anchor in ("dedupe", "revision", "release"):
        assert f'id="{anchor}"' in text


def test_guidance_is_open_until_somebody_has_finished_a_page(served: Served):
    ann = served.client()
    assert '<details class="rules" open>' in ann.get("/vote").text
    ann.finish(ann.page()[0])
    assert '<details class="rules">' in ann.get("/vote").text


@pytest.mark.parametrize("width", [390, 1280])
def test_tables_and_long_names_fit_the_screen(served: Served, opened: Open, width: int):
    ann = served.client("annotator", LONG)
    ann.finish(ann.page()[0])
    page = opened(served.link("admin", f"A{width}{LONG}"[:80]), viewport={"width": width, "height": 844})
    for path in ("/admin", "/build", "/vote", "/pairs", "/exam"):
        page.goto(served.address + path)
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        hidden = page.eval_on_selector_all(".scroll", "all => all.map(one => one.scrollWidth - one.clientWidth)")
        assert not any(hidden), (path, hidden)
    page.goto(f"{served.address}/admin")
    for button in ("Revoke", "Reject"):
        box = page.get_by_role("button", name=button).first.bounding_box()
        assert box["x"] + box["width"] <= width
