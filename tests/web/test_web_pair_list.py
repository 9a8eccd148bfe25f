"""The list of pairs against the build's own queue, whatever is said in whatever order; and names that nobody else can read."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extras import needs
from resit.build.duplicates.queue import review_queue
from resit.build.duplicates.reviewed import reviewed
from resit.store.schemas import PAIRS, VERDICTS, table

needs("fastapi", "uvicorn", "sqlalchemy")

IMAGES = "abcd"
WORDS = ("same", "near", "different", "unsure")
TARGETS = {"relative": 0.5, "dssim": 0.3, "l2": None}
# Metric, image, other, reference, distance in tenths, rank.
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["relative", "dssim"]),
        st.sampled_from(IMAGES),
        st.sampled_from(f"{IMAGES}xy"),
        st.sampled_from(["", "train", "test"]),
        st.integers(0, 9),
        st.integers(1, 4),
    ),
    max_size=25,
    unique_by=lambda row: row[:4],
)
# Image, other, verdict, person, second.
SAID = st.lists(
    st.tuples(
        st.sampled_from(f"{IMAGES}xy"),
        st.sampled_from(f"{IMAGES}xyz"),
        st.sampled_from(WORDS),
        st.sampled_from("PQ"),
        st.integers(0, 3),
    ).filter(lambda row: row[0] != row[1]),
    max_size=25,
)


def rows_of(rows: list[tuple[object, ...]], schema: dict[str, str], names: tuple[str, ...]) -> object:
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    return table(schema, {name: columns.get(name, ["pair" if name == "kind" else ""] * len(rows)) for name in schema})


@settings(deadline=None, max_examples=60)
@given(ROWS, SAID)
def test_the_list_is_the_queue_after_every_verdict(rows: list[tuple[object, ...]], said: list[tuple[object, ...]]):
    from resit.web.pair_list import PairList, Said, key_of

    tenths = [(*row[:4], row[4] / 10, row[5]) for row in rows]  # type: ignore[operator]
    pairs = rows_of(tenths, PAIRS, ("metric", "image", "other", "reference", "distance", "rank"))
    # One time is written in two ways, of which the later one comes first in the order of letters.
    events = [(*row[:4], f"2026-01-01T00:00:0{row[4]}{'Z' if at % 2 else '.000Z'}") for at, row in enumerate(said)]
    found = PairList(pairs, TARGETS, neighbours=3)
    for n in range(len(events) + 1):
        if n:
            found.say(Said(n, *events[n - 1]))
        verdicts = rows_of(events[:n], VERDICTS, ("image", "other", "verdict", "person", "time"))
        wanted = review_queue(pairs, verdicts, TARGETS, neighbours=3).to_pylist()
        assert [found.pair(at)._asdict() for at in found.waiting()] == [
            {name: row[name] for name in ("image", "other", "reference", "metric", "distance")} for row in wanted
        ]
        assert found.left == len(wanted)
        told = {one.metric: (one.pairs, one.judged) for one in found.progress()}
        slow = {one.metric: (one.pairs, one.judged) for one in reviewed(pairs, verdicts, TARGETS, neighbours=3)}
        assert told == {name: slow[name] for name, target in TARGETS.items() if target is not None}
        for place in found.waiting():
            pair = found.pair(place)
            assert found.place(pair.key) == place
            assert found.key(place) == pair.key == key_of(pair.other, pair.image)


def test_without_a_target_nothing_waits():
    from resit.web.pair_list import PairList

    pairs = rows_of([("l2", "a", "b", "", 0.1, 1)], PAIRS, ("metric", "image", "other", "reference", "distance", "rank"))
    assert len(PairList(pairs, {"l2": None}, neighbours=30)) == 0


@settings(deadline=None)
@given(st.text(), st.binary(min_size=1, max_size=40))
def test_what_is_sealed_opens_with_its_key_alone(text: str, key: bytes):
    from resit.web.sealed import seal, unseal

    name = seal(key, text)
    assert name == seal(key, text)
    assert unseal(key, name) == text
    assert unseal(key + b"x", name) is None
    assert set(name) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize("name", ["", "x", "ä", "a" * 21, "a b", "=", "\0", "A" * 200])
def test_what_was_never_sealed_does_not_open(name: str):
    from resit.web.sealed import unseal

    assert unseal(b"key", name) is None


def test_a_sealed_text_that_was_changed_anywhere_does_not_open():
    from resit.web.sealed import seal, unseal

    name = seal(b"key", "one\0two")
    for place, letter in itertools.product(range(len(name) - 1), "AB_"):
        if name[place] != letter:
            assert unseal(b"key", name[:place] + letter + name[place + 1 :]) is None
