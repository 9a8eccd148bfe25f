"""Which candidates may be chosen, and why the others may not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pools_made import images_of, shuffled, verdicts_of

from resit.build.eligibility import Eligible, eligible, unreviewed, voted
from resit.errors import InputError
from resit.store.schemas import COUNTS, EXCLUDED, PAIRS, table


def counts_of(found: Mapping[tuple[str, str], tuple[int, int]]) -> pa.Table:
    columns = {
        "image": [image for image, _ in found],
        "class_id": [name for _, name in found],
        "selected": [k for k, _ in found.values()],
        "shown": [n for _, n in found.values()],
    }
    return table(COUNTS, columns)


def out_of(*named: tuple[str, str, str]) -> pa.Table:
    columns = list(zip(*named, strict=True)) or [()] * 3
    return table(EXCLUDED, dict(zip(EXCLUDED, map(list, columns), strict=True)))


def pairs_of(*found: tuple[str, str, float, int], metric: str = "l2") -> pa.Table:
    """Image, other, distance and rank."""
    columns = list(zip(*found, strict=True)) or [()] * 4
    made = dict(zip(("image", "other", "distance", "rank"), map(list, columns), strict=True))
    return table(PAIRS, {**made, "metric": [metric] * len(found), "reference": [""] * len(found)})


def reasons(found: Eligible) -> dict[tuple[str, str], str]:
    return {(row["image"], row["class_id"]): row["reason"] for row in found.excluded.to_pylist()}


def enough(*images: str) -> pa.Table:
    return counts_of({(image, "a"): (5, 10) for image in images})


def test_each_candidate_has_the_first_reason_that_holds():
    names = ["all", "votes", "near", "wait", "good", "unvoted"]
    counts = counts_of({("all", "a"): (1, 2), ("votes", "a"): (9, 9), ("near", "a"): (5, 10), ("wait", "a"): (5, 10),
                        ("good", "a"): (0, 10)})  # fmt: skip
    verdicts = verdicts_of(("image", "all", "", "a", "wrong"))
    duplicates = out_of(*((name, "a", "near-duplicate") for name in ("all", "votes", "near")))
    pairs = pairs_of(("good", "r", 9.0, 1), ("near", "r", 9.0, 1))
    found = eligible(images_of((name, "a") for name in names), counts, verdicts, duplicates, pairs=pairs, targets={"l2": 5.0})
    assert reasons(found) == {
        ("all", "a"): "blacklisted",
        ("votes", "a"): "too-few-votes",
        ("unvoted", "a"): "too-few-votes",
        ("near", "a"): "near-duplicate",
        ("wait", "a"): "unreviewed",
    }
    assert found.candidates.to_pylist() == [{"image": "good", "class_id": "a", "selected": 0, "shown": 10, "attributes": ""}]
    assert found.counts == {"blacklisted": 1, "too-few-votes": 2, "near-duplicate": 1, "unreviewed": 1, "other-class": 0}
    assert str(found) == "1 candidates eligible, 5 not: 1 blacklisted, 2 too-few-votes, 1 near-duplicate, 1 unreviewed"


def test_a_verdict_on_no_class_holds_for_every_class_and_the_last_one_counts():
    images = images_of([("x", "a"), ("y", "a"), ("x", "b"), ("z", "b")])
    counts = counts_of(dict.fromkeys((("x", "a"), ("y", "a"), ("x", "b"), ("z", "b")), (5, 10)))
    events = [("image", "x", "", "", "wrong"), ("image", "y", "", "a", "wrong"), ("image", "z", "", "a", "wrong")]
    found = eligible(images, counts, verdicts_of(*events), out_of())
    assert set(reasons(found)) == {("x", "a"), ("x", "b"), ("y", "a")}
    found = eligible(images, counts, verdicts_of(*events, ("image", "y", "", "a", "right")), out_of())
    assert set(reasons(found)) == {("x", "a"), ("x", "b")}


def test_the_step_on_duplicates_may_name_no_class_and_say_that_review_is_lacking():
    found = eligible(
        images_of([("x", "a"), ("y", "a")]), enough("x", "y"), verdicts_of(),
        out_of(("x", "", "near-duplicate"), ("y", "a", "unreviewed"), ("stranger", "a", "near-duplicate")),
    )  # fmt: skip
    assert reasons(found) == {("x", "a"): "near-duplicate", ("y", "a"): "unreviewed"}
    with pytest.raises(InputError, match="reasons that near-duplicates do not give: ugly"):
        eligible(images_of([("x", "a")]), enough("x"), verdicts_of(), out_of(("x", "a", "ugly")))


def waiting(pairs: pa.Table | None, *events: tuple[str, str], target: float = 5.0, neighbours: int = 30) -> list[str]:
    """Of images x and y, those that wait for review; events are the other image of x and the verdict on the pair."""
    verdicts = verdicts_of(*(("pair", "x", other, "", verdict) for other, verdict in events))
    return unreviewed(images_of([("x", "a"), ("y", "a")]), pairs, verdicts, {"l2": target}, neighbours)["image"].to_pylist()


def test_an_image_is_unreviewed_while_a_pair_within_the_target_has_no_sure_verdict():
    pairs = pairs_of(("x", "r1", 2.0, 1), ("x", "r2", 5.0, 2), ("x", "r3", 5.1, 3), ("y", "r1", 6.0, 1))
    assert waiting(pairs) == ["x"]
    assert waiting(pairs, ("r1", "different")) == ["x"]
    assert waiting(pairs, ("r1", "different"), ("r2", "unsure")) == ["x"]
    assert waiting(pairs, ("r1", "different"), ("r2", "unsure"), ("r2", "near")) == []
    assert waiting(pairs, target=1.9) == []


def test_a_pair_of_candidates_waits_for_both_and_one_verdict_is_for_both_orders():
    pairs = pairs_of(("y", "x", 2.0, 1), ("y", "r", 9.0, 2), ("x", "r", 9.0, 1))
    assert waiting(pairs) == ["x", "y"]
    assert waiting(pairs, ("y", "different")) == []


def test_an_image_whose_neighbours_were_not_looked_for_is_unreviewed():
    assert waiting(None) == ["x", "y"]
    assert waiting(pairs_of(("x", "r", 9.0, 1))) == ["y"]
    assert waiting(pairs_of(("x", "r", 9.0, 1), ("y", "r", 9.0, 1), metric="other")) == ["x", "y"]


def test_a_list_that_ends_within_the_target_was_not_reviewed_beyond_it_unless_it_holds_all():
    pairs = pairs_of(("x", "r1", 2.0, 1), ("x", "r2", 3.0, 2), ("y", "r", 9.0, 1))
    seen = [("r1", "different"), ("r2", "different")]
    assert waiting(pairs, *seen, neighbours=2) == ["x"]
    assert waiting(pairs, *seen, neighbours=3) == []


def test_every_metric_with_a_target_counts_and_one_without_does_not():
    pairs = pa.concat_tables([pairs_of(("x", "r", 9.0, 1)), pairs_of(("x", "r", 0.1, 1), metric="dssim")])
    targets = {"l2": 5.0, "dssim": 0.2, "features": None}
    found = unreviewed(images_of([("x", "a")]), pairs, verdicts_of(), targets)
    assert found.to_pylist() == [{"image": "x", "metric": "dssim"}]
    assert len(unreviewed(images_of([("x", "a")]), None, verdicts_of(), {"l2": None})) == 0


def test_an_image_stays_in_the_class_where_people_select_it_most():
    images = images_of([("x", "a"), ("x", "b"), ("y", "a"), ("y", "b"), ("z", "a"), ("z", "b"), ("w", "a"), ("w", "b")])
    counts = counts_of({("x", "a"): (5, 10), ("x", "b"): (6, 10), ("y", "a"): (5, 10), ("y", "b"): (10, 20),
                        ("z", "a"): (5, 10), ("z", "b"): (5, 10), ("w", "a"): (5, 10), ("w", "b"): (9, 9)})  # fmt: skip
    found = eligible(images, counts, verdicts_of(), out_of())
    assert reasons(found) == {
        ("x", "a"): "other-class",
        ("y", "a"): "other-class",
        ("z", "b"): "other-class",
        ("w", "b"): "too-few-votes",
    }


def test_votes_are_those_of_the_class_and_originals_are_no_candidates():
    images = pa.concat_tables([images_of([("x", "a")]), images_of([("o", "a"), ("x", "a")], "original")])
    counts = counts_of({("x", "b"): (9, 10), ("x", "a"): (3, 12)})
    found = eligible(images, counts, verdicts_of(), out_of()).candidates.to_pylist()
    assert [(row["image"], row["selected"], row["shown"]) for row in found] == [("x", 3, 12)]
    rows = voted(images, counts, "original").to_pylist()
    assert [(row["image"], row["selected"], row["shown"]) for row in rows] == [("o", 0, 0), ("x", 3, 12)]


def test_candidates_that_are_there_twice_and_counts_that_are_none_are_refused():
    with pytest.raises(InputError, match="there twice for a class: x"):
        eligible(images_of([("x", "a"), ("x", "a")]), enough("x"), verdicts_of(), out_of())
    with pytest.raises(InputError, match="more often than shown, or less often than never: x for a"):
        eligible(images_of([("x", "a")]), counts_of({("x", "a"): (11, 10)}), verdicts_of(), out_of())


def test_no_candidates_at_all():
    found = eligible(images_of([]), counts_of({}), verdicts_of(), out_of(), pairs=pairs_of(), targets={"l2": 1.0})
    assert len(found.candidates) == len(found.excluded) == len(found.waiting) == 0
    assert str(found) == "0 candidates eligible, 0 not"


@given(seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_every_candidate_is_kept_or_excluded_once_as_a_slow_reading_says(seed: int):
    rng = np.random.default_rng(seed)
    keys = [(f"i{i}", c) for i in range(8) for c in "ab" if rng.random() < 0.6]
    shown = {key: int(rng.integers(6, 14)) for key in keys}
    counts = counts_of({key: (int(rng.integers(0, n + 1)), n) for key, n in shown.items()})
    got = {(r["image"], r["class_id"]): r["selected"] / r["shown"] for r in counts.to_pylist()}
    wrong = [key for key in keys if rng.random() < 0.2]
    near = [key for key in keys if rng.random() < 0.2]
    verdicts = verdicts_of(*(("image", image, "", name, "wrong") for image, name in wrong))
    given_rows = images_of(keys), counts, verdicts, out_of(*((*key, "near-duplicate") for key in near))
    found = eligible(*given_rows)
    expected = {}
    for key in keys:
        checks = {"blacklisted": key in wrong, "too-few-votes": shown[key] < 10, "near-duplicate": key in near}
        expected[key] = next((reason for reason, holds in checks.items() if holds), "")
    for image in {image for image, _ in keys}:
        free = [key for key in keys if key[0] == image and not expected[key]]
        best = sorted(free, key=lambda key: (-got[key], -shown[key], key[1]))
        expected.update(dict.fromkeys(best[1:], "other-class"))
    assert reasons(found) == {key: reason for key, reason in expected.items() if reason}
    kept = list(zip(found.candidates["image"].to_pylist(), found.candidates["class_id"].to_pylist(), strict=True))
    assert sorted(kept) == sorted(key for key, reason in expected.items() if not reason)
    again = eligible(*(shuffled(one, seed) if one is not verdicts else one for one in given_rows))
    assert again.candidates.equals(found.candidates)
    assert again.excluded.equals(found.excluded)
