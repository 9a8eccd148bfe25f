"""Revisions: what each records, how two of them differ, and that rounds of review come to an end."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pools_made import classes, images_of, many, rows, verdicts_of

from resit.build.diff import diff
from resit.build.eligibility import Eligible, eligible, voted
from resit.build.review import review
from resit.build.sampling import Drawn, sample
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.selection import record
from resit.store.schemas import EXCLUDED, PAIRS, SELECTED, table

SECOND = "2026-01-01T00:00:00Z"


def selection(*named: tuple[str, str, int, str]) -> pa.Table:
    """Image, class, bin and fate."""
    columns = list(zip(*named, strict=True)) or [()] * 4
    made: dict[str, object] = dict(zip(("image", "class_id", "bin", "fate"), map(list, columns), strict=True))
    return table(SELECTED, {**made, "selected": [5] * len(named), "shown": [10] * len(named)})


def out_of(*named: tuple[str, str, str]) -> pa.Table:
    columns = list(zip(*named, strict=True)) or [()] * 3
    return table(EXCLUDED, dict(zip(EXCLUDED, map(list, columns), strict=True)))


def test_what_came_what_went_and_why():
    old = selection(("s", "b", 2, "drawn"), ("t", "a", 2, "drawn"), ("u", "a", 4, "kept"), ("v", "a", 3, "drawn"))
    new = selection(("w", "a", 4, "upward"), ("x", "a", 2, "drawn"), ("s", "b", 3, "kept"), ("t", "a", 2, "kept"))
    found = diff(old, new, out_of(("u", "a", "blacklisted"), ("z", "a", "near-duplicate"), ("v", "b", "unreviewed")))
    assert [(row["image"], row["fate"]) for row in found.came.to_pylist()] == [("w", "upward"), ("x", "drawn")]
    assert [(row["image"], row["reason"]) for row in found.went.to_pylist()] == [("u", "blacklisted"), ("v", "not-drawn")]
    assert found.moved.to_pylist() == [{"image": "s", "class_id": "b", "old_bin": 2, "new_bin": 3}]
    assert found.stayed == 2
    assert found.why.to_pylist() == [
        {"class_id": "a", "change": "came", "reason": "drawn", "images": 1},
        {"class_id": "a", "change": "came", "reason": "upward", "images": 1},
        {"class_id": "a", "change": "went", "reason": "blacklisted", "images": 1},
        {"class_id": "a", "change": "went", "reason": "not-drawn", "images": 1},
    ]
    assert str(found).splitlines() == [
        "2 stayed, 2 came, 2 went",
        "  came: 1 drawn",
        "  came: 1 upward",
        "  went: 1 blacklisted",
        "  went: 1 not-drawn",
    ]


def test_an_image_that_is_in_another_class_now_went_and_came():
    found = diff(selection(("s", "a", 2, "drawn")), selection(("s", "b", 2, "drawn")), out_of(("s", "a", "other-class")))
    assert found.went["reason"].to_pylist() == ["other-class"]
    assert found.came["class_id"].to_pylist() == ["b"]


@pytest.mark.parametrize("rows_", [(), (("s", "a", 2, "drawn"),)])
def test_equal_revisions_do_not_differ(rows_: tuple[tuple[str, str, int, str], ...]):
    found = diff(selection(*rows_), selection(*rows_), out_of())
    assert not found.changed
    assert str(found) == f"nothing changed: {len(rows_)} images stayed"
    assert len(found.why) == 0


def one_round(verdicts: pa.Table, duplicates: pa.Table, previous: pa.Table | None) -> tuple[Eligible, Drawn]:
    candidates, originals = many("a", "n", {3: 3, 7: 6, 10: 6}), many("a", "o", {3: 4, 7: 8, 10: 8})
    counts = rows([*candidates, *originals]).select(["image", "class_id", "selected", "shown"])
    images = pa.concat_tables(
        [images_of((one[0], "a") for one in candidates), images_of(((one[0], "a") for one in originals), "original")]
    )
    found = eligible(images, counts, verdicts, duplicates)
    return found, sample(MatchedFrequency(), found.candidates, voted(images, counts, "original"), previous, classes("a"), 5)


def test_rounds_of_review_go_on_until_one_changes_nothing():
    """Targets are 1, 2 and 2 (quotas 1, 2, 2). Every image of the pool whose name ends in 0 or 1 turns out to be wrong."""
    events: list[tuple[str, str, str, str, str]] = []
    previous, went = None, []
    for _ in range(9):
        _, drawn = one_round(verdicts_of(*events), out_of(("n7-005", "a", "near-duplicate")), previous)
        state = review(drawn.selected, previous, verdicts_of(*events), table(PAIRS))
        if state.converged:
            break
        if previous is not None:
            went += diff(previous, drawn.selected, out_of()).went["image"].to_pylist()
        judged = {event[1] for event in events}
        for image in sorted(set(drawn.selected["image"].to_pylist()) - judged):
            events.append(("image", image, "", "a", "wrong" if image[-1] in "01" else "right"))
        previous = drawn.selected
    assert state.converged
    last = drawn.selected.to_pylist()
    assert [(row["image"][:3], row["fate"]) for row in last] == [("n10", "kept")] * 2 + [("n3-", "kept")] + [
        ("n7-", "kept")
    ] * 2
    assert not any(row["image"][-1] in "01" or row["image"] == "n7-005" for row in last)
    assert set(went) == {event[1] for event in events if event[4] == "wrong"}


def test_the_record_holds_all_that_it_takes_to_draw_again():
    verdicts = verdicts_of(("image", "n10-000", "", "a", "wrong"))
    found, drawn = one_round(verdicts, out_of(*((f"n3-00{i}", "a", "near-duplicate") for i in range(3))), None)
    told = record(MatchedFrequency(), found, drawn, seed=3, time=SECOND, parent=2)
    assert json.loads(json.dumps(told)) == told
    assert told == {
        "strategy": "matched-frequency",
        "settings": {"edges": [1, 2, 3, 4], "minimum_votes": 10, "minimum_originals": 20},
        "seed": 3,
        "time": SECOND,
        "parent": 2,
        "valid": True,
        "selected": 5,
        "upward": 1,
        "candidates": 15,
        "excluded": {"blacklisted": 1, "too-few-votes": 0, "near-duplicate": 3, "unreviewed": 0, "other-class": 0},
        "shortages": [],
        "bias": None,
    }
    short = sample(MatchedFrequency(), found.candidates, rows([]), None, classes("a"), 5)
    told = record(MatchedFrequency(), found, short, seed=3, time=SECOND, parent=None)
    assert not told["valid"]
    why = "0 originals with 10 votes, and 20 are needed"
    assert told["shortages"] == [{"class_id": "a", "wanted": 5, "found": 0, "why": why}]


def test_the_store_takes_a_record_and_gives_it_back(store):
    found, drawn = one_round(verdicts_of(), out_of(), None)
    images = [*found.candidates["image"].to_pylist()]
    store.add_images(images_of((image, "a") for image in images))
    told = record(MatchedFrequency(), found, drawn, seed=0, time=SECOND, parent=None)
    revision = store.add_selection(told, drawn.selected, found.excluded, parent=None)
    back = store.selection(revision)
    assert back.record == told
    assert back.selected.equals(drawn.selected)
