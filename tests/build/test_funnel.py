"""The funnel: by hand, against counting one by one, and what it says to do next."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_made import rows

from resit.build.funnel import funnel
from resit.data.benchmark import ClassInfo
from resit.errors import InputError
from resit.store.schemas import COUNTS, EXCLUDED, IMAGES, SELECTED, table

CLASSES = (ClassInfo("n1", "crane"), ClassInfo("n2", "crane"), ClassInfo("n3", "dog"))
BLANK = dict.fromkeys(IMAGES, "")


def candidates(*pairs: tuple[str, str], role: str = "candidate") -> list[dict[str, Any]]:
    return [{**BLANK, "image": image, "class_id": key, "role": role} for image, key in pairs]


def counts(*made: tuple[str, str, int]) -> pa.Table:
    return rows(COUNTS, [{"image": i, "class_id": k, "selected": 0, "shown": n} for i, k, n in made])


def excluded(*made: tuple[str, str, str]) -> pa.Table:
    return rows(EXCLUDED, [{"image": i, "class_id": k, "reason": r} for i, k, r in made])


def selected(*made: tuple[str, str]) -> pa.Table:
    return rows(SELECTED, [{"image": i, "class_id": k, "selected": 1, "shown": 1, "bin": 4, "fate": "drawn"} for i, k in made])


def test_a_funnel_by_hand():
    images = candidates(("a", "n1"), ("b", "n1"), ("c", "n1"), ("d", "n1"), ("e", "n1"), ("f", "n1"), ("a", "n3"))
    images += candidates(("x", "n1"), role="original")
    found = funnel(
        rows(IMAGES, images),
        counts(("a", "n1", 10), ("b", "n1", 9), ("c", "n1", 11), ("x", "n1", 50), ("a", "n3", 3), ("a", "n2", 40)),
        excluded(("b", "n1", "too-few-votes"), ("c", "n1", "blacklisted"), ("d", "n1", "near-duplicate"), ("e", "n1", "odd")),
        selected(("a", "n1")),
        CLASSES,
        {"n1": 2, "n3": 1},
        minimum_votes=10,
        failed=pa.table({"class_id": ["n1", "n3", "n3"]}),
    )
    first, second, third = found.rows
    assert (first.collected, first.failed, first.voted) == (6, 1, 2)
    assert (first.blacklisted, first.too_few_votes, first.near_duplicates, first.unreviewed, first.other) == (1, 1, 1, 0, 1)
    assert (first.eligible, first.wanted, first.selected, first.short) == (2, 2, 1, 1)
    assert (second.collected, second.voted, second.wanted, second.short) == (0, 0, 0, 0)
    assert (third.collected, third.failed, third.voted, third.eligible, third.short) == (1, 2, 0, 1, 1)
    assert (found.total.collected, found.total.short, found.total.class_id) == (7, 2, "")
    assert first.next == "Make a revision (sample): enough candidates are eligible."


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["n1", "n2", "n3"]),
        st.integers(0, 20),
        st.sampled_from(["", "selected", "blacklisted", "too-few-votes", "near-duplicate", "unreviewed", "strange"]),
    ),
    max_size=30,
)


@given(ROWS, st.integers(0, 5), st.randoms(use_true_random=False))
def test_the_funnel_is_what_counting_one_by_one_gives(made: list[tuple[str, int, str]], wanted: int, random: Any):
    named = [(f"i{place}", *one) for place, one in enumerate(made)]
    shuffled = random.sample(named, len(named))
    found = funnel(
        rows(IMAGES, candidates(*((i, k) for i, k, _, _ in named))),
        counts(*((i, k, n) for i, k, n, _ in shuffled)),
        excluded(*((i, k, fate) for i, k, _, fate in shuffled if fate not in ("", "selected"))),
        selected(*((i, k) for i, k, _, fate in shuffled if fate == "selected")),
        CLASSES,
        wanted,
        minimum_votes=8,
    )
    for row in found.rows:
        own = [one for one in made if one[0] == row.class_id]
        fates = [fate for _, _, fate in own]
        assert row.collected == len(own)
        assert row.voted == sum(n >= 8 for _, n, _ in own)
        assert (row.blacklisted, row.near_duplicates) == (fates.count("blacklisted"), fates.count("near-duplicate"))
        assert (row.too_few_votes, row.unreviewed) == (fates.count("too-few-votes"), fates.count("unreviewed"))
        assert (row.other, row.selected) == (fates.count("strange"), fates.count("selected"))
        assert row.eligible == fates.count("") + fates.count("selected")
        assert row.short == max(0, wanted - fates.count("selected"))
        parts = row.blacklisted + row.too_few_votes + row.near_duplicates + row.unreviewed + row.other + row.eligible
        assert parts == row.collected
        assert bool(row.next) == bool(row.short)
    assert found.next


def one_class(reasons: list[str], *, free: int = 0, wanted: int = 2) -> Any:
    pairs = [(f"i{place}", "n3") for place in range(len(reasons) + free)]
    out = [(image, key, reason) for (image, key), reason in zip(pairs, reasons, strict=False)]
    return funnel(rows(IMAGES, candidates(*pairs)), table(COUNTS), excluded(*out), selected(), CLASSES[2:], wanted)


def test_what_to_do_next():
    assert one_class([]).next == "Collect candidates: there are none yet."
    assert one_class(["too-few-votes"]).next == "Get votes: 1 class is short (dog)."
    assert one_class(["unreviewed"], free=1).rows[0].next == "Review near-duplicates: 1 candidates wait for it."
    assert one_class(["blacklisted"], free=1).rows[0].next == "Collect candidates: at least 1 more are needed."
    assert one_class([], free=2).next == "Make a revision (sample): 1 class is short (dog)."
    assert one_class([], free=2, wanted=0).next.startswith("Nothing is short")


def test_case_23_classes_of_one_name_are_told_apart():
    found = funnel(rows(IMAGES, candidates(("a", "n1"))), table(COUNTS), table(EXCLUDED), table(SELECTED), CLASSES, 1)
    assert found.labels == ("crane (n1)", "crane (n2)", "dog")
    head, *body = found.to_rows()
    assert head[:3] == ("class", "collected", "failed")
    assert [line[0] for line in body] == ["crane (n1)", "crane (n2)", "dog", "all"]
    assert all(len(line) == len(head) for line in body)
    assert "crane (n2)" in str(found)


def test_a_class_that_is_not_there_is_told():
    with pytest.raises(InputError, match="classes in excluded that the build does not have: n9"):
        funnel(table(IMAGES), table(COUNTS), excluded(("a", "n9", "x")), table(SELECTED), CLASSES, 1)
