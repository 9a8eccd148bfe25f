"""Heads on 50,000 memory-mapped features of 1,280 numbers, 100 classes, against scikit-learn called by hand on the same file.

Both train the same heads: three folds, in each the strength of the penalty chosen of three on the next fold, and a head on the
other folds; then one on all. By hand that is a loop over StandardScaler and LogisticRegression, once as they come and once with
one thread for BLAS, which is quicker where cores are shared; the quicker of the two counts. Both must choose the same strengths
and give the same answers.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

import resit
from resit.data.benchmark import ClassInfo
from resit.stats.resample import generator
from resit.stats.splits import make_folds
from resit.study.retrain_folds import FOLDS, CrossFitted, Recipe, cross_fit
from resit.study.retrain_sets import Columns, Posed, pose
from resit.study.settings import one_blas_thread

EXAMPLES, FEATURES, CLASSES, PARTS, ROUNDS = 50_000, 1_280, 100, 3, 1
GRID = (1e-4, 1e-3, 1e-2)
LIMIT = "at most 1.0 ×"


def write(path: Path) -> np.ndarray:
    """A file of features, a normal cloud for each class, and the labels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(CLASSES, size=EXAMPLES)
    centres = rng.normal(0, 0.12, (CLASSES, FEATURES)).astype(np.float32)
    values = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(EXAMPLES, FEATURES))
    for start in range(0, EXAMPLES, 5_000):
        part = slice(start, start + 5_000)
        values[part] = centres[labels[part]] + rng.standard_normal((5_000, FEATURES), np.float32)
    values.flush()
    return labels


def posed(path: Path, labels: np.ndarray) -> Posed:
    """The set as a retraining sees it."""
    from resit.evaluate.features import Features

    classes = tuple(ClassInfo(f"c{at}", f"c{at}") for at in range(CLASSES))
    groups = {"group": (np.arange(EXAMPLES) % 4).astype(str)}
    benchmark = resit.Benchmark("set", labels[:, None].astype(np.int32), classes=classes, groups=groups)
    values = np.load(path, mmap_mode="r")
    return pose(benchmark, Features(values, np.ones(EXAMPLES, bool), (), (), (), path), Columns("group", {}, None))


def by_resit(exam: Posed) -> CrossFitted:
    with one_blas_thread():
        return cross_fit(exam, Recipe(GRID, PARTS, False, 1, 30, 0), lambda _: None)


def by_hand(
    path: Path, labels: np.ndarray, fold_of: np.ndarray, blas: AbstractContextManager[object]
) -> tuple[np.ndarray, list[float]]:
    """Answers of every fold and the strengths that were chosen; the last is that of the head of all examples."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    features = np.load(path, mmap_mode="r")

    def fit(rows: np.ndarray, c: float):
        scaler = StandardScaler()
        ready = scaler.fit_transform(features[rows])
        model = LogisticRegression(C=c, max_iter=1_000).fit(ready, labels[rows])
        return lambda at: model.predict(scaler.transform(features[at]))

    answers, chosen, total = np.empty(EXAMPLES, int), [], np.zeros(len(GRID))
    with blas:
        for fold in range(PARTS):
            test, validation = fold_of == fold, fold_of == (fold + 1) % PARTS
            at = np.flatnonzero(validation)
            right = np.array([np.count_nonzero(fit(~test & ~validation, c)(at) == labels[at]) for c in GRID])
            total += right
            chosen.append(GRID[int(right.argmax())])
            answers[test] = fit(~test, chosen[-1])(np.flatnonzero(test))
        chosen.append(GRID[int(total.argmax())])
        fit(np.ones(EXAMPLES, bool), chosen[-1])
    return answers, chosen


def check(ours: CrossFitted, theirs: tuple[np.ndarray, list[float]]) -> None:
    strengths = [*(row.c for row in ours.folds), ours.head.c]
    same = np.mean(ours.answers[:, 0] == theirs[0])
    if strengths != theirs[1] or same < 0.995:
        sys.exit(f"resit and scikit-learn differ: C {strengths} and {theirs[1]}, {same:.2%} of the answers alike")


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Both sides in turn; by hand is the quicker way of the two in each round."""
    what = f"{PARTS}-fold heads, {EXAMPLES:,} × {FEATURES:,} features, {CLASSES} classes: resit / scikit-learn by hand"
    try:
        import sklearn  # noqa: F401
    except ImportError:
        yield what, "not measured: no scikit-learn", LIMIT
        return
    ratios, mine, hand = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "features.npy"
        labels = write(path)
        exam = posed(path, labels)
        fold_of = make_folds(generator(0, FOLDS), exam.strata(), PARTS)
        for _ in range(ROUNDS):
            start = time.perf_counter()
            ours = by_resit(exam)
            mine.append(time.perf_counter() - start)
            spent = []
            for blas in (nullcontext(), one_blas_thread()):
                start = time.perf_counter()
                theirs = by_hand(path, labels, fold_of, blas)
                spent.append(time.perf_counter() - start)
            check(ours, theirs)
            hand.append(min(spent))
            ratios.append(mine[-1] / hand[-1])
    how = f"{statistics.median(mine):.0f} s / {statistics.median(hand):.0f} s"
    yield what, f"{statistics.median(ratios):.2f} × = {how}", LIMIT
