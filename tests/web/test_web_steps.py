"""The steps that are started from the pages: revisions until the set has converged, the release, export and pages."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reviewable import (
    Inside,
    Page,
    folder,
    job_done,
    judged,
    key_of,
    pets,
    selected,
    submit,
    top,
)
from served import Served

import steps_made as made
from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

__all__ = ["folder", "pets"]


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    with Inside(folder) as server:
        yield server


def test_a_build_without_a_selection_says_so_and_gets_its_first_revision(tmp_path: Path):
    with Inside(judged(tmp_path, sample=False)) as served:
        rita, boss = served.client("reviewer", "Rita"), served.client("admin", "Al")
        assert rita.get("/review/1").url.path == "/review"
        assert "no selection yet" in rita.get("/review").text
        assert "16 candidates were not compared yet" in boss.get("/build").text
        submit(rita, "/review", "/review/sample")
        job_done(rita)
        text = rita.get("/review").text
        assert "Revision 1 is made: 8 images." in text
        assert selected(served)["cat"] == top(0, 1, 2, 3)
        submit(boss, "/build", "/build/dedupe")
        job_done(boss)
        assert "16 candidates, among each other and" in boss.get("/build").text
        assert "not compared yet" not in boss.get("/build").text
        submit(boss, "/build", "/review/sample")
        job_done(boss)
        assert "Revision 2 is made: nothing changed." in boss.get("/build").text


def test_rounds_until_the_set_has_converged_and_its_release(tmp_path: Path, database: str | None):
    import resit

    with Inside(judged(tmp_path, database=database)) as served:
        rita, boss = served.client("reviewer", "Rita"), served.client("admin", "Al")
        page = Page(rita)
        page.image("wrong", key_of(page, 1))
        page.send(page.mark("pair", "near", image=key_of(page, 2), other=page.old[0]))
        page.looked()
        Page(rita, 2).looked()
        assert "(sample again)" in rita.get("/review").text
        submit(rita, "/review", "/review/sample")
        job_done(rita)
        assert "Revision 2 is made: 2 came, 2 went." in rita.get("/review").text
        assert selected(served)["cat"] == top(0, 3, 4, 5)
        assert selected(served, 1)["cat"] == top(0, 1, 2, 3)
        text = rita.get("/review/changes/2").text
        why = re.findall(r"<span>([\w -]+)</span>", text)
        assert (sorted(why[:2]), why[2:]) == (["judged wrong", "near-duplicate of another image"], ["drawn", "drawn"])
        for address in re.findall(r'<img src="([^"]+)"', text):
            assert rita.get(address).status_code == 200
        assert "converged" not in text
        Page(rita).looked()
        text = rita.get("/review").text
        assert "Make the next revision (sample again): the rounds end when one changes nothing" in text
        assert 'class="main">Make the next revision' in text
        submit(rita, "/review", "/review/sample")
        job_done(rita)
        assert "Nothing changed" in rita.get("/review/changes/3").text
        for path in ("/review", "/review/changes/3"):
            assert "The set has converged" in rita.get(path).text
            assert '<a class="button main" href="/build#release">Release it</a>' in boss.get(path).text
        assert 'class="main">Make the next revision' not in rita.get("/review").text
        answer = submit(boss, "/build", "/build/release", version="2.0")
        assert answer.url.path == "/build"
        job_done(boss)
        place = served.folder.absolute() / "releases" / "2.0"
        assert str(place) in boss.get("/build").text
        assert re.search(r'name="version"[^>]* value="2\.1"', boss.get("/build").text)
        benchmark = resit.load_benchmark(str(place))
        assert benchmark.version == "2.0"
        labelled = {key: set() for key in made.CLASSES}
        for digest, label in zip(benchmark.ids.tolist(), benchmark.labels[:, 0].tolist(), strict=True):
            labelled[benchmark.class_id(label)].add(digest)
        assert labelled == selected(served)


def test_a_revision_that_is_not_the_last_any_more_is_not_gone_on_from(served: Served):
    rita, bo = served.client("reviewer", "Rita"), served.client("reviewer", "Bo")
    old = re.search(r'name="event" value="(\w+)"', bo.get("/review").text)
    submit(rita, "/review", "/review/sample")
    job_done(rita)
    assert old
    answer = bo.post("/review/sample", {"event": old[1], "revision": "1"})
    assert answer.status_code == 409
    assert "Somebody has made another revision" in answer.json()["error"]
    assert len(served.rows("selection")) == 2


def test_a_form_that_is_sent_twice_makes_one_revision(served: Served):
    rita = served.client("reviewer", "Rita")
    form = {"event": "form-number-1", "revision": "1"}
    assert rita.post("/review/sample", form).status_code == 200
    job_done(rita)
    assert rita.post("/review/sample", form | {"revision": "2"}).status_code == 200
    job_done(rita)
    assert len(served.rows("selection")) == 2


def test_sampling_that_fails_is_told_and_ruins_nothing(folder: Path):
    made.edit(folder, strategy="uniform")
    with Served(folder) as served:
        rita = served.client("reviewer", "Rita")
        before = selected(served)
        submit(rita, "/review", "/review/sample")
        job_done(rita)
        text = rita.get("/review").text
        assert "The next revision: failed" in text
        assert "r1 was drawn by top-images, and now images are drawn by uniform" in text
        assert selected(served) == before
        assert len(served.rows("selection")) == 1
        served.kill()
        served.start()
        assert "The next revision: failed" in rita.get("/review").text


def test_everything_is_exported_and_downloaded(served: Served):
    import io
    import zipfile

    import pyarrow.parquet as pq

    from resit.build.steps.opened import open_build

    boss = served.client("admin", "Al")
    answer = boss.get("/build/export")
    assert answer.url.path == "/build"
    assert "Download" not in answer.text
    assert "Export everything" in submit(boss, "/build", "/build/export").text
    job_done(boss)
    assert "Download the last export" in boss.get("/build").text
    answer = boss.get("/build/export")
    assert "attachment" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as file:
        found = pq.read_table(io.BytesIO(file.read("counts.parquet")))
    with open_build(served.folder) as build:
        assert found.equals(build.store.counts())


def test_a_release_that_is_refused_is_told_in_words(served: Served):
    boss = served.client("admin", "Al")
    page = Page(boss)
    page.image("wrong", page.new[0])
    filled = {"version": "1.1", "title": "Pets & more", "licence": "cc0-1.0", "contact": "a@example.org"}
    unseen = submit(boss, "/build", "/build/release", **filled)
    assert unseen.status_code == 422
    assert "7 images of this revision were not looked at by anybody." in unseen.text
    submit(boss, "/build", "/build/release", **filled, unseen="yes")
    job_done(boss)
    told = boss.get("/build").text
    assert "1 selected image was judged wrong: 1 of cat (" in told
    for value in ("1.1", "Pets &amp; more", "cc0-1.0", "a@example.org"):
        assert f'value="{value}"' in told
    assert not (served.folder / "releases").exists() or not any((served.folder / "releases").iterdir())
    for version in ("", "../x", ".x", "a/b", "a b"):
        answer = submit(boss, "/build", "/build/release", version=version)
        assert answer.status_code == 422
        assert "A version is made of" in answer.text


def test_images_of_a_revision_made_elsewhere_are_unseen_before_what_is_kept_knows_of_it(tmp_path: Path):
    from resit.build.steps.opened import open_build
    from resit.build.steps.sample import draw_revision

    with Inside(judged(tmp_path)) as served:
        boss = served.client("admin", "Al")
        page = Page(boss)
        page.image("wrong", key_of(page, 1))
        for place in (1, 2):
            Page(boss, place).looked()
        assert "unseen" not in boss.get("/build").text
        with open_build(served.folder) as build:
            draw_revision(build)
        answer = submit(boss, "/build", "/build/release", version="1.0")
        assert answer.status_code == 422
        assert "1 image of this revision was not looked at by anybody." in answer.text
        assert 'name="unseen"' in boss.get("/build").text


def test_pages_for_new_candidates_are_planned_on_demand(served: Served):
    from resit.build.steps.gather import gather
    from resit.build.steps.opened import open_build

    boss = served.client("admin", "Al")
    before = len(served.rows("task"))
    pictures = {f"cat/late {number}": made.picture(f"cat/late {number}") for number in range(3)}
    with open_build(served.folder) as build:
        gather(build, f"folder:{made.write_images(served.folder.parent / 'late', pictures)}")
    submit(boss, "/build", "/build/plan")
    job_done(boss)
    assert "1 new tasks with 3 candidates" in boss.get("/build").text
    assert len(served.rows("task")) > before
    assert boss.page()[0]


def waited(jobs: Any) -> None:
    end = time.monotonic() + 10
    while jobs.running():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_jobs_run_one_at_a_time_and_tell_how_they_ended(address: str):
    from resit.errors import InputError
    from resit.store import open_store
    from resit.store.accounts import invite
    from resit.web.jobs import Ended, Jobs
    from resit.web.stop import Stop

    go = threading.Event()

    def slow(tell: Any) -> Ended:
        tell("half way")
        go.wait(10)
        return Ended("all done", 7)

    def fail(_: Any) -> Ended:
        raise InputError("no such thing", where="here", fix="Look elsewhere.")

    def break_(_: Any) -> Ended:
        raise ZeroDivisionError

    with open_store(address, create=True) as store:
        with store.writing() as connection:
            account, _ = invite(connection, "admin", "Al", "2020-01-01T00:00:00Z")
        jobs = Jobs(store, store.writing)
        jobs.start("slow", account, "event-one", slow)
        with pytest.raises(Stop, match="Something else is being done"):
            jobs.start("fail", account, "event-two", fail)
        interrupted = Jobs(store, store.writing).last("slow")
        assert (interrupted.state, "Start it again" in interrupted.message) == ("interrupted", True)
        while jobs.last("slow").message != "half way":
            time.sleep(0.01)
        go.set()
        waited(jobs)
        done = jobs.last("slow")
        assert (done.state, done.message, done.revision, done.by) == ("done", "all done", 7, "Al")
        jobs.start("slow", account, "event-one", fail)  # the same form again
        assert jobs.running() is None
        jobs.start("fail", account, "event-two", fail)  # what was refused can be sent again
        waited(jobs)
        assert (jobs.last("fail").state, jobs.last("fail").message) == ("failed", "here: no such thing. Look elsewhere.")
        jobs.start("break", account, "event-three", break_)
        waited(jobs)
        assert jobs.last("break").message.startswith("Something unexpected")
        with pytest.raises(Stop):
            jobs.start("slow", account, "", slow)
        assert Jobs(store, store.writing).all() == jobs.all()
