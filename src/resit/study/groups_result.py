"""The records that a study of groups returns: schema ``resit.groups/1``. Accuracies are fractions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from resit.study.result import Caution, Estimate, Repair, SetInfo
from resit.study.serialize import Stored

SCHEMA = "resit.groups/1"


@dataclass(frozen=True, slots=True)
class GroupScore:
    """One model on one group: micro accuracy, class-macro accuracy, and accuracy standardised to one mix of classes."""

    group: str
    n: int
    correct: int
    accuracy: Estimate
    class_macro: Estimate
    standardised: Estimate
    small: bool
    n_classes: int | None = None
    n_clusters: int | None = None


@dataclass(frozen=True, slots=True)
class Null:
    """What chance alone gives: a figure where group labels are permuted over ``unit``. ``upper``: its quantile at the level."""

    mean: float | None
    upper: float | None
    p_value: float | None
    resamples: int
    unit: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Disparity:
    """Best minus worst group, as it is and divided by the best. Its interval is projected from all pairs' simultaneous ones."""

    best: str | None
    worst: str | None
    difference: Estimate
    normalised: Estimate
    null: Null | None


@dataclass(frozen=True, slots=True)
class NamedPair:
    """First minus second group, named in advance, as it is and divided by the better one."""

    first: str
    second: str
    difference: Estimate
    normalised: Estimate


@dataclass(frozen=True, slots=True)
class PercentileGap:
    """Mean accuracy of the best ``percent`` of groups minus that of the worst; ``n_each`` groups at each end."""

    percent: float
    n_groups: int
    n_each: int
    difference: float
    null: Null


@dataclass(frozen=True, slots=True)
class ModelGroups:
    """One model: its groups, its disparity without small groups and with them, the named pair and the percentile gaps."""

    model: str
    accuracy: Estimate
    groups: tuple[GroupScore, ...]
    disparity: Disparity
    disparity_all: Disparity
    pair: NamedPair | None
    percentile_gaps: tuple[PercentileGap, ...]


@dataclass(frozen=True, slots=True)
class CountryGroup:
    """A country as the data name it, and the group that most of its examples are in: ``n`` of them, ``n_elsewhere`` are not."""

    country: str
    group: str
    n: int
    n_elsewhere: int


@dataclass(frozen=True, slots=True)
class Countries:
    """Where groups lie that are made of countries, such as regions: the countries of each, by a ``column`` of the set."""

    column: str
    of_groups: tuple[CountryGroup, ...]


@dataclass(frozen=True, slots=True)
class GroupStudy:
    """All models on one set by one metric, in the groups of some columns.

    ``standard_classes`` of ``n_classes`` are in every group that is not small, with ``standard_share`` of their examples.
    ``countries`` is null unless the set has a column of countries and groups are made of whole ones.
    """

    set: SetInfo
    metric: str
    columns: tuple[str, ...]
    n_groups: int
    small: tuple[str, ...]
    n_missing: int
    n_clusters: int | None
    n_split_clusters: int
    n_classes: int | None
    standard_classes: int | None
    standard_share: float | None
    models: tuple[ModelGroups, ...]
    countries: Countries | None = None

    @property
    def by(self) -> str:
        """The columns as people write them."""
        return " × ".join(self.columns)


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One model: its accuracy on the original and its disparity."""

    model: str
    original: float
    disparity: float


@dataclass(frozen=True, slots=True)
class Trend:
    """Disparity against accuracy on the original over models. ``measure`` is what stands for disparity."""

    set: str
    metric: str
    columns: tuple[str, ...]
    measure: str
    n_models: int
    slope: Estimate
    intercept: float | None
    r2: float | None
    points: tuple[TrendPoint, ...]


@dataclass(frozen=True)
class Groups(Stored):
    """Who is left behind: accuracy by group, and how far groups are apart."""

    SCHEMA: ClassVar[str] = SCHEMA

    schema: str
    level: float
    seed: int
    original: SetInfo | None
    studies: tuple[GroupStudy, ...]
    trends: tuple[Trend, ...]
    verdict: tuple[str, ...]
    repairs: tuple[Repair, ...]
    warnings: tuple[Caution, ...]
    settings: dict[str, str]
    versions: dict[str, str]

    def __str__(self) -> str:
        from resit.study.groups_summary import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from resit.study.groups_summary import to_html

        return to_html(self)
