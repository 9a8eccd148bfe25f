"""The review of a set in real Chromium: by mouse, by keys alone, two at once, offline, and with a server that is killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reviewable import candidate, copied, judged, pets, selected, top, verdicts
from served import Served

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

__all__ = ["pets"]

Open = Callable[..., Any]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
MOST = 80  # marks between two kills, so that a slow machine does not pile them up


@pytest.fixture
def served(pets: Path, tmp_path: Path, database: str | None) -> Iterator[Served]:
    with Served(judged(tmp_path, database=database) if database else copied(pets, tmp_path)) as server:
        yield server


def until(page: Any, text: str) -> None:
    page.wait_for_function("text => document.getElementById('state').textContent === text", arg=text, timeout=30_000)


def wrong(page: Any) -> list[int]:
    """Which new images are shown as wrong, by their place."""
    return page.eval_on_selector_all(
        ".cell[data-kind=new]", "cells => cells.flatMap((c, at) => (c.ariaPressed === 'true' ? [at] : []))"
    )


def digests(class_id: str = "cat", *numbers: int) -> list[str]:
    """The new images of the page in order: that of their digests."""
    return sorted(top(*(numbers or range(4)), class_id=class_id))


def said(served: Served, kind: str = "image") -> list[tuple[str, str]]:
    """Image, or both images, and verdict of each verdict of a kind."""
    return [(f"{row[1]} {row[2]}".strip(), row[4]) for row in verdicts(served) if row[0] == kind]


def on_class(opened: Open, served: Served, name: str = "Rita", **more: Any) -> Any:
    page = opened(served.link("reviewer", name), **more)
    page.goto(f"{served.address}/review/1")
    until(page, "Saved")
    return page


def test_a_class_by_mouse(served: Served, opened: Open):
    page = opened(served.link("reviewer", "Rita"))
    page.click("text=Review the set")
    page.click("text=Look at them")
    page.wait_for_function(
        "() => { const all = [...document.querySelectorAll('.cell img')];"
        " return all.length === 14 && all.every(i => i.complete && i.naturalWidth); }"
    )
    cells, images = page.locator(".cell"), digests()
    cells.nth(0).click()
    cells.nth(2).click()
    cells.nth(0).click()
    until(page, "Saved")
    assert wrong(page) == [2]
    assert said(served) == [(images[0], "wrong"), (images[2], "wrong"), (images[0], "right")]
    page.click("#near")
    cells.nth(1).click()
    cells.nth(3).click()
    assert page.inner_text("#both-title") == "New 2 and New 4"
    page.click("#both .main")
    page.wait_for_selector("#pairs li")
    assert page.inner_text("#pairs li").startswith("New 2 and New 4: near-duplicates")
    until(page, "Saved")
    assert said(served, "pair") == [(f"{images[1]} {images[3]}", "near")]
    page.click("#pairs button")
    page.wait_for_selector("#pairs", state="hidden")
    page.click("#undo")
    page.wait_for_selector("#pairs li")
    page.click("#problematic")
    until(page, "Saved")
    assert [verdict for _, verdict in said(served, "pair")] == ["near", "different", "near"]
    assert said(served, "class") == [("", "problematic")]
    cells.nth(6).click()
    assert page.locator("#zoom").is_visible()
    assert page.locator("#mark").is_hidden()
    page.click("#close")
    page.reload()
    page.wait_for_selector(".cell[aria-pressed=true]")
    assert wrong(page) == [2]
    assert page.get_attribute("#problematic", "aria-pressed") == "true"
    assert page.locator(".cell[data-near]").count() == 2
    with page.expect_navigation():
        page.click("#done")
    assert page.url.endswith("/review/2")
    assert Counter(verdict for _, verdict in said(served)) == {"wrong": 2, "right": 3}
    with page.expect_navigation():
        page.click("#done")
    assert page.url.endswith("/review")
    assert "1 selected image judged wrong" in page.inner_text("main")


def test_a_class_by_keys_alone(served: Served, opened: Open):
    page = opened(served.link("reviewer", "Rita"))
    press = page.keyboard.press

    def tab_to(test: str) -> None:
        for _ in range(40):
            press("Tab")
            if page.evaluate(f"(() => {{ const e = document.activeElement; return {test}; }})()"):
                return
        raise AssertionError(test)

    tab_to("e.textContent === 'Review the set'")
    press("Enter")
    page.wait_for_url("**/review")
    tab_to("e.textContent === 'Look at them'")
    press("Enter")
    page.wait_for_selector("#review")
    until(page, "Saved")
    tab_to("e.className === 'cell'")
    images = digests()
    press("w")
    press("ArrowRight")
    press("Space")
    press("ArrowLeft")
    press("w")
    assert wrong(page) == [1]
    press("u")
    assert wrong(page) == [0, 1]
    press("u")
    assert wrong(page) == [0]
    press("k")
    press("Escape")
    press("k")
    press("End")
    press("k")
    page.wait_for_selector("#both[open]")
    press("s")
    page.wait_for_selector("#pairs li")
    press("Home")
    press("z")
    assert page.locator("#zoom").is_visible()
    press("ArrowRight")
    press("Escape")
    page.wait_for_function("() => document.activeElement.dataset.name === 'New 2'")
    press("ArrowDown")
    page.wait_for_function("() => document.activeElement.dataset.name.startsWith('Original')")
    press("w")
    assert "not judged" in page.inner_text("#hint")
    press("v")
    page.wait_for_selector(".told:not([hidden])")
    assert "of 40 said yes" in page.locator(".told").first.inner_text()
    press("v")
    assert page.locator(".told:not([hidden])").count() == 0
    press("p")
    press("p")
    until(page, "Saved")
    assert said(served, "class") == [("", "problematic"), ("", "fine")]
    ((ends, verdict),) = said(served, "pair")
    assert images[0] in ends.split()
    assert verdict == "same"
    with page.expect_navigation():
        press("d")
    assert page.url.endswith("/review/2")
    until(page, "Saved")
    with page.expect_navigation():
        press("b")
    assert page.url.endswith("/review/1")
    assert wrong_in_store(served) == {images[0]}


def wrong_in_store(served: Served) -> set[str]:
    last = dict(said(served))
    return {image for image, verdict in last.items() if verdict == "wrong"}


def test_two_reviewers_at_once(served: Served, opened: Open):
    rita, bo = on_class(opened, served), on_class(opened, served, "Bo")
    rita.locator(".cell").nth(0).click()
    until(rita, "Saved")
    bo.locator(".cell").nth(1).click()
    until(bo, "Saved")
    bo.wait_for_function("() => document.querySelectorAll('#history li').length === 2")
    assert wrong(bo) == [0, 1]
    bo.click("summary:has-text('History')")
    history = bo.locator("#history li").all_inner_texts()
    assert ["Bo New 2: wrong" in history[0], "Rita New 1: wrong" in history[1]] == [True, True]
    rita.reload()
    rita.wait_for_function("() => document.querySelectorAll('#history li').length === 2")
    assert wrong(rita) == [0, 1]
    rita.locator(".cell").nth(1).click()  # takes back what Bo said
    until(rita, "Saved")
    assert wrong_in_store(served) == {digests()[0]}


def test_connection_lost_and_back(served: Served, opened: Open):
    page = on_class(opened, served)
    page.context.set_offline(True)
    for place in (0, 1, 0):
        page.locator(".cell").nth(place).click()
    until(page, "Offline: 3 waiting")
    assert wrong(page) == [1]
    page.click("#done")
    page.wait_for_function("() => document.getElementById('hint').textContent.startsWith('Not saved yet')")
    assert page.url.endswith("/review/1")
    assert verdicts(served) == []
    page.context.set_offline(False)
    until(page, "Saved")
    images = digests()
    assert said(served)[:3] == [(images[0], "wrong"), (images[1], "wrong"), (images[0], "right")]
    assert len(said(served)) == 5  # and two that were looked at
    assert wrong(page) == [1]


def test_what_was_not_saved_waits_for_the_next_visit(served: Served, opened: Open):
    link = served.link("reviewer", "Rita")
    page = opened(link)
    page.goto(f"{served.address}/review/1")
    until(page, "Saved")
    page.context.set_offline(True)
    page.locator(".cell").nth(3).click()
    until(page, "Offline: 1 waiting")
    page.goto("about:blank")
    page.context.set_offline(False)
    page.goto(link)  # another session
    page.goto(f"{served.address}/review/2")
    until(page, "Saved")
    assert said(served) == [(digests()[3], "wrong")]


def test_every_verdict_shown_as_saved_is_there_once_after_the_server_was_killed(served: Served, opened: Open):
    page = on_class(opened, served)
    page.evaluate(
        """() => { window.clicks = 0; window.most = 0; const cells = [...document.querySelectorAll('.cell[data-kind=new]')];
        window.ticks = setInterval(() => window.clicks < window.most && cells[window.clicks++ % 4].click(), 25); }"""
    )
    for turn in range(2):
        page.evaluate("most => { window.most = most; }", MOST * (turn + 1))
        page.wait_for_timeout(700)
        served.kill()
        page.evaluate("() => { window.most += 8; }")  # something is clicked after it, however slow the machine is
        page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Offline')")
        made, waiting = page.evaluate("[window.clicks, JSON.parse(localStorage.getItem(Object.keys(localStorage)[0])).length]")
        # What does not wait any more was shown as saved. Some that wait may be saved, their answer lost.
        assert made - waiting <= len(said(served)) <= made
        assert len(served.rows("reviewed")) == len(said(served))
        served.start()
    page.evaluate("clearInterval(window.ticks)")
    until(page, "Saved")
    clicks = page.evaluate("window.clicks")
    page.wait_for_function("n => Number(document.getElementById('history-n').textContent) === n", arg=clicks)
    rows = said(served)
    assert len(rows) == clicks == len(served.rows("reviewed"))
    images = digests()
    # Each image was called wrong and right by turns, in the order of the clicks.
    assert rows == [(images[at % 4], "wrong" if at // 4 % 2 == 0 else "right") for at in range(len(rows))]
    assert {images[at] for at in wrong(page)} == wrong_in_store(served)


def test_from_the_first_look_to_the_release_through_the_pages(served: Served, opened: Open):
    import resit

    rita = opened(served.link("reviewer", "Rita"))
    boss = opened(served.link("admin", "Al"))
    rita.goto(f"{served.address}/review/1")
    rita.locator(".cell").nth(0).click()
    for _ in range(2):
        with rita.expect_navigation():
            rita.click("#done")
    gone = digests()[0]
    rita.click("button:text('Make the next revision')")
    rita.wait_for_selector("text=Revision 2 is made: 1 came, 1 went.", timeout=30_000)
    rita.reload()
    assert "Revision 2 is made" in rita.inner_text("main")
    rita.click("text=See what changed")
    assert "judged wrong" in rita.inner_text("main")
    rita.wait_for_function("() => [...document.images].every(i => i.complete && i.naturalWidth)")
    assert rita.locator(".thumbs img").count() == 2
    rita.click("text=To the review")
    rita.click("text=Look at it")
    with rita.expect_navigation():
        rita.click("#done")
    rita.click("button:text('Make the next revision')")
    rita.wait_for_selector("text=The set has converged", timeout=30_000)
    boss.click("nav >> text=Steps")
    assert "has converged" in boss.inner_text("main")
    boss.fill("[name=version]", "1.2.3")
    boss.fill("[name=title]", "Pets")
    boss.click("text=Release revision 3")
    boss.wait_for_selector("text=The release: done", timeout=30_000)
    place = boss.locator(".steps code").inner_text()
    benchmark = resit.load_benchmark(place)
    assert (benchmark.name, benchmark.version, benchmark.n) == ("pets", "1.2.3", 8)
    assert set(benchmark.ids.tolist()) == set().union(*selected(served).values())
    assert gone not in benchmark.ids
    assert candidate("cat", 4) in benchmark.ids


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_screen(served: Served, opened: Open, width: int, scheme: str):
    page = opened(served.link("admin", "Al"), viewport={"width": width, "height": 800}, color_scheme=scheme)
    for path in ("/review", "/review/1", "/build"):
        page.goto(served.address + path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    page.goto(f"{served.address}/review/1")
    tops = page.eval_on_selector_all(".cell", "cells => cells.map(c => Math.round(c.getBoundingClientRect().top))")
    assert sorted(Counter(tops).values()) == [4, 5, 5]


def test_on_a_phone_a_long_press_shows_an_image_large(served: Served, opened: Open):
    page = on_class(opened, served, **PHONE)
    page.click("details.rules > summary")  # open at the first visit
    box = page.locator(".cell").nth(2).bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.wait_for_selector("#zoom[open]")
    page.mouse.up()
    assert wrong(page) == []
    page.click("#mark")
    assert page.inner_text("#mark") == "Not wrong"
    page.click("#close")
    assert wrong(page) == [2]


def test_on_a_desktop_four_rows_and_all_tools_are_seen_at_once(served: Served, opened: Open):
    page = on_class(opened, served, viewport={"width": 1280, "height": 800})
    assert page.get_attribute("details.rules", "open") is not None  # Rita has judged nothing yet
    page.click(".rules summary")
    page.evaluate("document.getElementById('votes').textContent = 'Votes and models'")
    box = page.evaluate(
        """() => { const box = (one) => one.getBoundingClientRect(); const tools = [...document.querySelectorAll('.tools > *')];
        return { last: Math.max(...[...document.querySelectorAll('.cell')].map((one) => box(one).bottom)),
        width: box(document.querySelector('.cell')).width, bar: innerHeight - box(document.querySelector('.bar')).height,
        lines: new Set(tools.filter((one) => one.textContent).map((one) => box(one).top)).size }; }"""
    )
    row, text = box["width"] + 6, 32  # a class here has one row of new images where others have two, and no text
    assert box["last"] + row + text <= box["bar"]
    assert box["lines"] == 1


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_two_images_and_a_large_one_fit_the_screen(served: Served, opened: Open, width: int):
    page = on_class(opened, served, viewport={"width": width, "height": 800}, has_touch=width < 400)
    page.locator(".cell").nth(0).focus()
    for keys, name in ((["z"], "zoom"), (["z", "k", "End", "k"], "both")):
        for key in keys:
            page.keyboard.press(key)
        page.wait_for_selector(f"#{name}[open]")
        assert page.evaluate(
            "id => { const one = document.getElementById(id); return one.scrollWidth <= one.clientWidth; }", name
        )
        for image in page.locator(f"#{name} img").all():
            box = image.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["width"] == pytest.approx(box["height"], abs=1)
    assert page.locator("#both kbd").first.is_visible() == (width > 400)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_state_of_each_class_is_on_the_screen(served: Served, opened: Open, width: int):
    page = opened(served.link("reviewer"), viewport={"width": width, "height": 800})
    page.goto(f"{served.address}/review")
    for tag in page.locator(".classes .tag").all():
        box = tag.bounding_box()
        assert box["x"] + box["width"] <= width
    assert page.locator(".scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
