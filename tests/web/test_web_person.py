"""What an admin sees of one person's answers, and what becomes of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from served import Caller, Served, begun

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

Open = Callable[..., Any]
NAME = "Zoë & co/½ ?"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(begun(tmp_path_factory.mktemp("person"), people=50)) as server:
        yield server


@pytest.fixture(scope="module")
def answered(served: Served) -> dict[str, list[dict[str, Any]]]:
    """Two pages by each of two people: votes by assignment."""
    for name in (NAME, "Bo"):
        caller = served.client("annotator", name)
        for selected in ((0, 2), ()):
            task = caller.page()[0]
            if selected:
                assert caller.click(task, *selected).status_code == 200
            assert caller.finish(task, *selected).status_code == 200
    found: dict[str, list[dict[str, Any]]] = {}
    for row in served.votes().to_pylist():
        found.setdefault(row["assignment"], []).append(row)
    return found


@pytest.fixture(scope="module")
def boss(served: Served) -> Caller:
    return served.client("admin", "Boss")


def person(boss: Caller, name: str) -> str:
    found = boss.http.get("/admin/person", params={"name": name})
    assert found.status_code == 200
    return found.text


def answer_of(boss: Caller, name: str, at: int) -> str:
    return re.findall(r'href="(/admin/answers/[\w-]+)"', person(boss, name))[at]


def test_every_answer_is_listed_with_what_was_marked(served: Served, answered: dict[str, Any], boss: Caller):
    page = person(boss, NAME)
    own = [votes for votes in answered.values() if votes[0]["person"] == NAME]
    controls = [row for votes in own for row in votes if row["role"] != "candidate"]
    right = sum(row["selected"] == (row["role"] == "positive") for row in controls)
    assert "2 pages; all count." in page
    assert f"{right} of {len(controls)} controls were answered right" in page
    told = sorted(re.findall(r'data-label="Marked" class="n">(\d+) of (\d+)', page))
    assert (
        told
        == sorted((str(sum(row["selected"] for row in votes)), str(len(votes))) for votes in own)
        == [("0", "6"), ("2", "6")]
    )


def test_an_answer_shows_each_image_where_it_was_put(served: Served, answered: dict[str, Any], boss: Caller):
    for at in range(2):
        place = answer_of(boss, NAME, at)
        marked, rest = boss.get(place).text.split("<h2>Not marked")
        votes = next(
            votes
            for votes in answered.values()
            if votes[0]["person"] == NAME and any(row["selected"] for row in votes) == (f"{place}/" in marked)
        )
        for part, selected in ((marked, True), (rest, False)):
            images = re.findall(rf'src="({place}/\w+)/small"', part)
            roles = [row["role"] for row in votes if row["selected"] == selected]
            labels = {"positive": "right" if selected else "wrong", "negative": "wrong" if selected else "right"}
            assert len(images) == len(roles)
            told = re.findall(r">control: (right|wrong)<", part)
            assert sorted(told) == sorted(labels[role] for role in roles if role != "candidate")
            for image in images:
                for size in ("small", "large"):
                    assert boss.get(f"{image}/{size}").headers["content-type"] == "image/webp"
                assert boss.get(f"{image}/huge").status_code == 404


def test_images_are_those_of_the_answer_alone(served: Served, answered: dict[str, Any], boss: Caller):
    one, other = (answer_of(boss, NAME, at) for at in range(2))
    image = re.findall(rf'src="{one}/(\w+)/small"', boss.get(one).text)
    others = set(re.findall(rf'src="{other}/(\w+)/small"', boss.get(other).text))
    strange = next(name for name in image if name not in others)
    assert boss.get(f"{other}/{strange}/small").status_code == 404
    assert boss.get(f"{one[:-1]}{'A' if one[-1] != 'A' else 'B'}").status_code == 404
    assert served.client("admin", "Kim").get(f"{one}/{image[0]}/small").status_code == 404  # names are of one session


def test_an_admin_looks_and_rejects_by_keyboard(served: Served, answered: dict[str, Any], opened: Open):
    page = opened(served.link("admin"))
    for role, name in (("link", "Bo"), ("link", "cat"), ("button", "Reject")):
        page.get_by_role(role, name=name, exact=True).first.focus()
        with page.expect_navigation():
            page.keyboard.press("Enter")
    assert "It does not count." in page.text_content("main")
    with page.expect_navigation():
        page.get_by_role("button", name="Accept again").click()
    assert "It counts." in page.text_content("main")


def test_nobody_has_no_answers(boss: Caller):
    for name in ("", "nobody", "a\0b"):
        assert "There are none." in person(boss, name)


def test_all_answers_of_somebody_go_and_come_back(served: Served, answered: dict[str, Any], boss: Caller):
    def counted() -> dict[str, int]:
        good = Counter(row["person"] for row in assignments(served) if row["status"] == "accepted")
        return {name: good[name] for name in (NAME, "Bo")}

    assert boss.post("/admin/person", {"name": NAME, "status": "rejected", "reason": "all alike"}).url.params["name"] == NAME
    assert counted() == {NAME: 0, "Bo": 2}
    page = person(boss, NAME)
    assert "none counts" in page
    assert page.count("(all alike)") == 2
    assert "name=Zo%C3%AB+%26+co%2F%C2%BD+%3F" in boss.get("/admin").text  # still to be found
    one = answer_of(boss, NAME, 0)
    name = re.findall(r'name="assignment" value="([^"]+)"', boss.get(one).text)[0].replace("&amp;", "&")
    back = boss.post("/admin/answers", {"assignment": name, "status": "accepted", "back": "answer"})
    assert back.url.path == one
    assert "It counts." in back.text
    assert counted() == {NAME: 1, "Bo": 2}
    assert "1 counts." in person(boss, NAME)
    assert "all count." in boss.post("/admin/person", {"name": NAME, "status": "accepted"}).text
    assert counted() == {NAME: 2, "Bo": 2}
    assert boss.post("/admin/answers", {"assignment": "none", "status": "accepted"}).status_code == 422


def test_many_answers_from_elsewhere_are_listed_page_by_page(served: Served, answered: dict[str, Any], boss: Caller):
    from resit.build.steps.opened import open_build
    from resit.store.schemas import VOTES, table

    first = next(iter(answered.values()))[0]
    n = 101
    rows = {name: [value] * n for name, value in first.items()} | {
        "person": ["Elsewhere"] * n,
        "assignment": [f"elsewhere {at}" for at in range(n)],
        "time": [f"2026-01-01T10:{at // 60:02}:{at % 60:02}.000Z" for at in range(n)],
    }
    with open_build(served.folder) as build:
        build.store.add_votes(table(VOTES, rows))
    page = person(boss, "Elsewhere")
    assert "101 pages" in page
    assert page.count('data-label="Marked"') == 100
    assert re.findall(r'data-label="Done">([^<]+)<', page)[0] == "2026-01-01 10:01"
    last = boss.get("/admin/person?name=Elsewhere&page=2").text
    assert last.count('data-label="Marked"') == 1
    assert 'name=Elsewhere"' in last  # back to the newer ones
    assert boss.get("/admin/person?name=Elsewhere&page=9").text == last
    oldest = boss.get(re.findall(r'href="(/admin/answers/[\w-]+)"', last)[0]).text
    assert "page=2" in oldest
    assert ">Newer<" in oldest
    assert ">Older<" not in oldest


def assignments(served: Served) -> list[dict[str, Any]]:
    from resit.build.steps.opened import open_build

    with open_build(served.folder) as build:
        return list(build.store.assignments().to_pylist())
