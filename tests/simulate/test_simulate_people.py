from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from resit.build.voting.quality import control_accuracy, reject_below
from resit.errors import InputError, UsageError
from resit.simulate.people import Crowd, answer, counts_of_originals
from resit.simulate.truth import TRUTH
from resit.store import open_store
from resit.store.schemas import IMAGES, TASKS, VOTES, table

TIME = "2026-01-01T00:00:00Z"


def truth_of(*rows: tuple[str, str, str, str, float]) -> pa.Table:
    """Image, class, role, true class and clarity."""
    columns = dict(zip(("image", "class_id", "role", "true_class", "clarity"), map(list, zip(*rows, strict=True)), strict=True))
    return table(TRUTH, {**{name: [""] * len(rows) for name in TRUTH}, **columns})


def tasks_of(count: int, page: list[tuple[str, str]], class_id: str = "cat") -> pa.Table:
    rows = [(f"t{task:03}", class_id, image, role, at) for task in range(count) for at, (image, role) in enumerate(page)]
    return table(TASKS, dict(zip(TASKS, map(list, zip(*rows, strict=True)), strict=True)))


TRUTHS = truth_of(
    ("clear", "cat", "candidate", "cat", 1.0),
    ("vague", "cat", "candidate", "cat", 0.6),
    ("tempting", "cat", "candidate", "dog", 0.9),
    ("old-cat", "cat", "original", "cat", 0.8),
    ("old-dog", "dog", "original", "dog", 0.7),
    ("old-cow", "cow", "original", "cow", 1.0),
)
PAGE = [(name, "candidate") for name in ("clear", "vague", "tempting")] + [("old-cat", "positive"), ("old-dog", "negative")]


def frequencies(votes: pa.Table) -> dict[str, float]:
    counts = votes.group_by("image").aggregate([("selected", "mean")])
    return dict(zip(counts["image"].to_pylist(), counts["selected_mean"].to_pylist(), strict=True))


def test_each_task_is_answered_by_as_many_different_people():
    votes = answer(tasks_of(7, PAGE), TRUTHS, Crowd(20), seed=1, time=TIME, people=6)
    assert votes.schema.equals(table(VOTES).schema)
    assert len(votes) == 7 * 6 * 5
    pairs = set(zip(votes["assignment"].to_pylist(), votes["person"].to_pylist(), strict=True))
    assert len(pairs) == 42
    per_task = Counter(assignment.split("-person")[0] for assignment, _ in pairs)
    assert set(per_task.values()) == {6}
    assert all(assignment.endswith(person) for assignment, person in pairs)
    assert len(Counter(person for _, person in pairs)) > 15


def test_people_see_the_images_of_their_task():
    rng = np.random.default_rng(1)
    names = [f"t{number:x}" for number in rng.choice(10**9, 300, replace=False)]
    rows = [(name, "cat", f"{name}-{at}", "candidate", at) for at in range(4) for name in names]
    tasks = table(TASKS, dict(zip(TASKS, map(list, zip(*rows, strict=True)), strict=True)))
    truth = truth_of(*((image, "cat", "candidate", "cat", 0.5) for _, _, image, _, _ in rows))
    votes = answer(tasks, truth, Crowd(5), seed=1, time=TIME, people=2)
    shown = {
        (name.split("-")[0], image)
        for name, image in zip(*(votes[c].to_pylist() for c in ("assignment", "image")), strict=True)
    }
    assert shown == {(task, image) for task, _, image, _, _ in rows}
    assert len(votes) == 2 * len(tasks)


def test_perfect_people_select_what_looks_like_the_class():
    votes = answer(tasks_of(400, PAGE), TRUTHS, Crowd(30, skill=1), seed=2, time=TIME)
    found = frequencies(votes)
    # A dog that is clear to 0.7 looks like a cat with (1 - 0.7) / 2: three classes.
    expected = {"clear": 1, "vague": 0.6, "tempting": 0.9, "old-cat": 0.8, "old-dog": 0.15}
    assert found == pytest.approx(expected, abs=0.03)


def test_people_err_as_their_skill_says():
    crowd = Crowd(500, skill=0.8)
    people = crowd.people(3)
    for name in ("sensitivity", "specificity"):
        assert np.mean(people[name].to_numpy()) == pytest.approx(0.8, abs=0.01)
    found = frequencies(answer(tasks_of(400, PAGE), TRUTHS, crowd, seed=3, time=TIME))
    # 0.8 c + 0.2 (1 - c)
    expected = {"clear": 0.8, "vague": 0.56, "tempting": 0.74, "old-cat": 0.68, "old-dog": 0.29}
    assert found == pytest.approx(expected, abs=0.03)


def test_lazy_people_leave_images_out():
    found = frequencies(answer(tasks_of(400, PAGE), TRUTHS, Crowd(50, skill=1, laziness=0.25), seed=4, time=TIME))
    assert found["clear"] == pytest.approx(0.75, abs=0.03)
    assert found["old-dog"] == pytest.approx(0.1125, abs=0.03)


def test_controls_find_spammers():
    crowd = Crowd(40, skill=0.98, spam=0.2)
    truth = truth_of(*[(f"p{i}", "cat", "original", "cat", 0.95) for i in range(6)], ("n", "dog", "original", "dog", 0.95))
    page = [(f"p{i}", "positive") for i in range(6)] + [("n", "negative")]
    votes = answer(tasks_of(200, page), truth, crowd, seed=5, time=TIME)
    people = crowd.people(5)
    spammers = set(people.filter(people["spammer"])["person"].to_pylist())
    assert len(spammers) == 8
    accuracy = {row["person"]: row["accuracy"] for row in control_accuracy(votes).to_pylist()}
    assert {name for name, value in accuracy.items() if value < 0.7} == spammers
    assert np.mean([accuracy[name] for name in spammers]) == pytest.approx(0.5, abs=0.05)
    rejected = reject_below(votes, 0.7, person="lead", time=TIME)
    whose = dict(zip(votes["assignment"].to_pylist(), votes["person"].to_pylist(), strict=True))
    assert {whose[name] for name in rejected["assignment"].to_pylist()} == spammers


def test_answers_depend_on_nothing_but_seed_crowd_and_task():
    tasks = tasks_of(9, PAGE)
    votes = answer(tasks, TRUTHS, Crowd(25), seed=6, time=TIME)
    mixed = tasks.take(pa.array(np.random.default_rng(0).permutation(len(tasks))))
    assert answer(mixed, TRUTHS.take([5, 3, 1, 0, 2, 4]), Crowd(25), seed=6, time=TIME).equals(votes)
    one = tasks.filter(pc.equal(tasks["task"], "t004"))
    alone = answer(one, TRUTHS, Crowd(25), seed=6, time=TIME)
    assert alone.equals(votes.filter(pc.starts_with(votes["assignment"], "t004")).combine_chunks())
    assert not answer(tasks, TRUTHS, Crowd(25), seed=7, time=TIME).equals(votes)


def test_in_two_calls_the_same_people_answer_as_in_one():
    tasks = tasks_of(5, PAGE)
    whole = answer(tasks, TRUTHS, Crowd(25), seed=8, time=TIME, people=9)
    first = answer(tasks, TRUTHS, Crowd(25), seed=8, time=TIME, people=4)
    second = answer(
        tasks, TRUTHS, Crowd(25), seed=8, time=TIME, people=dict.fromkeys(tasks["task"].to_pylist(), 5), before=first
    )
    both = sorted(map(str, [*first.to_pylist(), *second.to_pylist()]))
    assert both == sorted(map(str, whole.to_pylist()))


def test_people_who_are_barred_are_not_asked():
    tasks = tasks_of(3, PAGE)
    barred = [f"person-{i:02}" for i in range(1, 11)]
    votes = answer(tasks, TRUTHS, Crowd(15), seed=9, time=TIME, people=5, barred=barred)
    assert set(votes["person"].to_pylist()) == {f"person-{i}" for i in range(11, 16)}


def test_only_tasks_that_need_people_are_asked():
    votes = answer(tasks_of(3, PAGE), TRUTHS, Crowd(15), seed=9, time=TIME, people={"t001": 2})
    assert {name.split("-person")[0] for name in votes["assignment"].to_pylist()} == {"t001"}
    assert answer(tasks_of(3, PAGE), TRUTHS, Crowd(15), seed=9, time=TIME, people={}).equals(table(VOTES))
    assert answer(table(TASKS), TRUTHS, Crowd(15), seed=9, time=TIME).equals(table(VOTES))


def test_the_store_takes_the_votes(tmp_path):
    with open_store(tmp_path / "build.sqlite", create=True) as store:
        rows = {name: [""] * len(TRUTHS) for name in IMAGES} | {name: TRUTHS[name] for name in ("image", "class_id", "role")}
        store.add_images(table(IMAGES, rows))
        votes = answer(tasks_of(4, PAGE), TRUTHS, Crowd(15), seed=1, time=TIME)
        assert store.add_votes(votes).new == 200
        assert store.add_votes(votes).known == 200
        again = answer(tasks_of(4, PAGE), TRUTHS, Crowd(15), seed=1, time=TIME, people=5, before=store.assignments())
        assert store.add_votes(again).new == 100


def test_what_cannot_be_answered_is_refused():
    with pytest.raises(UsageError, match="4 people left to ask, while task t000 needs 5"):
        answer(tasks_of(1, PAGE), TRUTHS, Crowd(4), seed=1, time=TIME, people=5)
    with pytest.raises(InputError, match="1 images of which nothing is known: strange"):
        answer(tasks_of(1, [("strange", "candidate")]), TRUTHS, Crowd(), seed=1, time=TIME)


@pytest.mark.parametrize("wrong", [{"size": 0}, {"skill": 0.4}, {"spam": 1.2}, {"laziness": -0.1}])
def test_a_crowd_that_cannot_be_is_refused(wrong):
    with pytest.raises(UsageError, match="a crowd that cannot be"):
        Crowd(**wrong)


def test_originals_have_votes_before_the_build():
    many = truth_of(*[(f"i{i:04}", "cat", "original", "cat", 0.9) for i in range(2_000)], ("c", "cat", "candidate", "cat", 1.0))
    counts = counts_of_originals(many, Crowd(10, skill=1), votes=20, seed=2)
    assert counts["image"].to_pylist() == [f"i{i:04}" for i in range(2_000)]
    assert set(counts["shown"].to_pylist()) == {20}
    assert np.mean(counts["selected"].to_numpy()) == pytest.approx(18, abs=0.1)
    assert np.std(counts["selected"].to_numpy()) == pytest.approx(np.sqrt(20 * 0.9 * 0.1), abs=0.1)
    with pytest.raises(UsageError, match="0 votes"):
        counts_of_originals(many, Crowd(10), votes=0)


def test_people_who_would_be_rejected_have_no_votes_on_originals():
    many = truth_of(*[(f"i{i:04}", "cat", "original", "cat", 0.9) for i in range(2_000)])
    crowd = Crowd(10, skill=1, spam=0.4)  # votes of all select 0.6 × 0.9 + 0.4 × 0.5
    for accuracy, share in ((0.0, 0.74), (0.75, 0.9)):
        counts = counts_of_originals(many, crowd, accuracy=accuracy, seed=2)
        assert np.mean(counts["selected"].to_numpy()) / 50 == pytest.approx(share, abs=0.005)
    lazy = Crowd(10, skill=1, laziness=0.4)  # right on 0.6 of the class and on all others
    counts_of_originals(many, lazy, accuracy=0.79)
    with pytest.raises(UsageError, match="nobody of 10 people with an accuracy of"):
        counts_of_originals(many, lazy, accuracy=0.81)
