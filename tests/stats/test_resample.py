from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from threadpoolctl import threadpool_limits

from resit.stats import lines, resample

quick = settings(deadline=None, max_examples=40)
seeds = st.integers(0, 2**32 - 1)


def slopes(seed: int, x: np.ndarray, y: np.ndarray, resamples: int) -> np.ndarray:
    """Slopes over resampled models, as a study does it."""

    def fit(job):
        return lines.fit_weighted(resample.draw_counts(*job, len(x)).astype(float), x[None], y[None])[0][0]

    return np.concatenate(resample.in_parallel(fit, resample.chunks(resample.generator(seed), resamples, len(x))))


def redraw(seed: int = 0, *, n: int = 700, resamples: int = 60, strata: bool = True) -> np.ndarray:
    """Sums over redrawn examples of made answers of three models."""
    rng = np.random.default_rng(9)
    scores = (rng.uniform(size=(n, 3)) < [0.5, 0.7, 0.9]).astype(np.float32)
    return resample.resample_examples(
        resample.generator(seed, 2), scores, resamples, rng.integers(7, size=n) if strata else None
    )


@quick
@given(seeds, st.integers(0, 30), st.integers(1, 40))
def test_each_resample_draws_as_many_as_there_are(seed, resamples, size):
    found = resample.draw_counts(resample.generator(seed), resamples, size)
    assert found.shape == (resamples, size)
    assert (found >= 0).all()
    assert (found.sum(axis=1) == size).all()


def test_counts_follow_the_multinomial_distribution():
    size, resamples = 3, 60_000
    found = resample.draw_counts(resample.generator(1), resamples, size)
    seen = {cell: 0 for cell in product(range(4), repeat=3) if sum(cell) == size}
    for row in found.tolist():
        seen[tuple(row)] += 1
    expected = [resamples * stats.multinomial.pmf(cell, size, [1 / 3] * 3) for cell in seen]
    assert stats.chisquare(list(seen.values()), expected).pvalue > 1e-3


def test_families_are_drawn_whole():
    families = np.array([0, 0, 1, 2, 2, 2])
    found = resample.draw_family_counts(resample.generator(3), 5000, families)
    assert (found[:, 0] == found[:, 1]).all()
    assert (found[:, 3:] == found[:, 3:4]).all()
    drawn = found[:, [0, 2, 3]]
    assert (drawn.sum(axis=1) == 3).all()
    assert stats.chisquare(drawn.sum(axis=0)).pvalue > 1e-3
    alone = resample.draw_family_counts(resample.generator(4), 50, np.arange(6))
    assert (alone == resample.draw_counts(resample.generator(4), 50, 6)).all()


def test_a_seed_gives_the_same_draws_and_another_seed_or_purpose_others():
    assert (redraw(0) == redraw(0)).all()
    assert (redraw(0) != redraw(1)).any()
    streams = [resample.generator(*key).random(2000) for key in [(0,), (1,), (0, 1), (0, 2), (0, 2, 0), (0, 2, 1), (1, 0)]]
    streams += [child.random(2000) for child, _ in resample.chunks(resample.generator(0, 1), 3 * 10**6, 2)]
    correlation = np.corrcoef(streams)
    assert np.abs(correlation - np.eye(len(streams))).max() < 0.1


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_the_number_of_threads_changes_nothing(monkeypatch, workers):
    monkeypatch.setattr(resample, "CHUNK_CELLS", 5_000)  # many pieces
    x, y = np.random.default_rng(0).uniform(size=(2, 20))
    expected = redraw(), slopes(0, x, y, 3000)
    monkeypatch.setattr(resample, "WORKERS", workers)
    with threadpool_limits(1):
        assert (redraw() == expected[0]).all()
        assert (slopes(0, x, y, 3000) == expected[1]).all()


@quick
@given(st.integers(0, 10**6), st.integers(1, 10**7))
def test_pieces_are_bounded_and_cover_every_resample(resamples, width):
    resamples = min(resamples, 2000 * max(1, resample.CHUNK_CELLS // width))
    pieces = resample.chunks(resample.generator(0), resamples, width)
    assert sum(size for _, size in pieces) == resamples
    assert all(size == 1 or size * width <= resample.CHUNK_CELLS for _, size in pieces)


def test_results_come_in_the_order_of_the_jobs():
    assert resample.in_parallel(lambda job: job * job, range(100)) == [job * job for job in range(100)]
    assert resample.in_parallel(lambda job: job, []) == []
    with pytest.raises(ZeroDivisionError):
        resample.in_parallel(lambda job: 1 // job, [1, 0])


@quick
@given(seeds, st.lists(st.integers(0, 5), min_size=1, max_size=60))
def test_strata_keep_their_sizes_wherever_they_stand(seed, strata):
    strata = np.array(strata)
    member = (strata[:, None] == np.arange(6)).astype(np.float32)
    found = resample.resample_examples(resample.generator(seed), member, 8, strata)
    assert (found == np.bincount(strata, minlength=6)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_over_redrawn_examples_have_their_exact_mean_and_covariance(dtype):
    rng = np.random.default_rng(2)
    strata = rng.integers(4, size=120)
    scores = (rng.uniform(size=(120, 3)) < np.c_[[0.2, 0.5, 0.9, 0.6]][strata]).astype(dtype)
    found = resample.resample_examples(resample.generator(8), scores, 40_000, strata)
    assert found.dtype == np.float64
    covariance = sum(
        (strata == stratum).sum() * np.cov(scores[strata == stratum].T, ddof=0) for stratum in range(4)
    )  # sum over strata of n_s times the covariance within s
    error = np.sqrt(np.diagonal(covariance) / 40_000)
    assert (np.abs(found.mean(axis=0) - scores.sum(axis=0)) < 5 * error).all()
    assert np.cov(found.T) == pytest.approx(covariance, abs=5 * 1.5 * covariance.max() / np.sqrt(40_000))


def test_models_are_scored_on_the_same_redrawn_examples():
    column = np.random.default_rng(0).integers(0, 2, (300, 1)).astype(np.float32)
    found = resample.resample_examples(resample.generator(0), np.concatenate([column, 1 - column, column], axis=1), 50)
    assert (found[:, 0] == found[:, 2]).all()
    assert (found[:, 0] + found[:, 1] == 300).all()
    assert np.ptp(found[:, 0]) > 0


def test_examples_bootstrap_agrees_with_scipy():
    rng = np.random.default_rng(4)
    scores = (rng.uniform(size=(400, 1)) < 0.7).astype(np.float32)
    sums = resample.resample_examples(resample.generator(0), scores, 20_000) / 400
    theirs = stats.bootstrap((scores[:, 0],), np.mean, n_resamples=20_000, method="percentile", rng=rng).confidence_interval
    assert np.quantile(sums, [0.025, 0.975]) == pytest.approx([theirs.low, theirs.high], abs=0.003)


@pytest.mark.parametrize("n", [3, 1000, 4096, 4097, 6000])
def test_every_example_is_drawn_equally_often(n):
    identity = np.eye(n, dtype=np.float32) if n <= 1000 else np.repeat(np.eye(100, dtype=np.float32), -(-n // 100), axis=0)[:n]
    found = resample.resample_examples(resample.generator(n), identity, 200).sum(axis=0)
    assert stats.chisquare(found, identity.sum(axis=0) * 200).pvalue > 1e-4


class Extreme:
    """Draws the smallest or the largest numbers that a generator can draw."""

    def __init__(self, largest: bool):
        self.largest = largest

    def random(self, size, dtype):
        self.step = np.finfo(dtype).epsneg
        return np.full(size, 1 - np.finfo(dtype).epsneg if self.largest else 0, dtype)


@pytest.mark.parametrize("largest", [False, True])
def test_no_draw_leaves_its_stratum(monkeypatch, largest):
    rng = Extreme(largest)
    monkeypatch.setattr(resample, "chunks", lambda *_: [(rng, 1)])
    for sizes in ([1, 2, 3], [2049, 4096], [3, 4095], [4097, 1], [1023, 1025, 2047], [50_000]):
        strata = np.repeat(np.arange(len(sizes)), sizes)
        edge = np.cumsum(sizes) - (1 if largest else np.array(sizes))
        scores = np.zeros((len(strata), 1), np.float32)
        scores[edge] = 1
        found = resample.resample_examples(resample.generator(0), scores, 1, strata if len(sizes) > 1 else None)
        assert found.tolist() == [[len(strata)]]
        assert max(sizes) * rng.step <= 2**-12  # by so much, relatively, one example can be likelier than another


def test_no_resamples_is_an_empty_table():
    assert resample.resample_examples(resample.generator(0), np.ones((5, 2)), 0).shape == (0, 2)


def test_models_bootstrap_of_the_slope_agrees_with_scipy():
    rng = np.random.default_rng(6)
    x = rng.uniform(0.5, 0.85, 30)
    y = 1.1 * x - 0.2 + rng.normal(0, 0.01, 30)

    def slope(x, y, axis):
        dx, dy = x - x.mean(axis=axis, keepdims=True), y - y.mean(axis=axis, keepdims=True)
        return (dx * dy).sum(axis=axis) / (dx * dx).sum(axis=axis)

    theirs = stats.bootstrap((x, y), slope, paired=True, n_resamples=20_000, method="percentile", rng=rng)
    ours = np.quantile(slopes(0, x, y, 20_000), [0.025, 0.975])
    assert ours == pytest.approx([theirs.confidence_interval.low, theirs.confidence_interval.high], abs=0.004)


def test_case_30_replicates_without_spread_are_nan_as_often_as_they_must():
    x, y = np.array([0.5, 0.5, 0.5, 0.8]), np.array([0.3, 0.4, 0.5, 0.6])
    found = slopes(2, x, y, 50_000)
    lost = int(np.isnan(found).sum())
    chance = (3**4 + 1) / 4**4  # only models of one accuracy were drawn
    assert stats.binomtest(lost, 50_000, chance).pvalue > 1e-3
    kept = found[np.isfinite(found)]
    assert len(kept) == 50_000 - lost
    every = [np.array(draw) for draw in product(range(4), repeat=4) if 3 in draw and set(draw) != {3}]
    exact = np.array([stats.linregress(x[draw], y[draw]).slope for draw in every])
    assert np.quantile(kept, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(exact, [0.1, 0.5, 0.9]), abs=0.03)


def test_the_published_slope_interval_of_imagenetv2_is_found(shared_data):
    """Recht et al. (2019), section 4: 1.1 [1.07, 1.19], over the convnets on MatchedFrequency, top-1."""
    import csv

    with (shared_data / "published" / "imagenetv2-models.csv").open() as file:
        convnets = {row["model"] for row in csv.DictReader(file) if row["kind"] == "convnet"}
    accuracy: dict[str, dict[str, float]] = {}
    with (shared_data / "published" / "imagenetv2.csv").open() as file:
        for row in csv.DictReader(file):
            accuracy.setdefault(row["test_set"], {})[row["model"]] = int(row["correct_top1"]) / int(row["n"])
    new = next(name for name in accuracy if "matched" in name)
    x, y = (np.array([accuracy[name][model] for model in sorted(convnets)]) for name in ("imagenet", new))
    assert len(x) == 64
    assert lines.fit_line(x, y).slope == pytest.approx(1.110, abs=0.0005)
    assert np.quantile(slopes(0, x, y, 100_000), [0.025, 0.975]) == pytest.approx([1.078, 1.189], abs=0.003)
