from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from votes_made import SMALL, TIME, originals, pool, votes_of

from resit.build.voting.plan import plan_tasks, still_to_ask
from resit.build.voting.qualify import grade, plan_test, reject_unqualified
from resit.build.voting.quality import agreement_of, consensus_of, control_accuracy, reject_below
from resit.build.voting.read_csv import read_csv_votes
from resit.errors import UsageError
from resit.store.schemas import VOTES, table
from store_rows import images

SIMILAR = {"cat": ("dog", "car"), "dog": ("cat",), "car": ("dog",)}


def controls(person: str, positive: str, negative: str) -> pa.Table:
    """Controls answered with 1 (selected) or 0."""
    tables = [
        votes_of([(person, f"{role}{at}", answer == "1") for at, answer in enumerate(answers)], role=role)
        for role, answers in (("positive", positive), ("negative", negative))
    ]
    return pa.concat_tables(tables)


def test_the_accuracy_of_each_person_on_controls():
    votes = pa.concat_tables(
        [controls("good", "1111", "0001"), controls("bad", "0001", "11"), votes_of([("new", "x", True)])],
    )
    found = {row["person"]: row for row in control_accuracy(votes).to_pylist()}
    assert list(found) == ["bad", "good", "new"]
    good = found["good"]
    assert [good[name] for name in ("positive_right", "positive_shown", "negative_right", "negative_shown")] == [4, 4, 3, 4]
    # 7 of 8, Clopper-Pearson.
    assert (good["accuracy"], good["low"], good["high"]) == pytest.approx((0.875, 0.4735, 0.9968), abs=1e-4)
    assert (found["bad"]["accuracy"], found["bad"]["votes"], found["bad"]["assignments"]) == (pytest.approx(1 / 6), 6, 1)
    assert found["new"]["accuracy"] is None
    assert found["new"]["low"] is None


def test_people_below_an_accuracy_are_rejected_with_all_their_assignments():
    votes = pa.concat_tables(
        [
            controls("bad", "000111", "111000"),
            votes_of([("bad", "x", True)], assignment="t2:bad"),
            controls("good", "111111", "000000"),
            controls("new", "0", "1"),
        ]
    )
    found = reject_below(votes, 0.6, person="eve", time=TIME)
    assert found.to_pylist() == [
        {
            "assignment": name,
            "status": "rejected",
            "person": "eve",
            "reason": "50.0% right of 12 controls, below 60.0%",
            "time": TIME,
        }
        for name in ("t1:bad", "t2:bad")
    ]
    assert reject_below(votes, 0.5, person="eve", time=TIME).num_rows == 0
    assert set(reject_below(votes, 0.6, person="eve", time=TIME, fewest=1)["assignment"].to_pylist()) >= {"t1:new"}
    with pytest.raises(UsageError, match="80 is no accuracy"):
        reject_below(votes, 80, person="eve", time=TIME)


def test_agreement_is_on_candidates_over_all_and_by_class():
    # Krippendorff (2011), section A, as class 1; complete agreement on two images as class 2.
    meg, owen = "0100000010", "1110010000"
    rows = [(who, f"i{at}", answer == "1") for who, said in (("meg", meg), ("owen", owen)) for at, answer in enumerate(said)]
    same = [(who, image, image == "a") for who in ("meg", "owen") for image in "ab"]
    votes = pa.concat_tables(
        [votes_of(rows), votes_of(same, class_id="2", assignment="x"), controls("meg", "111111111", "")],
    )
    found = agreement_of(votes)
    assert round(found.classes["1"].alpha, 3) == 0.095
    assert found.classes["1"].raw == 0.6
    assert found.classes["2"].alpha == 1
    assert list(found.classes) == ["1", "2"]
    assert found.overall.units == 12
    assert str(found).startswith("raw agreement 0.667, Krippendorff's alpha")
    nothing = agreement_of(table(VOTES))
    assert (nothing.classes, nothing.overall.units) == ({}, 0)


def test_the_consensus_knows_who_clicks_at_random():
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.5
    right = {"p1": 0.95, "p2": 0.9, "p3": 0.85, "p4": 0.5, "p5": 0.5}
    rows = [(who, f"{at:03}", bool(truth[at] == (rng.random() < p))) for who, p in right.items() for at in range(400)]
    found = consensus_of(votes_of(rows))
    assert found.converged
    assert found.images["image"].to_pylist() == [f"{at:03}" for at in range(400)]
    probability, selected = found.images["probability"].to_numpy(), found.images["selected"].to_numpy()
    assert np.mean((probability > 0.5) == truth) > np.mean((selected >= 3) == truth) + 0.02
    assert set(found.images["shown"].to_pylist()) == {5}
    errors = {row["person"]: (row["sensitivity"], row["specificity"]) for row in found.people.to_pylist()}
    assert all(errors[who] == pytest.approx((p, p), abs=0.1) for who, p in right.items())
    with pytest.raises(UsageError, match="no votes on candidates"):
        consensus_of(controls("ann", "1", "0"))


def answers(tmp_path, tasks, said):
    """Votes of people, each of whom selects what a function of the row says."""
    lines = ["task,person,position,selected"]
    for person, says in said.items():
        lines += [f"{row['task']},{person},{row['position']},{int(says(row))}" for row in tasks.to_pylist()]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(lines))
    return read_csv_votes(path, tasks, time=TIME)


def test_a_qualification_test_is_planned_taken_and_graded(tmp_path):
    test = plan_test(originals(cat=9, dog=4, car=9), SIMILAR, ["cat", "dog"], 0, positive=4, negative=6)
    rows = test.to_pylist()
    assert len(rows) == 20
    assert {row["role"] for row in rows} == {"positive", "negative"}
    negatives = [row["image"][:3] for row in rows if row["class_id"] == "cat" and row["role"] == "negative"]
    assert sorted(negatives) == ["car"] * 2 + ["dog"] * 4
    assert [row["role"] for row in rows if row["class_id"] == "cat"] != ["positive"] * 4 + ["negative"] * 6
    assert test.equals(plan_test(originals(car=9, dog=4, cat=9), SIMILAR, ["dog", "cat"], 0, positive=4, negative=6))
    said = {
        "good": lambda row: row["role"] == "positive",
        "near": lambda row: row["role"] == "positive" or row["position"] == 0,
        "all": lambda _: True,
    }
    found = answers(tmp_path, test, said).votes
    partly = found.filter(pa.compute.equal(found["person"], "good")).slice(1)
    partly = partly.set_column(2, "person", [["part"] * 19]).set_column(3, "assignment", [["x"] * 19])
    grades = {row["person"]: row for row in grade(pa.concat_tables([found, partly]), test, accuracy=0.9).to_pylist()}
    assert (grades["good"]["right"], grades["good"]["passed"], grades["good"]["reason"]) == (20, True, "")
    assert (grades["all"]["right"], grades["all"]["reason"]) == (8, "8 of 20 right, 90.0% are needed")
    assert grades["part"]["reason"] == "19 of 20 images answered"
    assert grades["near"]["passed"] == (grades["near"]["right"] >= 18)


def test_votes_of_people_who_did_not_pass_or_took_no_test_are_rejected(tmp_path):
    test = plan_test(originals(cat=9, dog=9), SIMILAR, ["cat"], 0)
    grades = grade(answers(tmp_path, test, {"ann": lambda row: row["role"] == "positive", "bob": lambda _: True}).votes, test)
    votes = votes_of([(who, "x", True) for who in ("ann", "bob", "eve")])
    found = reject_unqualified(votes, grades, person="lead", time=TIME).to_pylist()
    assert [(row["assignment"], row["reason"]) for row in found] == [
        ("t1:bob", "not qualified: 6 of 12 right, 90.0% are needed"),
        ("t1:eve", "not qualified: test not taken"),
    ]


def test_a_test_that_cannot_be_made_is_refused():
    with pytest.raises(UsageError, match="2 classes: car, cow"):
        plan_test(originals(cat=9, dog=9, car=1), SIMILAR, ["cat", "car", "cow"], 0)
    with pytest.raises(UsageError, match="a test of no class"):
        plan_test(originals(cat=9), SIMILAR, [], 0)
    with pytest.raises(UsageError, match="no accuracy"):
        grade(table(VOTES), plan_test(originals(cat=9, dog=9), SIMILAR, ["cat"], 0), accuracy=90)


def test_case_35_votes_go_into_a_store_once_and_a_rejection_takes_them_out_and_back_in(store, tmp_path):
    candidates, known = pool(cat=4), originals(cat=4, dog=4)
    rows = [images(row["image"], class_id=row["class_id"], role="original") for row in known.to_pylist()]
    store.add_images(pa.concat_tables([candidates, *rows]))
    plan = plan_tasks(store.images(), store.counts(), known, SIMILAR, SMALL, 0)
    store.add_tasks(plan.tasks)
    assert store.add_tasks(plan.tasks).new == 0
    said = {who: (lambda row, w=who: w != "bob" and row["role"] != "negative") for who in ("ann", "bob", "eve")}
    found = answers(tmp_path, store.tasks(), said)
    assert store.add_votes(found.votes).new == 24
    again = answers(tmp_path, store.tasks(), said)
    assert store.add_votes(again.votes).new == 0
    assert still_to_ask(store.tasks(), store.counts(), 3) == {}

    rejected = reject_below(store.votes(), 0.8, person="lead", time=TIME, fewest=4)
    store.set_assignments(rejected)
    (task,) = {row["task"] for row in plan.tasks.to_pylist()}
    assert still_to_ask(store.tasks(), store.counts(), 3) == {task: 1}
    shown = {row["image"]: (row["selected"], row["shown"]) for row in store.counts("candidate").to_pylist()}
    assert set(shown.values()) == {(2, 2)}
    store.set_assignments(rejected.set_column(1, "status", [["accepted"] * len(rejected)]))
    shown = {row["image"]: (row["selected"], row["shown"]) for row in store.counts("candidate").to_pylist()}
    assert set(shown.values()) == {(2, 3)}
    assert plan_tasks(store.images(), store.counts(), known, SIMILAR, SMALL, 0, tasks=store.tasks()).tasks.num_rows == 0
