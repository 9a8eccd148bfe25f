"""Votes count once, contradict nobody, and go in whole or not at all; rejected assignments do not count."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extras import needs
from resit.errors import InputError, UsageError
from resit.store import Added
from resit.store.schemas import ASSIGNMENTS, COUNTS, VOTES, table
from store_rows import TIME, counts, images, page, rows_of, statuses, votes

if TYPE_CHECKING:
    from resit.store import Store

needs("sqlalchemy", "alembic", "psycopg")

KEY = ("assignment", "class_id", "image")
COUNTED = ("class_id", "image", "selected", "shown")


@pytest.fixture(autouse=True)
def known_images(store: Store):
    store.add_images(images("a", "b", "c"))
    store.add_images(images("o", "p", role="original"))


def test_votes_come_back_as_they_were_given_in_one_order(store: Store):
    rows = [
        {"image": "b", "assignment": "t1:ann", "selected": False, "time": "2026-01-01T10:00:00.250Z"},
        {"image": "a", "assignment": "t1:ann", "role": "positive"},
        {"image": "a", "assignment": "t1:ann", "class_id": "0", "role": "negative"},
        {"image": "b", "assignment": "T1:bob", "person": "bob"},
    ]
    for row in (rows[2], rows[0], rows[3], rows[1]):
        assert store.add_votes(votes(row)) == Added(1, 0)
    assert store.votes().equals(votes(rows[3], rows[2], rows[1], rows[0]))


def test_an_empty_store_gives_empty_tables_of_the_schemas(store: Store):
    assert store.votes().equals(table(VOTES))
    assert store.counts().equals(table(COUNTS))
    assert store.counts("candidate").equals(table(COUNTS))
    assert store.assignments().equals(table(ASSIGNMENTS))
    assert store.add_votes(table(VOTES)) == Added(0, 0)
    assert store.last_time() is None


def test_the_same_votes_again_count_once_and_keep_their_first_time(store: Store):
    given = page("t1", "ann", {"a": True, "b": False})
    assert store.add_votes(given) == Added(2, 0)
    later = page("t1", "ann", {"b": False, "c": True, "a": True}, time="2026-02-01T00:00:00Z")
    assert store.add_votes(later) == Added(1, 2)
    assert rows_of(store.votes(), "image", "time") == [("a", TIME), ("b", TIME), ("c", "2026-02-01T00:00:00Z")]


def test_a_vote_twice_in_one_table_counts_once_with_the_earlier_time_in_any_order(store: Store):
    for assignment, order in zip(("x", "y"), ([0, 1], [1, 0]), strict=True):
        twice = votes(
            {"image": "a", "assignment": assignment, "time": "2026-01-01T00:00:00Z"},
            {"image": "a", "assignment": assignment, "time": "2026-01-02T00:00:00Z"},
        )
        assert store.add_votes(twice.take(order)) == Added(1, 1)
    assert store.votes().column("time").to_pylist() == ["2026-01-01T00:00:00Z"] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"selected": False}, "two votes on image a for class 1 in assignment t1:ann"),
        ({"role": "positive"}, "two votes on image a for class 1 in assignment t1:ann"),
        ({"person": "bob"}, "votes of two persons in assignment t1:ann"),
        ({"person": "bob", "image": "c"}, "votes of two persons in assignment t1:ann"),
    ],
)
def test_a_contradiction_is_refused_by_name_and_nothing_of_its_table_is_stored(store: Store, change: dict, message: str):
    good = {"image": "b", "assignment": "t0:ann"}
    with pytest.raises(InputError, match=message):
        store.add_votes(votes(good, {"image": "a"}, {"image": "a", **change}))
    assert store.votes().num_rows == 0
    assert store.assignments().num_rows == 0
    store.add_votes(votes({"image": "a"}))
    with pytest.raises(InputError, match=message):
        store.add_votes(votes(good, {"image": "a", **change}))
    assert store.votes().equals(votes({"image": "a"}))


def test_votes_on_unknown_images_are_refused_with_their_number_and_first_names(store: Store):
    given = votes(*({"image": name} for name in ("z4", "a", "z2", "z3", "z1", "z1")))
    with pytest.raises(InputError, match=r"unknown images, 4 of them: z1, z2, z3 …\..*Nothing was stored"):
        store.add_votes(given)
    assert store.votes().num_rows == 0


def test_an_image_that_is_only_a_neighbour_is_unknown(store: Store):
    from store_rows import pairs

    store.add_pairs(pairs({"image": "a", "other": "reference-image"}))
    with pytest.raises(InputError, match="unknown images, 1 of them: reference-image"):
        store.add_votes(votes({"image": "reference-image"}))


@pytest.mark.parametrize("time", ["", "yesterday", "2026-01-31", "2026-13-01T00:00:00Z", "2026-01-31T12:00:00+01:00"])
def test_a_time_that_is_not_utc_is_refused(store: Store, time: str):
    with pytest.raises(InputError, match=f"not a time in UTC in 1 row, first in row 2 .'{time.replace('+', '.')}'"):
        store.add_votes(votes({"image": "a"}, {"image": "b", "time": time}))


def test_a_time_comes_back_with_z(store: Store):
    store.add_votes(votes({"image": "a", "time": "2026-01-31T12:00:00+00:00"}))
    assert store.votes().column("time").to_pylist() == ["2026-01-31T12:00:00Z"]


@pytest.mark.parametrize("column", ["person", "assignment", "class_id", "image"])
def test_a_vote_of_nobody_is_refused(store: Store, column: str):
    with pytest.raises(InputError, match=f"column {column}: empty in 1 row"):
        store.add_votes(votes({"image": "a", column: ""}))


def test_a_vote_without_an_answer_is_refused(store: Store):
    unanswered = votes({"image": "a"}).set_column(5, "selected", pa.array([None], pa.bool_()))
    with pytest.raises(InputError, match="column selected: missing in 1 row"):
        store.add_votes(unanswered)


def test_rejecting_takes_votes_out_and_accepting_puts_them_back(store: Store):
    store.add_votes(page("t1", "ann", {"a": True, "b": False}))
    store.add_votes(page("t1", "bob", {"a": True, "b": True}))
    decide = {"person": "eve", "reason": "too fast"}
    assert store.set_assignment("t1:bob", "rejected", time="2026-02-01T00:00:00Z", **decide) == Added(1, 0)
    assert rows_of(store.counts(), *COUNTED) == [("1", "a", 1, 1), ("1", "b", 0, 1)]
    assert set(store.votes().column("assignment").to_pylist()) == {"t1:ann"}
    assert store.votes(accepted=False).num_rows == 4
    assert rows_of(store.assignments(), *ASSIGNMENTS) == [
        ("t1:ann", "ann", 2, "accepted", "", ""),
        ("t1:bob", "bob", 2, "rejected", "too fast", "2026-02-01T00:00:00Z"),
    ]
    # The same decision again changes nothing, another one counts, whatever their times.
    assert store.set_assignment("t1:bob", "rejected", time="2026-02-01T00:00:00Z", **decide) == Added(0, 1)
    store.set_assignment("t1:bob", "accepted", person="eve", reason="was fine", time="2026-01-15T00:00:00Z")
    assert rows_of(store.counts(), *COUNTED) == [("1", "a", 2, 2), ("1", "b", 1, 2)]
    assert store.votes().num_rows == 4
    assert store.set_assignment("t1:bob", "rejected", time="2026-02-01T00:00:00Z", **decide) == Added(0, 1)
    assert store.votes().num_rows == 4


def test_votes_that_come_late_to_a_rejected_assignment_do_not_count(store: Store):
    store.add_votes(page("t1", "ann", {"a": True}))
    store.set_assignment("t1:ann", "rejected", person="eve", reason="", time=TIME)
    store.add_votes(page("t1", "ann", {"b": True}))
    assert store.counts().num_rows == 0


def test_many_decisions_at_once_and_those_on_unknown_assignments(store: Store):
    store.add_votes(pa.concat_tables([page("t1", person, {"a": True}) for person in ("ann", "bob", "cy")]))
    many = statuses(*({"assignment": f"t1:{name}", "time": TIME} for name in ("ann", "bob", "ann")))
    assert store.set_assignments(many) == Added(2, 1)
    assert rows_of(store.assignments(), "assignment", "status") == [
        ("t1:ann", "rejected"),
        ("t1:bob", "rejected"),
        ("t1:cy", "accepted"),
    ]
    with pytest.raises(InputError, match="unknown assignments, 1 of them: t9:ann"):
        store.set_assignments(statuses({"assignment": "t1:cy"}, {"assignment": "t9:ann"}))
    with pytest.raises(InputError, match="unknown word 'perhaps'"):
        store.set_assignment("t1:cy", "perhaps", person="eve", reason="", time=TIME)  # type: ignore[arg-type]
    assert rows_of(store.counts(), *COUNTED) == [("1", "a", 1, 1)]


def test_counts_by_role_of_the_image_in_the_task(store: Store):
    store.add_votes(
        votes(
            {"image": "a"},
            {"image": "o", "role": "positive"},
            {"image": "p", "role": "negative", "selected": False},
            {"image": "o", "role": "candidate", "assignment": "t2:ann", "selected": False},
        )
    )
    store.add_counts(
        counts({"image": "p", "selected": 40, "shown": 50}, {"image": "p", "class_id": "0", "selected": 1, "shown": 9})
    )
    assert rows_of(store.counts("candidate"), *COUNTED) == [("1", "a", 1, 1), ("1", "o", 0, 1)]
    assert rows_of(store.counts("positive"), *COUNTED) == [("1", "o", 1, 1)]
    assert rows_of(store.counts("negative"), *COUNTED) == [("1", "p", 0, 1)]
    # All roles, and the aggregates that have none.
    assert rows_of(store.counts(), *COUNTED) == [("0", "p", 1, 9), ("1", "a", 1, 1), ("1", "o", 1, 2), ("1", "p", 40, 51)]
    with pytest.raises(UsageError, match="no role 'original'"):
        store.counts("original")  # type: ignore[arg-type]


def test_aggregates_are_final(store: Store):
    assert store.add_counts(counts({"image": "o", "selected": 4, "shown": 5})) == Added(1, 0)
    assert store.add_counts(counts({"image": "o", "selected": 4, "shown": 5})) == Added(0, 1)
    for wrong, message in (
        ({"image": "o", "selected": 5, "shown": 5}, "two counts of image o for class 1"),
        ({"image": "z", "selected": 5, "shown": 5}, "unknown images, 1 of them: z"),
        ({"image": "p", "selected": 6, "shown": 5}, "more often than shown"),
        ({"image": "p", "selected": -1, "shown": 5}, "less than never"),
    ):
        with pytest.raises(InputError, match=message):
            store.add_counts(counts({"image": "a", "selected": 1, "shown": 1}, wrong))
    assert rows_of(store.counts(), *COUNTED) == [("1", "o", 4, 5)]


ROW = st.fixed_dictionaries(
    {
        "image": st.sampled_from(["a", "b", "c"]),
        "class_id": st.sampled_from(["1", "2"]),
        "assignment": st.sampled_from(["x", "y"]),
        "person": st.sampled_from(["ann", "ann", "bob"]),
        "role": st.sampled_from(["candidate", "positive"]),
        "selected": st.booleans(),
    }
)
NUMBER = itertools.count()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(ROW, max_size=5), max_size=4), rejected=st.sets(st.sampled_from(["x", "y"])))
def test_the_store_agrees_with_a_dictionary_on_any_votes(store: Store, batches: list[list[dict[str, Any]]], rejected: set[str]):
    # Each example has assignments of its own in the one store.
    mark = f"{next(NUMBER)}-"
    held: dict[tuple[str, ...], tuple[bool, str]] = {}
    people: dict[str, str] = {}
    for rows in batches:
        after, whose, fits, new = dict(held), dict(people), True, 0
        for row in rows:
            key = (row["assignment"], row["class_id"], row["image"])
            fits &= whose.setdefault(row["assignment"], row["person"]) == row["person"]
            new += key not in after
            fits &= after.setdefault(key, (row["selected"], row["role"])) == (row["selected"], row["role"])
        table_of_rows = votes(*({**row, "assignment": mark + row["assignment"]} for row in rows))
        if fits:
            assert store.add_votes(table_of_rows) == Added(new, len(rows) - new)
            held, people = after, whose
        else:
            with pytest.raises(InputError):
                store.add_votes(table_of_rows)
    everything = [row for row in rows_of(store.votes(), *KEY, "selected", "role", "person") if row[0].startswith(mark)]
    expected = [(mark + key[0], *key[1:], *value, people[key[0]]) for key, value in sorted(held.items())]
    assert everything == expected
    before = Counter({row[:2]: row[3] for row in rows_of(store.counts(), *COUNTED)})
    for assignment in rejected & set(people):
        store.set_assignment(mark + assignment, "rejected", person="eve", reason="", time=TIME)
    after_rejection = Counter({row[:2]: row[3] for row in rows_of(store.counts(), *COUNTED)})
    gone = Counter((key[1], key[2]) for key in held if key[0] in rejected)
    assert before - after_rejection == gone
