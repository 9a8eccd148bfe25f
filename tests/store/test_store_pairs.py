"""Neighbours may be computed again; verdicts of people are kept for good."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from extras import needs
from resit.errors import InputError
from resit.store import Added
from resit.store.schemas import PAIRS, VERDICTS, table
from store_rows import images, pairs, rows_of, verdicts

if TYPE_CHECKING:
    from resit.store import Store

needs("sqlalchemy", "alembic", "psycopg")

KEY = ("metric", "image", "rank", "reference", "other", "distance")


@pytest.fixture(autouse=True)
def known_images(store: Store):
    store.add_images(images("a", "b"))


def test_an_empty_store_gives_empty_tables_of_the_schemas(store: Store):
    assert store.pairs().equals(table(PAIRS))
    assert store.verdicts().equals(table(VERDICTS))
    assert store.add_pairs(table(PAIRS)) == Added(0, 0)


def test_pairs_come_out_by_metric_image_and_rank(store: Store):
    given = pairs(
        {"image": "b", "other": "x", "rank": 10, "distance": 0.1 + 0.2},
        {"image": "b", "other": "y", "rank": 9, "distance": 5e-324},
        {"image": "a", "other": "b", "reference": "", "metric": "dssim", "distance": 0.0},
        {"image": "a", "other": "x", "reference": "test"},
        {"image": "a", "other": "x", "reference": "train"},
    )
    assert store.add_pairs(given) == Added(5, 0)
    assert rows_of(store.pairs(), *KEY) == [
        ("dssim", "a", 1, "", "b", 0.0),
        ("l2", "a", 1, "test", "x", 1.5),
        ("l2", "a", 1, "train", "x", 1.5),
        ("l2", "b", 9, "train", "y", 5e-324),
        ("l2", "b", 10, "train", "x", 0.1 + 0.2),
    ]
    assert rows_of(store.pairs("dssim"), "image") == [("a",)]
    assert store.pairs("never").num_rows == 0


def test_a_pair_computed_again_takes_its_new_figures(store: Store):
    store.add_pairs(pairs({"image": "a", "other": "x"}, {"image": "a", "other": "y", "rank": 2, "distance": 2.0}))
    again = pairs(
        {"image": "a", "other": "x"},
        {"image": "a", "other": "y", "rank": 3, "distance": 2.0},
        {"image": "a", "other": "z", "rank": 2, "distance": 1.75},
    )
    assert store.add_pairs(again) == Added(1, 2, changed=1)
    assert rows_of(store.pairs(), "other", "rank", "distance") == [("x", 1, 1.5), ("z", 2, 1.75), ("y", 3, 2.0)]
    assert store.add_pairs(again) == Added(0, 3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"image": "x", "other": "a"}, "unknown images, 1 of them: x"),
        ({"image": "a", "other": "b", "distance": math.nan}, "column distance: not a number in 1 row"),
        ({"image": "a", "other": "b", "distance": math.inf}, "column distance: not a number in 1 row"),
        ({"image": "a", "other": "b", "distance": 2.0}, "two distances or ranks of a and b"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(store: Store, row: dict, message: str):
    with pytest.raises(InputError, match=message):
        store.add_pairs(pairs({"image": "a", "other": "b"}, row))
    assert store.pairs().num_rows == 0


def test_verdicts_are_events_in_their_order(store: Store):
    first = verdicts(
        {"image": "b", "other": "x", "verdict": "unsure", "person": "ann"},
        {"image": "a", "kind": "image", "class_id": "1", "verdict": "wrong", "person": "ann"},
        {"kind": "class", "class_id": "1", "verdict": "problematic", "person": "ann"},
    )
    assert store.add_verdicts(first) == Added(3, 0)
    change = verdicts({"image": "b", "other": "x", "verdict": "same", "person": "bob"})
    assert store.add_verdicts(change) == Added(1, 0)
    assert store.add_verdicts(first) == Added(0, 3)
    assert rows_of(store.verdicts(), "kind", "verdict", "person") == [
        ("pair", "unsure", "ann"),
        ("image", "wrong", "ann"),
        ("class", "problematic", "ann"),
        ("pair", "same", "bob"),
    ]
    later = verdicts({"image": "b", "other": "x", "verdict": "unsure", "person": "ann", "time": "2026-03-01T00:00:00Z"})
    assert store.add_verdicts(later) == Added(1, 0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"kind": "pair", "image": "a", "other": "b", "verdict": "wrong"}, "row 2: no verdict on pair: wrong"),
        ({"kind": "image", "image": "a", "verdict": "near"}, "no verdict on image: near"),
        ({"kind": "image", "verdict": "wrong"}, "without image"),
        ({"kind": "class", "verdict": "fine", "class_id": ""}, "without class_id"),
        ({"image": "a"}, "without other"),
        ({"image": "a", "other": "b", "person": ""}, "column person: empty in 1 row"),
        ({"kind": "person"}, "unknown word 'person'"),
        ({"verdict": "maybe"}, "unknown word 'maybe'"),
    ],
)
def test_verdicts_that_do_not_fit_are_refused(store: Store, row: dict, message: str):
    with pytest.raises(InputError, match=message):
        store.add_verdicts(verdicts({"image": "a", "other": "b"}, row))
    assert store.verdicts().num_rows == 0


def test_case_38_verdicts_survive_new_pairs_and_stay_when_their_pair_is_computed_again(store: Store):
    store.add_pairs(pairs({"image": "a", "other": "x"}))
    verdict = verdicts({"image": "a", "other": "x", "verdict": "different"})
    store.add_verdicts(verdict)
    store.add_pairs(pairs({"image": "a", "other": "x", "rank": 2, "distance": 9.0}, {"image": "a", "other": "y"}))
    assert store.verdicts().equals(verdict)
