from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from resit.stats.lines import Line, deming_slope, fit_line, fit_rows, fit_weighted, has_spread, moment_slope
from resit.stats.scales import forward

SCALES = ("linear", "probit", "logit")
quick = settings(deadline=None, max_examples=80)
seeds = st.integers(0, 2**32 - 1)


def models(seed: int, count: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Accuracies of some models on two sets."""
    rng = np.random.default_rng(seed)
    old = rng.uniform(0.3, 0.95, count)
    return old, np.clip(1.1 * old - 0.2 + rng.normal(0, 0.03, count), 0.02, 0.98)


def orthogonal(seed: int, parts: int, count: int = 40) -> np.ndarray:
    """Centred columns of variance 1 (divisor M) that are exactly uncorrelated."""
    noise = np.random.default_rng(seed).normal(size=(count, parts))
    q, _ = np.linalg.qr(np.c_[np.ones(count), noise])
    return q[:, 1:] * np.sqrt(count)


@pytest.mark.parametrize("scale", SCALES)
@quick
@given(seed=seeds, count=st.integers(3, 30))
def test_line_agrees_with_linregress_on_every_scale(scale, seed, count):
    x, y = (forward(part, scale) for part in models(seed, count))
    line, theirs = fit_line(x, y), stats.linregress(x, y)
    assert line.slope == pytest.approx(theirs.slope, rel=1e-8)
    assert line.intercept == pytest.approx(theirs.intercept, rel=1e-8, abs=1e-9)
    assert line.r2 == pytest.approx(theirs.rvalue**2, rel=1e-7, abs=1e-12)
    assert line.at(x) == pytest.approx(theirs.intercept + theirs.slope * x)


@quick
@given(seed=seeds, shift=st.floats(-5, 5), stretch=st.floats(0.1, 10))
def test_line_moves_with_its_axes(seed, shift, stretch):
    x, y = models(seed)
    line, moved = fit_line(x, y), fit_line(stretch * x + shift, y)
    assert moved.slope == pytest.approx(line.slope / stretch, rel=1e-6)
    assert moved.r2 == pytest.approx(line.r2, rel=1e-6)
    moved = fit_line(x, stretch * y + shift)
    assert moved.slope == pytest.approx(line.slope * stretch, rel=1e-6)
    assert moved.intercept == pytest.approx(line.intercept * stretch + shift, rel=1e-6, abs=1e-6)
    order = np.random.default_rng(seed).permutation(len(x))
    assert fit_line(x[order], y[order]).slope == pytest.approx(line.slope)


def test_points_on_a_line_have_r2_of_at_most_1():
    for seed in range(50):
        x, _ = models(seed)
        assert 1 - 1e-12 < fit_line(x, 1.7 * x - 0.6).r2 <= 1


def test_case_29_fewer_than_three_models_or_one_original_accuracy_make_no_line():
    assert not has_spread(np.array([]))
    assert not has_spread(np.array([0.5]))
    assert not has_spread(np.array([0.5, 0.6]))
    assert not has_spread(np.full(30, 0.7))
    assert not has_spread(np.array([0.1 + 0.2, 0.3, 0.3]))
    assert not has_spread(np.array([0.5, np.nan, 0.6]))
    assert has_spread(np.array([0.5, 0.5, 0.5 + 1 / 50_000]))


@pytest.mark.parametrize("count", [3, 5, 7, 10, 30, 64])
@pytest.mark.parametrize("level", [0.1, 0.3, 0.7, 0.9])
def test_case_29_all_new_accuracies_equal_have_no_r2(count, level):
    line = fit_line(np.linspace(0.5, 0.8, count), np.full(count, level))
    assert np.isnan(line.r2)
    assert line.slope == pytest.approx(0, abs=1e-12)
    assert line.intercept == pytest.approx(level)


@quick
@given(seed=seeds, count=st.integers(4, 20))
def test_weighted_lines_agree_with_repeating_the_points(seed, count):
    rng = np.random.default_rng(seed)
    x, y = np.stack([models(seed, count), models(seed + 1, count)], axis=1)
    weights = rng.multinomial(count, np.full(count, 1 / count), size=6)
    slope, intercept = fit_weighted(weights.astype(float), x, y)
    rows = fit_rows(np.repeat(x[:1], 6, axis=0), np.repeat(y[:1], 6, axis=0), weights.astype(float))
    assert slope.shape == intercept.shape == (2, 6)
    for at, times in enumerate(weights):
        if (times > 0).sum() < 2:
            assert np.isnan(slope[:, at]).all()
            continue
        for data in range(2):
            theirs = stats.linregress(np.repeat(x[data], times), np.repeat(y[data], times))
            assert slope[data, at] == pytest.approx(theirs.slope, rel=1e-6, abs=1e-8)
            assert intercept[data, at] == pytest.approx(theirs.intercept, rel=1e-6, abs=1e-8)
        assert (rows[0][at], rows[1][at]) == pytest.approx((slope[0, at], intercept[0, at]), rel=1e-6, abs=1e-8)


def test_lines_of_rows_agree_with_linregress():
    x, y = np.stack([models(seed, 9) for seed in range(20)], axis=1)
    slope, intercept = fit_rows(x, y)
    for at in range(20):
        theirs = stats.linregress(x[at], y[at])
        assert (slope[at], intercept[at]) == pytest.approx((theirs.slope, theirs.intercept))


def test_weights_that_are_no_counts_agree_with_polyfit():
    (x, y), weights = models(3), np.random.default_rng(3).uniform(0.1, 2, (4, 12))
    found = fit_weighted(weights, x[None], y[None])
    for at in range(4):
        theirs = np.polyfit(x, y, 1, w=np.sqrt(weights[at]))
        assert (found[0][0, at], found[1][0, at]) == pytest.approx(tuple(theirs))


def test_case_30_weightings_without_spread_are_nan_and_no_others():
    x = np.array([[0.7, 0.7, 0.7, 0.9], [0.1 + 0.2, 0.3, 0.3, 0.3], [0.2, 0.4, 0.6, 0.8]])
    y = np.array([[0.5, 0.6, 0.7, 0.8]] * 3)
    every = [np.bincount(draw, minlength=4) for draw in np.ndindex(4, 4, 4, 4)]
    weights = np.array(every, float)
    slope, intercept = fit_weighted(weights, x, y)
    lost = np.stack([[len({round(xs[i], 9) for i in range(4) if w[i]}) < 2 for w in weights] for xs in x])
    assert (np.isnan(slope) == lost).all()
    assert (np.isnan(intercept) == lost).all()
    assert lost.sum(axis=1).tolist() == [3**4 + 1, 4**4, 4]
    for data in range(3):
        rows = fit_rows(np.repeat(x[data : data + 1], 256, axis=0), np.repeat(y[data : data + 1], 256, axis=0), weights)
        assert (np.isnan(rows[0]) == lost[data]).all()
        assert rows[0][~lost[data]] == pytest.approx(slope[data][~lost[data]], rel=1e-9)


def test_moment_slope_takes_known_noise_out_exactly():
    truth, noise_x, noise_y = orthogonal(1, 3).T
    x, y = 0.7 + 0.05 * truth + 0.02 * noise_x, 0.6 + 0.05 * 1.3 * truth + 0.03 * noise_y
    assert fit_line(x, y).slope == pytest.approx(1.3 * 0.05**2 / (0.05**2 + 0.02**2))
    assert moment_slope(x, y, 0.02**2) == pytest.approx(1.3)
    assert moment_slope(x, y, 0.0) == pytest.approx(stats.linregress(x, y).slope)
    assert deming_slope(x, y, 0.03**2 / 0.02**2) == pytest.approx(1.3)


def test_moment_slope_is_not_available_where_noise_explains_all():
    x, y = models(4)
    assert np.isnan(moment_slope(x, y, float(np.var(x))))
    assert np.isnan(moment_slope(x, y, 2 * float(np.var(x))))
    assert np.isfinite(moment_slope(x, y, 0.99 * float(np.var(x))))


@quick
@given(seed=seeds, ratio=st.floats(0.01, 100))
def test_deming_agrees_with_total_least_squares(seed, ratio):
    x, y = models(seed)
    centred = np.stack([x - x.mean(), (y - y.mean()) / np.sqrt(ratio)])  # noise of the same variance on both axes
    along = np.linalg.svd(centred, full_matrices=False)[0][:, 0]
    assert deming_slope(x, y, ratio) == pytest.approx(np.sqrt(ratio) * along[1] / along[0], rel=1e-6)
    assert deming_slope(y, x, 1 / ratio) == pytest.approx(1 / deming_slope(x, y, ratio), rel=1e-6)
    assert deming_slope(x, -y, ratio) == pytest.approx(-deming_slope(x, y, ratio), rel=1e-9)


def test_deming_lies_between_its_two_limits():
    x, y = models(6)
    onto_x, onto_y = stats.linregress(x, y).slope, 1 / stats.linregress(y, x).slope
    assert deming_slope(x, y, 1e14) == pytest.approx(onto_x, rel=1e-9)
    assert deming_slope(x, y, 0.0) == pytest.approx(onto_y, rel=1e-9)
    assert onto_x < deming_slope(x, y, 1.0) < onto_y
    flat = np.array([0.0, 1.0, 0.0, 1.0])
    assert np.isnan(deming_slope(np.array([0.0, 0.0, 1.0, 1.0]), flat, 1.0))


def test_a_line_is_a_record():
    line = Line(2.0, -1.0, 0.5)
    assert line.at(np.array([0.5, 1.0])).tolist() == [0.0, 1.0]
    with pytest.raises(AttributeError):
        line.slope = 3.0  # type: ignore[misc]
