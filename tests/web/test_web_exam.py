"""The exam without a browser: what is told, what is not, and that each answer counts once."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sat_made import IMAGES, asked, given, images_of, say, seen_by, with_exam
from served import Served

import exam_made
from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy", "psycopg")


@pytest.fixture
def served(tmp_path: Path, database: str | None) -> Iterator[Served]:
    with Served(with_exam(tmp_path, database=database)) as server:
        yield server


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for many tests, each with people of its own."""
    with Served(with_exam(tmp_path_factory.mktemp("exam"))) as server:
        yield server


def test_answers_are_those_of_the_images_that_were_seen(served: Served):
    ann = served.client("reviewer", "Ann")
    wanted = {}
    for place, question in enumerate(seen_by(served, "Ann")):
        said = [None, question.class_ids[0], "cat"][place % 3]
        assert say(ann, place, said).json() == {"saved": 1}
        wanted[question.position] = said or ""
    assert given(served) == wanted
    assert say(ann, 0, "dog").status_code == 200
    assert given(served) == wanted | {seen_by(served, "Ann")[0].position: "dog"}
    assert ann.post("/exam/1/finish", {"answered": 2 * IMAGES}).json() == {"finished": True, "new": True}
    assert ann.post("/exam/1/finish", {"answered": 0}).json() == {"finished": True, "new": False}
    assert len(served.rows("exam_handed_in")) == 1


def test_an_answer_sent_again_counts_once(served: Served):
    ann = served.client(name="Ann")
    for _ in range(3):
        assert say(ann, 4, "cat", event="the-same-event").status_code == 200
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: say(ann, 5, "dog", event="at-once-event").status_code, range(8)))
    assert codes == [200] * 8
    assert len(served.rows("exam_answer")) == 2
    bo = served.client(name="Bo")
    assert say(bo, 4, "dog", event="the-same-event").status_code == 200  # another person's event of the same name
    assert len(served.rows("exam_answer")) == 3


def test_two_people_see_the_same_images_in_orders_of_their_own(quick: Served):
    orders = {name: [one.image for one in seen_by(quick, name)] for name in ("Ann", "Bo")}
    assert set(orders["Ann"]) == set(orders["Bo"])
    assert orders["Ann"] != orders["Bo"]
    for name, order in orders.items():
        caller = quick.client(name=name)
        ids = images_of(caller.get("/exam/1").text)
        pictures = [caller.get(f"/exam/1/{one}/large").content for one in ids]
        for image, picture in zip(order, pictures, strict=True):
            from resit.build.folder import BuildFolder

            file = BuildFolder.open(quick.folder).find_image(image)
            shown, stored = (np.asarray(Image.open(part).convert("RGB")) for part in (io.BytesIO(picture), file))
            assert np.array_equal(shown, stored)  # small images are shown to the pixel


def test_the_page_tells_neither_origin_nor_file_nor_label(quick: Served):
    ann = quick.client(name="Dora")
    page = ann.get("/exam/1")
    rows = asked(quick)
    names = {name.rsplit("/", 1)[1] for name in exam_made.NEW}
    for secret in (*(row.image for row in rows), *(row.image[:12] for row in rows), *names, "original", str(quick.folder)):
        assert secret not in page.text, secret
    ids = images_of(page.text)
    assert len(set(ids)) == 2 * IMAGES
    other = quick.client(name="Eve")
    assert not set(ids) & set(images_of(other.get("/exam/1").text))
    assert other.get(f"/exam/1/{ids[0]}/large").status_code == 404
    headers = {frozenset(ann.get(f"/exam/1/{one}/large").headers) for one in ids}
    assert len(headers) == 1
    digests = {hashlib.sha256(ann.get(f"/exam/1/{one}/large").content).hexdigest() for one in ids}
    assert not digests & {row.image for row in rows}


def test_examples_are_of_their_class_and_never_an_image_of_the_exam(quick: Served):
    ann = quick.client(name="Flo")
    text = ann.get("/exam/1").text
    assert text.count('class="kind"') == 2
    questions = {ann.get(f"/exam/1/{one}/small").content for one in images_of(text)}
    examples = [ann.get(f"/exam/1/example/{place}/small") for place in range(6)]
    assert all(one.status_code == 200 for one in examples)
    assert not {one.content for one in examples} & questions
    for path in ("example/6/small", "example/x/small", "example/-1/small", "example/0/huge", "nothing/large"):
        assert ann.get(f"/exam/1/{path}").status_code == 404


def test_after_handing_in_nothing_can_be_changed_and_nothing_is_told(quick: Served):
    ann = quick.client(name="Gus")
    assert say(ann, 0, "cat", event="first-event").status_code == 200
    stale = ann.post("/exam/1/finish", {"answered": 0})
    assert (stale.status_code, "another device" in stale.json()["error"]) == (412, True)
    assert ann.post("/exam/1/finish", {"answered": 1}).json()["new"]
    late = say(ann, 1, "cat")
    assert (late.status_code, late.json()["error"]) == (409, "You have handed this exam in.")
    assert say(ann, 0, "cat", event="first-event").status_code == 200  # its answer was lost: it was saved
    assert len([row for row in quick.rows("exam_answer") if row["event"] == "first-event"]) == 1
    page = ann.get("/exam").text
    assert "You answered 1 of 12 images" in page
    assert "<img" not in page
    assert "right on" not in page


def test_what_was_right_is_shown_where_the_admin_allowed_it(tmp_path: Path):
    with Served(with_exam(tmp_path, show_answers=True)) as served:
        ann = served.client(name="Ann")
        rows = seen_by(served, "Ann")
        say(ann, 0, rows[0].class_ids[0])
        say(ann, 1, "cat" if rows[1].class_ids == ("dog",) else "dog")
        say(ann, 2, None)
        assert "it is <strong>" not in ann.get("/exam/1").text
        ann.post("/exam/1/finish", {"answered": 3})
        page = ann.get("/exam/1").text
    assert "You were right on 1." in page
    assert page.count("Not right: you") == 11
    assert page.count("you gave no answer") == 9
    assert page.count("<strong>I do not know</strong>") == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"answers": []}, 422),
        ({"answers": [{"event": "short", "place": 0, "class_id": "cat"}]}, 422),
        ({"answers": [{"event": "long-enough", "place": -1, "class_id": "cat"}]}, 422),
        ({"answers": [{"event": "long-enough", "place": 12, "class_id": "cat"}]}, 422),
        ({"answers": [{"event": "long-enough", "place": 0, "class_id": "horse"}]}, 422),
        ({"answers": [{"event": "long-enough", "place": 0, "class_id": 1}]}, 422),
        ({"answers": [{"event": "long-enough", "place": 0}]}, 422),
        ({"answers": "x"}, 422),
    ],
)
def test_what_does_not_fit_is_refused(quick: Served, body: dict[str, object], status: int):
    before = len(quick.rows("exam_answer"))
    assert quick.client().post("/exam/1/answers", body).status_code == status
    assert len(quick.rows("exam_answer")) == before


def test_exams_that_are_none_are_not_found(quick: Served):
    ann = quick.client()
    for number in ("0", "2", "x", "-1", "1e3", "٣", "9" * 30):
        assert ann.get(f"/exam/{number}").status_code == 404
        assert ann.post(f"/exam/{number}/finish", {"answered": 0}).status_code == 404


def test_several_exams_are_listed_and_kept_apart(tmp_path: Path):
    with Served(with_exam(tmp_path, exams=2)) as served:
        ann = served.client(name="Ann")
        page = ann.get("/exam").text
        assert "Exam 1" in page
        assert page.count("not begun") == 2
        say(ann, 0, "cat", exam=2)
        ann.post("/exam/1/finish", {"answered": 0})
        page = ann.get("/exam").text
        assert "handed in" in page
        assert "1 answered" in page


def test_the_exam_is_in_the_navigation_where_there_is_one(tmp_path: Path, quick: Served):
    for role in ("annotator", "reviewer", "admin"):
        assert 'href="/exam"' in quick.client(role).get("/").text, role
    with Served(exam_made.selected(tmp_path / "other", votes={"task": 6, "positive": 1, "negative": 1, "people": 2})) as served:
        ann = served.client("admin")
        assert 'href="/exam"' not in ann.get("/").text
        assert "There is no exam yet" in ann.get("/exam").text


def test_what_came_out_is_shown_to_admins_alone(tmp_path: Path):
    from resit.build.steps.exam import answers_of
    from resit.build.steps.opened import open_build
    from resit.study.human import human_accuracy
    from resit.study.human_summary import rows

    with Served(with_exam(tmp_path, exams=2)) as served:
        boss = served.client("admin", "Al")
        text = boss.get("/exam").text
        assert text.count("Begun by 0, handed in by 0.") == 2
        assert "<table" not in text
        assert "Exam 1 by 0, Exam 2 by 0" in boss.get("/build").text
        for at, name in enumerate(("Ann", "Bo"), 1):
            caller = served.client(name=name)
            for place, question in enumerate(seen_by(served, name)):
                say(caller, place, question.class_ids[0] if place % 3 else "cat")
            say(served.client(name="Cy"), at, "cat")
            caller.post("/exam/1/finish", {"answered": 12})
            page = boss.get("/exam").text
            with open_build(served.folder) as build:
                found = human_accuracy(answers_of(build, "Exam 1"))
            assert f"Begun by {at + 1}, handed in by {at}." in page
            assert re.findall(r'<tr><th scope="row">([^<]+)', page) == [row[0] for row in rows(found)]
            for cell in (cell for row in rows(found) for cell in row if cell):
                assert f">{cell}<" in page, cell
            assert all(sentence in page for sentence in found.verdict)
            assert "Begun and not handed in, so in no figure: Cy" in page
        assert all(question.image not in page for question in asked(served))
        assert "Exam 1 by 2, Exam 2 by 0" in boss.get("/build").text
        for caller in (served.client(name="Ann"), served.client("reviewer", "Rita")):
            text = caller.get("/exam").text
            assert "Exam 2" in text
            assert not re.search("Begun|Cy|original", text)


def test_what_an_exam_is_and_how_it_goes_is_told_before_it_begins(quick: Served):
    ann = quick.client(name="Kim")
    assert "say of each which class it is of" in quick.client("admin").get("/exam").text
    assert '<details class="rules" id="rules" open>' in ann.get("/exam/1").text
    say(ann, 3, None)
    assert '<details class="rules" id="rules">' in ann.get("/exam/1").text


def test_classes_stand_by_parent_where_a_table_says_so(tmp_path: Path):
    texts = tmp_path / "texts.csv"
    texts.write_text("class_id,text,synonyms,parent\ncat,A cat.,kitty,felines\ndog,A dog.,,<b>\n")
    with Served(with_exam(tmp_path), "--texts", str(texts)) as served:
        page = served.client().get("/exam/1").text
    assert "felines" in page
    assert "&lt;b&gt;" in page
    assert "kitty" in page


def test_people_s_results_come_out_of_what_they_did(quick: Served):
    from resit.build.steps.exam import answers_of
    from resit.build.steps.opened import open_build
    from resit.study.human import human_accuracy

    for name, right in (("Hal", 12), ("Ida", 8)):
        caller = quick.client(name=name)
        for place, question in enumerate(seen_by(quick, name)):
            other = "dog" if question.class_ids == ("cat",) else "cat"
            say(caller, place, question.class_ids[0] if place < right else other)
        caller.post("/exam/1/finish", {"answered": 12})
    with open_build(quick.folder) as build:
        found = human_accuracy(answers_of(build))
    right = {row.person: row.original.correct + row.new.correct for row in found.people}
    assert (right["Hal"], right["Ida"]) == (12, 8)
    wrong = [one.origin for one in seen_by(quick, "Ida")[8:]]
    (bo,) = [row for row in found.people if row.person == "Ida"]
    assert (bo.original.correct, bo.new.correct) == (IMAGES - wrong.count("original"), IMAGES - wrong.count("new"))
