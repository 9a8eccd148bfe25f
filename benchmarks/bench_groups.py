"""Bootstrap intervals of the accuracy of 100 groups of 100,000 images, against fairlearn's MetricFrame with ``n_boot``.

Both redraw all images with replacement, so that the sizes of groups vary too. MetricFrame redraws rows of a frame and calls
its metric on every group; resit draws the sizes of the groups (multinomial) and the number right in each (binomial), which is
the same distribution. MetricFrame's time for 10,000 resamples is extrapolated linearly from 100, as it would take more than an
hour. Both must find the same intervals.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np

import resit
from resit.stats.groups import bootstrap_groups, count_right
from resit.stats.intervals import percentile

IMAGES, GROUPS, RESAMPLES = 100_000, 100, 10_000
THEIRS, FEW, ROUNDS = 100, 1, 3
ENDS = (0.025, 0.975)


def exam() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, answers and groups; groups differ in size and accuracy."""
    rng = np.random.default_rng(0)
    codes = rng.choice(GROUPS, IMAGES, p=np.linspace(1, 3, GROUPS) / np.linspace(1, 3, GROUPS).sum())
    labels = rng.integers(1_000, size=IMAGES)
    right = rng.random(IMAGES) < np.linspace(0.4, 0.9, GROUPS)[codes]
    return labels, np.where(right, labels, (labels + 1) % 1_000), codes


def by_fairlearn(labels: np.ndarray, answers: np.ndarray, codes: np.ndarray, resamples: int) -> np.ndarray:
    """Bounds of each group, shape (2, G)."""
    from fairlearn.metrics import MetricFrame
    from sklearn.metrics import accuracy_score

    boot = {"n_boot": resamples, "ci_quantiles": list(ENDS), "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = MetricFrame(metrics=accuracy_score, y_true=labels, y_pred=answers, sensitive_features=codes, **boot)
    return np.stack([np.asarray(end, float) for end in frame.by_group_ci])


def by_resit(labels: np.ndarray, answers: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The same, counting included."""
    n = np.bincount(codes, minlength=GROUPS)
    correct = count_right((labels == answers)[None], codes, GROUPS)[0]
    drawn = bootstrap_groups(np.random.default_rng(0), correct, n, RESAMPLES)
    return np.array([percentile(column, ENDS[1] - ENDS[0]) for column in np.ascontiguousarray(drawn.T)]).T


def study(labels: np.ndarray, answers: np.ndarray, codes: np.ndarray) -> None:
    """All that ``resit groups`` says of these answers: exact, simultaneous and stratified intervals, and the nulls."""
    benchmark = resit.Benchmark("set", labels[:, None].astype(np.int32), groups={"group": codes.astype(str)})
    data = resit.Predictions(benchmark, (resit.ModelId("m"),), answers[None, :, None].astype(np.int16))
    resit.groups(data, by="group", resamples=RESAMPLES)


def seconds(call: object, *given: object) -> tuple[float, object]:
    """Wall time of a call, and what it returned."""
    start = time.perf_counter()
    found = call(*given)  # type: ignore[operator]
    return time.perf_counter() - start, found


def rows() -> Iterator[tuple[str, str, str | None]]:
    """MetricFrame's own costs, which one resample shows, are not scaled up with the resamples."""
    made = exam()
    what = "100 groups, 100,000 images, 10,000 resamples: `MetricFrame` / resit"
    try:
        base = statistics.median(seconds(by_fairlearn, *made, FEW)[0] for _ in range(ROUNDS))
    except ImportError:
        yield what, "not measured: no fairlearn", "at least 500 ×"
        return
    taken, theirs = seconds(by_fairlearn, *made, THEIRS)
    whole = base + (taken - base) / (THEIRS - FEW) * (RESAMPLES - FEW)
    own = []
    for _ in range(ROUNDS + 1):
        spent, ours = seconds(by_resit, *made)
        own.append(spent)
    error = np.sqrt(0.25 / np.bincount(made[2]))
    if not (np.abs(np.asarray(ours) - np.asarray(theirs)) < 1.2 * error).all():  # a percentile of 100 resamples is noisy
        sys.exit("resit and MetricFrame do not find the same intervals")
    fast = statistics.median(own[1:])
    how = f"{whole:,.0f} s (extrapolated from {THEIRS} resamples in {taken:.0f} s) / {fast:.2f} s"
    yield what, f"{whole / fast:,.0f} × = {how}", "at least 500 ×"
    full = statistics.median(seconds(study, *made)[0] for _ in range(ROUNDS))
    yield "the same, against all of `resit.groups` with its nulls", f"{whole / full:,.0f} × ({full:.2f} s)", "at least 500 ×"
