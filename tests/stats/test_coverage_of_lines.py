"""Coverage of bootstrap intervals of the slope and bias of the slope under noise on both axes, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from resit.stats import lines, noise, resample

pytestmark = pytest.mark.slow
SLOPE, STRATA = 1.2, 10


@pytest.fixture(autouse=True)
def _one_blas_thread():
    with threadpool_limits(1, user_api="blas"):
        yield


def share_covered(low: list[float], high: list[float], truth: float) -> float:
    return float(np.mean((np.array(low) <= truth) & (truth <= np.array(high))))


def draw_answers(rng: np.random.Generator, accuracy: np.ndarray, n: int, alike: float = 0.6) -> np.ndarray:
    """0/1 answers (n, M) with the given expected accuracies; models share the difficulty of examples (a Gaussian copula)."""
    from scipy.special import ndtr

    shared = rng.normal(size=(n, 1)) * np.sqrt(alike) + rng.normal(size=(n, len(accuracy))) * np.sqrt(1 - alike)
    return (ndtr(shared) < accuracy).astype(np.float32)


def test_models_bootstrap_covers_the_slope_of_the_population_of_models():
    rng, low, high = np.random.default_rng(0), [], []
    for trial in range(1500):
        x = rng.uniform(0.5, 0.85, 60)
        y = SLOPE * x - 0.25 + rng.normal(0, 0.01, 60) * (1 + 2 * (x > 0.7))  # spread differs, as least squares need not know
        weights = resample.draw_counts(resample.generator(trial, 1), 1000, 60).astype(float)
        slope, _ = lines.fit_weighted(weights, x[None], y[None])
        bounds = np.quantile(slope[0], [0.025, 0.975])
        low.append(bounds[0])
        high.append(bounds[1])
    assert share_covered(low, high, SLOPE) == pytest.approx(0.94, abs=0.02)


@pytest.mark.parametrize("crossed", [False, True])
def test_examples_and_crossed_bootstrap_cover_the_slope(crossed):
    """Examples: these models, other examples. Crossed: other models too, which scatter about the line."""
    rng, low, high, examples_only = np.random.default_rng(3), [], [], []
    models, n_old, n_new, resamples = 25, 1500, 1000, 300
    strata_old, strata_new = np.arange(n_old) % STRATA, np.arange(n_new) % STRATA
    x_true = np.linspace(0.55, 0.85, models)
    for trial in range(400):
        if crossed:
            x_true = rng.uniform(0.5, 0.88, models)
        y_true = SLOPE * x_true - 0.25 + (rng.normal(0, 0.02, models) if crossed else 0)
        x, y = (
            resample.resample_examples(resample.generator(trial, 2, at), draw_answers(rng, accuracy, n), resamples, strata) / n
            for at, (accuracy, n, strata) in enumerate([(x_true, n_old, strata_old), (y_true, n_new, strata_new)])
        )
        weights = resample.draw_counts(resample.generator(trial, 3), resamples, models).astype(float)
        bounds = np.quantile(lines.fit_rows(x, y, weights if crossed else None)[0], [0.025, 0.975])
        low.append(bounds[0])
        high.append(bounds[1])
        alone = np.quantile(lines.fit_rows(x, y)[0], [0.025, 0.975])
        examples_only.append(alone[0] <= SLOPE <= alone[1])
    covered = share_covered(low, high, SLOPE)
    assert 0.90 <= covered <= 0.99
    if crossed:
        assert np.mean(examples_only) < covered - 0.03  # examples alone do not know that models vary


def test_strata_take_the_differences_between_classes_out_of_the_interval():
    rng = np.random.default_rng(4)
    strata = np.arange(2000) % STRATA
    scores = (rng.uniform(size=(2000, 1)) < np.linspace(0.2, 0.98, STRATA)[strata][:, None]).astype(np.float32)
    plain = resample.resample_examples(resample.generator(0), scores, 4000) / 2000
    within = resample.resample_examples(resample.generator(0), scores, 4000, strata) / 2000
    p = np.array([scores[strata == stratum].mean() for stratum in range(STRATA)])
    assert within.std() == pytest.approx(np.sqrt((p * (1 - p)).mean() / 2000), rel=0.05)
    assert plain.std() == pytest.approx(np.sqrt(p.mean() * (1 - p.mean()) / 2000), rel=0.05)


def slopes_under_noise(scale_gain: str, alike: float, trials: int = 600) -> dict[str, list[float]]:
    """Slopes of repeated studies of 30 fixed models on a line of slope 1.2, with few examples."""
    from resit.stats import scales

    rng, found = np.random.default_rng(5), {"ols": [], "moment": [], "deming": [], "counts": []}
    models, n_old, n_new = 30, 800, 400
    x_true = np.linspace(0.70, 0.80, models)
    values = scales.forward(x_true, scale_gain)
    y_true = scales.backward(
        values.mean() + SLOPE * (values - values.mean()) - (0.1 if scale_gain == "linear" else 0.5), scale_gain
    )
    for _ in range(trials):
        right = [draw_answers(rng, accuracy, n, alike) for accuracy, n in ((x_true, n_old), (y_true, n_new))]
        accuracy = [part.mean(axis=0).astype(float) for part in right]
        x, y = (scales.forward(part, scale_gain) for part in accuracy)
        gains = [scales.derivative(part, scale_gain) for part in accuracy]
        both = [(part.T @ part).astype(np.int64) for part in right]
        noise_x, noise_y = (noise.noise_from_pairs(b, n, g) for b, n, g in zip(both, (n_old, n_new), gains, strict=True))
        found["ols"].append(lines.fit_line(x, y).slope)
        found["moment"].append(lines.moment_slope(x, y, noise_x))
        found["deming"].append(lines.deming_slope(x, y, noise_y / noise_x))
        found["counts"].append(
            lines.moment_slope(x, y, noise.noise_from_counts(accuracy[0], np.full(models, float(n_old)), gains[0]))
        )
    return found


@pytest.mark.parametrize("scale", ["linear", "probit", "logit"])
@pytest.mark.parametrize("alike", [0.0, 0.6])
def test_noise_flattens_least_squares_and_the_correction_takes_the_bias_out(scale, alike):
    found = slopes_under_noise(scale, alike)
    error = {name: np.std(values) / np.sqrt(len(values)) for name, values in found.items()}
    assert np.isfinite(found["moment"]).all()
    assert np.mean(found["ols"]) < SLOPE - 0.06  # attenuated
    assert np.mean(found["moment"]) == pytest.approx(SLOPE, abs=0.025 + 3 * error["moment"])
    assert np.median(found["deming"]) == pytest.approx(SLOPE, abs=0.03 + 4 * error["deming"])
    if alike:
        assert np.mean(found["counts"]) > np.mean(found["moment"]) + 0.05  # independence corrects too much: an upper bound
    else:
        assert np.mean(found["counts"]) == pytest.approx(np.mean(found["moment"]), abs=0.01)
