"""What an exam asks, and what people answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Origin = Literal["original", "new"]
UNKNOWN = ""  # the answer "I do not know"


@dataclass(frozen=True, slots=True)
class Question:
    """One image.

    Parameters
    ----------
    image : str
        Its digest.
    class_ids : tuple of str
        Accepted classes.
    origin : {'original', 'new'}
    """

    image: str
    class_ids: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Sheet:
    """One person's answers.

    Parameters
    ----------
    person : str
    answers : tuple of str or None
        A class id for each question in the exam's own order; empty for "I do not know", None where there is no answer.
    handed_in : str or None
        When; None where they still may change it.
    seen : int, optional
        Images of the exam on which they voted, or on which they decided in a review, in the same build.
    """

    person: str
    answers: tuple[str | None, ...]
    handed_in: str | None
    seen: int = 0


@dataclass(frozen=True, slots=True)
class ModelRight:
    """How many of the exam's images a model gets right, of each origin; None where it was not asked."""

    model: str
    original: int | None
    new: int | None


@dataclass(frozen=True)
class ExamAnswers:
    """An exam with all that people answered.

    Parameters
    ----------
    exam : str
        Its name.
    build : str
        Name and version of the test set that is built.
    rule : str
        How the images were chosen, in a sentence.
    questions : tuple of Question
    sheets : tuple of Sheet
    n_classes : int
        Classes that could be picked.
    models : tuple of ModelRight, optional
    chosen_by_models : bool, optional
        Whether images were chosen by what these models get wrong.
    settings : mapping of str to str, optional
    """

    exam: str
    build: str
    rule: str
    questions: tuple[Question, ...]
    sheets: tuple[Sheet, ...]
    n_classes: int
    models: tuple[ModelRight, ...] = ()
    chosen_by_models: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
