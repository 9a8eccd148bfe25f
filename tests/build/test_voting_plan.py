from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from votes_made import SMALL, originals, pool

from resit.build.config import VotesConfig
from resit.build.voting.plan import plan_tasks, still_to_ask
from resit.store.schemas import COUNTS, table
from store_rows import counts, images

NONE = table(COUNTS)
SIMILAR = {"cat": ("dog", "car"), "dog": ("cat", "car"), "car": ("dog", "cat")}


def pages(tasks: pa.Table) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for row in tasks.to_pylist():
        found.setdefault(row["task"], []).append(row)
    return found


def plan(candidates, others, seed=0, counted=NONE, settings=SMALL, **more):
    return plan_tasks(candidates, counted, others, SIMILAR, settings, seed, **more)


def test_a_page_of_48_has_42_candidates_3_positives_and_3_of_the_most_similar_class():
    made = plan(pool(cat=84), originals(cat=30, dog=30, car=30), settings=VotesConfig())
    assert len(pages(made.tasks)) == 2
    for rows in pages(made.tasks).values():
        assert Counter(row["role"] for row in rows) == {"candidate": 42, "positive": 3, "negative": 3}
        assert [row["position"] for row in rows] == list(range(48))
        assert {row["class_id"] for row in rows} == {"cat"}
        assert {row["image"][:3] for row in rows if row["role"] == "negative"} == {"dog"}
        assert {row["image"][:5] for row in rows if row["role"] == "positive"} == {"cat-o"}
    assert made.notices == ()
    assert str(made) == "2 new tasks with 84 candidates; 0 candidates wait in earlier tasks, 0 have votes enough"


def test_a_short_last_page_is_filled_up_with_originals_then_with_those_of_similar_classes():
    made = plan(pool(cat=5), originals(cat=4, dog=9))
    full, short = sorted(pages(made.tasks).values(), key=lambda rows: -sum(row["role"] == "candidate" for row in rows))
    assert Counter(row["role"] for row in full) == {"candidate": 4, "positive": 2, "negative": 2}
    assert Counter(row["role"] for row in short) == {"candidate": 1, "positive": 4, "negative": 3}
    assert all(len({row["image"] for row in rows}) == 8 for rows in (full, short))
    assert made.notices == ()


def test_what_is_missing_is_told():
    made = plan(pool(cat=2, dog=2, car=2), originals(cat=1, car=9))
    assert {notice.code: notice.message.rsplit(": ", 1)[1] for notice in made.notices} == {
        "controls-positive": "2 classes, cat, dog.",
        "controls-negative": "1 class, car.",
        "controls-farther": "3 classes, car, cat, dog.",
    }
    alone = plan(pool(cow=2), originals())
    assert [notice.code for notice in alone.notices] == ["controls-positive", "controls-negative", "short-pages"]
    assert alone.tasks.num_rows == 2


def test_positions_do_not_tell_controls():
    made = plan(pool(cat=4_000), originals(cat=50, dog=50))
    where = Counter(row["position"] for row in made.tasks.to_pylist() if row["role"] != "candidate")
    # 4 of 8 places on each of 1,000 pages: each place 500 times, standard deviation 16.
    assert all(abs(where[at] - 500) < 80 for at in range(8))


def test_only_candidates_that_are_short_of_votes_and_in_no_task_are_planned():
    first = plan(pool(cat=6), originals(cat=9, dog=9))
    enough = counts(*({"image": f"cat-c00{at}", "class_id": "cat", "selected": 1, "shown": 3} for at in (6, 7)))
    second = plan(pool(cat=10), originals(cat=9, dog=9), counted=enough, tasks=first.tasks)
    asked = {row["image"] for row in second.tasks.to_pylist() if row["role"] == "candidate"}
    assert asked == {"cat-c008", "cat-c009"}
    assert (second.candidates, second.waiting, second.enough) == (2, 6, 2)
    assert not set(pages(first.tasks)) & set(pages(second.tasks))
    again = plan(pool(cat=10), originals(cat=9, dog=9), counted=enough, tasks=pa.concat_tables([first.tasks, second.tasks]))
    assert again.tasks.num_rows == 0


def test_candidates_with_equally_many_votes_stand_on_one_page():
    some = counts(*({"image": f"cat-c00{at}", "class_id": "cat", "selected": 1, "shown": 2} for at in (0, 2, 4, 6)))
    made = plan(pool(cat=8), originals(cat=9, dog=9), counted=some)
    needs = still_to_ask(made.tasks, some, 3)
    assert sorted(needs.values()) == [1, 3]
    for task, rows in pages(made.tasks).items():
        even = {int(row["image"][-1]) % 2 for row in rows if row["role"] == "candidate"}
        assert even == ({0} if needs[task] == 1 else {1})


def test_rejected_votes_are_asked_for_again_and_full_tasks_are_not():
    made = plan(pool(cat=8), originals(cat=9, dog=9))
    first, second = pages(made.tasks)
    shown = [
        {"image": row["image"], "class_id": "cat", "selected": 0, "shown": 2 if row["task"] == first else 3}
        for row in made.tasks.to_pylist()
        if row["role"] == "candidate"
    ]
    assert still_to_ask(made.tasks, counts(*shown), 3) == {first: 1}
    assert still_to_ask(made.tasks, NONE, 3) == dict.fromkeys(sorted((first, second)), 3)


def test_originals_are_shown_in_turn_over_plans():
    first = plan(pool(cat=16), originals(cat=8, dog=9))
    times = Counter(row["image"] for row in first.tasks.to_pylist() if row["role"] == "positive")
    assert set(times.values()) == {1}
    assert len(times) == 8
    second = plan(pool(cat=20), originals(cat=12, dog=9), tasks=first.tasks)
    new = {row["image"] for row in second.tasks.to_pylist() if row["role"] == "positive"}
    assert new <= {"cat-o008", "cat-o009", "cat-o010", "cat-o011"}


def test_an_original_of_both_classes_is_no_negative_control_and_an_image_is_on_a_page_once():
    both = pa.table({"image": ["x", "y", "cat-c000", "z"], "class_id": ["dog", "dog", "dog", "cat"]})
    both = pa.concat_tables([both, pa.table({"image": ["x"], "class_id": ["cat"]})])
    rows = plan(pool(cat=4), both).tasks.to_pylist()
    assert {row["image"] for row in rows if row["role"] == "negative"} == {"y"}
    assert len({row["image"] for row in rows}) == len(rows)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.fixed_dictionaries({name: st.integers(0, 15) for name in ("cat", "dog", "car")}),
    st.fixed_dictionaries({name: st.integers(0, 9) for name in ("cat", "dog", "car")}),
)
def test_rules_hold_for_any_pool_in_any_order(seed, sizes, known):
    rng = np.random.default_rng(seed)
    candidates, others = pool(**sizes), originals(**known)
    made = plan(candidates, others, seed)
    asked = [(row["image"], row["class_id"]) for row in made.tasks.to_pylist() if row["role"] == "candidate"]
    rows = candidates.select(["image", "class_id"]).to_pylist()
    assert sorted(asked) == sorted((row["image"], row["class_id"]) for row in rows)
    for page in pages(made.tasks).values():
        roles = Counter(row["role"] for row in page)
        assert 1 <= roles["candidate"] <= 4
        assert len(page) <= 8
        assert [row["position"] for row in page] == list(range(len(page)))
        assert len({row["image"] for row in page}) == len(page)
        own = page[0]["class_id"]
        assert all(row["image"].startswith(f"{own}-o") == (row["role"] == "positive") for row in page if "-o" in row["image"])
        assert roles["positive"] >= min(2, known[own])
    shuffled = candidates.take(rng.permutation(len(candidates))), others.take(rng.permutation(len(others)))
    assert plan(*shuffled, seed).tasks.equals(made.tasks)


def test_the_seed_and_nothing_of_other_classes_decides():
    a, b = (plan(pool(cat=40), originals(cat=9, dog=9), seed).tasks for seed in (1, 2))
    assert not a.equals(b)
    beside = plan(pool(cat=40, dog=7), originals(cat=9, dog=9), 1).tasks
    assert pages(a).items() <= pages(beside).items()


def test_originals_among_the_images_are_not_planned_as_candidates():
    made = plan(images("a", "b", role="original", class_id="cat"), originals(cat=9, dog=9))
    assert made.tasks.num_rows == 0
    assert made.notices == ()


def test_case_17_ids_stay_text():
    made = plan_tasks(images("007", class_id="01"), NONE, originals(), {}, SMALL, 0)
    assert made.tasks.to_pylist()[0] | {"task": ""} == {
        "task": "",
        "class_id": "01",
        "image": "007",
        "role": "candidate",
        "position": 0,
    }
    assert made.tasks["task"][0].as_py()[0] == "t", "a spreadsheet takes digits with an e for a number"


@pytest.mark.parametrize("people", [0, 1])
def test_a_task_without_candidates_needs_nobody(people):
    from votes_made import one_task

    test = one_task(a="positive", b="positive", c="negative")
    assert still_to_ask(test, NONE, people) == {}
