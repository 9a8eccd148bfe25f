"""Predicted intervals of slopes, against the bootstrap and against the textbook's standard error."""

from __future__ import annotations

import numpy as np
import pytest

from resit.errors import UsageError
from resit.stats.slope_width import Cloud, planned, slope_interval


def cloud(size: int, scatter: float, noise: float = 0.0) -> Cloud:
    rng = np.random.default_rng(3)
    x = np.linspace(0.5, 0.8, size)
    return Cloud(x, 1.2 * x - 0.2 + scatter * rng.standard_normal(size), np.full(size, noise), np.full(size, noise))


def test_with_as_many_models_it_is_the_bootstrap_over_models():
    models = cloud(30, 0.02)
    rng, slopes = np.random.default_rng(0), []
    for _ in range(4_000):
        rows = rng.integers(30, size=30)
        slopes.append(np.polyfit(models.x[rows], models.y[rows], 1)[0])
    low, high = np.quantile(slopes, [0.025, 0.975])
    found = slope_interval(models, 30, resamples=20_000)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.012)
    assert found.width == pytest.approx(high - low, rel=0.06)


def test_even_scatter_gives_the_textbooks_width():
    models = cloud(20_000, 0.01)
    found = slope_interval(models, 80, resamples=8_000)
    expected = 2 * 1.96 * 0.01 / (np.sqrt(80) * models.x.std())
    assert found.width == pytest.approx(expected, rel=0.05)
    assert found.mean == pytest.approx(1.2, abs=0.01)


def test_noise_is_added_to_both_axes():
    models = cloud(20_000, 0.0)
    found = slope_interval(models, 80, add_x=0.0001, add_y=0.0004, resamples=8_000)
    variance = models.x.var()
    assert found.mean == pytest.approx(1.2 * variance / (variance + 0.0001), rel=0.005)  # noise of x flattens the line
    assert found.width > slope_interval(models, 80, add_y=0.0004, resamples=8_000).width


def test_more_noise_is_what_to_add_and_less_noise_is_taken_from_the_residuals():
    models = cloud(400, 0.02, noise=0.0001)
    same, add_x, add_y = planned(models, models.noise_x, models.noise_y)
    assert same.y == pytest.approx(models.y)
    assert (add_x.max(), add_y.max()) == (0, 0)
    _, add_x, add_y = planned(models, models.noise_x * 3, models.noise_y * 2)
    assert (add_x.mean(), add_y.mean()) == pytest.approx((0.0002, 0.0001))
    less, _, _ = planned(models, models.noise_x, models.noise_y * 0)
    slope, intercept = np.polyfit(models.x, models.y, 1)
    before, after = (np.mean((one.y - intercept - slope * one.x) ** 2) for one in (models, less))
    assert before - after == pytest.approx(0.0001)


def test_more_noise_taken_than_there_is_leaves_a_line():
    found, _, _ = planned(cloud(50, 0.001, noise=1.0), np.zeros(50), np.zeros(50))
    assert np.ptp(found.y - np.polyval(np.polyfit(found.x, found.y, 1), found.x)) == pytest.approx(0, abs=1e-12)


def test_few_models_often_have_no_line():
    two = Cloud(np.array([0.5, 0.5, 0.5, 0.9]), np.array([0.4, 0.5, 0.4, 0.8]), np.zeros(4), np.zeros(4))
    found = slope_interval(two, 3)
    assert found.failed == pytest.approx(0.75**3 + 0.25**3, abs=0.03)
    assert found.width == np.inf


def test_what_has_no_line_is_refused():
    with pytest.raises(UsageError, match="a line through 2 models"):
        slope_interval(cloud(10, 0.1), 2)
    with pytest.raises(UsageError, match="no line"):
        Cloud(np.full(5, 0.7), np.arange(5.0), np.zeros(5), np.zeros(5))
