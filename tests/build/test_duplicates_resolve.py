"""Groups of near-duplicates: who may stay."""

from __future__ import annotations

import pyarrow as pa
import pytest
from duplicates_made import pair_rows, said
from hypothesis import given
from hypothesis import strategies as st
from pools_made import images_of

from resit import InputError
from resit.build.duplicates.resolve import Group, Resolved, resolve
from resit.build.eligibility import eligible
from resit.store.schemas import COUNTS, VERDICTS, table

NOTHING = table(VERDICTS)


def counted(*counts: tuple[str, str, int]) -> pa.Table:
    """COUNTS of image, class and how often shown."""
    columns = {
        "image": [image for image, _, _ in counts],
        "class_id": [class_id for _, class_id, _ in counts],
        "selected": [0] * len(counts),
        "shown": [shown for _, _, shown in counts],
    }
    return table(COUNTS, columns)


def resolved(
    candidates: str | list[tuple[str, str]], verdicts: pa.Table, *counts: tuple[str, str, int], references: str = ""
) -> Resolved:
    """With all votes there should be where none are given."""
    listed = [(image, "cat") for image in candidates] if isinstance(candidates, str) else candidates
    votes = counted(*(counts or [(image, class_id, 10) for image, class_id in listed]))
    return resolve(images_of(listed), pair_rows([]), verdicts, votes, minimum_votes=10, references=set(references))


def out(found: Resolved) -> str:
    assert set(found.excluded["reason"].to_pylist()) <= {"near-duplicate"}
    assert set(found.excluded["class_id"].to_pylist()) <= {""}
    return "".join(found.excluded["image"].to_pylist())


def test_of_a_group_the_first_stays():
    found = resolved("abcdef", said(("c", "b", "same"), ("c", "d", "near"), ("e", "f", "different"), ("a", "e", "unsure")))
    assert out(found) == "cd"
    assert found.groups == (Group(("b", "c", "d"), (), "b"),)
    assert str(found) == "1 groups of near-duplicates, 0 with a reference; 2 images out"


def test_a_group_with_a_reference_loses_all():
    found = resolved("abcd", said(("a", "b", "near"), ("b", "r", "same"), ("c", "d", "same")), references="rs")
    assert out(found) == "abd"
    assert found.groups == (Group(("a", "b"), ("r",), ""), Group(("c", "d"), (), "c"))


def test_references_join_groups_that_they_are_between():
    found = resolved("ab", said(("a", "r", "near"), ("r", "s", "near"), ("s", "b", "near")), references="rs")
    assert found.groups == (Group(("a", "b"), ("r", "s"), ""),)


def test_an_image_that_is_in_a_reference_needs_no_verdict():
    found = resolved("abc", said(("a", "b", "same")), references="bz")
    assert out(found) == "ab"
    assert resolved("abc", NOTHING, references="c").groups == (Group(("c",), ("c",), ""),)


def test_references_are_also_those_that_pairs_name():
    pairs = pair_rows([{"image": "a", "other": "r", "distance": 0.1, "reference": "train"}])
    verdicts = said(("a", "r", "same"), ("b", "x", "same"))
    found = resolve(images_of([("a", "k"), ("b", "k")]), pairs, verdicts, counted(), minimum_votes=10, references=[])
    assert out(found) == "a"
    assert found.groups == (Group(("a",), ("r",), ""),)


def test_votes_and_the_blacklist_come_before_the_id():
    pair = (("a", "b", "same"), ("b", "c", "same"))
    assert resolved("abc", said(*pair), ("a", "cat", 9), ("b", "cat", 10), ("c", "cat", 99)).groups[0].kept == "b"
    wrong = pa.concat_tables([said(*pair), said(("b", "", "wrong"), kind="image", class_id="cat")])
    assert resolved("abc", wrong, ("a", "cat", 9), ("b", "cat", 10), ("c", "cat", 99)).groups[0].kept == "c"
    assert resolved("abc", wrong, ("b", "cat", 10)).groups[0].kept == "a"
    whole = pa.concat_tables([said(*pair), *(said((one, "", "wrong"), kind="image") for one in "abc")])
    assert resolved("abc", whole).groups[0].kept == "a"


def test_a_group_across_classes_keeps_one_image_for_whichever_class():
    candidates = [("a", "cat"), ("b", "dog"), ("b", "cat"), ("c", "fox")]
    verdicts = pa.concat_tables(
        [said(("a", "b", "near"), ("b", "c", "near")), said(("b", "", "wrong"), kind="image", class_id="cat")]
    )
    counts = (("a", "cat", 2), ("b", "cat", 10), ("b", "dog", 10), ("c", "fox", 10))
    assert resolved(candidates, verdicts, *counts).groups[0].kept == "b"
    # Where it is not wrong it lacks votes, so that the next one stays.
    fewer = (("a", "cat", 2), ("b", "cat", 10), ("b", "dog", 9), ("c", "fox", 10))
    assert resolved(candidates, verdicts, *fewer).groups[0].kept == "c"


def test_the_last_verdict_counts():
    assert out(resolved("ab", said(("a", "b", "same"), ("b", "a", "different")))) == ""
    assert out(resolved("ab", said(("a", "b", "different"), ("b", "a", "near")))) == "b"


def test_eligibility_takes_what_is_ruled_out():
    candidates = images_of([("a", "cat"), ("b", "dog"), ("b", "cat")])
    counts = counted(("a", "cat", 10), ("b", "cat", 10), ("b", "dog", 10))
    verdicts = said(("a", "b", "same"))
    found = resolve(candidates, pair_rows([]), verdicts, counts, minimum_votes=10, references=pa.array([], pa.string()))
    judged = eligible(candidates, counts, verdicts, found.excluded)
    assert judged.candidates["image"].to_pylist() == ["a"]
    assert judged.counts["near-duplicate"] == 2


def test_nothing_is_no_group():
    assert resolved("", NOTHING).groups == ()
    assert resolved("ab", NOTHING).excluded.num_rows == 0
    with pytest.raises(InputError, match="no verdict 'maybe'"):
        resolved("ab", said(("a", "b", "maybe")))


EVENTS = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"), st.sampled_from(["same", "near", "different", "unsure"])
    )
    .filter(lambda one: one[0] != one[1])
    .map(lambda one: (*sorted(one[:2]), one[2])),
    max_size=12,
)


@given(EVENTS, st.sets(st.sampled_from("abcdefgh")), st.sets(st.sampled_from("fgh")))
def test_each_group_keeps_at_most_one_and_none_with_a_reference(events, voted, references):
    last = {one[:2]: one[2] for one in events}
    near = {image: {image} for image in "abcdefgh"}
    for _ in near:
        for (one, two), verdict in last.items():
            if verdict in ("same", "near"):
                near[one] |= near[two]
                near[two] |= near[one]
    want = set()
    for image in "abcde":
        group = near[image]
        best = min((one for one in group if one in "abcde"), key=lambda one: (one not in voted, one))
        if group & references or image != best:
            want.add(image)
    votes = [("z", "cat", 10), *((one, "cat", 10) for one in sorted(voted))]
    found = resolved("abcde", said(*events), *votes, references="".join(references))
    assert out(found) == "".join(sorted(want))
