"""What models answered on one benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.models import ModelId
from resit.errors import Notice, UsageError

Answers = npt.NDArray[np.int16] | npt.NDArray[np.int32]
CORRECTNESS = "correctness"


@dataclass(frozen=True)
class Predictions:
    """The answers of one or more models on one benchmark.

    A 0/1 correctness matrix is Predictions too: its label space is ``CORRECTNESS``, each accepted label 1, each answer 0 or 1.

    Parameters
    ----------
    benchmark : Benchmark
        What was asked.
    models : tuple of ModelId, length M
        Who answered; no identity twice.
    answers : ndarray of int16 or int32, shape (M, n, k)
        Class indices, best first, in the benchmark's order; -1 where there is no valid answer (counted wrong).
    depth : ndarray of int, shape (M,), optional
        Number of answers of each model, at most k. Default: k for all.
    provenance : mapping of ModelId to mapping of str to str, optional
        How each model's answers were made: adapter, weights digest, transform fingerprint, label space, versions, source file.
    notices : tuple of Notice, optional
        What was seen while reading.
    confidence : ndarray of float32, shape (M, n), optional
        The probability that a model gives its first answer; NaN where it is not known. None: of no model.

    Raises
    ------
    UsageError
        If shapes do not agree or an identity is there twice.
    """

    benchmark: Benchmark
    models: tuple[ModelId, ...]
    answers: Answers
    depth: npt.NDArray[np.int_] = field(default_factory=lambda: np.empty(0, int))
    provenance: Mapping[ModelId, Mapping[str, str]] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    confidence: npt.NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        expected = (len(self.models), self.benchmark.n)
        if self.answers.ndim != 3 or self.answers.shape[:2] != expected:
            raise UsageError(f"answers need shape {(*expected, 'k')}, not {self.answers.shape}", where=self.name)
        if self.confidence is not None and self.confidence.shape != expected:
            raise UsageError(f"confidence needs shape {expected}, not {self.confidence.shape}", where=self.name)
        if len(set(self.models)) != len(self.models):
            twice = sorted(str(model) for model, count in Counter(self.models).items() if count > 1)
            raise UsageError(f"the same model twice: {', '.join(twice)}", where=self.name)
        if len(self.depth) == 0:
            object.__setattr__(self, "depth", np.full(len(self.models), self.answers.shape[2]))

    @property
    def name(self) -> str:
        """Name of the test set."""
        return self.benchmark.name

    @property
    def label_space(self) -> str:
        """Name of the set of classes that the answers mean."""
        return self.benchmark.label_space

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.benchmark.n

    @property
    def is_correctness(self) -> bool:
        """Whether only right or wrong is known, not the class that was answered."""
        return self.benchmark.label_space == CORRECTNESS

    def correct(self, k: int = 1) -> npt.NDArray[np.bool_]:
        """Whether an accepted label is among the first k answers.

        Parameters
        ----------
        k : int
            How many answers count.

        Returns
        -------
        ndarray of bool, shape (M, n)
        """
        labels, most = self.benchmark.labels, np.iinfo(self.answers.dtype).max
        accepted = np.where((labels < 0) | (labels > most), -2, labels).astype(self.answers.dtype)
        right = np.zeros(self.answers.shape[:2], bool)
        for rank in range(min(k, self.answers.shape[2])):
            for column in accepted.T:
                right |= self.answers[:, :, rank] == column
        return right

    def select(self, models: Sequence[ModelId]) -> Predictions:
        """The same answers for some of the models, in the given order."""
        index = [self.models.index(model) for model in models]
        return replace(
            self,
            models=tuple(models),
            answers=self.answers[index],
            depth=self.depth[index],
            confidence=None if self.confidence is None else self.confidence[index],
            provenance={model: self.provenance[model] for model in models if model in self.provenance},
        )
