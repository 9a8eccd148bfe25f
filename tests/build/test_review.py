"""Review: which verdict holds, what it rules out, what is left to look at, and when the rounds end."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_made import rows

from resit.build.review import blacklist, current, review
from resit.errors import InputError
from resit.store.schemas import PAIRS, SELECTED, VERDICTS, table


def verdict(kind: str, image: str, verdict: str, *, other: str = "", key: str = "", at: str = "2024-01-01T00:00:00Z") -> Any:
    return {"kind": kind, "image": image, "other": other, "class_id": key, "verdict": verdict, "person": "p", "time": at}


def selected(*images: str) -> pa.Table:
    return rows(SELECTED, [{"image": i, "class_id": "c", "selected": 1, "shown": 2, "bin": 2, "fate": "drawn"} for i in images])


def pair(image: str, other: str, metric: str = "l2") -> dict[str, Any]:
    return {"metric": metric, "image": image, "other": other, "reference": "", "distance": 1.0, "rank": 1}


NONE = table(PAIRS)


def test_the_last_verdict_by_time_holds_whatever_the_order_of_rows():
    events = [
        verdict("image", "a", "right", key="c", at="2024-01-03T00:00:00Z"),
        verdict("image", "a", "wrong", key="c", at="2024-01-02T00:00:00Z"),
        verdict("image", "a", "wrong", key="d", at="2024-01-01T00:00:00Z"),
    ]
    held = current(rows(VERDICTS, events)).to_pylist()
    assert [(one["class_id"], one["verdict"]) for one in held] == [("c", "right"), ("d", "wrong")]
    assert blacklist(rows(VERDICTS, events)).images.to_pylist() == [{"image": "a", "class_id": "d"}]


def test_fractions_of_seconds_are_times_and_no_text():
    early = verdict("image", "a", "wrong", key="c", at="2024-01-01T00:00:00Z")
    late = verdict("image", "a", "right", key="c", at="2024-01-01T00:00:00.5Z")  # as text it is smaller
    assert current(rows(VERDICTS, [late, early]))["verdict"].to_pylist() == ["right"]


def test_of_one_time_the_last_row_holds():
    events = [verdict("class", "", "fine", key="c"), verdict("class", "", "problematic", key="c")]
    assert blacklist(rows(VERDICTS, events)).problematic == ("c",)
    assert blacklist(rows(VERDICTS, events[::-1])).problematic == ()


def test_a_pair_is_one_pair_in_either_order():
    events = [
        verdict("pair", "b", "same", other="a", at="2024-01-01T00:00:00Z"),
        verdict("pair", "a", "different", other="b", at="2024-01-02T00:00:00Z"),
    ]
    held = current(rows(VERDICTS, events)).to_pylist()
    assert [(one["image"], one["other"], one["verdict"]) for one in held] == [("a", "b", "different")]
    found = review(selected(), None, rows(VERDICTS, events), rows(PAIRS, [pair("b", "a"), pair("a", "c")]))
    assert found.pairs["other"].to_pylist() == ["c"]


EVENTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["c", "d", ""]), st.sampled_from(["wrong", "right"])), max_size=12
)


@given(EVENTS, st.randoms(use_true_random=False))
def test_current_is_what_going_through_the_log_gives(events: list[tuple[str, str, str]], random: Any):
    made = [verdict("image", i, v, key=k, at=f"2024-01-{day:02d}T00:00:00Z") for day, (i, k, v) in enumerate(events, 1)]
    by_hand = {(one["image"], one["class_id"]): one["verdict"] for one in made}
    random.shuffle(made)
    held = current(rows(VERDICTS, made)).to_pylist()
    assert [((one["image"], one["class_id"]), one["verdict"]) for one in held] == sorted(by_hand.items())


def test_case_38_rounds_go_on_until_one_changes_nothing_and_verdicts_stay():
    first, second = selected("a", "b", "c"), selected("a", "b", "d")
    queue = rows(PAIRS, [pair("a", "b"), pair("b", "a", "dssim"), pair("c", "a")])
    found = review(first, None, table(VERDICTS), queue)
    assert (found.images["image"].to_pylist(), found.pairs.num_rows, found.came) == (["a", "b", "c"], 2, None)
    assert not found.converged
    assert found.next == "Look at 3 images and 2 pairs."
    log = [verdict("image", i, "wrong" if i == "c" else "right", key="c") for i in "abc"]
    log += [verdict("pair", "a", "different", other="b"), verdict("pair", "a", "unsure", other="c")]
    found = review(first, None, rows(VERDICTS, log), queue)
    assert (found.left, found.unsure, found.wrong["image"].to_pylist()) == (1, 1, ["c"])
    log += [verdict("pair", "a", "near", other="c", at="2024-01-02T00:00:00Z")]
    found = review(first, None, rows(VERDICTS, log), queue)
    assert found.left == 0
    assert found.next == "Make the next revision (sample again): 1 selected image judged wrong."
    found = review(second, first, rows(VERDICTS, log), queue)
    assert (found.came, found.went, found.images["image"].to_pylist()) == (1, 1, ["d"])
    log += [verdict("image", "d", "right", key="c", at="2024-01-03T00:00:00Z")]
    found = review(second, first, rows(VERDICTS, log), queue)
    assert found.left == 0
    assert not found.converged
    assert found.next.startswith("Make the next revision (sample again): the rounds end")
    found = review(second, second, rows(VERDICTS, log), queue)
    assert found.converged
    assert "Release it" in str(found)


def test_a_verdict_for_one_class_says_nothing_of_another_and_one_without_class_holds_for_all():
    log = [verdict("image", "a", "wrong", key="other class")]
    found = review(selected("a"), None, rows(VERDICTS, log), NONE)
    assert (found.images.num_rows, found.wrong.num_rows) == (1, 0)
    found = review(selected("a"), None, rows(VERDICTS, [verdict("image", "a", "wrong")]), NONE)
    assert (found.images.num_rows, found.wrong.num_rows) == (0, 1)


def test_an_empty_selection_has_not_converged():
    found = review(selected(), selected(), table(VERDICTS), NONE)
    assert found.next.startswith("Make the first revision")
    assert not found.converged


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (verdict("image", "a", "same", key="c"), "no verdict 'same' on image"),
        (verdict("picture", "a", "wrong", key="c"), "no kind of verdict 'picture'"),
        (verdict("image", "a", "wrong", key="c", at="yesterday"), "a time that is none"),
    ],
)
def test_what_is_no_verdict_is_refused(event: dict[str, Any], message: str):
    with pytest.raises(InputError, match=message):
        current(rows(VERDICTS, [event]))
