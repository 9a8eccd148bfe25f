"""Frequencies of plans from the votes of a build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from extras import needs
from steps_made import begin, photos, votes

needs("sqlalchemy", "alembic")
import resit  # noqa: E402
from resit import InputError, ModelId, Predictions, UsageError  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.label import import_votes  # noqa: E402
from resit.build.steps.opened import open_build  # noqa: E402
from resit.data.load_benchmark import load_benchmark  # noqa: E402
from resit.study.plan_pools import mixture  # noqa: E402


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Path]:
    """With candidates and their votes."""
    begin(tmp_path)
    with open_build(tmp_path / "new") as opened:
        gather(opened, photos(tmp_path))
        import_votes(opened, votes(opened, tmp_path))
    return tmp_path / "new"


def answered(root: Path, *, wrong: int) -> Predictions:
    """Two models: one is right everywhere, one is wrong on the first images."""
    benchmark = load_benchmark(root / "original")
    truth = benchmark.labels[:, 0]
    worse = np.where(np.arange(len(truth)) < wrong, 1 - truth, truth)
    return Predictions(benchmark, (ModelId("a"), ModelId("b")), np.stack([truth, worse])[:, :, None].astype(np.int32))


def test_both_frequencies_are_fitted_to_the_votes(build: Path):
    with open_build(build) as opened:
        keys = ["image", "class_id"]  # an original is shown for other classes too
        counts = opened.store.images().select([*keys, "role"]).to_pandas().merge(opened.store.counts().to_pandas(), on=keys)
    found = resit.plan_votes(build=build)
    assert found.pools.source == f"fitted to the votes of {build}"
    for role, betas in (("original", found.pools.original), ("candidate", found.pools.candidates)):
        rows = counts[counts["role"] == role]
        assert mixture(betas).mean == pytest.approx((rows["selected"] / rows["shown"]).mean(), abs=0.05)
    assert resit.plan_images(0.8, build=build).pools == found.pools


def test_what_is_given_goes_before_the_build(build: Path):
    found = resit.plan_votes(build=build, candidates_beta=[(1, 2)])
    assert found.pools.candidates == ((1.0, 2.0, 1.0),)
    assert found.pools.source == f"given; the other fitted to the votes of {build}"


def test_accuracy_by_frequency_from_models_on_the_original(build: Path, tmp_path: Path):
    found = resit.plan_votes(build=build, runs=answered(tmp_path, wrong=12))
    accuracy = [y for _, y in found.curve]
    assert (np.diff(accuracy) > -1e-9).all()
    assert found.original_accuracy == pytest.approx(1 - 12 / 48 / 2, abs=0.03)
    assert "2 models on original" in found.curve_source


def test_without_votes_nothing_can_be_fitted(tmp_path: Path):
    begin(tmp_path)
    with pytest.raises(UsageError, match="no candidate has votes yet"):
        resit.plan_votes(build=tmp_path / "new")
    with pytest.raises(InputError):
        resit.plan_votes(build=tmp_path / "nowhere")
