"""Small test sets made in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from resit import Accuracies, Benchmark, ModelId, Predictions, Result
from resit.data.accuracies import Figures
from resit.study.result import Comparison

FEW = {"model_resamples": 200, "example_resamples": 50}


def predictions(
    name: str, accuracies: Sequence[float], n: int = 400, classes: int = 10, seed: int = 0, **more: Any
) -> Predictions:
    """Models m0, m1, … of about these accuracies, who share what is hard: an example is right if its ease is below."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    ease = rng.permutation((np.arange(n) + 0.5) / n)
    noise = rng.normal(0, 0.03, (len(accuracies), n))
    right = ease + noise < np.array(accuracies)[:, None]
    answers = np.where(right, labels, (labels + 1) % classes)[:, :, None].astype(np.int16)
    models = tuple(ModelId(f"m{at}") for at in range(len(accuracies)))
    benchmark = Benchmark(name, labels[:, None].astype(np.int32), **more)
    return Predictions(benchmark, models, answers)


def accuracies(name: str, values: Sequence[float], n: float = np.nan, error: float = np.nan, **more: Any) -> Accuracies:
    """Models m0, m1, … with these top-1 figures."""
    value = np.array(values, float)
    size = np.full(len(value), float(n))
    figures = Figures(value, np.round(value * size), size, np.full(len(value), float(error)))
    return Accuracies(name, tuple(ModelId(f"m{at}") for at in range(len(value))), {"top1": figures}, **more)


def only(result: Result, metric: str = "top1", new: str | None = None) -> Comparison:
    """The one comparison of a metric, and of a new set where there are several."""
    found = [one for one in result.comparisons if one.metric == metric and new in (None, one.new.name)]
    assert len(found) == 1
    return found[0]


def codes(result: Result) -> set[str]:
    """Codes of all warnings."""
    return {warning.code for warning in result.warnings}
