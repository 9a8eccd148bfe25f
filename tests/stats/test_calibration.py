"""Calibration error against a plain loop and scikit-learn's curve."""

from __future__ import annotations

import numpy as np
import pytest

from extras import needs
from resit.stats.calibration import bins_of, redrawn_ece, reliability


@pytest.fixture
def answers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    confidence = rng.beta(5, 2, (3, 3_000)).astype(np.float32)
    return confidence, rng.random((3, 3_000)) < confidence - 0.05


def test_bins_hold_equally_many_and_equal_confidences_stay_together():
    confidence = np.random.default_rng(1).permutation(np.arange(30) / 30)
    assert np.bincount(bins_of(confidence, 6)).tolist() == [5] * 6
    assert len(np.unique(bins_of(np.full(20, 0.7)))) == 1


def test_the_error_is_that_of_a_plain_loop(answers: tuple[np.ndarray, np.ndarray]):
    confidence, right = answers[0][0], answers[1][0]
    order = np.argsort(confidence)
    error = 0.0
    for part in np.array_split(order, 15):
        error += len(part) / 3_000 * abs(confidence[part].mean(dtype=float) - right[part].mean())
    assert reliability(confidence, right).ece == pytest.approx(error, abs=2e-4)


def test_the_curve_is_scikit_learns(answers: tuple[np.ndarray, np.ndarray]):
    curve = needs("sklearn.calibration").calibration_curve
    confidence, right = answers[0][0], answers[1][0]
    accuracy, mean = curve(right, confidence, n_bins=15, strategy="quantile")
    found = reliability(confidence, right)
    assert found.accuracy == pytest.approx(accuracy, abs=0.01)
    assert found.confidence == pytest.approx(mean, abs=0.002)


def test_resamples_are_those_of_each_model_alone_and_near_the_error(answers: tuple[np.ndarray, np.ndarray]):
    confidence, right = answers
    together = redrawn_ece(0, (1, 2), confidence, right, 60)
    assert together.shape == (60, 3)
    alone = np.concatenate([redrawn_ece(0, (1, 2), confidence[at : at + 1], right[at : at + 1], 60) for at in range(3)], axis=1)
    assert np.allclose(together, alone)
    truth = [reliability(one, own).ece for one, own in zip(confidence, right, strict=True)]
    assert together.mean(axis=0) == pytest.approx(truth, abs=0.02)


def test_more_models_than_are_taken_at_once_get_the_same_examples(answers: tuple[np.ndarray, np.ndarray]):
    confidence, right = (np.tile(one[:1], (40, 1)) for one in answers)
    found = redrawn_ece(3, (1,), confidence, right, 20)
    assert np.allclose(found, found[:, :1])
