"""Calibration error against a plain loop and scikit-learn's curve."""

from __future__ import annotations

import numpy as np
import pytest

from extras import needs
from resit.stats.calibration import bins_of, redrawn_squares, reliability, squared_error


@pytest.fixture
def answers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    confidence = rng.beta(5, 2, (3, 3_000)).astype(np.float32)
    return confidence, rng.random((3, 3_000)) < confidence - 0.05


def test_bins_hold_equally_many_and_equal_confidences_stay_together():
    confidence = np.random.default_rng(1).permutation(np.arange(30) / 30)
    assert np.bincount(bins_of(confidence, 6)).tolist() == [5] * 6
    assert len(np.unique(bins_of(np.full(20, 0.7)))) == 1
    # ties go where the first of them would, so that bins after it may be empty
    assert bins_of(np.array([0.5, 0.1, 0.5, 0.9, 0.5]), 5).tolist() == [1, 0, 1, 4, 1]


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


def test_the_squared_error_is_that_of_a_plain_loop(answers: tuple[np.ndarray, np.ndarray]):
    confidence, right = answers[0][0], answers[1][0]
    total = 0.0
    for part in np.array_split(np.argsort(confidence), 15):
        gap = confidence[part].astype(float) - right[part]
        total += len(part) / 3_000 * (gap.mean() ** 2 - gap.var(ddof=1) / len(part))
    assert squared_error(confidence, right) == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("n", [60, 400])
def test_the_squared_error_has_no_bias_where_the_other_has(n: int):
    rng = np.random.default_rng(2)
    confidence = rng.beta(5, 2, (1_000, n))
    right = rng.random((1_000, n)) < confidence
    squares = np.array([squared_error(*pair) for pair in zip(confidence, right, strict=True)])
    assert abs(squares.mean()) < 4 * squares.std() / np.sqrt(1_000)
    errors = [reliability(*pair).ece for pair in zip(confidence[:50], right[:50], strict=True)]
    assert np.mean(errors) > 0.5 / np.sqrt(n)  # all of it chance


def test_bins_of_one_example_have_no_squared_error():
    assert np.isnan(squared_error(np.array([0.5, 0.6]), np.array([True, False])))
    twice = np.array([0.5, 0.5, 0.9])  # two share a bin, the third is alone
    assert squared_error(twice, np.array([True, False, True])) == pytest.approx(-0.25)


def test_resamples_are_those_of_each_model_alone(answers: tuple[np.ndarray, np.ndarray]):
    confidence, right = answers
    together = redrawn_squares(0, (1, 2), confidence, right, 60)
    assert together.shape == (60, 3)
    alone = [redrawn_squares(0, (1, 2), confidence[at : at + 1], right[at : at + 1], 60) for at in range(3)]
    assert np.allclose(together, np.concatenate(alone, axis=1))


def test_resamples_spread_as_new_samples_do_where_there_is_a_gap():
    rng = np.random.default_rng(3)

    def sample() -> tuple[np.ndarray, np.ndarray]:
        confidence = rng.beta(5, 2, 2_000)
        return confidence, rng.random(2_000) < confidence * 0.8

    spread = np.std([squared_error(*sample()) for _ in range(400)])
    confidence, right = sample()
    redrawn = redrawn_squares(0, (1,), confidence[None], right[None], 400).std()
    assert redrawn == pytest.approx(spread, rel=0.3)


def test_more_models_than_are_taken_at_once_get_the_same_examples(answers: tuple[np.ndarray, np.ndarray]):
    confidence, right = (np.tile(one[:1], (40, 1)) for one in answers)
    found = redrawn_squares(3, (1,), confidence, right, 20)
    assert np.allclose(found, found[:, :1])
