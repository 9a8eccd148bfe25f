"""Where images, training data and votes come from: runs know their benchmark, and others are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import resit
from resit import Predictions
from resit.errors import InputError
from resit.models.fake import FakeModel
from resit.study.explain_material import Sources, gather, same_models, with_images


def folder(place: Path, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    for name in ("cat", "dog"):
        (place / name).mkdir(parents=True)
        for at in range(6):
            Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(place / name / f"{seed}-{at}.png")
    return place


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Predictions, Predictions]:
    """Answers of two models on two folders, read back from where they were stored."""
    sets = [folder(tmp_path / name, seed) for seed, name in enumerate(("old", "new"))]
    models = [FakeModel("a", classes=2), FakeModel("b", classes=2, seed=1)]
    done = resit.evaluate(models, sets, tmp_path / "runs", workers=1)
    first, second = (resit.load_predictions(one) for one in done.folders)
    return first, second


def silent(_: str) -> None:
    pass


def test_images_are_found_where_the_run_read_them(runs: tuple[Predictions, Predictions]):
    material = gather(*runs, Sources(), silent)
    for one in (material.original, material.new):
        assert one.benchmark.images is not None
        assert one.benchmark.n == 12
    assert material.original.benchmark.content_fingerprint == runs[0].benchmark.content_fingerprint


def test_images_that_are_gone_are_told_and_the_rest_goes_on(runs: tuple[Predictions, Predictions], tmp_path: Path):
    (tmp_path / "old").rename(tmp_path / "moved")
    sources = Sources()
    material = gather(*runs, sources, silent)
    assert material.original.benchmark.images is None
    assert material.new.benchmark.images is not None
    assert [note.code for note in sources.notices] == ["images-not-found"]
    found = gather(*runs, Sources(original_benchmark=tmp_path / "moved"), silent)
    assert found.original.benchmark.images is not None


def test_other_images_are_not_taken_for_those_that_were_asked(runs: tuple[Predictions, Predictions], tmp_path: Path):
    with pytest.raises(InputError, match="not the images that were asked in old"):
        with_images(runs[0], tmp_path / "new", Sources(), silent)
    picture = next((tmp_path / "old" / "cat").iterdir())
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(picture)
    sources = Sources()
    assert with_images(runs[0], None, sources, silent).benchmark.images is None
    assert "not the images that were asked" in sources.notices[0].message


def test_votes_are_keyed_as_the_examples_are(runs: tuple[Predictions, Predictions], tmp_path: Path):
    votes = tmp_path / "votes.csv"
    ids = runs[0].benchmark.ids
    assert ids is not None
    votes.write_text("id,selected,shown\n" + "".join(f"{name},7,10\n" for name in ids))
    counts = gather(*runs, Sources(original_votes=votes), silent).original_counts
    assert counts is not None
    assert sorted(counts["image"].to_pylist()) == sorted(ids.tolist())
    assert set(counts["selected"].to_pylist()) == {7}


def test_votes_by_position_where_there_are_no_ids(runs: tuple[Predictions, Predictions], tmp_path: Path):
    first = replace(runs[0], benchmark=replace(runs[0].benchmark, ids=None, images_fingerprint="", origin=None))
    np.save(tmp_path / "votes.npy", np.full((12, 2), 5))
    counts = gather(first, runs[1], Sources(original_votes=tmp_path / "votes.npy"), silent).original_counts
    assert counts is not None
    assert set(counts["image"].to_pylist()) == {str(at) for at in range(12)}


def test_models_are_matched_by_name_in_the_order_of_the_original(runs: tuple[Predictions, Predictions]):
    first, second = runs
    turned = second.select(second.models[::-1])
    old, new = same_models(first, turned)
    assert old.models == new.models == first.models
    assert np.array_equal(new.answers, second.answers)


def test_training_data_needs_images(runs: tuple[Predictions, Predictions]):
    with pytest.raises(InputError, match="training data without images"):
        gather(*runs, Sources(train=[replace(runs[0].benchmark, images=None)]), silent)
