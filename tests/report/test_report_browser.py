"""The page in real Chromium: what a reader does works, and no request leaves the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import resit
from resit import Accuracies, ModelId
from resit.data.accuracies import Figures

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
SHOWN = "article:not([hidden])"
Open = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, written: Path) -> Iterator[Open]:
    """Opens the report; at the end, nothing must have been complained of or asked for but the page itself."""
    complaints: list[str] = []
    requests: list[str] = []
    contexts: list[Any] = []
    address = (written / "index.html").as_uri()

    def open_page(
        viewport: dict[str, int] = WIDE, scheme: str = "light", part: str = "", drawn: str = "linear", **more: Any
    ) -> Any:
        context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce", **more)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url.partition("#")[0]))
        page.goto(address + part)
        if more.get("java_script_enabled", True):
            page.wait_for_selector(f"{SHOWN} .scatter[data-drawn={drawn}]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert set(requests) == {address}
    assert len(requests) == len(contexts)


def ticks(page: Any) -> list[str]:
    return [text for text in page.locator(f"{SHOWN} .scatter svg text").all_text_contents() if text.endswith("%")]


def names(page: Any) -> list[str]:
    return list(page.locator(f"{SHOWN} table.sortable tbody tr:not([hidden]) th").all_inner_texts())


def test_the_scatter_shows_every_model_and_words_on_hover(opened: Open) -> None:
    page = opened()
    points = page.locator(f"{SHOWN} .scatter path[aria-roledescription=point]")
    assert points.count() == 9
    points.nth(4).hover(force=True)
    tip = page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    said = tip.inner_text()
    assert "resnet152" in said
    assert "69.50% [" in said
    assert "5 → " in said


def test_the_switch_of_scale_redraws_the_chart(opened: Open) -> None:
    page = opened()
    before, seen = page.locator(f"{SHOWN} .scatter svg").inner_html(), [ticks(page)]
    for scale in ("probit", "logit"):
        page.locator(f"{SHOWN} .switch input[value={scale}]").check()
        page.wait_for_selector(f"{SHOWN} .scatter[data-drawn={scale}]")
        after = page.locator(f"{SHOWN} .scatter svg").inner_html()
        assert after != before
        assert page.locator("#status").inner_text() == f"Axes, slope and R² on the {scale} scale."
        before = after
        seen.append(ticks(page))
    assert all(seen)
    assert page.locator(f"{SHOWN} .scatter path[aria-roledescription=point]").count() == 9


def test_the_scale_is_kept_when_another_set_is_shown_by_keyboard(opened: Open) -> None:
    page = opened()
    page.locator(f"{SHOWN} .switch input[value=linear]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"{SHOWN} .scatter[data-drawn=probit]")
    page.select_option("#set", "v6")
    page.wait_for_selector("#c2 .scatter[data-drawn=probit]")
    assert page.locator(SHOWN).get_attribute("id") == "c2"
    assert page.locator("#metric option[value=top5]").is_disabled()


def test_the_chart_zooms_to_the_models_of_the_line(opened: Open) -> None:
    page = opened()
    page.locator(f"{SHOWN} .near").check()
    page.wait_for_selector(f"{SHOWN} .scatter[data-drawn=linear-near]")
    page.locator(f"{SHOWN} .near").uncheck()
    page.wait_for_selector(f"{SHOWN} .scatter[data-drawn=linear]")


def test_the_table_sorts_by_button_and_keyboard(opened: Open) -> None:
    page = opened()
    headings = page.locator(f"{SHOWN} table.sortable th[aria-sort]")
    by_rank = names(page)
    name = headings.nth(0).get_by_role("button")
    name.focus()
    page.keyboard.press("Enter")
    upward = names(page)
    assert sorted(upward) == sorted(by_rank)
    assert [text for text in upward if text.startswith("re")] == ["resnet50", "resnet101", "resnet152"]
    assert headings.nth(0).get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert names(page) == upward[::-1]
    new = headings.filter(has_text="v4")
    new.get_by_role("button").click()
    assert new.get_attribute("aria-sort") == "descending"
    figures = [float(cell.rstrip("%")) for cell in page.locator(f"{SHOWN} td.score:nth-of-type(3)").evaluate_all(
        "cells => cells.map(cell => cell.firstChild.textContent.trim())")]  # fmt: skip
    assert figures == sorted(figures, reverse=True)
    assert headings.nth(0).get_attribute("aria-sort") == "none"
    assert "descending" in page.locator("#status").inner_text()


def test_search_finds_models_in_every_part(opened: Open) -> None:
    page = opened()
    page.fill("#find", "RESNET1")
    assert names(page) == ["resnet152", "resnet101"]
    assert page.locator("#status").inner_text().startswith("2 of 9 models: resnet152 ")
    assert page.locator(f"{SHOWN} .dotplot li[data-key]:not([hidden])").count() == 4
    bold = page.locator(f'{SHOWN} .scatter path[aria-roledescription=point][stroke-opacity="1"]')
    page.wait_for_function("document.querySelectorAll('article:not([hidden]) .scatter path[stroke-opacity=\"1\"]').length == 2")
    assert bold.count() == 2
    page.fill("#find", "nothing like it")
    assert names(page) == []
    page.fill("#find", "")
    assert len(names(page)) == 9
    page.fill("#find", "<script>")
    assert names(page) == ["<script>alert(1)</script>"]


def test_links_and_addresses_lead_to_a_comparison(opened: Open) -> None:
    page = opened(part="#c1")
    assert page.locator(f"{SHOWN} h2").first.inner_text() == "v4, top-5"
    page.locator("table.glance a", has_text="v6").click()
    page.wait_for_selector("#c2 .scatter[data-drawn]")
    assert page.locator(f"{SHOWN} h2").first.inner_text() == "v6, top-1"
    assert page.locator("#set").input_value() == "v6"


def address(page: Any) -> str:
    return str(page.evaluate("location.hash"))


def test_the_address_follows_what_is_chosen_and_leads_back_to_it(opened: Open) -> None:
    page = opened()
    assert address(page) == ""
    page.select_option("#metric", "top5")
    assert address(page) == "#c1"
    page.locator(f"{SHOWN} .switch input[value=logit]").check()
    assert address(page) == "#c1/logit"
    page.locator(f"{SHOWN} .near").check()
    assert address(page) == "#c1/logit/near"
    page.select_option("#set", "v6")
    assert address(page) == "#c2/logit"
    page.locator("table.glance a", has_text="v4").first.click()
    page.wait_for_selector("#c0:not([hidden]) .scatter[data-drawn=logit]")
    page.wait_for_function("location.hash === '#c0/logit'")
    page.locator(f"{SHOWN} .switch input[value=linear]").check()
    assert address(page) == "#c0"
    page.evaluate("location.hash = '#c1/probit/near'")  # as one who writes it, or goes back
    page.wait_for_selector("#c1:not([hidden]) .scatter[data-drawn=probit-near]")
    assert page.locator("#metric").input_value() == "top5"
    assert page.locator("#c1 .switch input[value=probit]").is_checked()


@pytest.mark.parametrize(
    ("part", "drawn"),
    [
        ("#c1/probit/near", "probit-near"),
        ("#c1/logit", "logit"),
        ("#c1/cubic", "linear"),
        ("#findings", "linear"),
        ("#%", "linear"),
    ],
)
def test_an_address_opens_the_page_as_it_was(opened: Open, part: str, drawn: str) -> None:
    page = opened(part=part, drawn=drawn)
    assert page.locator(SHOWN).get_attribute("id") == ("c1" if "c1" in part else "c0")


def tiles(page: Any) -> dict[str, str]:
    seen = page.locator(f"{SHOWN} .figures div:not([hidden])")
    return {tile.locator("dt").inner_text(): tile.locator("dd").inner_text() for tile in seen.all()}


def test_the_key_figures_are_those_of_the_scale_that_is_shown(opened: Open) -> None:
    page = opened()
    linear = tiles(page)
    assert linear["Slope"].split("\n")[0].startswith("1.100")
    assert "linear scale" in linear["R²"]
    page.locator(f"{SHOWN} .switch input[value=probit]").check()
    probit = tiles(page)
    assert "Slope" not in probit
    assert probit["Slope, probit scale"].startswith("0.968")
    assert "probit scale" in probit["R²"]
    assert len(probit) == len(linear)
    assert {name: probit[name] for name in linear.keys() - {"Slope", "R²"}} == {
        name: linear[name] for name in linear.keys() - {"Slope", "R²"}
    }
    page.select_option("#set", "v6")  # where there is no line
    assert "Slope, probit scale" in tiles(page)


def told(page: Any) -> str:
    return str(page.locator(f"{SHOWN} .told").inner_text())


def test_models_are_reached_by_keyboard_from_left_to_right(opened: Open) -> None:
    page = opened()
    slider = page.locator(f"{SHOWN} .stepper")
    assert "click on a point" in told(page)
    slider.focus()
    assert told(page).startswith("alexnet")
    assert page.get_by_role("slider", name="Model by model").count() == 1
    for name in ("vgg19_bn", "resnet50", "resnet101", "resnet152"):
        page.keyboard.press("ArrowRight")
        assert told(page).startswith(name)
    assert "val 69.50% [" in told(page)
    assert slider.get_attribute("aria-valuetext").startswith("resnet152, ")
    assert "69.50% [" in slider.get_attribute("aria-valuetext")
    page.keyboard.press("End")
    page.wait_for_function("document.querySelector('article:not([hidden]) .stepper').value === '8'")
    best = told(page)
    page.locator(f"{SHOWN} .switch input[value=probit]").check()
    page.wait_for_selector(f"{SHOWN} .scatter[data-drawn=probit]")
    assert told(page) == best
    slider.focus()
    page.keyboard.press("Escape")
    assert "click on a point" in told(page)
    assert slider.get_attribute("aria-valuetext") is None


def test_a_ring_stands_around_the_model_that_is_told(opened: Open) -> None:
    page = opened()
    points = page.locator(f"{SHOWN} .scatter path[aria-roledescription=point]")
    marks = page.locator(f"{SHOWN} .scatter .mark-symbol path")
    assert marks.count() == points.count() == 9
    page.locator(f"{SHOWN} .stepper").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelectorAll('article:not([hidden]) .scatter .mark-symbol path').length === 10")
    middle = [_middle(marks.nth(at).bounding_box()) for at in (1, 9)]
    assert middle[0] == pytest.approx(middle[1], abs=1)
    assert points.count() == 9


def _middle(box: dict[str, float]) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_click_tells_a_model_and_a_search_narrows_the_steps(opened: Open) -> None:
    page = opened(PHONE)
    page.locator(f"{SHOWN} .scatter path[aria-roledescription=point]").nth(4).click(force=True)
    assert told(page).startswith("resnet152")
    assert page.locator(f"{SHOWN} .stepper").input_value() == "4"
    page.fill("#find", "resnet1")
    assert told(page).startswith("resnet152")
    assert page.locator(f"{SHOWN} .stepper").get_attribute("max") == "1"
    page.locator(f"{SHOWN} .stepper").focus()
    page.keyboard.press("ArrowLeft")
    assert told(page).startswith("resnet101")
    page.fill("#find", "nothing like it")
    assert page.locator(f"{SHOWN} .stepper").is_disabled()
    assert told(page) == "No model is found."
    page.fill("#find", "")
    assert told(page).startswith("resnet101")


@pytest.mark.parametrize("viewport", [PHONE, {"width": 320, "height": 600}], ids=["360", "320"])
def test_no_page_is_wider_than_its_screen(opened: Open, viewport: dict[str, int]) -> None:
    page = opened(viewport)
    for name in ("v4", "v6"):
        page.select_option("#set", name)
        page.wait_for_selector(f"{SHOWN} .scatter[data-drawn]")
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.locator(f"{SHOWN} .scatter svg").bounding_box()["width"] <= viewport["width"]


def test_dark_and_light_are_readable(opened: Open) -> None:
    colours = """() => ['backgroundColor', 'color'].map(name => getComputedStyle(document.documentElement)[name])"""
    seen = {}
    for scheme in ("light", "dark"):
        page = opened(scheme=scheme)
        paper, ink = (_light(colour) for colour in page.evaluate(colours))
        label = _light(page.locator(f"{SHOWN} .scatter svg text").first.get_attribute("fill"))
        for text in (ink, label):
            assert (max(text, paper) + 0.05) / (min(text, paper) + 0.05) > 4.5
        seen[scheme] = paper
    assert seen["dark"] < 0.05 < 0.8 < seen["light"]


def test_points_and_their_legend_stand_out_in_dark_and_light(opened: Open) -> None:
    for scheme in ("light", "dark"):
        page = opened(scheme=scheme)
        paper = _light(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
        point = f"{SHOWN} .scatter path[aria-roledescription=point]"
        drawn = {path.get_attribute("stroke") for path in page.locator(point).all()}
        key = page.locator(f"{SHOWN} .legend .look").evaluate_all("keys => keys.map(key => getComputedStyle(key).fill)")
        assert {round(_light(colour), 6) for colour in drawn} == {round(_light(colour), 6) for colour in key}
        assert len(drawn) == len(key) > 4
        for colour in drawn:
            light, dim = max(_light(colour), paper), min(_light(colour), paper)
            assert (light + 0.05) / (dim + 0.05) > (4.5 if scheme == "dark" else 1.9), colour


def test_the_scheme_can_change_while_the_page_is_open(opened: Open) -> None:
    page = opened()
    before = page.locator(f"{SHOWN} .scatter svg text").first.get_attribute("fill")
    page.emulate_media(color_scheme="dark")
    label = "document.querySelector('article:not([hidden]) .scatter svg text')"
    page.wait_for_function(f"before => {label}?.getAttribute('fill') !== before", arg=before)


def test_the_first_stop_of_the_keyboard_skips_to_the_findings_and_is_seen(opened: Open) -> None:
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert page.locator(".skip").bounding_box()["x"] >= 0


def test_without_javascript_everything_but_the_chart_is_there(opened: Open) -> None:
    page = opened(java_script_enabled=False)
    assert page.locator("article.comparison").count() == 3
    assert page.locator("table.sortable tbody tr").count() == 27
    assert page.get_by_text("The interactive chart needs JavaScript").first.is_visible()
    assert not page.locator("#find").is_visible()


def _light(colour: str) -> float:
    """Relative luminance (WCAG 2) of ``rgb(…)`` or ``#rrggbb``."""
    if colour.startswith("#"):
        parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    else:
        parts = [int(float(part)) for part in colour.strip("rgba()").split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in parts)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.fixture(scope="module")
def wide_table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of a report of progress on sets with long names."""
    old = np.linspace(0.3, 0.85, 12)
    sets = []
    for name, values in (("imagenet-validation", old), ("imagenetv2-matched-frequency", old - 0.1), ("geode-photos", old / 3)):
        n = np.full(12, 2000.0)
        models = tuple(ModelId(f"m{at}") for at in range(12))
        sets.append(Accuracies(name, models, {"top1": Figures(values, np.round(values * n), n, np.full(12, np.nan))}))
    found = resit.progress(*sets, model_resamples=200)
    return resit.report(found, tmp_path_factory.mktemp("wide")).as_uri()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_wide_table_fits_or_scrolls_in_its_box_with_a_shade_at_the_edge(browser: Any, wide_table: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(wide_table)
    whole, shown = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert whole == shown == width
    table, box = page.locator(".scroll").first.evaluate("box => [box.scrollWidth, box.clientWidth]")
    if width == 1280:
        assert table == box
    else:
        assert table > box
        style = page.locator(".scroll").first.evaluate(
            "box => [getComputedStyle(box).overflowX, getComputedStyle(box).backgroundImage]"
        )
        assert style[0] == "auto"
        assert style[1].count("linear-gradient") == 4
    page.close()
