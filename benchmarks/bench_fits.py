"""All fits of the ImageNetV2 study with 100,000 model resamples, against scipy.stats.bootstrap called for each."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

import resit
from resit.study.fits import fit_all
from resit.study.pairing import Pairing, pair_up
from resit.study.result import SCALES
from resit.study.settings import Settings
from resit.study.setview import SetView

RESAMPLES, ROUNDS = 100_000, 3
SETTINGS = Settings(0.95, 0, "models", RESAMPLES, 0, "micro", (), False)
FORWARD = {"linear": lambda p: p, "probit": stats.norm.ppf, "logit": lambda p: np.log(p / (1 - p))}


def pairings() -> list[Pairing]:
    """Both metrics on both new sets, over the convnets."""
    study = resit.published("imagenetv2")
    views = [SetView(data, "micro", 0, 0) for data in (study.original, *study.new)]
    convnets = [model for model in views[0].data.models if study.table.get(model, "kind") == "convnet"]
    views = [SetView(view.data.select(convnets), "micro", 0, 0) for view in views]
    return [pairing for view in views[1:] for pairing in pair_up(views[0], view, (), None)]


def line(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    """Slope and intercept by least squares, vectorised as scipy asks."""
    mean_x, mean_y = x.mean(axis=axis, keepdims=True), y.mean(axis=axis, keepdims=True)
    slope = ((x - mean_x) * (y - mean_y)).sum(axis=axis) / ((x - mean_x) ** 2).sum(axis=axis)
    return np.stack([slope, mean_y.squeeze(axis) - slope * mean_x.squeeze(axis)])


def by_scipy(found: list[Pairing]) -> list[tuple[float, float]]:
    """Percentile intervals of each slope."""
    bounds = []
    for pairing in found:
        for scale in SCALES:
            data = [FORWARD[scale](scores.accuracy) for scores in (pairing.old_scores, pairing.new_scores)]
            options = {"paired": True, "vectorized": True, "n_resamples": RESAMPLES, "batch": 10_000, "method": "percentile"}
            own = stats.bootstrap(data, line, rng=0, **options).confidence_interval
            bounds.append((float(own.low[0]), float(own.high[0])))
    return bounds


def by_resit(found: list[Pairing]) -> list[tuple[float, float]]:
    """The same from the study's own fits."""
    with threadpool_limits(1, user_api="blas"):  # as resit.compare does
        slopes = [fits[scale].slope for fits, _ in fit_all(found, None, SETTINGS) for scale in SCALES]
    return [(slope.low or np.nan, slope.high or np.nan) for slope in slopes]


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Ratio of medians of alternating runs; both must find the same intervals."""
    found = pairings()
    taken: dict[str, list[float]] = {"scipy": [], "resit": []}
    for _ in range(ROUNDS + 1):
        for name, call in (("scipy", by_scipy), ("resit", by_resit)):
            start = time.perf_counter()
            bounds = np.array(call(found))
            taken[name].append(time.perf_counter() - start)
            if name == "scipy":
                theirs = bounds
        np.testing.assert_allclose(bounds, theirs, atol=0.005)
    ratio = statistics.median(taken["scipy"][1:]) / statistics.median(taken["resit"][1:])
    yield "12 fits × 100,000 model resamples: `scipy.stats.bootstrap` / resit", f"{ratio:.1f} ×", "at least 2.5 ×"
