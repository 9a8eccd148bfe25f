"""What models scored on one test set, where only figures are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId
from resit.errors import Notice, UsageError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Figures:
    """One metric of M models. What is not known is NaN.

    Parameters
    ----------
    accuracy : ndarray of float, shape (M,)
        Fraction right (or another score where ``standard_error`` says how sure it is).
    correct, n : ndarray of float, shape (M,)
        Number right and number asked, whole numbers.
    standard_error : ndarray of float, shape (M,)
        Standard error as the source tells it.
    """

    accuracy: Floats
    correct: Floats
    n: Floats
    standard_error: Floats

    def select(self, index: Sequence[int]) -> Figures:
        """The same figures for some of the models."""
        return Figures(self.accuracy[index], self.correct[index], self.n[index], self.standard_error[index])


@dataclass(frozen=True)
class Accuracies:
    """Figures of M models on one test set, by metric.

    Parameters
    ----------
    name : str
        Name of the test set.
    models : tuple of ModelId, length M
        Who was asked; no identity twice.
    metrics : mapping of str to Figures
        By metric, such as ``top1`` and ``top5``. A model without the metric has NaN accuracy.
    unit : str, optional
        Unit of the source: ``percent``, ``fraction`` or ``count``.
    label_space : str, optional
        Name of the set of classes, where known.
    provenance : mapping of str to str, optional
        Where the figures come from: file, columns, how the unit was found.
    notices : tuple of Notice, optional
        What was seen while reading.
    """

    name: str
    models: tuple[ModelId, ...]
    metrics: Mapping[str, Figures]
    unit: str = "fraction"
    label_space: str = "unnamed"
    provenance: Mapping[str, str] | None = None
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.models)) != len(self.models):
            twice = sorted(str(model) for model, count in Counter(self.models).items() if count > 1)
            raise UsageError(f"the same model twice: {', '.join(twice)}", where=self.name)
        for metric, figures in self.metrics.items():
            if figures.accuracy.shape != (len(self.models),):
                raise UsageError(f"{len(figures.accuracy)} {metric} figures, {len(self.models)} models", where=self.name)

    def select(self, models: Sequence[ModelId]) -> Accuracies:
        """The same figures for some of the models, in the given order."""
        rows = {model: row for row, model in enumerate(self.models)}
        index = [rows[model] for model in models]
        return replace(self, models=tuple(models), metrics={k: v.select(index) for k, v in self.metrics.items()})
