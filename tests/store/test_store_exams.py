"""Exams in both databases: what was asked stays, the last answer counts, and each event once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extras import needs
from resit.errors import InputError
from store_rows import TIME, images

if TYPE_CHECKING:
    from resit.store import Store

needs("sqlalchemy", "alembic", "psycopg")
from resit.store import exams as ex  # noqa: E402
from resit.store.accounts import invite  # noqa: E402

ASKED = (ex.Asked(0, "a", ("cat",), "original"), ex.Asked(1, "b", ("cat", 'dög "x"'), "new"), ex.Asked(2, "c", ("dog",), "new"))


@pytest.fixture
def people(store: Store) -> list[int]:
    """Numbers of two people; there is one exam, number 1."""
    store.add_images(images("a", "b", "c"))
    with store.writing() as connection:
        assert ex.add_exam(connection, "Exam 1", {"n": 1, "rule": "ü"}, ASKED, TIME) == 1
        return [invite(connection, "annotator", name, TIME)[0].id for name in ("Bo", "Ann")]


def sat(store: Store, exam: int = 1) -> list[Any]:
    with store.reading() as connection:
        return [(one.person, one.answers, one.handed_in) for one in ex.sittings(connection, exam)]


def test_an_exam_comes_back_as_it_was_put_in(store: Store, people: list[int]):
    with store.reading() as connection:
        assert ex.questions(connection, 1) == list(ASKED)
        assert ex.exams(connection) == [ex.Exam(1, "Exam 1", {"n": 1, "rule": "ü"}, TIME)]
        assert ex.exam_named(connection, "Exam 1") == ex.exams(connection)[0]
        assert ex.exam_named(connection, "exam 1") is None
        assert ex.some_exam(connection)


def test_without_an_exam_there_is_none(store: Store):
    with store.reading() as connection:
        assert not ex.some_exam(connection)
        assert ex.exams(connection) == []


def test_an_exam_never_changes_and_asks_about_images_of_the_build(store: Store, people: list[int]):
    with pytest.raises(InputError, match="an exam Exam 1 already"), store.writing() as connection:
        ex.add_exam(connection, "Exam 1", {}, ASKED[:1], TIME)
    with pytest.raises(InputError, match="unknown images"), store.writing() as connection:
        ex.add_exam(connection, "Exam 2", {}, (ex.Asked(0, "z", ("cat",), "new"),), TIME)
    with store.reading() as connection:
        assert [one.name for one in ex.exams(connection)] == ["Exam 1"]
        assert ex.questions(connection, 1) == list(ASKED)


def test_the_last_answer_counts_and_an_event_once(store: Store, people: list[int]):
    bo, ann = people
    first = [ex.Answer("e1", 0, "cat"), ex.Answer("e2", 0, "dog"), ex.Answer("e1", 0, "cat")]
    with store.writing() as connection:
        assert ex.add_answers(connection, bo, 1, first, TIME) == 2
        assert ex.add_answers(connection, bo, 1, [ex.Answer("e1", 0, "cat"), ex.Answer("e3", 2, "")], TIME) == 1
        assert ex.add_answers(connection, ann, 1, [ex.Answer("e1", 1, "cat")], TIME) == 1
        assert ex.unknown_events(connection, bo, ["e1", "e4"]) == {"e4"}
        assert ex.last_answers(connection, bo, 1) == {0: "dog", 2: ""}
        assert ex.hand_in(connection, ann, 1, TIME)
        assert not ex.hand_in(connection, ann, 1, "2026-02-01T00:00:00Z")
        assert ex.handed_in(connection, bo, 1) is None
        assert ex.count_sittings(connection, 1) == (2, 1)
    assert sat(store) == [("Ann", {1: "cat"}, TIME), ("Bo", {0: "dog", 2: ""}, None)]


def test_who_hands_in_without_an_answer_is_there(store: Store, people: list[int]):
    with store.writing() as connection:
        ex.hand_in(connection, people[1], 1, TIME)
    assert sat(store) == [("Ann", {}, TIME)]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 2), st.sampled_from(["cat", "dog", ""])), max_size=25), st.data())
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_batches_of_any_cut_give_the_same(store: Store, sent: list[tuple[int, int, str]], data: st.DataObject):
    """What is sent again after a lost answer, in whatever pieces, is what was sent once."""
    from secrets import token_hex

    wanted: dict[int, str] = {}
    known: set[int] = set()
    for event, position, class_id in sent:
        if event not in known:
            known.add(event)
            wanted[position] = class_id
    store.add_images(images("a", "b", "c"))
    with store.writing() as connection:
        exam = ex.add_exam(connection, token_hex(8), {}, ASKED, TIME)
        person = invite(connection, "annotator", token_hex(8), TIME)[0].id
    rest = [ex.Answer(f"event {event}", position, class_id) for event, position, class_id in sent]
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        for _ in range(data.draw(st.integers(1, 2))):
            with store.writing() as connection:
                ex.add_answers(connection, person, exam, rest[:size], TIME)
        rest = rest[size:]
    with store.reading() as connection:
        assert ex.last_answers(connection, person, exam) == wanted
