from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from resit.build.review import current
from resit.errors import InputError, UsageError
from resit.simulate.reviewers import Reviewers, judge_images, judge_pairs
from resit.simulate.truth import TRUTH
from resit.store.schemas import VERDICTS, table

TIME = "2026-01-01T00:00:00Z"
CAREFUL = Reviewers(care=1.0)


def truth_of(rows: list[dict[str, str]]) -> pa.Table:
    whole = [
        {**dict.fromkeys(TRUTH, ""), "role": "candidate", "clarity": 1.0, "class_id": "cat", "true_class": "cat", **row}
        for row in rows
    ]
    return table(TRUTH, {name: [row[name] for row in whole] for name in TRUTH})


TRUTHS = truth_of(
    [
        {"image": "good"},
        {"image": "bad", "true_class": "dog"},
        {"image": "jpeg", "twin": "ref", "change": "reencoded"},
        {"image": "moved", "twin": "ref", "change": "shifted"},
        {"image": "again", "twin": "good", "change": "brightened"},
    ]
)


def pairs(*named: tuple[str, str]) -> pa.Table:
    return pa.table({"image": [a for a, _ in named], "other": [b for _, b in named]})


def told(verdicts: pa.Table) -> dict[tuple[str, str], str]:
    columns = (verdicts[name].to_pylist() for name in ("image", "other", "verdict"))
    return {(image, other): verdict for image, other, verdict in zip(*columns, strict=True)}


def test_careful_reviewers_see_wrong_labels():
    rows = pa.table({"image": ["good", "bad", "bad"], "class_id": ["cat", "cat", "cat"]})
    verdicts = judge_images(rows, TRUTHS, CAREFUL, seed=1, time=TIME)
    assert told(verdicts) == {("bad", ""): "wrong", ("good", ""): "right"}
    assert set(verdicts["kind"].to_pylist()) == {"image"}
    assert len(current(verdicts)) == 2


def test_careful_reviewers_see_near_duplicates():
    found = judge_pairs(
        pairs(("jpeg", "ref"), ("ref", "moved"), ("moved", "jpeg"), ("again", "good"), ("good", "again"), ("good", "ref")),
        TRUTHS,
        CAREFUL,
        seed=1,
        time=TIME,
    )
    assert told(found) == {
        ("again", "good"): "near",
        ("good", "ref"): "different",
        ("jpeg", "moved"): "near",
        ("jpeg", "ref"): "same",
        ("moved", "ref"): "near",
    }
    assert current(found).equals(found)


def test_careless_reviewers_see_a_share():
    truth = truth_of([{"image": f"i{i:04}", "true_class": "dog"} for i in range(2_000)])
    verdicts = judge_images(truth, truth, Reviewers(size=4, care=0.7), seed=3, time=TIME)
    assert verdicts["verdict"].to_pylist().count("wrong") == pytest.approx(1_400, abs=60)
    shares = pc.value_counts(verdicts["person"]).field("counts").to_pylist()
    assert len(shares) == 4
    assert min(shares) > 400
    again = judge_images(truth.slice(1_000), truth, Reviewers(size=4, care=0.7), seed=3, time=TIME)
    assert again.equals(verdicts.slice(1_000))
    assert not judge_images(truth, truth, Reviewers(size=4, care=0.7), seed=4, time=TIME).equals(verdicts)
    assert "wrong" not in judge_images(truth, truth, Reviewers(care=0), seed=3, time=TIME)["verdict"].to_pylist()


def test_nothing_to_look_at_has_no_verdicts():
    assert judge_images(TRUTHS.slice(0, 0), TRUTHS, CAREFUL, seed=1, time=TIME).equals(table(VERDICTS))
    nothing = pa.table({"image": pa.array([], pa.string()), "other": pa.array([], pa.string())})
    assert judge_pairs(nothing, TRUTHS, CAREFUL, seed=1, time=TIME).equals(table(VERDICTS))


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(InputError, match="nothing is known: strange"):
        judge_images(pa.table({"image": ["strange"], "class_id": ["cat"]}), TRUTHS, CAREFUL, seed=1, time=TIME)
    with pytest.raises(UsageError, match="reviewers that cannot be"):
        Reviewers(size=0)
