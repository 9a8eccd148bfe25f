"""Retraining with a real network on real images."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import resit
from extras import needs
from resit.data.relabel import take

needs("timm")
needs("sklearn")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lite0(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The spec of EfficientNet-Lite 0 with its own weights."""
    path = Path(__file__).parents[1] / "models" / "efficientnet.py"
    spec = importlib.util.spec_from_file_location("efficientnet_of_models", path)
    helper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(helper)
    return f"timm:local-dir:{helper.local_dir(0, tmp_path_factory.mktemp('weights'))}"


def test_cifar_10_is_learned_from_imagenets_features(lite0: str, shared_data: Path, tmp_path: Path):
    """2,000 images in two made-up groups that mean nothing: accuracy is high and disparity within what chance gives."""
    whole = resit.load_benchmark(shared_data / "cifar10" / "test.parquet", classes="cifar-10", name="cifar10")
    some = take(whole, np.arange(2_000))
    made_up = np.where(np.random.default_rng(0).random(2_000) < 0.3, "few", "many")
    some = replace(some, groups={"made up": made_up})
    found = resit.retrain_last_layer(lite0, some, tmp_path, by="made up", resamples=500, device="cpu")
    (top1, _) = found.outcomes
    assert top1.before is None
    assert "none of the model's 1000" in top1.reason
    assert top1.after.accuracy.estimate > 0.68  # of 32 pixels a side, with 1,600 examples
    null = top1.after.disparity.null
    assert null.p_value > 0.01
    x, y = np.load(next(tmp_path.rglob("*.npy"))), some.labels[:, 0]
    assert x.shape == (2_000, 1_280)
    pipeline = needs("sklearn.pipeline").make_pipeline(
        needs("sklearn.preprocessing").StandardScaler(),
        needs("sklearn.linear_model").LogisticRegression(C=found.head.c, max_iter=5_000),
    )
    with needs("threadpoolctl").threadpool_limits(1):
        scores = needs("sklearn.model_selection").cross_val_score(pipeline, x, y, cv=5)
    assert top1.after.accuracy.estimate == pytest.approx(scores.mean(), abs=0.02)


def test_before_is_what_evaluate_says_of_the_model(lite0: str, shared_data: Path, tmp_path: Path):
    sample = resit.load_benchmark(shared_data / "imagenet-sample", classes="imagenet-1k", name="sample")
    half = np.where(np.arange(sample.n) % 2, "odd", "even")
    sample = replace(sample, groups={"half": half})
    asked = resit.evaluate([lite0], [sample], tmp_path / "runs", label_space="subset", device="cpu")
    found = resit.retrain_last_layer(lite0, sample, tmp_path, by="half", grid=(0.001,), resamples=100, device="cpu")
    top1 = found.outcomes[0]
    assert top1.before.accuracy.estimate == pytest.approx(asked.answered[0].top1)
    assert top1.before.accuracy.estimate > 0.85
    assert top1.after.accuracy.estimate == 0  # one image a class: its fold's head has never seen the class
    assert sum(row.n_untaught for row in found.folds) == sample.n
    assert "untaught-classes" in {warning.code for warning in found.warnings}
