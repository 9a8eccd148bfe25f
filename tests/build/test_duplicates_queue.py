"""What people look at next, and how far they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from duplicates_made import pair_rows, said
from hypothesis import given
from hypothesis import strategies as st

from resit import InputError, UsageError
from resit.build.duplicates.queue import review_queue
from resit.build.duplicates.reviewed import reviewed
from resit.build.eligibility import unreviewed
from resit.build.review import review
from resit.store.schemas import SELECTED, VERDICTS, table

NOTHING = table(VERDICTS)


def shown(queue: pa.Table) -> list[str]:
    return [f"{row['image']}{row['other']}" for row in queue.to_pylist()]


def row(metric: str, image: str, other: str, distance: float, rank: int = 1, reference: str = "") -> dict[str, object]:
    return {"metric": metric, "image": image, "other": other, "distance": distance, "rank": rank, "reference": reference}


def test_each_pair_once_and_nearest_first():
    pairs = pair_rows(
        [
            row("l2", "b", "a", 0.2),
            row("l2", "a", "b", 0.2),
            row("l2", "a", "t", 0.1, 1, "train"),
            row("l2", "c", "t", 0.3, 1, "x"),
        ]
    )
    queue = review_queue(pairs, NOTHING, {})
    assert shown(queue) == ["at", "ab", "ct"]
    assert queue.to_pylist()[0] == row("l2", "a", "t", 0.1, 1, "train")


def test_judged_pairs_are_out_and_unsure_ones_last():
    pairs = pair_rows([row("l2", "a", "b", 0.1), row("l2", "c", "d", 0.2), row("l2", "e", "f", 0.3), row("l2", "g", "h", 0.4)])
    verdicts = said(("b", "a", "unsure"), ("c", "d", "near"), ("f", "e", "different"))
    assert shown(review_queue(pairs, verdicts, {})) == ["gh", "ab"]


def test_case_38_verdicts_are_kept_and_the_last_one_counts():
    pairs = pair_rows([row("l2", "a", "b", 0.1), row("l2", "c", "d", 0.2)])
    verdicts = said(("a", "b", "unsure"), ("b", "a", "same"), ("c", "d", "same"), ("c", "d", "unsure"))
    assert shown(review_queue(pairs, verdicts, {})) == ["cd"]
    again = pa.concat_tables([pairs, pair_rows([row("l2", "d", "c", 0.2), row("l2", "a", "e", 0.5, 2)])])
    assert shown(review_queue(again, verdicts, {})) == ["ae", "cd"]


def test_targets_bring_pairs_in_and_without_any_all_come():
    pairs = pair_rows(
        [
            row("l2", "a", "b", 5),
            row("dssim", "a", "b", 0.4),
            row("l2", "c", "d", 9),
            row("dssim", "c", "d", 0.1),
            row("l2", "e", "f", 9),
            row("dssim", "e", "f", 0.4),
            row("correlation", "g", "h", 0),
        ]
    )
    assert shown(review_queue(pairs, NOTHING, {"l2": 5.0, "dssim": 0.1})) == ["cd", "ab"]
    assert shown(review_queue(pairs, NOTHING, {"l2": 5.0, "dssim": None})) == ["ab"]
    assert shown(review_queue(pairs, NOTHING, {"l2": None, "dssim": None})) == ["cd", "ab", "ef", "gh"]
    assert shown(review_queue(pairs, NOTHING, {"l2": 1.0})) == []


def test_the_order_is_by_the_best_metric_there_is_and_others_follow_by_rank():
    pairs = pair_rows(
        [row("l2", "a", "b", 1, 3), row("l2", "c", "d", 2, 1), row("relative", "e", "f", 0.9, 9), row("l2", "e", "f", 7, 4)]
    )
    assert shown(review_queue(pairs, NOTHING, {})) == ["ef", "cd", "ab"]
    assert shown(review_queue(pairs, NOTHING, {}, order="l2")) == ["ab", "cd", "ef"]
    with pytest.raises(UsageError, match="no distances 'dssim'"):
        review_queue(pairs, NOTHING, {}, order="dssim")


def test_what_was_pushed_off_a_list_and_an_image_in_a_reference_are_not_looked_at():
    pairs = pair_rows([row("l2", "a", "b", 1, 31), row("l2", "a", "a", 0, 1, "train"), row("l2", "a", "c", 1, 30)])
    assert shown(review_queue(pairs, NOTHING, {})) == ["ac"]
    assert shown(review_queue(pairs, NOTHING, {}, neighbours=31)) == ["ab", "ac"]


def test_no_pairs():
    assert review_queue(pair_rows([]), said(("a", "b", "same")), {"l2": 1.0}).num_rows == 0
    assert reviewed(pair_rows([]), NOTHING, {}) == ()


def test_a_verdict_that_is_none_is_refused():
    with pytest.raises(InputError, match="no verdict 'maybe'"):
        review_queue(pair_rows([row("l2", "a", "b", 1)]), said(("a", "b", "maybe")), {})


IDS = st.sampled_from("abcdef")
METRICS = st.sampled_from(["l2", "dssim", "relative"])
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["l2", "dssim", "relative"]), IDS, IDS, st.integers(0, 4), st.integers(1, 6), st.sampled_from(["", "t"])
    ),
    max_size=25,
    unique_by=lambda one: (one[0], one[1], one[2], one[5]),
)
SAID = st.lists(
    st.tuples(IDS, IDS, st.sampled_from(["same", "different", "unsure"])).filter(lambda one: one[0] != one[1]), max_size=9
)


@given(ROWS, SAID, st.sampled_from([None, 2.0]), st.randoms())
def test_the_queue_is_what_eligibility_waits_for(rows, events, target, random):
    """An independent look, row by row; and nobody waits for a pair that is not in the queue."""
    rows = [row(*one) for one in rows]
    verdicts = said(*events)
    targets = {"l2": target, "dssim": 1.0}
    last = {frozenset(one[:2]): one[2] for one in events}
    wanted = {
        frozenset((one["image"], one["other"]))
        for one in rows
        if targets.get(one["metric"]) is not None and one["distance"] <= targets[one["metric"]] and one["image"] != one["other"]
    }
    wanted = {pair for pair in wanted if last.get(pair, "unsure") == "unsure"}
    queue = review_queue(pair_rows(rows), verdicts, targets)
    got = [frozenset((one["image"], one["other"])) for one in queue.to_pylist()]
    assert len(got) == len(set(got))
    assert set(got) == wanted
    random.shuffle(rows)
    assert review_queue(pair_rows(rows), verdicts, targets).equals(queue)
    selected = table(SELECTED)
    assert review(selected, None, verdicts, queue).pairs.num_rows == len(got)
    # Each candidate has a list that goes on beyond the targets.
    firsts = [row(metric, image, "z", 9, 1) for metric in targets for image in "abcdef"]
    others = [one for one in rows if one["image"] != one["other"]]
    waiting = unreviewed(pa.table({"image": list("abcdef")}), pair_rows(others + firsts), verdicts, targets, neighbours=30)
    assert set(waiting["image"].to_pylist()) == {image for pair in got for image in pair}


def test_how_far_the_review_has_come():
    pairs = pair_rows(
        [
            row("l2", "a", "b", 0.1),
            row("l2", "b", "a", 0.1),
            row("l2", "a", "c", 0.2, 2),
            row("l2", "a", "d", 0.3, 3),
            row("l2", "a", "e", 0.4, 4),
            row("dssim", "a", "b", 0.5),
            row("dssim", "x", "y", 0.1),
        ]
    )
    verdicts = said(("b", "a", "same"), ("a", "c", "different"), ("a", "d", "unsure"), ("a", "e", "different"))
    dssim, l2, shifted = reviewed(pairs, verdicts, {"l2": 0.3, "shifted": 0.1})
    assert (l2.pairs, l2.judged, l2.open, l2.unsure, l2.reached) == (3, 2, 1, 1, 0.2)
    assert (dssim.pairs, dssim.judged, dssim.open, dssim.unsure, dssim.reached) == (2, 1, 1, 0, None)
    assert (shifted.pairs, shifted.open, shifted.reached) == (0, 0, None)
    assert str(l2) == "l2 (target 0.3): 2 of 3 pairs judged, all up to 0.2; 1 open, 1 of them unsure"
    assert str(dssim) == "dssim (no target): 1 of 2 pairs judged, none in order yet; 1 open"


def test_all_that_is_judged_is_reached():
    pairs = pair_rows([row("l2", "a", "b", 0.1), row("l2", "a", "c", 0.1, 2), row("l2", "a", "d", 0.2, 3)])
    (before,) = reviewed(pairs, said(("a", "b", "same")), {})
    assert before.reached is None
    (after,) = reviewed(pairs, said(("a", "b", "same"), ("a", "c", "same"), ("a", "d", "different")), {})
    assert after.reached == 0.2
    assert np.isclose(after.open, 0)
