"""Which images an exam asks about, and what becomes of the answers."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exam_made as exams
import steps_made as made
from extras import needs
from resit.build.exam.choose import draw, hardest, own_order

needs("sqlalchemy", "alembic", "httpx")
from resit.build.steps.exam import answers_of, list_exams, make_exam  # noqa: E402
from resit.build.steps.opened import Build, open_build  # noqa: E402
from resit.errors import InputError, UsageError  # noqa: E402
from resit.store.exams import Answer, add_answers, hand_in, questions  # noqa: E402

TIME = "2026-02-01T12:00:00Z"


@pytest.fixture
def build(tmp_path: Path) -> Any:
    with open_build(exams.selected(tmp_path)) as opened:
        yield opened


def asked(build: Build, number: int = 1) -> list[Any]:
    with build.store.reading() as connection:
        return questions(connection, number)


def originals(build: Build) -> list[str]:
    """Digests of the originals in the order of the test set, computed from the files."""
    benchmark = build.load_original()
    assert benchmark.images is not None
    return [hashlib.sha256(benchmark.images[row]).hexdigest() for row in range(benchmark.n)]


NAMES = st.lists(st.integers(0, 10_000).map(str), min_size=1, max_size=40, unique=True)


@given(NAMES, st.integers(0, 5), st.data())
def test_the_hardest_are_those_that_fewest_get_right(names: list[str], seed: int, data: st.DataObject):
    right = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(names), max_size=len(names))))
    fraction = data.draw(st.sampled_from([0.01, 0.05, 0.25, 0.5, 1.0]))
    found = hardest(names, right, fraction, seed=seed)
    assert len(found) == len(set(found)) == -(-len(names) * round(100 * fraction) // 100)
    assert sorted(right[found]) == sorted(right)[: len(found)]
    order = data.draw(st.permutations(range(len(names))))
    again = hardest([names[at] for at in order], right[list(order)], fraction, seed=seed)
    assert [names[at] for at in found] == [names[order[at]] for at in again]


def test_another_seed_breaks_ties_otherwise():
    names = [str(at) for at in range(100)]
    first = {tuple(hardest(names, np.zeros(100), 0.1, seed=seed)) for seed in range(5)}
    assert len(first) == 5


@given(NAMES, st.integers(1, 45), st.integers(0, 5), st.data())
def test_classes_give_as_evenly_as_they_can(names: list[str], n: int, seed: int, data: st.DataObject):
    classes = data.draw(st.lists(st.sampled_from("abcd"), min_size=len(names), max_size=len(names)))
    found = draw(names, classes, n, seed=seed, balanced=True)
    assert len(found) == len(set(found)) == min(n, len(names))
    taken = {key: sum(classes[at] == key for at in found) for key in set(classes)}
    full = {key: classes.count(key) for key in taken}
    most = max(taken.values())
    assert all(taken[key] >= min(most - 1, full[key]) for key in taken)
    order = data.draw(st.permutations(range(len(names))))
    again = draw([names[at] for at in order], [classes[at] for at in order], n, seed=seed, balanced=True)
    assert {names[at] for at in found} == {names[order[at]] for at in again}


def test_everybody_has_an_own_order():
    orders = [own_order(0, "Exam 1", person, 30) for person in ("Ann", "Bo", "Cy")]
    assert all(sorted(order) == list(range(30)) for order in orders)
    assert len(set(map(tuple, orders))) == 3
    assert own_order(0, "Exam 1", "Ann", 30) == orders[0]
    assert own_order(0, "Exam 2", "Ann", 30) != orders[0] != own_order(1, "Exam 1", "Ann", 30)


def test_without_models_images_are_drawn_at_random_from_each_class(build: Build):
    done = make_exam(build, n=6)
    rows = asked(build)
    assert done.n == 6
    assert len({row.image for row in rows}) == 12
    for origin in ("original", "new"):
        own = [row.class_ids for row in rows if row.origin == origin]
        assert sorted(own) == [("cat",)] * 3 + [("dog",)] * 3
    known = {"original": set(originals(build)), "new": {made.digest(made.picture(name)) for name in exams.NEW}}
    assert all(row.image in known[row.origin] for row in rows)
    assert [row.origin for row in rows] not in (["original"] * 6 + ["new"] * 6, ["new"] * 6 + ["original"] * 6)
    for row in rows:
        assert hashlib.sha256(build.folder.find_image(row.image).read_bytes()).hexdigest() == row.image
    make_exam(build, n=6, seed=1)
    assert {row.image for row in asked(build, 2)} != {row.image for row in rows}


def test_with_models_the_hardest_are_asked_about_and_the_models_marked(build: Build):
    rng = np.random.default_rng(0)
    right = [rng.random((3, n)) < 0.6 for n in (48, 16)]
    done = make_exam(
        build, original=exams.on_original(build, right[0]), new=exams.on_new(right[1]), hardest=0.25, n=100, name="Hard"
    )
    # A quarter of 16 is 4, and as many originals are drawn from their hardest 12.
    assert done.n == 4
    assert "Only 4 images of each kind, not 100" in str(done)
    share = dict(zip(originals(build), right[0].mean(axis=0), strict=True))
    new = {made.digest(made.picture(name)): share for name, share in zip(exams.NEW, right[1].mean(axis=0), strict=True)}
    rows = asked(build)
    old_limit, new_limit = sorted(share.values())[11], sorted(new.values())[3]
    assert all(share[row.image] <= old_limit for row in rows if row.origin == "original")
    assert sorted(new[row.image] for row in rows if row.origin == "new") == sorted(new.values())[:4]
    assert f"12 original images that at most {100 * old_limit:.0f} %" in done.rule
    assert f"4 new ones, {100 * new_limit:.0f} %" in done.rule
    places = dict(zip(originals(build), range(48), strict=True))
    at = [places[row.image] for row in rows if row.origin == "original"]
    names = [made.digest(made.picture(name)) for name in exams.NEW]
    there = [names.index(row.image) for row in rows if row.origin == "new"]
    found = answers_of(build, "Hard")
    wanted = [(name, int(right[0][m, at].sum()), int(right[1][m, there].sum())) for m, name in enumerate(exams.MODELS)]
    assert [(one.model, one.original, one.new) for one in found.models] == wanted
    assert found.chosen_by_models


def test_models_may_be_asked_about_images_drawn_at_random(build: Build):
    right = [np.arange(n) % 2 == np.array([[0], [1]]) for n in (48, 16)]
    old, new = exams.on_original(build, right[0]), exams.on_new(right[1])
    assert make_exam(build, original=old, new=new, random=True, n=8).n == 8
    found = answers_of(build)
    assert not found.chosen_by_models
    assert [one.model for one in found.models] == ["bad", "fair"]
    assert all(one.original is not None for one in found.models)
    assert found.models[0].original + found.models[1].original == 8  # each image is right for one of the two


def test_examples_are_originals_of_the_class_that_are_not_asked_about(build: Build):
    make_exam(build, n=10)
    with build.store.reading() as connection:
        from resit.store.exams import exams as stored

        examples = stored(connection)[0].record["examples"]
    rows = asked(build)
    class_of = {
        row["image"]: row["class_id"] for row in build.store.images("original").select(["image", "class_id"]).to_pylist()
    }
    assert {key: len(images) for key, images in examples.items()} == {"cat": 3, "dog": 3}
    for key, images in examples.items():
        assert all(class_of[image] == key and build.folder.find_image(image).exists() for image in images)
    assert not {image for images in examples.values() for image in images} & {row.image for row in rows}


def test_all_originals_asked_about_leave_no_examples_and_that_is_told(tmp_path: Path):
    made.original(tmp_path, per_class=2)
    with open_build(exams.selected(tmp_path)) as build:
        done = make_exam(build, n=4)
    assert "2 classes have no original image left" in str(done)


def test_images_with_several_labels_accept_each(tmp_path: Path):
    """The same bytes under two classes are one image with two labels."""
    made.original(tmp_path, per_class=3)
    twin = tmp_path / "original" / "cat" / "000.png"
    (tmp_path / "original" / "dog" / "000.png").write_bytes(twin.read_bytes())
    with open_build(exams.selected(tmp_path)) as build:
        make_exam(build, n=5)
        (row,) = [row for row in asked(build) if len(row.class_ids) == 2]
        assert row.class_ids == ("cat", "dog")
        assert row.image == hashlib.sha256(twin.read_bytes()).hexdigest()


def test_answers_come_back_with_who_gave_them(build: Build):
    make_exam(build, n=2)
    from resit.store.accounts import invite

    with build.store.writing() as connection:
        ann, _ = invite(connection, "annotator", "Ann", TIME)
        bo, _ = invite(connection, "reviewer", "Bo", TIME)
        add_answers(
            connection, ann.id, 1, [Answer("event-1", 0, "cat"), Answer("event-2", 2, ""), Answer("event-3", 0, "dog")], TIME
        )
        hand_in(connection, ann.id, 1, TIME)
        add_answers(connection, bo.id, 1, [Answer("event-1", 3, "cat")], TIME)
    found = answers_of(build)
    assert [(sheet.person, sheet.answers, sheet.handed_in) for sheet in found.sheets] == [
        ("Ann", ("dog", None, "", None), TIME),
        ("Bo", (None, None, None, "cat"), None),
    ]
    assert [sheet.seen for sheet in found.sheets] == [0, 0]
    (listed,) = list_exams(build)
    assert (listed.begun, listed.handed_in, listed.n) == (2, 1, 4)


def test_who_voted_on_images_of_the_exam_is_known(build: Build):
    make_exam(build, n=8)
    from resit.store.accounts import invite
    from store_rows import verdicts, votes

    new = [row.image for row in asked(build) if row.origin == "new"]
    build.store.add_votes(votes(*({"image": image, "class_id": "cat", "person": "Ann"} for image in new[:3])))
    build.store.add_verdicts(verdicts({"image": new[0], "other": new[5], "class_id": "", "person": "Ann"}))
    with build.store.writing() as connection:
        ann, _ = invite(connection, "annotator", "Ann", TIME)
        add_answers(connection, ann.id, 1, [Answer("event-1", 0, "cat")], TIME)
    assert [sheet.seen for sheet in answers_of(build).sheets] == [4]


def test_what_does_not_fit_is_refused(build: Build, tmp_path: Path):
    all_right = [np.ones((2, n), bool) for n in (48, 16)]
    old, new = exams.on_original(build, all_right[0]), exams.on_new(all_right[1])
    for kind, told, values in (
        (UsageError, "models on one kind of images only", {"original": old}),
        (UsageError, "no models to say what is hard", {"hardest": 0.1}),
        (UsageError, "the hardest images and images at random", {"original": old, "new": new, "hardest": 0.1, "random": True}),
        (UsageError, "a share of 0", {"original": old, "new": new, "hardest": 0.0}),
        (UsageError, "0 images", {"n": 0}),
        (InputError, "no revision 7", {"revision": 7}),
        (InputError, "16 examples, while the original has 48", {"original": new, "new": new}),
        (InputError, "images that are not in revision r1", {"original": old, "new": old}),
        (UsageError, "no model is on both", {"original": old.select(old.models[:1]), "new": new.select(new.models[1:])}),
    ):
        with pytest.raises(kind, match=told):
            make_exam(build, **values)
    assert list_exams(build) == []
    make_exam(build, n=1, name="A")
    with pytest.raises(InputError, match="an exam A already"):
        make_exam(build, n=2, name="A")
    make_exam(build, n=1, name="B")
    with pytest.raises(UsageError, match=r"several exams.*A, B"):
        answers_of(build)
    with pytest.raises(UsageError, match="no exam C"):
        answers_of(build, "C")


def test_labels_of_another_set_are_refused(build: Build):
    right = [np.ones((1, n), bool) for n in (48, 16)]
    shuffled = exams.on_new(right[1], tuple(reversed(exams.NEW)))
    fine = make_exam(build, original=exams.on_original(build, right[0]), new=shuffled, random=True, n=2)
    assert fine.n == 2
    wrong = exams.on_new(right[1])
    object.__setattr__(wrong.benchmark, "ids", wrong.benchmark.ids[::-1])
    with pytest.raises(InputError, match="other labels"):
        make_exam(build, original=exams.on_original(build, right[0]), new=wrong, n=2)


def test_without_a_selection_there_is_nothing_to_ask(tmp_path: Path):
    made.begin(tmp_path)
    with open_build(tmp_path / "new") as build, pytest.raises(UsageError, match="no new images yet"):
        make_exam(build)


def test_a_part_that_models_were_asked_about_is_told(build: Build):
    right = np.ones((2, 12), bool)
    new = exams.on_new(right, exams.NEW[2:14])
    done = make_exam(build, original=exams.on_original(build, np.ones((3, 48), bool)), new=new, random=True, n=20)
    assert done.n == 12
    assert "4 images of r1 on which the models were not asked" in str(done)
    assert "without a say in what is hard: good" in str(done)
