"""The page of a task in real Chromium: clicks mark images, and the form sends the list of them."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest
from votes_made import TIME, chosen, one_task, pages_of

from resit.build.voting.export import filled
from resit.build.voting.read_mturk import read_mturk_votes

SITE = "https://workers.example/"
SCRIPT = "https://assets.crowd.aws/crowd-html-elements.js"
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
# Does what is documented of crowd-form: a button to submit, and all named fields inside as one JSON in taskAnswers.
CROWD = """
customElements.define("crowd-form", class extends HTMLElement {
  connectedCallback() {
    addEventListener("DOMContentLoaded", () => {
      const button = document.createElement("button");
      button.textContent = "Submit";
      this.append(button);
      button.addEventListener("click", () => {
        const fields = {};
        this.querySelectorAll("[name]").forEach((field) => { fields[field.name] = field.value; });
        const body = new URLSearchParams({ taskAnswers: JSON.stringify([fields]) });
        fetch("/mturk/externalSubmit", { method: "POST", body });
      });
    });
  }
});
"""
TASK = one_task("t1", ("a", "b", "c", "d", "e"), d="positive", e="negative")
Open = Callable[..., Any]


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """Opens a task, with `broken` images missing; in `page.sent` is what the form sends."""
    context = browser.new_context(viewport={"width": 900, "height": 700})
    faults: list[str] = []

    def open_page(text: str = "Bär", broken: str = "", viewport: dict[str, int] | None = None) -> Any:
        page = context.new_page()
        if viewport:
            page.set_viewport_size(viewport)
        page.sent = []
        html = filled(pages_of(TASK, texts={"1": text}).pages[0])

        def answer(route: Any) -> None:
            url = route.request.url
            if url == SITE:
                body = f"<!DOCTYPE html><html><head><meta charset=utf-8></head><body>{html}</body></html>"
                route.fulfill(content_type="text/html", body=body)
            elif url == SCRIPT:
                route.fulfill(content_type="text/javascript", body=CROWD)
            elif url.endswith("/externalSubmit"):
                page.sent.append(parse_qs(route.request.post_data)["taskAnswers"][0])
                route.fulfill(body="")
            elif url.startswith("https://images.example/") and url[-5] not in broken:
                route.fulfill(content_type="image/png", body=PIXEL)
            elif url.startswith("https://images.example/"):
                route.fulfill(status=404, body="")
            else:
                faults.append(url)
                route.abort()

        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.route("**/*", answer)
        page.goto(SITE, wait_until="networkidle")
        return page

    yield open_page
    context.close()
    assert [fault for fault in faults if "favicon" not in fault] == []


def submitted(page: Any) -> dict[str, Any]:
    with page.expect_response("**/externalSubmit"):
        page.get_by_role("button", name="Submit").click()
    (fields,) = json.loads(page.sent[-1])
    return {**fields, "selected": json.loads(fields["selected"]), "broken": json.loads(fields["broken"])}


def test_clicking_images_marks_them_and_the_form_sends_the_list(opened: Open, tmp_path: Any) -> None:
    page = opened()
    assert page.get_by_role("heading").inner_text() == "Click every image that shows: Bär"
    images = page.locator(".grid button")
    assert images.count() == 5
    assert submitted(page) == {"task": "t1", "selected": [], "broken": []}
    for at in (3, 0, 1, 1):
        images.nth(at).click()
    assert page.get_by_role("status").inner_text() == "2 of 5 images are marked."
    assert [images.nth(at).get_attribute("aria-pressed") for at in range(5)] == ["true", "false", "false", "true", "false"]
    assert submitted(page) == {"task": "t1", "selected": [1, 4], "broken": []}

    path = tmp_path / "results.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["AssignmentId", "WorkerId", "AssignmentStatus", "Input.task", "Answer.taskAnswers"])
        writer.writerow(["A", "W", "Submitted", "t1", page.sent[-1]])
    votes = read_mturk_votes(path, TASK, time=TIME).votes
    assert chosen(votes) == {("W", name): name in "ad" for name in "abcde"}


def test_a_double_click_marks_once_and_keys_work(opened: Open) -> None:
    page = opened()
    images = page.locator(".grid button")
    images.nth(2).dblclick()
    images.nth(0).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert submitted(page)["selected"] == [2, 3]


def test_an_image_that_does_not_load_is_said_and_cannot_be_marked(opened: Open) -> None:
    page = opened(broken="be")
    page.locator(".grid button").nth(0).click()
    assert page.locator(".grid button:disabled").all_inner_texts() == ["This image did not load."] * 2
    assert submitted(page) == {"task": "t1", "selected": [1], "broken": [2, 5]}


def test_text_is_text_and_the_page_tells_no_controls(opened: Open) -> None:
    name = 'crane <img src=x onerror=alert(1)> & "${images}"'
    page = opened(name)
    assert page.get_by_role("heading").inner_text().endswith(name)
    source = page.content()
    assert not any(word in source for word in ("candidate", "positive", "negative", "control"))


def test_images_are_shown_whole_on_a_phone(opened: Open) -> None:
    page = opened(viewport={"width": 360, "height": 740})
    boxes = [page.locator(".grid button").nth(at).bounding_box() for at in range(5)]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 and box["width"] > 100 for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
