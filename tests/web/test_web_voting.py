"""Voting without a browser: who gets which page, what becomes of clicks, and that each counts once."""

from __future__ import annotations

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from served import PAGE, PEOPLE, Caller, Served, begun

import steps_made as made
from databases import schema_of_its_own
from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")


def test_a_page_of_clicks_becomes_votes_of_who_clicked(served: Served):
    ann = served.client(name="Ann")
    task, images = ann.page()
    assert len(images) == PAGE
    assert ann.click(task, 0, 2, 3).json() == {"saved": 3}
    assert ann.click(task, 2, selected=False).json() == {"saved": 1}
    assert ann.finish(task, 0, 3).json() == {"finished": True, "new": True}
    votes = served.votes().to_pylist()
    assert {(row["person"], row["assignment"]) for row in votes} == {("Ann", f"{task}:Ann")}
    from resit.build.steps.opened import open_build

    with open_build(served.folder) as build:
        tasks = [row for row in build.store.tasks().to_pylist() if row["task"] == task]
    wanted = {row["image"]: (row["class_id"], row["role"], row["position"] in (0, 3)) for row in tasks}
    assert {row["image"]: (row["class_id"], row["role"], row["selected"]) for row in votes} == wanted


def test_everybody_is_asked_until_all_have_people_enough_and_nobody_sees_an_image_of_a_class_twice(served: Served):
    people = {name: served.client(name=name) for name in ("Ann", "Bo", "Cy")}
    seen: dict[str, list[str]] = {name: [] for name in people}
    for name in itertools.chain.from_iterable(itertools.repeat(tuple(people), 8)):
        task, _ = people[name].page()
        if task:
            assert people[name].finish(task).json()["new"]
            seen[name].append(task)
    rounds = Counter(itertools.chain.from_iterable(seen.values()))
    assert len(rounds) == 4
    assert set(rounds.values()) == {PEOPLE}
    for person in people:
        rows = [(row["class_id"], row["image"]) for row in served.votes().to_pylist() if row["person"] == person]
        assert len(rows) == len(set(rows)) == PAGE * len(seen[person])


def test_a_page_is_held_by_as_many_people_as_it_needs(served: Served):
    people = [served.client(name=f"p{number}") for number in range(PEOPLE * 4 + 2)]
    with ThreadPoolExecutor(len(people)) as pool:
        given = list(pool.map(lambda one: one.page()[0], people))
    assert Counter(given) == {"": 2} | dict.fromkeys(set(given) - {""}, PEOPLE)
    assert len(set(given)) == 5
    assert [one.page()[0] for one in people] == given  # asked again, everybody keeps theirs


def test_the_next_page_is_kept_so_that_its_images_can_be_loaded_ahead(served: Served):
    ann, bo = served.client(name="Ann"), served.client(name="Bo")
    task, images = ann.page()
    kept = ann.get("/vote/ahead").json()["images"]
    assert len(kept) == PAGE
    assert not set(kept) & set(images)
    assert ann.get("/vote/ahead").json()["images"] == kept
    assert ann.get(kept[0]).headers["content-type"] == "image/webp"
    assert bo.get(kept[0]).status_code == 404
    following = kept[0].split("/")[2]
    assert (ann.click(following, 0).status_code, ann.finish(following).status_code) == (404, 404)
    assert ann.page()[0] == task
    assert ann.finish(task).json()["new"]
    assert ann.page() == (following, kept)
    begun = {row["time"] for row in served.rows("lease")}
    assert "" not in begun
    assert ann.click(following, 0).json() == {"saved": 1}
    assert ann.finish(following, 0).json()["new"]


def test_the_last_pages_are_kept_for_nobody(served: Served):
    people = [served.client(name=f"p{number}") for number in range(PEOPLE * 2)]
    given = [one.page()[0] for one in people]
    assert all(given)
    assert [one.get("/vote/ahead").json() for one in people] == [{"images": []}] * len(people)
    assert len(served.rows("lease")) == len(people)


def test_a_crowd_that_comes_at_once_is_served(tmp_path: Path):
    with Served(begun(tmp_path, people=50)) as served:
        people = [served.client() for _ in range(40)]
        with ThreadPoolExecutor(len(people)) as pool:
            given = list(pool.map(lambda one: one.page()[0], people))
            saved = list(pool.map(lambda one, task: one.click(task, 1).json(), people, given))
        assert saved == [{"saved": 1}] * 40
        assert len(served.rows("click")) == 40


def test_a_page_that_was_left_goes_to_somebody_else_and_its_late_answer_counts(tmp_path: Path):
    with Served(begun(tmp_path, people=1), "--lease", "0.02") as served:
        slow, quick = served.client(name="Slow"), served.client(name="Quick")
        task, _ = slow.page()
        slow.click(task, 1)
        others = {task: quick.page()[0]}
        assert others[task] != task
        import time

        time.sleep(1.3)
        while (mine := quick.page()[0]) and mine != task:
            quick.finish(mine)
        assert mine == task
        assert slow.finish(task, 1).json()["new"]
        assert {row["person"] for row in served.votes().to_pylist() if row["assignment"].startswith(task)} == {"Slow"}


def test_the_same_click_and_the_same_finish_again_count_once(served: Served):
    ann = served.client(name="Ann")
    task, _ = ann.page()
    for _ in range(3):
        assert ann.click(task, 4, event="once-and-again").status_code == 200
    assert len(served.rows("click")) == 1
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ann.finish(task, 4).json(), range(8)))
    assert sorted(answer["new"] for answer in answers) == [False] * 7 + [True]
    assert len(served.votes()) == PAGE
    assert len(served.rows("finish")) == 1


def test_what_somebody_does_not_see_is_not_taken_for_done(served: Served):
    ann = served.client(name="Ann")
    task, _ = ann.page()
    ann.click(task, 1)
    refused = ann.finish(task, 1, 2)
    assert refused.status_code == 412
    assert "another device" in refused.json()["error"]
    assert len(served.votes()) == 0
    assert ann.click("t0000", 1).status_code == 404


def test_after_done_no_click_is_taken(served: Served):
    ann = served.client(name="Ann")
    task, _ = ann.page()
    ann.finish(task)
    assert ann.click(task, 1).status_code == 409
    assert served.rows("click") == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"clicks": []},
        {"clicks": [{"event": "aaaaaaaa", "position": PAGE, "selected": True}]},
        {"clicks": [{"event": "aaaaaaaa", "position": -1, "selected": True}]},
        {"clicks": [{"event": "a b", "position": 0, "selected": True}]},
        {"clicks": [{"event": "aaaaaaaa", "position": "0", "selected": True}]},
        {"clicks": [{"event": "aaaaaaaa", "position": 0, "selected": "yes"}]},
        {"clicks": [{"event": f"aaaaaaaa{at}", "position": 0, "selected": True} for at in range(201)]},
    ],
)
def test_clicks_that_do_not_fit_are_refused(caller: tuple[Served, Caller, str], body: dict[str, object]):
    served, ann, task = caller
    assert ann.post(f"/vote/{task}/clicks", body).status_code == 422
    assert served.rows("click") == []


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory):
    with Served(begun(tmp_path_factory.mktemp("refused"))) as served:
        ann = served.client(name="Ann")
        yield served, ann, ann.page()[0]


def test_votes_from_elsewhere_are_seen_without_a_restart(served: Served, tmp_path: Path):
    from resit.build.steps.label import export_tasks, import_votes
    from resit.build.steps.opened import open_build

    with open_build(served.folder) as build:
        tasks = made.read_rows(export_tasks(build, "csv").exported.files[0])
        rows = [
            {"task": row["task"], "person": person, "position": row["position"], "selected": 1}
            for row in tasks
            for person in ("one", "two")
        ]
        import_votes(build, made.write_rows(tmp_path / "votes.csv", rows))
    import time

    time.sleep(2.1)
    assert served.client().page() == ("", [])


def test_a_rejected_answer_makes_room_for_somebody_else_but_not_for_the_same_person(tmp_path: Path):
    with Served(begun(tmp_path, people=1)) as served:
        boss, ann = served.client("admin", "Boss"), served.client(name="Ann")
        while task := ann.page()[0]:
            ann.finish(task)
        bo = served.client(name="Bo")
        assert bo.page()[0] == ""
        first = sorted({row["assignment"] for row in served.votes().to_pylist()})[0]
        boss.post("/admin/answers", {"assignment": first, "status": "rejected", "reason": "asleep"})
        assert ann.page()[0] == ""
        assert f"{bo.page()[0]}:Ann" == first


def test_on_postgresql_a_page_becomes_votes_too(tmp_path: Path, postgresql: str):
    with Served(begun(tmp_path, database=schema_of_its_own(postgresql))) as served:
        people = [served.client(name=f"p{number}") for number in range(4)]
        with ThreadPoolExecutor(4) as pool:
            given = list(pool.map(lambda one: one.page()[0], people))
            saved = list(pool.map(lambda one, task: one.click(task, 0, 5).json(), people, given))
            done = list(pool.map(lambda one, task: one.finish(task, 0, 5).json()["new"], people, given))
        assert saved == [{"saved": 2}] * 4
        assert done == [True] * 4
        assert max(Counter(given).values()) <= PEOPLE
        votes = served.votes()
        assert len(votes) == 4 * PAGE
        assert sum(votes["selected"].to_pylist()) == 8
        assert len(served.rows("click")) == 8
        assert served.client("admin").get("/admin").status_code == 200


def imported(served: Served, person: str, task: str, *, other: bool) -> None:
    """Votes of a person on a page that come from elsewhere: under the name that pages use, or another one."""
    from resit.build.steps.opened import open_build
    from resit.store.schemas import VOTES, table

    with open_build(served.folder) as build:
        rows = [row for row in build.store.tasks().to_pylist() if row["task"] == task]
        n = len(rows)
        columns = {name: [row[name] for row in rows] for name in ("image", "class_id", "role")}
        who = {"person": [person] * n, "assignment": [f"{'other-' if other else ''}{task}:{person}"] * n}
        said = {"selected": [False] * n, "time": ["2026-01-01T00:00:00.000Z"] * n}
        build.store.add_votes(table(VOTES, {**columns, **who, **said}))


@pytest.mark.parametrize("other", [False, True])
def test_images_that_were_answered_elsewhere_meanwhile_count_once_and_the_page_ends(served: Served, other: bool):
    ann = served.client(name="Ann")
    task, _ = ann.page()
    ann.click(task, 0)
    imported(served, "Ann", task, other=other)
    assert ann.finish(task, 0).json() == {"finished": True, "new": True}
    votes = [row for row in served.votes().to_pylist() if row["person"] == "Ann"]
    assert len(votes) == len({row["image"] for row in votes}) == PAGE
    assert not any(row["selected"] for row in votes)
    assert ann.page()[0] != task


def test_an_image_does_not_tell_when_somebody_saw_it_first(served: Served):
    ann = served.client(name="Ann")
    _, images = ann.page()
    sent = ann.get(images[0])
    assert sent.status_code == 200
    assert sent.headers["content-type"] == "image/webp"
    assert not {"last-modified", "etag"} & set(sent.headers)


def test_a_forged_host_is_never_led_to(served: Served):
    answer = served.client("admin").http.get("/admin/", headers={"host": "evil.example"}, follow_redirects=False)
    assert answer.status_code in (400, 404)
