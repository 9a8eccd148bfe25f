"""What can be trained: a source that makes images ready once, and a fitter that fits models on rows of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.errors import Notice

Inputs = npt.NDArray[Any]
Labels = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Prepared:
    """The images of a benchmark as fits take them.

    Parameters
    ----------
    values : ndarray, shape (n, …)
        Pixels (uint8, the channels last) or features (float32), in the benchmark's order.
    usable : ndarray of bool, shape (n,)
        False where an image could not be read or its features are not finite.
    notices : tuple of Notice
    """

    values: Inputs
    usable: npt.NDArray[np.bool_]
    notices: tuple[Notice, ...] = ()


class Trained(Protocol):
    """A fitted model."""

    def scores(self, inputs: Inputs) -> Scores:
        """Scores of each class, shape (n, n_classes); −inf for a class without training examples."""


class Source(Protocol):
    """Makes images ready. ``name`` is for people; ``fingerprint`` is a digest of all that decides the values."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def fingerprint(self) -> str:
        """Digest of kind, settings and versions."""

    def prepare(self, benchmark: Benchmark, tell: Tell) -> Prepared:
        """The images of a benchmark as fits take them.

        Raises
        ------
        UsageError
            If the benchmark has no images.
        """


class Fitter(Protocol):
    """Fits models. It can be pickled, and the same call gives the same model on any machine, within floating point.

    ``name`` is for people; ``fingerprint`` is a digest of all that decides what a fit gives.
    """

    @property
    def name(self) -> str:
        """For people."""

    @property
    def fingerprint(self) -> str:
        """Digest of kind, settings and versions."""

    @property
    def cpus(self) -> int:
        """Threads that a fit uses: part of its settings, as sums in another order train another model."""

    @property
    def gpus(self) -> int:
        """Accelerators that a fit uses, 0 or 1."""

    def seconds(self, rows: int) -> float:
        """Roughly how long a fit on so many rows takes on 2 cores."""

    def grid(self) -> tuple[tuple[str, Fitter], ...]:
        """The same kind with other hyperparameters, each with its name; empty where none are known."""

    def fit(self, inputs: Inputs, labels: Labels, n_classes: int, *, seed: int, tell: Tell) -> Trained:
        """Fit on examples.

        Parameters
        ----------
        inputs : ndarray, shape (n, …)
            Some rows of :attr:`Prepared.values`.
        labels : ndarray of int64, shape (n,)
            From 0 to n_classes − 1; some may be missing.
        n_classes : int
        seed : int
        tell : callable
            Told of progress.

        Raises
        ------
        Diverged
            If the loss or the scores are not finite.
        UsageError
            If the examples are of fewer than two classes, or the kind cannot take such inputs.
        """


@dataclass(frozen=True)
class Trainer:
    """A kind of model with the inputs that it takes.

    Parameters
    ----------
    source : Source
    fitter : Fitter
    """

    source: Source
    fitter: Fitter

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.fitter.name} on {self.source.name}"


def digest(*parts: object) -> str:
    """Digest of texts and numbers, for fingerprints."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def spread(columns: npt.NDArray[np.int_], found: npt.NDArray[Any], n_classes: int) -> Scores:
    """Scores of some classes among those of all; −inf for the others.

    Parameters
    ----------
    columns : ndarray of int, shape (c,)
        The classes that were scored.
    found : ndarray of float, shape (n, c)
    n_classes : int
    """
    scores = np.full((len(found), n_classes), -np.inf, np.float32)
    scores[:, columns] = found
    return scores
