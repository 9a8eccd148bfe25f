"""What a run did: which models answered which benchmarks, where the answers lie, and what went wrong."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Literal

from resit.errors import Notice

State = Literal["asked", "resumed", "stored"]


@dataclass(frozen=True)
class Answered:
    """One model on one benchmark.

    Parameters
    ----------
    benchmark, model : str
    label_space : str
        The classes that answers were taken from.
    correct : int
        Examples whose best answer is accepted.
    n : int
        All examples.
    unreadable : int
        Images that could not be read. They count as wrong.
    invalid : int
        Examples whose scores were not finite. They count as wrong.
    state : {'asked', 'resumed', 'stored'}
        Asked in this run; begun in an earlier one; or all there before.
    path : str
        File of the answers.
    """

    benchmark: str
    model: str
    label_space: str
    correct: int
    n: int
    unreadable: int
    invalid: int
    state: State
    path: str

    @property
    def top1(self) -> float:
        """Accuracy of the best answer, from 0 to 1."""
        return self.correct / self.n


@dataclass(frozen=True)
class Evaluation:
    """What a run did.

    Parameters
    ----------
    answered : tuple of Answered
        In the order of the benchmarks, then of the models.
    folders : tuple of str
        One a benchmark; :func:`resit.load_predictions` reads each, and ``resit compare`` takes them as they are.
    notices : tuple of Notice
        What should be known of the files, images and answers.
    """

    answered: tuple[Answered, ...]
    folders: tuple[str, ...]
    notices: tuple[Notice, ...] = ()

    def to_json(self) -> str:
        """All of it as JSON."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        rows = [
            f"{one.benchmark}  {one.model}  top-1 {one.top1:.2%} ({one.correct} of {one.n}), {one.label_space}"
            + (f", {one.unreadable} unreadable" if one.unreadable else "")
            + (f", {one.invalid} invalid" if one.invalid else "")
            for one in self.answered
        ]
        return "\n".join([*rows, *map(str, self.notices)])
