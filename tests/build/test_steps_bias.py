"""The bias of a revision through the steps of a build: answers of models, fresh votes, and sampling that allows for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from extras import needs
from steps_made import begin, photos, set_target, votes, write_rows

needs("sqlalchemy", "alembic", "httpx")
from resit.build.steps.bias import correct_on_new, measure_bias, read_fresh  # noqa: E402
from resit.build.steps.dedupe import find_duplicates  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.label import import_votes  # noqa: E402
from resit.build.steps.opened import open_build  # noqa: E402
from resit.build.steps.sample import draw_revision  # noqa: E402
from resit.data.benchmark import Benchmark, ClassInfo  # noqa: E402
from resit.data.load_benchmark import load_benchmark  # noqa: E402
from resit.data.models import ModelId  # noqa: E402
from resit.data.predictions import Predictions  # noqa: E402
from resit.errors import InputError, UsageError  # noqa: E402

MODELS = (ModelId("good"), ModelId("bad"))


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """A build with one revision of two cats and two dogs."""
    begin(tmp_path)
    set_target(tmp_path / "new", 0.0)
    with open_build(tmp_path / "new") as build:
        gather(build, photos(tmp_path))
        find_duplicates(build)
        import_votes(build, votes(build, tmp_path))
        draw_revision(build)
    return tmp_path / "new"


def told(benchmark: Benchmark, wrong: int) -> Predictions:
    """The first model is right on all, the second wrong on the first few."""
    right = np.stack([benchmark.labels[:, 0]] * 2)
    right[1, :wrong] = 1 - right[1, :wrong]
    return Predictions(benchmark, MODELS, right[:, :, None].astype(np.int16))


def new_set(images: list[str], class_ids: list[str]) -> Benchmark:
    labels = np.array([[("cat", "dog").index(one)] for one in class_ids], np.int32)
    return Benchmark("new", labels, classes=(ClassInfo("cat", "cat"), ClassInfo("dog", "dog")), ids=tuple(images))


def test_answers_are_joined_by_image_and_the_votes_that_chose_are_refused(drawn: Path):
    with open_build(drawn) as build:
        chosen = build.store.selection().selected
        images, class_ids = (chosen[name].to_pylist() for name in ("image", "class_id"))
        backwards = new_set(images[::-1], class_ids[::-1])
        original = told(load_benchmark(drawn.parent / "original"), 12)
        found = measure_bias(build, original=original, new=told(backwards, 1), resamples=5)
        table = correct_on_new(build.store.selection(), told(backwards, 1))
    assert table["good"].to_pylist() == [1] * 4
    assert table["bad"].to_pylist() == [1, 1, 1, 0]
    assert [one.name for one in found.models] == ["good", "bad"]
    assert found.models[1].new.value == pytest.approx(3 / 4)
    assert found.models[1].original.value == pytest.approx(36 / 48)
    assert found.mean.drop.value == pytest.approx(0)
    assert "get fresh votes" in found.mean.naive.reason
    assert found.mean.parametric.value is not None


def test_fresh_votes_are_counts_or_single_votes(drawn: Path, tmp_path: Path):
    with open_build(drawn) as build:
        chosen = build.store.selection().selected
        keys = list(zip(chosen["image"].to_pylist(), chosen["class_id"].to_pylist(), strict=True))
        counts = [{"image": image, "class_id": one, "selected": 9, "shown": 12} for image, one in keys]
        single = [{"image": image, "class_id": one, "selected": int(vote < 9)} for vote in range(12) for image, one in keys]
        tables = [read_fresh(write_rows(tmp_path / "fresh.csv", rows)) for rows in (counts, single)]
        assert tables[0].equals(tables[1])
        found = measure_bias(build, fresh=tables[0], new=told(new_set(*map(list, zip(*keys, strict=True))), 1), resamples=5)
        with pytest.raises(InputError, match="votes on none of the selected images"):
            measure_bias(build, fresh=read_fresh(write_rows(tmp_path / "other.csv", [counts[0] | {"image": "x"}])))
    assert found.fresh_frequency.value == pytest.approx(0.75)
    assert found.mean.naive.value is not None
    assert found.mean.jackknife.value is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [({"selected": 13}, "more often than shown"), ({"selected": "often"}, "no whole number"), ({"selected": 1.5}, "no whole")],
)
def test_fresh_votes_that_are_no_counts_are_refused(tmp_path: Path, change: dict[str, object], message: str):
    row = {"image": "x", "class_id": "cat", "selected": 9, "shown": 12}
    with pytest.raises(InputError, match=message):
        read_fresh(write_rows(tmp_path / "fresh.csv", [row | change]))
    with pytest.raises(InputError, match="no column class_id, selected"):
        read_fresh(write_rows(tmp_path / "less.csv", [{"image": "x", "shown": 1}]))


def test_answers_on_other_images_are_refused(drawn: Path):
    with open_build(drawn) as build:
        selection = build.store.selection()
        images, class_ids = (selection.selected[name].to_pylist() for name in ("image", "class_id"))
        with pytest.raises(InputError, match="1 images of the revision without answers"):
            correct_on_new(selection, told(new_set(images[1:], class_ids[1:]), 0))
        nameless = replace(new_set(images, class_ids), ids=None)
        with pytest.raises(InputError, match="no ids, or one twice"):
            correct_on_new(selection, told(nameless, 0))


def test_bias_corrected_sampling_is_recorded_and_only_for_matched_frequency(drawn: Path):
    with open_build(drawn) as build:
        with pytest.raises(UsageError, match="no correction of bias for top-images"):
            draw_revision(build, correct_bias=True, afresh=True)
        done = draw_revision(build, strategy="matched-frequency", correct_bias=True, afresh=True)
        record = build.store.selection(done.revision).record
        assert record["strategy"] == "corrected-frequency"
        plain = draw_revision(build, strategy="matched-frequency", afresh=True)
        assert build.store.selection(plain.revision).record["strategy"] == "matched-frequency"
