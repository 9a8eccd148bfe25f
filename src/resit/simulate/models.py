"""Classifiers of different strength, trained on pixels: a testbed that sits both exams where no other models are at hand."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.decode import decode
from resit.data.load_benchmark import load_benchmark
from resit.errors import InputError, OutputError, UsageError
from resit.models.library import library
from resit.models.preprocess import Preprocess
from resit.simulate.labelled import read_labelled
from resit.stats.resample import generator

SIZE = 16
MOST = 10_000
COMPONENTS = 30
HALF = (0.5, 0.5, 0.5)
PREPROCESS = """classes: [{classes}]
preprocess:
  size: {size}
  resize: [{size}, {size}]
  interpolation: bilinear
  mean: [0.5, 0.5, 0.5]
  std: [0.5, 0.5, 0.5]
"""


def train_models(
    train: Sequence[str | Path | Benchmark],
    folder: str | Path,
    *,
    classes: str | None = None,
    size: int = SIZE,
    most: int = MOST,
    names: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[str, ...]:
    """Train classifiers of scikit-learn, and store each as a ``.skops`` file with what resit needs to ask it.

    Parameters
    ----------
    train : sequence of str, path or Benchmark
        Training images, as :func:`resit.load_benchmark` takes them.
    folder : path
        Where to write.
    classes : str, optional
        Class list to read them with. Default: their own.
    size : int, optional
        Pixels a side that the classifiers see.
    most : int, optional
        Training images at most, drawn at random among all.
    names : sequence of str, optional
        Which classifiers, of those in :func:`estimators`. Default: all.
    seed : int, optional

    Returns
    -------
    tuple of str
        What :func:`resit.evaluate` takes as models: ``sklearn:FOLDER/NAME.skops``.

    Raises
    ------
    InputError
        If training images cannot be read, or their classes differ.
    OutputError
        If a file cannot be written.
    UsageError
        If scikit-learn or skops is missing, or a name is unknown.
    """
    skops: Any = library("skops.io", "sklearn")
    known = estimators(seed)
    if unknown := [name for name in names or () if name not in known]:
        raise UsageError(f"no classifier {unknown[0]!r}", where="models", fix=f"There are {', '.join(known)}.")
    rows, labels, ids = _training(train, classes, size, most, seed)
    target, specs = Path(folder), []
    sidecar = PREPROCESS.format(classes=", ".join(map(_quoted, ids)), size=size)
    for name in names or known:
        estimator = _fitted(known[name], rows, labels)
        path = target / f"{name}.skops"
        try:
            target.mkdir(parents=True, exist_ok=True)
            skops.dump(estimator, path)
            path.with_suffix(".yaml").write_text(sidecar, encoding="utf-8")
        except OSError as error:
            what = f"cannot be written: {error.strerror or error}"
            raise OutputError(what, where=path, fix="Check its permissions.") from error
        specs.append(f"sklearn:{path}")
    return tuple(specs)


def estimators(seed: int = 0) -> dict[str, Any]:
    """The classifiers, not yet fitted, by name; roughly the weakest first.

    There are only such as skops reads without permission to run code: no trees, and no network trained by Adam.

    Parameters
    ----------
    seed : int, optional
    """
    library("sklearn", "sklearn")
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.naive_bayes import BernoulliNB, GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    def components(number: int) -> Any:
        return PCA(number, whiten=True, svd_solver="randomized", random_state=seed)

    return {
        "two-components": make_pipeline(components(2), LogisticRegression(max_iter=1_000)),
        "binary-bayes": BernoulliNB(),
        "naive-bayes": GaussianNB(var_smoothing=1e-2),
        "four-components": make_pipeline(components(4), LogisticRegression(max_iter=1_000)),
        "linear-svm": make_pipeline(StandardScaler(), SGDClassifier(alpha=1e-2, random_state=seed)),
        "discriminant": make_pipeline(components(COMPONENTS), LinearDiscriminantAnalysis()),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1_000)),
        "nearest": make_pipeline(components(8), KNeighborsClassifier(1, algorithm="brute")),
        "quadratic": make_pipeline(components(15), QuadraticDiscriminantAnalysis(reg_param=0.1)),
        "neighbours": make_pipeline(components(COMPONENTS), KNeighborsClassifier(5, algorithm="brute")),
        "perceptron": make_pipeline(
            components(COMPONENTS), MLPClassifier((64,), solver="lbfgs", max_iter=100, random_state=seed)
        ),
        "kernel-svm": make_pipeline(components(COMPONENTS), SVC()),
    }


def _fitted(estimator: Any, rows: npt.NDArray[np.float32], labels: npt.NDArray[np.int64]) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a classifier that is cut short is one more strength
        return estimator.fit(rows, labels)


def _training(
    train: Sequence[str | Path | Benchmark], classes: str | None, size: int, most: int, seed: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], list[str]]:
    """Prepared pixels (n, 3 · size · size), labels, and ids of the classes."""
    if not train or isinstance(train, str):
        raise UsageError("no training images", where="models", fix="Give a list of test sets with images.")
    benchmarks = [one if isinstance(one, Benchmark) else load_benchmark(one, classes=classes) for one in train]
    for benchmark in benchmarks[1:]:
        if benchmark.classes != benchmarks[0].classes:
            raise InputError("other classes than the first", where=benchmark.name, fix="Give classes=….")
    ends = np.cumsum([benchmark.n for benchmark in benchmarks])
    total = int(ends[-1])
    chosen = np.sort(generator(seed).choice(total, min(most, total), replace=False))
    prepare = Preprocess(size, (size, size), "bilinear", HALF, HALF)
    rows, labels = [], []
    for benchmark, end in zip(benchmarks, ends.tolist(), strict=True):
        start = end - benchmark.n
        part = read_labelled(benchmark, chosen[(chosen >= start) & (chosen < end)] - start)
        rows += [prepare(decode(data).image).ravel() for data in part.files]
        labels.append(part.labels)
    return np.array(rows, np.float32), np.concatenate(labels), [info.id for info in benchmarks[0].classes]


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)
