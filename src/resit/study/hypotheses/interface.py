"""What every hypothesis is: what it needs, how long it takes, and what it finds in the material that there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId, ModelTable
from resit.data.predictions import Predictions
from resit.errors import UsageError
from resit.study.estimate import Estimate
from resit.study.explain_result import Finding, Gathered
from resit.study.setview import TOP_K

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.data.benchmark import Benchmark
    from resit.models.training.protocol import Trainer
    from resit.study.human_result import HumanAccuracy

Tell = Callable[[str], None]
Right = npt.NDArray[np.bool_]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rules:
    """How figures are made.

    Parameters
    ----------
    level : float
        Level of intervals.
    seed : int
    resamples : int
        Of examples, models or folds, where intervals are bootstrapped.
    folds : int
        Of cross-validation.
    seeds : int
        Trainings of each kind with different seeds, for the spread between them.
    hardest : float
        Fraction of images that counts as hard.
    tried : int or None
        Number of models that were ever scored on the original set. None: those that are compared.
    store : Path or None
        Where finished trainings are kept, so that an interrupted run goes on. None: they are not kept.
    executor : {'local', 'ray'}
        What runs folds and grids.
    address : str or None
        Of a Ray cluster.
    """

    level: float = 0.95
    seed: int = 0
    resamples: int = 2_000
    folds: int = 6
    seeds: int = 2
    hardest: float = 0.05
    tried: int | None = None
    store: Path | None = None
    executor: str = "local"
    address: str | None = None


@dataclass(frozen=True)
class Material:
    """What is there to explain a drop with. The predictions are of the same models in the same order.

    Parameters
    ----------
    original, new : Predictions
        Of the same models, in the same order. Their benchmarks have images where these are at hand.
    metric : {'top1', 'top5'}
    train : tuple of Benchmark
        Training data of the original, with images and the original's classes.
    original_counts, new_counts : pyarrow.Table or None
        COUNTS (image, class_id, selected, shown): votes on images; ``image`` is the example's id, or its position as text where
        the benchmark has no ids.
    build : Path or None
        Folder of the build that made the new set.
    human : HumanAccuracy or None
        What people scored who sat the exam.
    neighbours : pyarrow.Table or None
        PAIRS, of images of the new set with those of train and original.
    original_neighbours : pyarrow.Table or None
        PAIRS, of images of the original with those of train. In both, a column ``verdict`` (same, near, different, unsure) may
        say what people found.
    candidates : Predictions or None
        Answers of the same models on more of the build's candidates than those of the new set, by their ids.
    others : tuple of (Predictions, pyarrow.Table)
        Other new sets, answered by the same models, each with COUNTS.
    table : ModelTable or None
        Of the models: family, date and others.
    trainer : Trainer or None
        Trains models where a hypothesis needs some.
    """

    original: Predictions
    new: Predictions
    metric: str = "top1"
    train: tuple[Benchmark, ...] = ()
    original_counts: pa.Table | None = None
    new_counts: pa.Table | None = None
    build: Path | None = None
    human: HumanAccuracy | None = None
    neighbours: pa.Table | None = None
    original_neighbours: pa.Table | None = None
    candidates: Predictions | None = None
    others: tuple[tuple[Predictions, pa.Table], ...] = ()
    table: ModelTable | None = None
    trainer: Trainer | None = None

    def __post_init__(self) -> None:
        if self.original.models != self.new.models:
            raise UsageError("the predictions are not of the same models in the same order", where=self.new.name)
        for one in (*([self.candidates] if self.candidates else []), *(other for other, _ in self.others)):
            if one.models != self.new.models:
                raise UsageError("the predictions are not of the same models in the same order", where=one.name)

    @property
    def models(self) -> tuple[ModelId, ...]:
        """The models, in the order of rows."""
        return self.original.models

    @cached_property
    def right_original(self) -> Right:
        """Which answers on the original are right, shape (M, n)."""
        return self.original.correct(TOP_K[self.metric])

    @cached_property
    def right_new(self) -> Right:
        """Which answers on the new set are right, shape (M, n)."""
        return self.new.correct(TOP_K[self.metric])

    @cached_property
    def drop(self) -> float:
        """Original minus new accuracy, mean over models, as a fraction."""
        return float(self.right_original.mean() - self.right_new.mean())


@dataclass(frozen=True)
class Hypothesis:
    """One hypothesis.

    Parameters
    ----------
    name : str
        As after ``--only``; that of its module, with hyphens.
    title, question : str
        For people.
    source : str
        Paper and section.
    lacks : callable
        From the material: what is not there and would be needed, in words that say how to give it. Empty: it can run.
    seconds : callable
        From the material and rules: how long it takes on 2 cores, roughly.
    run : callable
        From the material, rules and a function that is told of progress: what was found.
    trains : bool
        Whether it trains models.
    """

    name: str
    title: str
    question: str
    source: str
    lacks: Callable[[Material], Sequence[str]]
    seconds: Callable[[Material, Rules], float]
    run: Callable[[Material, Rules, Tell], Gathered]
    trains: bool = field(default=False)

    def found(self, gathered: Gathered) -> Finding:
        """What was gathered, as it stands in an Explanation."""
        return Finding(self.name, self.title, self.question, self.source, "ran", **gathered.parts())

    def not_run(self, needs: Sequence[str]) -> Finding:
        """That it could not run, and what it needs."""
        verdict = f"Not run: it needs {'; '.join(needs)}."
        return Finding(self.name, self.title, self.question, self.source, "not run", verdict, needs=tuple(needs))

    def failed(self, why: str) -> Finding:
        """That it went wrong, and why; the others are not touched."""
        return Finding(self.name, self.title, self.question, self.source, "failed", f"It failed: {why}")


def percentile(values: npt.ArrayLike, estimate: float, level: float, method: str) -> Estimate:
    """A figure with the percentile interval of its replicates.

    Parameters
    ----------
    values : array_like of float, shape (B,)
        Replicates.
    estimate : float
    level : float
    method : str
        How they were made.
    """
    tail = 50 * (1 - level)
    low, high = np.percentile(np.asarray(values, float), [tail, 100 - tail])
    return Estimate(estimate, float(low), float(high), method)
