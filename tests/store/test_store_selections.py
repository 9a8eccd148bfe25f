"""Selections are numbered, whole, and never change; the log and the time of the last event."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from extras import needs
from resit.errors import InputError, UsageError
from resit.store import Note, Revision, Selection
from resit.store.schemas import EXCLUDED, SELECTED, table
from store_rows import excluded, images, page, selected, verdicts

if TYPE_CHECKING:
    from resit.store import Store

needs("sqlalchemy", "alembic", "psycopg")

RECORD = {
    "strategy": "uniform",
    "seed": 3,
    "shortages": [{"class": "é", "missing": 2}],
    "share": 0.1,
    "time": "2026-03-01T00:00:00Z",
}


@pytest.fixture(autouse=True)
def known_images(store: Store):
    store.add_images(images("a", "b", "c"))


def test_revisions_are_numbered_and_come_back_as_they_were_given(store: Store):
    chosen = selected({"image": "b", "bin": 3, "fate": "kept"}, {"image": "a", "class_id": "2", "fate": "upward"})
    out = excluded({"image": "c"}, {"image": "a", "reason": "fewer than 10 votes"})
    assert store.add_selection(RECORD, chosen, out, parent=None) == 1
    assert store.add_selection({}, table(SELECTED), table(EXCLUDED), parent=1) == 2
    assert store.add_selection({}, chosen, table(EXCLUDED), parent=1) == 3
    first = store.selection(1)
    assert first == Selection(1, None, RECORD, chosen, out)
    assert store.selection(2) == Selection(2, 1, {}, table(SELECTED), table(EXCLUDED))
    assert store.selection() == Selection(3, 1, {}, chosen, table(EXCLUDED))
    assert store.revisions() == [Revision(1, None, RECORD), Revision(2, 1, {}), Revision(3, 1, {})]


@pytest.mark.parametrize(
    ("chosen", "out", "parent", "message"),
    [
        ({"image": "z"}, {"image": "c"}, None, "unknown images, 1 of them: z"),
        ({"image": "a"}, {"image": "z"}, None, "unknown images, 1 of them: z"),
        ({"image": "a", "fate": "bought"}, {"image": "c"}, None, "unknown word 'bought'"),
        ({"image": "a"}, {"image": "c", "reason": ""}, None, "column reason: empty"),
        ({"image": "a"}, {"image": "c"}, 7, "no revision 7 to go on from"),
    ],
)
def test_a_selection_that_does_not_fit_is_refused_and_takes_no_number(store: Store, chosen, out, parent, message: str):
    with pytest.raises(InputError, match=message):
        store.add_selection({}, selected({"image": "b"}, chosen), excluded(out), parent=parent)
    assert store.revisions() == []
    assert store.add_selection({}, selected({"image": "b"}), table(EXCLUDED), parent=None) == 1


def test_a_revision_that_is_not_there(store: Store):
    with pytest.raises(InputError, match="no selection yet"):
        store.selection()
    with pytest.raises(InputError, match="no revision 1"):
        store.selection(1)
    store.add_selection({}, selected(), excluded(), parent=None)
    with pytest.raises(InputError, match=r"no revision 2. There are 1 to 1"):
        store.selection(2)


@pytest.mark.parametrize("record", [{"share": math.nan}, {"at": {1, 2}}])
def test_a_record_that_is_no_json_is_refused(store: Store, record: dict):
    with pytest.raises(UsageError, match="no JSON"):
        store.add_selection(record, selected(), excluded(), parent=None)
    with pytest.raises(UsageError, match="no JSON"):
        store.note("dedupe", record, "2026-01-01T00:00:00Z")
    assert store.revisions() == []
    assert store.notes() == []


def test_notes_are_kept_in_their_order(store: Store):
    store.note("dedupe", {"pairs": 3}, "2026-01-02T00:00:00Z")
    store.note("collect", {}, "2026-01-01T00:00:00+00:00")
    assert store.notes() == [Note("dedupe", {"pairs": 3}, "2026-01-02T00:00:00Z"), Note("collect", {}, "2026-01-01T00:00:00Z")]
    with pytest.raises(InputError, match="not a time in UTC"):
        store.note("collect", {}, "today")


def test_the_last_time_is_that_of_the_last_event_of_each_kind_and_not_of_a_note(store: Store):
    assert store.last_time() is None
    store.add_votes(page("t1", "ann", {"a": True}, time="2026-01-01T00:00:00Z"))
    assert store.last_time() == "2026-01-01T00:00:00Z"
    # By time, not by text: half a second later.
    store.add_votes(page("t2", "ann", {"a": True}, time="2026-01-01T00:00:00.5Z"))
    assert store.last_time() == "2026-01-01T00:00:00.5Z"
    store.set_assignment("t1:ann", "rejected", person="eve", reason="", time="2026-01-02T00:00:00Z")
    assert store.last_time() == "2026-01-02T00:00:00Z"
    store.add_verdicts(verdicts({"image": "a", "other": "b", "time": "2026-01-03T00:00:00Z"}))
    assert store.last_time() == "2026-01-03T00:00:00Z"
    store.add_selection({"time": "2026-01-04T00:00:00Z"}, selected(), excluded(), parent=None)
    store.add_selection({}, selected(), excluded(), parent=None)
    store.note("release", {}, "2026-01-05T00:00:00Z")
    assert store.last_time() == "2026-01-04T00:00:00Z"
