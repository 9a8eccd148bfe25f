"""Voting in real Chromium: by mouse, by keys alone, two at once, without a connection, and with a server that is killed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from served import PAGE, Served, begun

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

Open = Callable[..., Any]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
MOST = 80  # clicks between two kills, so that a slow machine does not pile them up


def marked(page: Any) -> list[int]:
    return page.eval_on_selector_all(
        ".cell", "cells => cells.filter(c => c.ariaPressed === 'true').map(c => Number(c.dataset.position))"
    )


def until(page: Any, text: str) -> None:
    page.wait_for_function("text => document.getElementById('state').textContent === text", arg=text)


def stored(served: Served) -> set[int]:
    """Positions that are selected by the last click on each, in the database."""
    last = {row["position"]: bool(row["selected"]) for row in sorted(served.rows("click"), key=lambda row: row["id"])}
    return {position for position, selected in last.items() if selected}


def finish(page: Any, done: Callable[[], None]) -> None:
    """Be done with a page; the next one comes."""
    with page.expect_navigation():
        done()


def selected_by(served: Served, person: str) -> dict[str, int]:
    """Votes and selected ones of each assignment of somebody."""
    rows = [row for row in served.votes().to_pylist() if row["person"] == person]
    return {
        name: sum(row["selected"] for row in rows if row["assignment"] == name) for name in {row["assignment"] for row in rows}
    }


def test_a_page_by_mouse(served: Served, opened: Open):
    page = opened(served.link(name="Ann"))
    assert page.title().endswith("page 1")
    page.wait_for_function(
        "() => [...document.images].filter(i => i.closest('.cell')).every(i => i.complete && i.naturalWidth)"
    )
    cells = page.locator(".cell")
    assert cells.count() == PAGE
    for place in (0, 2, 5):
        cells.nth(place).click()
    cells.nth(5).click()
    until(page, "Saved")
    assert page.inner_text("#count") == "2 marked"
    assert stored(served) == {0, 2} == set(marked(page))
    page.click("#undo")
    until(page, "Saved")
    assert stored(served) == {0, 2, 5}
    page.reload()
    assert set(marked(page)) == {0, 2, 5}
    cells.nth(0).click()
    cells.nth(4).click(modifiers=["Shift"])
    assert set(marked(page)) == {5}
    finish(page, lambda: page.click("#done"))
    assert page.title().endswith("page 2")
    assert list(selected_by(served, "Ann").values()) == [1]


def test_a_page_by_keys_alone(served: Served, opened: Open):
    page = opened(served.link(name="Ann"))
    press = page.keyboard.press
    while page.evaluate("document.activeElement.className") != "cell":
        press("Tab")
    press("Enter")
    press("ArrowRight")
    press("ArrowRight")
    press("x")
    press("End")
    press("Shift+Enter")  # from the last one to here
    assert marked(page) == [0, 2, 3, 4, 5]
    press("u")
    assert marked(page) == [0, 2]
    press("Home")
    press("Space")
    assert page.locator("#zoom").is_visible()
    press("ArrowRight")
    press("Enter")
    press("Space")
    assert page.locator("#zoom").is_hidden()
    page.wait_for_function("() => document.activeElement.dataset.position === '1'")
    assert marked(page) == [0, 1, 2]
    press("ArrowDown")  # one row: there is none below
    until(page, "Saved")
    assert stored(served) == {0, 1, 2}
    finish(page, lambda: press("d"))
    assert list(selected_by(served, "Ann").values()) == [3]


def test_nothing_marked_is_asked_about(served: Served, opened: Open):
    page = opened(served.link(name="Ann"))
    page.click("#done")
    assert "really no image" in page.inner_text("#sure")
    page.keyboard.press("Escape")
    assert page.locator("#sure").is_hidden()
    assert len(served.votes()) == 0
    page.click("#done")
    finish(page, lambda: page.click("#sure .main"))
    assert list(selected_by(served, "Ann").values()) == [0]


def test_two_people_at_once(served: Served, opened: Open):
    pages = {name: opened(served.link(name=name)) for name in ("Ann", "Bo")}
    for turn in range(4):
        for name, page in pages.items():
            page.locator(".cell").nth(turn).click()
            page.locator(".cell").nth(5 if name == "Bo" else 4).click()
        for page in pages.values():
            finish(page, lambda page=page: page.click("#done"))
    for name, page in pages.items():
        assert "Thank you" in page.inner_text("h1")
        assert sorted(selected_by(served, name).values()) == [1 if name == "Ann" and turn == 4 else 2 for turn in range(4)]
    assert len(served.votes()) == 2 * 4 * PAGE


def test_connection_lost_and_back(served: Served, opened: Open):
    page = opened(served.link(name="Ann"))
    page.locator(".cell").nth(0).click()
    until(page, "Saved")
    page.context.set_offline(True)
    for place in (1, 2, 3):
        page.locator(".cell").nth(place).click()
    until(page, "Offline: 3 waiting")
    page.click("#done")
    page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Not done yet')")
    assert stored(served) == {0}
    assert len(served.votes()) == 0
    page.context.set_offline(False)
    until(page, "Saved")
    assert stored(served) == {0, 1, 2, 3}
    assert len(served.rows("click")) == 4
    finish(page, lambda: page.click("#done"))
    assert list(selected_by(served, "Ann").values()) == [4]


def test_clicks_that_were_not_saved_wait_for_the_next_visit(served: Served, opened: Open):
    link = served.link(name="Ann")
    page = opened(link)
    page.context.set_offline(True)
    page.locator(".cell").nth(3).click()
    until(page, "Offline: 1 waiting")
    page.goto("about:blank")
    page.context.set_offline(False)
    page.goto(link)
    assert marked(page) == [3]
    until(page, "Saved")
    assert stored(served) == {3}


def test_on_any_device_one_goes_on_where_one_left_off(served: Served, opened: Open):
    link = served.link(name="Ann")
    page = opened(link)
    page.locator(".cell").nth(3).click()
    until(page, "Saved")
    other = opened(link, **PHONE)
    assert marked(other) == [3]
    other.locator(".cell").nth(0).tap()
    until(other, "Saved")
    page.click("#done")
    page.wait_for_function("() => document.getElementById('state').textContent.includes('another device')")
    assert len(served.votes()) == 0
    page.reload()
    finish(page, lambda: page.click("#done"))
    assert list(selected_by(served, "Ann").values()) == [2]


def test_every_click_shown_as_saved_is_there_once_after_the_server_was_killed(served: Served, opened: Open):
    page = opened(served.link(name="Ann"))
    shown: set[str] = set()
    page.evaluate(
        """() => { window.clicks = 0; const cells = [...document.querySelectorAll('.cell')];
        window.ticks = setInterval(() => { if (window.clicks < window.most) cells[window.clicks++ % 6].click(); }, 15); }"""
    )
    for turn in range(1, 4):
        page.evaluate("most => { window.most = most; }", MOST * turn)
        page.wait_for_timeout(600)
        served.kill()
        page.evaluate("() => { window.most += 8; }")  # something is clicked after it, however slow the machine is
        page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Offline')")
        made, waiting = page.evaluate("[window.clicks, JSON.parse(Object.values(localStorage)[0]).length]")
        sent = served.rows("click")
        shown |= {row["event"] for row in sent}
        assert len({row["event"] for row in sent}) == len(sent)
        # What does not wait any more was shown as saved. Some that wait may be saved, their answer lost.
        assert made - waiting <= len(sent) <= made
        served.start()
    page.evaluate("clearInterval(window.ticks)")
    page.wait_for_function("() => document.getElementById('state').textContent === 'Saved'", timeout=30_000)
    rows = served.rows("click")
    assert len(rows) == len({row["event"] for row in rows}) == page.evaluate("window.clicks")
    assert shown <= {row["event"] for row in rows}
    assert stored(served) == set(marked(page))


def test_done_pressed_twice_counts_once(served: Served, opened: Open):
    page = opened(served.link(name="Ann"))
    page.locator(".cell").nth(1).click()
    finish(page, lambda: page.evaluate("() => { for (let n = 0; n < 5; n++) document.getElementById('done').click(); }"))
    assert list(selected_by(served, "Ann").values()) == [1]
    assert len(served.rows("finish")) == 1


def test_a_long_press_shows_an_image_large_and_marks_nothing(served: Served, opened: Open):
    page = opened(served.link(name="Ann"), **PHONE)
    box = page.locator(".cell").nth(2).bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.wait_for_selector("#zoom[open]")
    page.mouse.up()
    assert marked(page) == []
    page.click("#mark")
    assert page.inner_text("#mark") == "Unmark"
    page.click("#zoom form .plain")
    assert marked(page) == [2]


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen(served: Served, opened: Open, width: int, scheme: str):
    for role in ("annotator", "admin"):
        page = opened(served.link(role), viewport={"width": width, "height": 800}, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), role
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(251, 250, 247)"
        assert dark == (scheme == "dark")


def test_a_revoked_person_keeps_what_was_clicked_and_is_told(served: Served, opened: Open):
    page = opened(served.link(name="Ann"))
    served.client("admin").post("/admin/revoke", {"name": "Ann"})
    errors = []
    page.on("response", lambda answer: errors.append(answer.status) if answer.status >= 400 else None)
    page.locator(".cell").nth(1).click()
    until(page, "Not saved: open your link again")
    assert errors == [401]
    page.goto(served.link(name="Ann"))
    until(page, "Saved")
    assert stored(served) == {1}


def test_an_admin_invites_watches_rejects_and_revokes(tmp_path: Path, opened: Open):
    with Served(begun(tmp_path, people=1)) as served:
        boss = opened(served.link("admin", "Boss"))
        boss.get_by_label("Name").fill("Zoë <i>")
        boss.select_option("select", "annotator")
        boss.get_by_role("button", name="Invite").click()
        page = opened(boss.input_value("input.link"))
        while page.locator("#grid").count():
            page.locator(".cell").nth(0).click()
            finish(page, lambda: page.click("#done"))
        page.wait_for_timeout(2_000)
        boss.goto(f"{served.address}/admin")
        boss.fill("input[name=reason] >> nth=0", "too quick")
        boss.click("text=Reject >> nth=0")
        assert "too quick" in boss.inner_text("main")
        assert re.search(r"Zoë <i>\s+annotator\s+3", boss.inner_text("main"))
        boss.click("text=Accept again")
        assert "Accept again" not in boss.inner_text("main")
        boss.click("[aria-label='Revoke Zoë <i>']")
        assert "revoked" in boss.inner_text("main")
        page.reload()
        assert "not signed in" in page.inner_text("main")
