"""The records of people's own accuracy in an exam: schema ``resit.human/1``.

Accuracies are fractions. Changes are new minus original accuracy, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from resit.data.guard import reading
from resit.errors import InputError
from resit.study.estimate import Caution, Estimate
from resit.study.serialize import Stored

SCHEMA = "resit.human/1"


@dataclass(frozen=True, slots=True)
class Marks:
    """One person on the images of one origin. What has no answer, and "I do not know" (``unknown``), is wrong."""

    correct: int
    n: int
    unanswered: int
    unknown: int
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One person who handed the exam in."""

    person: str
    original: Marks
    new: Marks
    change: Estimate


@dataclass(frozen=True, slots=True)
class Pooled:
    """Means over persons, each person counting the same."""

    n_people: int
    resamples: int
    original: Estimate
    new: Estimate
    change: Estimate


@dataclass(frozen=True, slots=True)
class ModelMarks:
    """One model on the same images."""

    model: str
    original: float
    new: float


@dataclass(frozen=True, slots=True)
class ModelsBeside:
    """The models that were asked about both kinds of images: means over models. ``left_out`` are on one kind only."""

    mean_original: float
    mean_new: float
    mean_change: float
    chose_the_images: bool
    models: tuple[ModelMarks, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Partial:
    """Somebody who began the exam and did not hand it in: told, and in no figure."""

    person: str
    answered: int
    n: int


@dataclass(frozen=True)
class HumanAccuracy(Stored):
    """How often people are right on original and on new images of one exam."""

    SCHEMA: ClassVar[str] = SCHEMA

    schema: str
    exam: str
    build: str
    level: float
    seed: int
    rule: str
    n_original: int
    n_new: int
    n_classes: int
    people: tuple[PersonRow, ...]
    pooled: Pooled | None
    models: ModelsBeside | None
    partial: tuple[Partial, ...]
    verdict: tuple[str, ...]
    warnings: tuple[Caution, ...]
    settings: dict[str, str]
    versions: dict[str, str]
    reason: str | None = None

    def __str__(self) -> str:
        from resit.study.human_summary import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from resit.study.human_summary import to_html

        return to_html(self)


def load_human(path: str | Path) -> HumanAccuracy:
    """People's accuracy as ``resit build exam … results -o`` wrote it.

    Raises
    ------
    InputError
        If it cannot be read, or is something else.
    """
    place = Path(path)
    with reading(place):
        text = place.read_bytes()
    try:
        return HumanAccuracy.from_json(text)
    except InputError as error:
        raise InputError(error.what, where=path, fix="Write it with `resit build exam … results -o`.") from error
