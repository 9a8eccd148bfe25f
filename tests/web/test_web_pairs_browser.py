"""Near-duplicates in real Chromium: by mouse, by keys, two at once, without a connection, and with a server that is killed."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from paired import Reviewer, near, queue, said
from served import Served

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

Open = Callable[..., Any]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that tests copy."""
    return near(tmp_path_factory.mktemp("built"))


@pytest.fixture
def served(built: Path, tmp_path: Path, database: str | None) -> Iterator[Served]:
    with Served(near(tmp_path, database=database) if database else Path(shutil.copytree(built, tmp_path / "new"))) as server:
        yield server


def looking(opened: Open, served: Served, name: str = "Rita", **more: Any) -> Any:
    """The page of somebody, with its first pair."""
    page = opened(served.link("reviewer", name), **more)
    page.goto(f"{served.address}/pairs")
    seen(page)
    return page


def seen(page: Any) -> None:
    """Wait until both images are shown."""
    page.wait_for_selector("#look:not([hidden])")
    page.wait_for_function(
        """() => ['one', 'two'].every((side) => { const image = document.querySelector(`#${side} img`);
        return image && image.complete && image.naturalWidth; })"""
    )


def all_loaded(page: Any) -> None:
    """Wait until the images of the pairs to come are there too."""
    page.wait_for_function(
        """() => { const come = performance.getEntriesByType('resource');
        const pairs = JSON.parse(document.getElementById('pairs').dataset.first).pairs;
        return pairs.every(({ id }) => ['one', 'two'].every((side) => come.some((one) => one.initiatorType === 'img'
          && one.responseStatus === 200 && one.name.includes(`/pairs/${id}/${side}/large`)))); }""",
        timeout=30_000,
    )


def until(page: Any, text: str) -> None:
    page.wait_for_function("text => document.getElementById('state').textContent === text", arg=text, timeout=30_000)


def pressed(page: Any, name: str) -> list[str]:
    return page.eval_on_selector_all(
        f"button[data-{name}]", f"all => all.filter(one => one.ariaPressed === 'true').map(one => one.dataset.{name})"
    )


def verdicts(served: Served) -> list[tuple[tuple[str, str], str]]:
    return [(row["key"], row["verdict"]) for row in said(served)]


def test_pairs_by_mouse(served: Served, opened: Open):
    wanted = queue(served)
    page = looking(opened, served)
    assert page.inner_text("#how-far") == f"{len(wanted)} pairs wait"
    assert "Candidate of class" in page.inner_text("#what-one")
    for verdict in ("same", "near", "different", "unsure"):
        seen(page)
        page.click(f"[data-verdict={verdict}]")
    until(page, "Saved")
    assert verdicts(served) == list(zip(wanted, ("same", "near", "different", "unsure"), strict=False))
    assert page.inner_text("#how-far") == f"{len(wanted) - 3} pairs wait"
    page.click("#back")
    assert pressed(page, "verdict") == ["unsure"]
    page.click("#back")
    assert pressed(page, "verdict") == ["different"]
    seen(page)
    page.click("[data-verdict=near]")
    assert pressed(page, "verdict") == []  # on to the pair that waits
    seen(page)
    page.click("#skip")
    seen(page)
    page.click("[data-verdict=same]")
    until(page, "Saved")
    assert verdicts(served)[4:] == [(wanted[2], "near"), (wanted[5], "same")]
    assert set(queue(served)) == set(wanted[3:5] + wanted[6:])


def test_pairs_by_keys_alone(served: Served, opened: Open):
    wanted = queue(served)
    page = looking(opened, served)
    press = page.keyboard.press
    for key in "snd":
        seen(page)
        press(key)
    press("u")
    press("Backspace")
    press("z")
    press("ArrowLeft")
    assert pressed(page, "verdict") == ["near"]
    press("ArrowRight")
    assert pressed(page, "verdict") == ["different"]
    seen(page)
    press("n")
    seen(page)
    press("ArrowRight")  # skip
    seen(page)
    press("o")
    assert pressed(page, "mode") == ["over"]
    while page.evaluate("document.activeElement.id") != "mix":
        press("Tab")
    press("End")
    assert page.evaluate("document.getElementById('two').style.opacity") == "1"
    press("f")
    assert pressed(page, "mode") == ["difference"]
    press("f")
    assert pressed(page, "mode") == ["beside"]
    press("d")
    until(page, "Saved")
    keys = [*wanted[:4], wanted[2], wanted[5]]
    assert verdicts(served) == list(zip(keys, ("same", "near", "different", "unsure", "near", "different"), strict=True))


def test_every_pair_until_none_is_left(served: Served, opened: Open):
    wanted = queue(served)
    page = looking(opened, served)
    for _ in wanted[1:]:
        seen(page)
        page.keyboard.press("d")
    seen(page)
    page.keyboard.press("u")
    page.wait_for_selector("#doubted:not([hidden])")
    assert "unsure of 1 pair" in page.inner_text("#none")
    page.click("#look-again")
    seen(page)
    assert "Somebody was unsure" in page.inner_text("#note")
    page.keyboard.press("n")
    page.wait_for_function("() => document.getElementById('none').textContent.includes('Every pair')")
    assert page.inner_text("#how-far") == "0 pairs wait"
    assert queue(served) == []
    assert len(verdicts(served)) == len(wanted) + 1


def test_blinking_alternates_slowly_and_not_by_itself_where_motion_is_unwanted(served: Served, opened: Open):
    page = looking(opened, served)
    page.keyboard.press("b")
    shown = page.evaluate(
        """async () => { const turns = []; const stage = document.getElementById('stage');
        new MutationObserver(() => turns.push([performance.now(), stage.dataset.seen])).observe(stage, {attributes: true});
        await new Promise((done) => setTimeout(done, 2600)); return turns; }"""
    )
    sides = [side for _, side in shown]
    assert len(sides) >= 3
    assert all(one != two for one, two in itertools.pairwise(sides))
    assert len(sides) <= 2.6 * 2 * 3  # at most three flashes a second, each of two turns
    page.keyboard.press("b")
    assert page.get_attribute("#stage", "data-seen") == ""

    still = looking(opened, served, "Rob", reduced_motion="reduce")
    still.keyboard.press("b")
    assert "little motion" in still.inner_text("#still")
    still.wait_for_timeout(1_000)
    assert still.get_attribute("#stage", "data-seen") == "one"
    still.keyboard.press("b")
    assert still.get_attribute("#stage", "data-seen") == "two"
    still.click("#switch")
    assert still.get_attribute("#stage", "data-seen") == "one"


def test_two_reviewers_at_once(served: Served, opened: Open):
    wanted = queue(served)
    pages = [looking(opened, served, name) for name in ("Rita", "Rob")]
    for _ in range(6):
        for page in pages:
            seen(page)
            page.keyboard.press("d")
    for page in pages:
        until(page, "Saved")
    keys = [row["key"] for row in said(served)]
    assert len(keys) == len(set(keys)) == 12
    assert set(keys) <= set(wanted)
    assert {row["person"] for row in said(served)} == {"Rita", "Rob"}


# Those that wait, those with somebody else and those that are judged are all there are, once a verdict on its way has come.
ALL_TOLD = """all => {
    const text = id => document.getElementById(id).textContent;
    const open = text('how-far').match(/[0-9]+/g).map(Number).reduce((one, other) => one + other, 0);
    return open + Number(text('progress').match(/([0-9]+) of/)[1]) === all;
}"""


def test_what_others_have_is_told_and_nothing_is_judged_then(served: Served, opened: Open):
    rita, wanted = Reviewer(served, "Rita"), queue(served)
    rita.first()
    page = looking(opened, served, "Rob")
    for _ in range(len(wanted) - rita.most):
        seen(page)
        page.wait_for_function(ALL_TOLD, arg=len(wanted))
        page.keyboard.press("d")
    page.wait_for_selector("text=Nothing waits for you now")
    told = f"{rita.most} pairs are with somebody else for now"
    page.wait_for_function("told => document.getElementById('how-far').textContent === told", arg=told)
    assert told in page.inner_text("#none-text")
    assert page.locator("[data-verdict]:disabled").count() == 0
    assert page.locator("[data-verdict][aria-disabled=true]").count() == 4
    page.click("[data-verdict=unsure]", force=True)
    assert page.inner_text("#how-far") == told
    page.wait_for_selector(f"text={len(wanted) - rita.most} of {len(wanted)} judged")


def test_connection_lost_and_back(served: Served, opened: Open):
    wanted = queue(served)
    page = looking(opened, served)
    all_loaded(page)
    page.context.set_offline(True)
    for _ in range(3):
        seen(page)
        page.keyboard.press("n")
    until(page, "Offline: 3 waiting")
    assert verdicts(served) == []
    page.context.set_offline(False)
    until(page, "Saved")
    assert verdicts(served) == [(key, "near") for key in wanted[:3]]
    page.context.set_offline(True)
    seen(page)
    page.keyboard.press("s")
    until(page, "Offline: 1 waiting")
    page.goto("about:blank")
    page.context.set_offline(False)
    page.goto(f"{served.address}/pairs")  # what was not saved waits for the next visit
    until(page, "Saved")
    assert verdicts(served)[3:] == [(wanted[3], "same")]


def test_every_verdict_shown_as_saved_is_there_once_after_the_server_was_killed(served: Served, opened: Open):
    page = looking(opened, served)
    wanted = queue(served)
    page.evaluate(
        """() => { window.made = []; window.ticks = setInterval(() => {
        const verdict = ['same', 'near', 'different'][window.made.length % 3];
        const button = document.querySelector(`[data-verdict=${verdict}]`);
        if (document.getElementById('look').hidden || button.ariaDisabled === 'true' || window.made.length >= 30) return;
        window.made.push(verdict); button.click(); }, 60); }"""
    )
    kept: set[int] = set()
    for turn in (1, 2):
        page.wait_for_function("n => window.made.length >= n", arg=6 * turn, timeout=60_000)
        served.kill()
        # It is told, unless nothing could be said since: no pair was left whose images are there.
        page.wait_for_function(
            """() => document.getElementById('state').textContent.startsWith('Offline')
            || document.getElementById('look').hidden
            || document.querySelector('[data-verdict=same]').ariaDisabled === 'true'"""
        )
        made, waiting = page.evaluate(
            """() => { const kept = Object.entries(localStorage).find(([name]) => name.includes('verdicts'));
            return [window.made.length, kept ? JSON.parse(kept[1]).length : 0]; }"""
        )
        rows = said(served)
        # What does not wait any more was shown as saved. Some that wait may be saved, their answer lost.
        assert made - waiting <= len(rows) <= made
        kept |= {row["id"] for row in rows}
        served.start()
    page.wait_for_function("() => window.made.length === 30", timeout=60_000)
    page.evaluate("clearInterval(window.ticks)")
    until(page, "Saved")
    rows = said(served)
    assert [row["verdict"] for row in rows] == page.evaluate("window.made")
    assert kept <= {row["id"] for row in rows}
    assert len({row["key"] for row in rows}) == len(rows) == 30
    assert {row["key"] for row in rows} <= set(wanted)


def test_a_pair_that_cannot_be_seen_is_not_judged(tmp_path: Path, opened: Open):
    with Served(near(tmp_path)) as served:
        shutil.rmtree(tmp_path / "train")
        page = opened(served.link("reviewer", "Rita"))
        page.goto(f"{served.address}/pairs")
        for _ in range(40):
            page.wait_for_function("() => !document.getElementById('look').textContent.includes('Loading')")
            if page.get_by_text("cannot be shown").count():
                break
            page.keyboard.press("ArrowRight")
        assert "Skip the pair" in page.inner_text("#two")
        page.keyboard.press("s")
        assert "Wait until both images" in page.inner_text("#note")
        assert verdicts(served) == []
        page.keyboard.press("ArrowRight")
        assert "cannot be shown" not in page.inner_text("#two")


def test_one_goes_back_to_what_one_said_before_on_any_device(served: Served, opened: Open):
    wanted = queue(served)
    page = looking(opened, served)
    page.keyboard.press("d")
    until(page, "Saved")
    other = looking(opened, served, **PHONE)
    other.tap("#back")
    assert pressed(other, "verdict") == ["different"]
    seen(other)
    other.tap("[data-verdict=same]")
    until(other, "Saved")
    assert verdicts(served) == [(wanted[0], "different"), (wanted[0], "same")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen(served: Served, opened: Open, scheme: str):
    for width in (360, 768, 1280):
        page = looking(opened, served, f"Rita {width}", viewport={"width": width, "height": 800}, color_scheme=scheme)
        for mode in ("beside", "over", "blink", "difference"):
            page.click(f"[data-mode={mode}]:is(button)")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, mode)
        for path in ("/", "/pairs"):
            page.goto(f"{served.address}{path}")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, path)
