"""The records that a comparison returns. What is not available is None, with the reason beside it.

Field names are the keys of ``result.json`` (schema ``resit.compare/1``). Accuracies are fractions. Changes are new
minus original accuracy; rank changes are original minus new rank (positive: the model climbed).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from resit.study.estimate import Caution as Caution
from resit.study.estimate import Estimate as Estimate
from resit.study.human_result import HumanAccuracy
from resit.study.serialize import Stored

SCHEMA = "resit.compare/1"
SCALES = ("linear", "probit", "logit")


@dataclass(frozen=True, slots=True)
class SetInfo:
    """A test set as it was compared. ``n`` is None where the source does not tell the number of examples.

    ``kind`` is ``predictions`` (one answer an example is known), ``correctness`` (right or wrong is known) or ``accuracies``.
    """

    name: str
    n: int | None
    kind: str
    label_space: str
    n_models: int
    n_classes: int | None = None
    fingerprint: str | None = None
    labels_fingerprint: str | None = None
    source: str | None = None
    unanswered_by_all: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How the headline intervals of the fits were made."""

    unit: str
    resamples: int
    interval: str = "percentile"
    stratified: bool = False


@dataclass(frozen=True, slots=True)
class FitInterval:
    """Interval of a line under one way of resampling. ``failed`` replicates had no spread and are left out, counted."""

    unit: str
    resamples: int
    failed: int
    slope: Estimate
    intercept: Estimate


@dataclass(frozen=True, slots=True)
class Band:
    """Pointwise interval of the line, as accuracies (fractions) whatever the scale of the fit."""

    x: tuple[float, ...]
    fit: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class NoiseCorrection:
    """The slope with the sampling noise of the examples taken out of both axes."""

    moment_slope: float | None
    deming_slope: float | None
    deming_lambda: float | None
    assumption: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """Least-squares line of new on original accuracy on one scale. ``rmse`` is in accuracy."""

    scale: str
    n_models: int
    slope: Estimate
    intercept: Estimate
    r2: float | None
    rmse: float | None
    adjusted: int = 0
    left_out: tuple[str, ...] = ()
    intervals: tuple[FitInterval, ...] = ()
    band: Band | None = None
    correction: NoiseCorrection | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RankInterval:
    """Simultaneous interval of a rank over all models of a set."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Score:
    """One model on one set. Rank 1 is best; ties share the mean rank."""

    correct: int | None
    n: int | None
    accuracy: float
    low: float | None
    high: float | None
    method: str | None
    rank: float
    rank_interval: RankInterval | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model on both sets. ``key`` is unique within a comparison."""

    key: str
    model: str
    variant: str
    family: str | None
    kind: str | None
    date: str | None
    baseline: bool
    original: Score
    new: Score
    change: Estimate
    rank_change: float
    effective_robustness: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PairOnSet:
    """Two models on the same examples: how many only one of them got right, and the difference, first minus second."""

    only_first: int
    only_second: int
    difference: Estimate
    p_value: float


@dataclass(frozen=True, slots=True)
class Swap:
    """Two models whose order really differs: significant on both sets, in opposite directions."""

    first: str
    second: str
    original: PairOnSet
    new: PairOnSet
    p_adjusted: float


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class, averaged over the baseline models."""

    id: str
    name: str
    n_original: int
    n_new: int
    original: float | None
    new: float | None
    change: float | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """A class taken for another, as a fraction of the examples of the true class, averaged over the baseline models."""

    true_id: str
    true_name: str
    answered_id: str
    answered_name: str
    original: float
    new: float


@dataclass(frozen=True, slots=True)
class Aline:
    """Agreement on the line (Baek et al. 2022): new accuracy estimated without new labels, over the baseline models."""

    slope: float | None
    intercept: float | None
    r2: float | None
    mae_s: float | None
    mae_d: float | None
    mae_uncorrected: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Models that are on one set only, left out of everything but this list, and pairs that look like one model."""

    original_only: tuple[str, ...]
    new_only: tuple[str, ...]
    suggested_aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Baseline:
    """Which models the line is fitted over."""

    rule: str
    n_models: int


@dataclass(frozen=True, slots=True)
class LabelSpaces:
    """Set of classes that the ids of each axis mean."""

    original: str
    new: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The original against one new set by one metric."""

    new: SetInfo
    metric: str
    weighting: str
    label_space: LabelSpaces
    n_models: int
    baseline: Baseline
    mean_original: float
    mean_new: float
    mean_change: float
    mean_change_interval: Estimate
    fits: dict[str, Fit]
    fits_all: dict[str, Fit]
    bootstrap: Bootstrap
    spearman: float | None
    kendall: float | None
    real_swaps: tuple[Swap, ...] | None
    n_pairs: int
    models: tuple[ModelRow, ...]
    aline: Aline
    drop_in_years: Estimate
    classes: tuple[ClassRow, ...] | None
    confusions: tuple[Confusion, ...] | None
    unmatched: Unmatched
    verdict: tuple[str, ...]
    reason: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Examples that two new sets share, and the difference of mean accuracy (first minus second) that takes it into account."""

    first: str
    second: str
    shared: int | None
    source: str
    difference: Estimate
    metric: str = "top1"


@dataclass(frozen=True, slots=True)
class Repair:
    """Something the user asked to be changed in the input before it was compared."""

    kind: str
    value: str
    effect: str


@dataclass(frozen=True)
class Result(Stored):
    """What an old benchmark's scores are worth on new test sets; ``human``: how people do themselves, if they were asked."""

    SCHEMA: ClassVar[str] = SCHEMA

    schema: str
    level: float
    seed: int
    original: SetInfo
    comparisons: tuple[Comparison, ...]
    overlaps: tuple[Overlap, ...]
    repairs: tuple[Repair, ...]
    warnings: tuple[Caution, ...]
    settings: dict[str, str]
    versions: dict[str, str]
    human: HumanAccuracy | None = None

    def __str__(self) -> str:
        from resit.study.summary import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from resit.study.summary import to_html

        return to_html(self)
