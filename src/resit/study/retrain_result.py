"""The records that a retraining returns: schema ``resit.retrain/1``. Accuracies are fractions, changes after minus before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from resit.study.groups_result import ModelGroups
from resit.study.result import Caution, Estimate, SetInfo
from resit.study.serialize import Stored

SCHEMA = "resit.retrain/1"


@dataclass(frozen=True, slots=True)
class Tried:
    """One strength of the penalty and its accuracy on validation examples, the mean over groups where heads are balanced."""

    c: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class FoldRow:
    """One fold: its test examples are answered by a head that was trained on all other folds, with ``c`` chosen on one of them.

    ``n_untaught`` of its test examples are of classes without a training example in the other folds.
    """

    fold: int
    n_train: int
    n_validation: int
    n_test: int
    n_untaught: int
    c: float
    tried: tuple[Tried, ...]
    converged: bool


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """The head that was trained on all examples and is kept in ``file``; ``digest`` tells it from others.

    Of ``n_examples``, ``n_drawn`` are in each balanced draw; null where heads are not balanced.
    """

    n_examples: int
    n_drawn: int | None
    n_classes: int
    n_features: int
    c: float
    tried: tuple[Tried, ...]
    converged: bool
    file: str
    digest: str


@dataclass(frozen=True, slots=True)
class PairedChange:
    """After minus before on the same examples, with how many both, only one of the two and neither got right."""

    both: int
    only_before: int
    only_after: int
    neither: int
    difference: Estimate
    p_value: float | None


@dataclass(frozen=True, slots=True)
class GroupChange:
    """What retraining changed in one group."""

    group: str
    change: PairedChange


@dataclass(frozen=True, slots=True)
class Change:
    """What retraining changed: overall, by group, in best minus worst group, and in the named pair's difference."""

    overall: PairedChange
    groups: tuple[GroupChange, ...]
    disparity: Estimate
    pair: Estimate | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One set by one metric, before and after.

    ``trained`` is ``cross-fitted`` where each example was answered by a head that was not trained on its fold, and
    ``elsewhere`` where the head was trained on another set. Answers are taken from ``n_classes`` classes both times;
    ``n_left_out`` examples have none of them. ``before`` is null, with the reason, where the model's own head does not score
    these classes.
    """

    set: SetInfo
    metric: str
    column: str
    trained: str
    n_classes: int
    n_left_out: int
    n_unusable: int
    n_clusters: int | None
    before: ModelGroups | None
    after: ModelGroups
    change: Change | None
    reason: str | None = None


@dataclass(frozen=True)
class Retrained(Stored):
    """What a new last layer does for accuracy and for the disparity of groups."""

    SCHEMA: ClassVar[str] = SCHEMA

    schema: str
    level: float
    seed: int
    model: str
    head: TrainedHead
    folds: tuple[FoldRow, ...]
    outcomes: tuple[Outcome, ...]
    verdict: tuple[str, ...]
    warnings: tuple[Caution, ...]
    settings: dict[str, str]
    versions: dict[str, str]

    def __str__(self) -> str:
        from resit.study.retrain_summary import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from resit.study.retrain_summary import to_html

        return to_html(self)
