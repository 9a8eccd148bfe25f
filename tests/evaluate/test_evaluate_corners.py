"""What hostile input met: each once gave a plausible wrong number, a lost run, or a traceback."""

import re
from dataclasses import replace

import numpy as np
import pytest
import sat

from resit.cli.evaluate import _parts
from resit.data.class_lists import SUBSETS, class_list, part_of
from resit.data.load import load_predictions
from resit.data.models import ModelId
from resit.errors import InputError, OutputError, UsageError
from resit.evaluate.exam import Exam
from resit.evaluate.run import evaluate
from resit.evaluate.settings import SHARD
from resit.models.load import load_model


def test_case_4_subsets_of_as_many_classes_are_not_taken_for_the_same():
    ids = [info.id for info in class_list("imagenet-1k")]
    first, second = part_of("imagenet-1k", ids[:200]), part_of("imagenet-1k", ids[1:201])
    assert first != second
    assert first == part_of("imagenet-1k", ids[:200][::-1])
    assert re.fullmatch(r"subset [0-9a-f]{6} \(200 of imagenet-1k\)", first)


@pytest.mark.parametrize("name", SUBSETS)
def test_case_4_a_subset_that_ships_keeps_its_name(name):
    assert name in part_of("imagenet-1k", [info.id for info in class_list(name)])


def test_case_13_an_image_that_was_mended_is_asked_again(tmp_path):
    whole, broken = sat.made(), sat.made(broken=[3])
    fingerprint = whole.images.fingerprint
    images = [type("Same", (sat.Stored,), {"fingerprint": fingerprint})(exam.images.files) for exam in (broken, whole)]
    first = evaluate([sat.Reader("a")], [replace(broken, images=images[0])], tmp_path, max_errors=0.5)
    assert first.answered[0].unreadable == 1
    kept = evaluate([sat.Reader("a")], [replace(broken, images=images[0])], tmp_path, max_errors=0.5)
    assert (kept.answered[0].state, kept.answered[0].unreadable) == ("stored", 1)
    assert any(notice.code == "unreadable-images" for notice in kept.notices)
    mended = evaluate([sat.Reader("a")], [replace(whole, images=images[1])], tmp_path)
    assert mended.answered[0].unreadable == 0
    assert mended.answered[0].state != "stored"


def test_case_13_stored_answers_with_more_errors_than_are_allowed_now_fail(tmp_path):
    exam = sat.made(broken=[1, 2, 3])
    evaluate([sat.Reader("a")], [exam], tmp_path, max_errors=0.5)
    with pytest.raises(InputError, match="3 of 60 images cannot be read"):
        evaluate([sat.Reader("a")], [exam], tmp_path, max_errors=0.01)


def test_groups_beside_stored_answers_are_those_given_last(tmp_path):
    exam = sat.made()
    evaluate([sat.Reader("a")], [replace(exam, groups={"region": np.array(["north"] * exam.n)})], tmp_path)
    south = replace(exam, groups={"region": np.array(["south"] * exam.n)})
    again = evaluate([sat.Reader("a")], [south], tmp_path)
    assert [notice.code for notice in again.notices] == ["labels-replaced"]
    assert set(load_predictions(tmp_path / "seen").benchmark.groups["region"]) == {"south"}
    assert not evaluate([sat.Reader("a")], [south], tmp_path).notices


def test_case_4_answers_that_number_the_classes_otherwise_are_not_put_beside(tmp_path):
    exam = sat.made()
    evaluate([sat.Reader("a")], [exam], tmp_path)
    other = replace(exam, classes=sat.CLASSES[::-1], labels=(6 - exam.labels).astype(np.int32))
    with pytest.raises(OutputError, match="number the classes in another way"):
        evaluate([sat.Reader("b")], [other], tmp_path)


def test_other_images_under_the_same_name_are_told_as_such(tmp_path):
    evaluate([sat.Reader("a")], [sat.made()], tmp_path)
    with pytest.raises(OutputError, match="other images, or in another order, under this name"):
        evaluate([sat.Reader("b")], [sat.made(seed=5)], tmp_path)


def test_shards_are_not_taken_up_where_the_classes_are_others(tmp_path):
    exam = sat.made(n=2 * SHARD)
    with pytest.raises(KeyboardInterrupt):
        evaluate([sat.Reader("a", fail_at=SHARD + 1)], [exam], tmp_path)
    (tmp_path / "seen" / "labels.parquet").unlink(missing_ok=True)
    model = sat.Reader("a")
    evaluate([model], [replace(exam, classes=sat.CLASSES[::-1], labels=(6 - exam.labels).astype(np.int32))], tmp_path)
    assert model.asked == exam.n


def test_fewer_stored_answers_than_are_asked_for_are_not_passed_off(tmp_path):
    exam = sat.made()
    evaluate([sat.Reader("a")], [exam], tmp_path, top=1)
    with pytest.raises(OutputError, match="top was '1', now '5'"):
        evaluate([sat.Reader("a")], [exam], tmp_path, top=5)
    assert evaluate([sat.Reader("a")], [exam], tmp_path, top=1).answered[0].state == "stored"


def test_a_failing_transform_ends_the_run_and_is_no_unreadable_image(tmp_path):
    class Broken(sat.Pixels):
        def __call__(self, _):
            raise ValueError("made for one size only")

    with pytest.raises(InputError, match="the transform pixels failed on an image that was read: ValueError: made for one"):
        evaluate([sat.Reader("a", transform=Broken())], [sat.made()], tmp_path, max_errors=1)


@pytest.mark.parametrize("turn", [list, lambda scores: __import__("torch").from_numpy(scores)])
def test_scores_may_be_lists_or_tensors(tmp_path, turn):
    pytest.importorskip("torch")

    class Turned(sat.Reader):
        def scores(self, batch):
            return turn(super().scores(batch))

    exam = sat.made()
    assert (
        evaluate([Turned("a")], [exam], tmp_path / "turned").answered[0].correct
        == evaluate([sat.Reader("a")], [exam], tmp_path / "plain").answered[0].correct
    )


def test_a_model_with_one_class_twice_is_refused(tmp_path):
    model = sat.Reader("a", classes=(*sat.CLASSES[:6], sat.CLASSES[0]))
    with pytest.raises(InputError, match="n0 twice among its classes"):
        evaluate([model], [sat.made()], tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ids": np.array(["same"] * 60)}, "ids that are there twice"),
        ({"labels": np.full((60, 1), 7, np.int32)}, "labels from 7 to 7 for 7 classes"),
        ({"labels": np.full((60, 1), -1, np.int32)}, "60 examples without a label"),
    ],
)
def test_a_benchmark_that_could_not_be_read_back_is_refused_before_anything_is_asked(tmp_path, change, told):
    model = sat.Reader("a")
    with pytest.raises(InputError, match=told):
        evaluate([model], [replace(sat.made(), **change)], tmp_path)
    assert model.asked == 0


@pytest.mark.parametrize(
    ("models", "on", "told"),
    [
        ("fake:a", [sat.made()], "one word where a list is needed: 'fake:a'"),
        ([sat.Reader("a")], "folder", "one word where a list is needed: 'folder'"),
        ([object()], [sat.made()], "object is no model"),
        (["fake:a?classes=7", "fake:a?classes=7"], [sat.made()], "two models of one name"),
    ],
)
def test_calls_that_mean_something_else_are_refused(tmp_path, models, on, told):
    with pytest.raises(UsageError, match=re.escape(told)):
        evaluate(models, on, tmp_path)


def test_case_16_a_name_that_cannot_be_stored_is_refused_before_anything_is_asked(tmp_path):
    model = sat.Reader("a\udcff")
    with pytest.raises(InputError):
        evaluate([model], [sat.made()], tmp_path)
    assert model.asked == 0


def test_what_another_run_has_finished_meanwhile_is_taken_as_it_is(tmp_path, monkeypatch):
    exam = sat.made()
    collected = Exam.collected

    def late(self):
        monkeypatch.setattr(Exam, "collected", collected)
        evaluate([sat.Reader("a")], [exam], tmp_path)  # the other run: it finishes, and removes the shards
        return collected(self)

    monkeypatch.setattr(Exam, "collected", late)
    found = evaluate([sat.Reader("a")], [exam], tmp_path)
    assert found.answered[0].state == "stored"
    assert not (tmp_path / "seen" / ".resit-run").exists()


def test_provenance_of_any_kind_is_stored_as_text(tmp_path):
    class Rich(sat.Reader):
        @property
        def provenance(self):
            return {"adapter": "test", "epochs": 3}

    exam = sat.made()
    evaluate([Rich("a")], [exam], tmp_path)
    assert load_predictions(tmp_path / "seen").provenance[ModelId("a")]["epochs"] == "3"
    assert evaluate([Rich("a")], [exam], tmp_path).answered[0].state == "stored"


def test_a_list_longer_than_a_name_of_a_file_may_be_is_still_a_list():
    names = [f"timm:model_{i}" for i in range(400)]
    assert _parts([",".join(names)]) == names


def test_a_known_benchmark_keeps_its_own_classes(tmp_path, shared_data):
    model = load_model("fake:a?classes=cifar-10")
    known = f"cifar-10={shared_data / 'cifar10' / 'test.parquet'}"
    found = evaluate([model], [known], tmp_path, classes="imagenet-1k")
    assert (found.answered[0].label_space, found.answered[0].n) == ("10 classes", 10_000)
