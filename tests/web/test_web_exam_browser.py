"""The exam in real Chromium: by mouse, by keys alone, two at once, without a connection, and with a server that is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sat_made import IMAGES, given, seen_by, with_exam
from served import Served

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

Open = Callable[..., Any]
N = 2 * IMAGES
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
MOST = 80  # clicks between two kills, so that a slow machine does not pile them up


@pytest.fixture
def served(tmp_path: Path, database: str | None) -> Iterator[Served]:
    texts = tmp_path / "texts.csv"
    texts.write_text("class_id,text,synonyms\ncat,A cat.,kitty\ndog,A dog.,hound\n")
    with Served(with_exam(tmp_path, database=database), "--texts", str(texts)) as server:
        yield server


def sit(opened: Open, served: Served, name: str, **more: Any) -> Any:
    page = opened(served.link(name=name), **more)
    page.goto(f"{served.address}/exam")
    page.wait_for_function("() => { const i = document.getElementById('image'); return i.complete && i.naturalWidth; }")
    return page


def until(page: Any, text: str, **more: Any) -> None:
    page.wait_for_function("text => document.getElementById('state').textContent === text", arg=text, **more)


def at(page: Any) -> int:
    return int(page.inner_text("#number"))


def on_page(page: Any) -> dict[int, str]:
    """The answers that the page shows, by place."""
    return page.eval_on_selector_all(
        ".place", "all => Object.fromEntries(all.map((p, i) => [i, p.dataset.answer]).filter(([, a]) => a !== undefined))"
    )


def stored(served: Served, person: str) -> dict[str, str]:
    """The last answers of one person, by the place where they saw the image."""
    (number,) = [row["id"] for row in served.rows("account") if row["name"] == person]
    rows = sorted((row for row in served.rows("exam_answer") if row["account_id"] == number), key=lambda row: row["id"])
    places = {question.position: place for place, question in enumerate(seen_by(served, person))}
    return {str(places[row["position"]]): row["class_id"] for row in rows}


def test_the_exam_by_mouse(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    page.fill("#find", "kit")  # a synonym
    page.click("#found li")
    assert at(page) == 2
    page.click("#unknown")
    page.click("#all > summary")
    page.wait_for_function("() => [...document.querySelectorAll('.examples img')].filter(i => i.naturalWidth).length === 6")
    page.click("[data-class=dog]")
    page.click("#back")
    assert page.inner_text("#said") == "Your answer: dog"
    page.click("#back")
    assert page.inner_text("#said") == "Your answer: I do not know"
    page.click("[data-class=cat]")
    until(page, "Saved")
    assert stored(served, "Ann") == {"0": "cat", "1": "cat", "2": "dog"} == on_page(page)
    page.click("text=All images:")
    page.click(".place >> nth=9")
    assert at(page) == 10
    page.click("#done")
    assert "9 of 12 images have no answer" in page.inner_text("#sure")
    page.click("#sure .plain")
    assert page.locator("#sure").is_hidden()
    assert served.rows("exam_handed_in") == []
    page.click("#done")
    with page.expect_navigation():
        page.click("#sure .main")
    assert "Thank you" in page.inner_text("h1")
    assert "You answered 3 of 12" in page.inner_text("main")


def test_the_dialog_tells_which_images_have_no_answer_and_leads_there(served: Served, opened: Open):
    page = sit(opened, served, "Ann", **PHONE)
    assert page.get_attribute("#rules", "open") is not None
    page.tap("#unknown")
    assert page.get_attribute("#rules", "open") is None
    page.tap("#done")
    told = page.inner_text("#sure")
    assert "“I do not know” of 1" in told
    numbers = page.locator("#sure-left button")
    assert numbers.all_inner_texts() == [str(place) for place in range(2, 12)]
    assert "and 1 more" in told
    numbers.nth(5).tap()
    assert page.locator("#sure").is_hidden()
    assert at(page) == 7
    page.tap("#unknown")
    page.tap("#done")
    assert "7" not in numbers.all_inner_texts()
    assert "more" not in page.inner_text("#sure-left")
    page.tap("#sure .plain")
    assert served.rows("exam_handed_in") == []
    for _ in range(N - 2):
        page.tap("#done")
        page.tap("#sure-left button >> nth=0")
        page.tap("#unknown")
    page.tap("#done")
    assert page.locator("#sure-left").is_hidden()
    assert f"All {N} images have an answer" in page.inner_text("#sure-text")


def test_the_exam_by_keys_alone(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    press = page.keyboard.press
    assert page.evaluate("document.activeElement.id") == "find"
    for place in range(N):
        assert at(page) == place + 1
        if place == 3:
            press("?")
        else:
            page.keyboard.type("o" if place % 2 else "d")
            press("Enter")
    assert page.evaluate("document.activeElement.id") == "done"
    press("PageUp")
    press("ArrowLeft")
    assert at(page) == N - 2
    page.keyboard.type("t")
    assert page.evaluate("document.activeElement.id") == "find"
    assert page.input_value("#find") == "t"
    press("Escape")
    assert page.input_value("#find") == ""
    page.keyboard.type("t")
    assert page.inner_text("#found li[aria-selected=true]").startswith("cat")
    press("ArrowDown")
    press("ArrowUp")
    press("Enter")
    until(page, "Saved")
    wanted = {str(place): "dog" for place in range(N)} | {"3": "", str(N - 3): "cat"}
    assert stored(served, "Ann") == wanted == on_page(page)
    while page.evaluate("document.activeElement.id") != "done":
        press("Tab")
    press("Enter")
    assert f"All {N} images have an answer" in page.inner_text("#sure")
    press("Tab")
    with page.expect_navigation():
        press("Enter")
    assert "Thank you" in page.inner_text("h1")
    assert len(served.rows("exam_handed_in")) == 1


def test_what_fits_best_is_offered_first_and_nothing_fitting_is_told(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    page.keyboard.type("h")  # hound begins with it
    assert page.inner_text("#found li[aria-selected=true]").startswith("dog")
    assert page.get_attribute("#find", "aria-activedescendant") == "option-0"
    page.keyboard.type("orse")
    assert page.locator("#none").is_visible()
    page.keyboard.press("Enter")
    assert at(page) == 1
    assert served.rows("exam_answer") == []


def test_two_people_at_once(served: Served, opened: Open):
    pages = {name: sit(opened, served, name) for name in ("Ann", "Bo")}
    for _ in range(N):
        for name, page in pages.items():
            page.fill("#find", "cat" if name == "Ann" else "dog")
            page.keyboard.press("Enter")
    for name, page in pages.items():
        until(page, "Saved")
        assert set(stored(served, name).values()) == {"cat" if name == "Ann" else "dog"}
        assert len(stored(served, name)) == N
    pages["Ann"].click("#done")
    with pages["Ann"].expect_navigation():
        pages["Ann"].click("#sure .main")
    pages["Bo"].reload()
    assert len(on_page(pages["Bo"])) == N
    assert [row["exam_id"] for row in served.rows("exam_handed_in")] == [1]


def test_one_goes_on_where_one_left_off_on_any_device(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    for _ in range(3):
        page.click("#unknown")
    until(page, "Saved")
    other = sit(opened, served, "Ann", **PHONE)
    assert at(other) == 4
    other.tap("#unknown")
    until(other, "Saved")
    page.click("#done")
    page.click("#sure .main")
    page.wait_for_function("() => document.getElementById('state').textContent.includes('another device')")
    assert served.rows("exam_handed_in") == []
    page.reload()
    assert at(page) == 5


def test_connection_lost_and_back(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    page.click("#unknown")
    until(page, "Saved")
    page.context.set_offline(True)
    for _ in range(2):
        page.click("#unknown")
    until(page, "Offline: 2 waiting")
    page.click("#done")
    page.click("#sure .main")
    page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Not done yet')")
    assert len(given(served)) == 1
    page.context.set_offline(False)
    until(page, "Saved")
    assert stored(served, "Ann") == {"0": "", "1": "", "2": ""}
    assert len(served.rows("exam_answer")) == 3


def test_answers_that_were_not_saved_wait_for_the_next_visit(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    page.context.set_offline(True)
    page.click("#unknown")
    until(page, "Offline: 1 waiting")
    page.goto("about:blank")
    page.context.set_offline(False)
    page.goto(f"{served.address}/exam")
    assert at(page) == 2
    until(page, "Saved")
    assert stored(served, "Ann") == {"0": ""}


def test_every_answer_shown_as_saved_is_there_once_after_the_server_was_killed(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    page.evaluate(
        """() => { window.given = 0;
        const kinds = [...document.querySelectorAll('.kind')], all = [...document.querySelectorAll('.place')];
        window.ticks = setInterval(() => {
            if (window.given >= window.most) return;
            all[window.given % 12].click();
            kinds[Math.floor(window.given / 12) % 2].click();
            window.given++;
        }, 25); }"""
    )
    shown: set[str] = set()
    for turn in range(1, 4):
        page.evaluate("most => { window.most = most; }", MOST * turn)
        page.wait_for_timeout(700)
        served.kill()
        page.evaluate("() => { window.most += 8; }")  # something is clicked after it, however slow the machine is
        page.wait_for_function("() => document.getElementById('state').textContent.startsWith('Offline')")
        made, waiting = page.evaluate("[window.given, JSON.parse(Object.values(localStorage)[0]).length]")
        rows = served.rows("exam_answer")
        shown |= {row["event"] for row in rows}
        assert made - waiting <= len(rows) <= made
        served.start()
    page.evaluate("clearInterval(window.ticks)")
    until(page, "Saved", timeout=30_000)
    rows = served.rows("exam_answer")
    assert len(rows) == len({row["event"] for row in rows}) == page.evaluate("window.given")
    assert shown <= {row["event"] for row in rows}
    assert stored(served, "Ann") == on_page(page)


def test_handed_in_elsewhere_is_told(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    other = sit(opened, served, "Ann")
    other.click("#done")
    with other.expect_navigation():
        other.click("#sure .main")
    with page.expect_navigation():
        page.click("#unknown")
    assert "Thank you" in page.inner_text("h1")
    assert served.rows("exam_answer") == []


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen(served: Served, opened: Open, width: int, scheme: str):
    page = sit(opened, served, "Ann", viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.click("#all > summary")
    page.click("text=All images:")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_everything_has_a_name_for_screen_readers(served: Served, opened: Open):
    page = sit(opened, served, "Ann")
    page.click("#all > summary")
    page.click("text=All images:")
    bare = page.evaluate(
        """() => [...document.querySelectorAll('button, input:not([type=hidden]), summary, a, dialog')].filter(
        e => !(e.ariaLabel || e.getAttribute('aria-labelledby') || e.textContent.trim() || e.labels?.length)
        ).map(e => e.outerHTML)"""
    )
    assert bare == []
    assert page.get_attribute("#image", "alt") == f"Image 1 of {N}"
    assert page.get_attribute(".place >> nth=0", "aria-label") == "Image 1: no answer"
