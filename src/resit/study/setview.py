"""One test set as a study sees it: its models, its metrics, and per metric the scores of chosen models."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resit.data.accuracies import Accuracies
from resit.data.models import ModelId
from resit.data.predictions import Predictions
from resit.stats import resample
from resit.stats.pairs import PairTests, compare_pairs
from resit.study.result import SetInfo

Array = npt.NDArray[np.float64]
Right = npt.NDArray[np.bool_]
SMALLEST_STRATUM = 5
TOP_K = {"top1": 1, "top5": 5}


@dataclass(frozen=True)
class Scores:
    """Figures of M models by one metric; NaN where not known. ``replicates`` are (B, M) accuracies over redrawn examples."""

    accuracy: Array
    correct: Array
    n: Array
    standard_error: Array
    replicates: Array | None = None


@dataclass(eq=False)
class SetView:
    """Predictions or Accuracies with what is computed from them once and used by several comparisons.

    Resamples of its examples follow from the seed and its name, not from the sets beside it.
    """

    data: Predictions | Accuracies
    weighting: str
    seed: int
    resamples: int
    _right: dict[str, Right] = field(default_factory=dict)
    _replicates: dict[str, Array] = field(default_factory=dict)
    _tests: dict[tuple[str, tuple[ModelId, ...]], PairTests] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the test set."""
        return self.data.name

    @property
    def predictions(self) -> Predictions | None:
        """The answers, where they are known."""
        return self.data if isinstance(self.data, Predictions) else None

    @property
    def strata(self) -> npt.NDArray[np.int_] | None:
        """Class of each example, by which resamples are stratified; None where classes are unknown or too small for that.

        Resampling n examples within a class has (n - 1) / n of the variance that it should have, none at all for one example.
        """
        classes = self.classes
        if classes is None or (self.weighting == "micro" and np.bincount(classes).min() < SMALLEST_STRATUM):
            return None
        return classes

    @property
    def classes(self) -> npt.NDArray[np.int_] | None:
        """Class of each example, numbered from 0; None unless each has one label."""
        if self.predictions is None or self.predictions.is_correctness or not self.predictions.benchmark.single_label:
            return None
        return np.unique(self.predictions.benchmark.labels[:, 0], return_inverse=True)[1]

    @property
    def example_weights(self) -> Array | None:
        """Weight of each example in a class-macro accuracy; None for micro."""
        if self.weighting == "micro" or self.classes is None:
            return None
        sizes = np.bincount(self.classes)
        return 1 / (len(sizes) * sizes[self.classes])

    def models_with(self, metric: str) -> frozenset[ModelId]:
        """Models that have a figure for a metric."""
        if isinstance(self.data, Accuracies):
            if metric not in self.data.metrics:
                return frozenset()
            known = np.isfinite(self.data.metrics[metric].accuracy)
            return frozenset(model for model, there in zip(self.data.models, known, strict=True) if there)
        if metric not in TOP_K or (metric == "top5" and (self.data.is_correctness or self.data.benchmark.n_classes <= 5)):
            return frozenset()
        deep = self.data.depth >= TOP_K[metric]
        return frozenset(model for model, there in zip(self.data.models, deep, strict=True) if there)

    def metrics(self) -> tuple[str, ...]:
        """Metrics that at least one model has."""
        names = tuple(self.data.metrics) if isinstance(self.data, Accuracies) else tuple(TOP_K)
        return tuple(name for name in names if self.models_with(name))

    def index(self, models: Sequence[ModelId]) -> npt.NDArray[np.int_]:
        """Row of each model in the data."""
        row = {model: at for at, model in enumerate(self.data.models)}
        return np.array([row[model] for model in models], int)

    def right(self, metric: str, models: Sequence[ModelId]) -> Right | None:
        """Which answers are right, shape (M, n); None where only figures are known."""
        if self.predictions is None:
            return None
        if metric not in self._right:
            self._right[metric] = self.predictions.correct(TOP_K[metric])
        index = self.index(models)
        everything = self._right[metric]
        return everything if np.array_equal(index, np.arange(len(everything))) else everything[index]

    def scores(self, metric: str, models: Sequence[ModelId]) -> Scores:
        """Figures of the models by a metric."""
        if isinstance(self.data, Accuracies):
            known = self.data.metrics[metric].select(self.index(models).tolist())
            return Scores(known.accuracy, known.correct, known.n, known.standard_error)
        right = self.right(metric, models)
        assert right is not None
        unknown = np.full(len(models), np.nan)
        count = right.sum(axis=1).astype(float)
        n = np.full(len(models), float(self.data.n))
        weights = self.example_weights
        accuracy = count / n if weights is None else np.minimum(right @ weights, 1)  # weights sum to 1 but for rounding
        return Scores(accuracy, count if weights is None else unknown, n, unknown, self.replicates(metric, models))

    def replicates(self, metric: str, models: Sequence[ModelId]) -> Array | None:
        """Accuracies over redrawn examples, shape (B, M), stratified by class where each example has one label."""
        if self.predictions is None or self.resamples == 0:
            return None
        if not self._replicates:
            self._resample()
        return self._replicates[metric][:, self.index(models)]

    def _resample(self) -> None:
        metrics, count, weights = self.metrics(), len(self.data.models), self.example_weights
        right = [self.right(metric, self.data.models) for metric in metrics]
        dtype = np.float32 if weights is None else np.float64
        scores = np.concatenate([part.T.astype(dtype) for part in right if part is not None], axis=1)
        if weights is not None:
            scores *= weights[:, None]
        sums = resample.resample_examples(
            resample.generator(self.seed, 2, zlib.crc32(self.name.encode())), scores, self.resamples, self.strata
        )
        sums = sums / scores.shape[0] if weights is None else np.minimum(sums, 1)
        self._replicates = {metric: sums[:, at * count : (at + 1) * count] for at, metric in enumerate(metrics)}

    @property
    def why_no_pairs(self) -> str | None:
        """Why models cannot be tested against each other on this set, or None where they can."""
        if self.predictions is None:
            return f"needs the models' answers on {self.name}, not only their figures"
        if self.weighting != "micro":
            return "is tested on examples that all count the same, so for micro accuracy only"
        return None

    def pair_tests(self, metric: str, models: tuple[ModelId, ...]) -> PairTests | None:
        """Exact McNemar tests of all pairs of models; None where :attr:`why_no_pairs` says so."""
        right = self.right(metric, models)
        if right is None or self.why_no_pairs:
            return None
        if (metric, models) not in self._tests:
            self._tests[metric, models] = compare_pairs(right)
        return self._tests[metric, models]

    def info(self) -> SetInfo:
        """The set as it stands in a Result."""
        if isinstance(self.data, Accuracies):
            sizes = {n for figures in self.data.metrics.values() for n in figures.n[np.isfinite(figures.n)]}
            n = int(sizes.pop()) if len(sizes) == 1 else None
            reason = None if n else "the source does not tell one number of examples for all models"
            source = (self.data.provenance or {}).get("source")
            return SetInfo(
                self.name, n, "accuracies", self.data.label_space, len(self.data.models), source=source, reason=reason
            )
        benchmark = self.data.benchmark
        right = self.right("top1", self.data.models)
        assert right is not None
        return SetInfo(
            self.name,
            self.data.n,
            "correctness" if self.data.is_correctness else "predictions",
            benchmark.label_space,
            len(self.data.models),
            n_classes=None if self.data.is_correctness else benchmark.n_classes,
            fingerprint=benchmark.content_fingerprint,
            labels_fingerprint=benchmark.labels_fingerprint,
            unanswered_by_all=int((~right.any(axis=0)).sum()),
        )
