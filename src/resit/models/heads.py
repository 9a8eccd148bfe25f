"""Linear heads on features: multinomial logistic regression with an L2 penalty, by scikit-learn."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.models.library import library

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int_]
EXTRA = "retrain"
GRID = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
MOST_ITERATIONS = 1_000
ROWS = 4_096
CONSTANT = 1e-6  # a spread below this share of the mean is rounding


@dataclass(frozen=True)
class Head:
    """A linear layer: ``scores = features @ weight.T + bias``.

    Parameters
    ----------
    weight : ndarray of float32, shape (c, d)
    bias : ndarray of float32, shape (c,)

    Raises
    ------
    UsageError
        If the shapes do not fit.
    """

    weight: Floats
    bias: Floats

    def __post_init__(self) -> None:
        if self.weight.ndim != 2 or self.bias.shape != self.weight.shape[:1]:
            raise UsageError(f"weights of shape {self.weight.shape} and biases of shape {self.bias.shape}", where="head")

    def scores(self, features: npt.NDArray[Any]) -> Floats:
        """Scores of features of shape (b, d), float32, shape (b, c)."""
        return np.asarray(features @ self.weight.T + self.bias, np.float32)


@dataclass(frozen=True)
class Examples:
    """What a head is trained on: rows of features, each with one class.

    Parameters
    ----------
    rows : ndarray of int, shape (t,)
        An example with several accepted labels is there once for each.
    classes : ndarray of int, shape (t,)
    weights : ndarray of float, shape (t,), or None
        1 / (number of accepted labels); None where every example has one.
    """

    rows: Ints
    classes: Ints
    weights: npt.NDArray[np.float64] | None


def examples_of(labels: npt.NDArray[np.int32], rows: Ints) -> Examples:
    """Training examples with their labels: one with m accepted labels is trained on each of them with weight 1/m.

    Parameters
    ----------
    labels : ndarray of int32, shape (n, m)
        Accepted classes, padded with -1.
    rows : ndarray of int, shape (t,)
        Examples to train on; those without an accepted label are left out.
    """
    own = labels[rows]
    there = own >= 0
    at, column = np.nonzero(there)
    each = there.sum(axis=1)
    weights = None if each.max(initial=1) == 1 else 1 / each[at]
    return Examples(rows[at], own[at, column].astype(int), weights)


@dataclass(frozen=True)
class Fitted:
    """A head that was trained.

    Parameters
    ----------
    head : Head
        For features as they are.
    classes : ndarray of int, shape (c,)
        The classes that have training examples, ascending: those of the head.
    c : float
        Inverse strength of the penalty.
    trouble : tuple of str
        What the solver said, such as that it did not converge.
    """

    head: Head
    classes: Ints
    c: float
    trouble: tuple[str, ...] = ()


class Trainer:
    """Fits heads to the same examples for several strengths of the penalty.

    Features are standardised over the training examples, each example once, so that one strength means the same for features of
    any scale; the heads that come out are those for features as they are. In memory is one float32 copy of the features of the
    training examples; with several accepted labels, one for each label more.

    Parameters
    ----------
    features : ndarray of float32, shape (n, d)
        May be memory-mapped.
    examples : Examples

    Raises
    ------
    UsageError
        If fewer than two classes have examples, or scikit-learn is not installed.
    """

    def __init__(self, features: Floats, examples: Examples) -> None:
        self._sklearn = library("sklearn.linear_model", EXTRA)
        self.classes = np.unique(examples.classes)
        if len(self.classes) < 2:
            what = f"training examples of {len(self.classes)} classes"
            raise UsageError(what, where="retrain", fix="A head needs examples of two classes at least.")
        self._examples = examples
        rows, place = np.unique(examples.rows, return_inverse=True)
        values, self._mean, self._scale = standardised(features, rows)
        every = len(place) == len(rows) and bool(np.all(place == np.arange(len(rows))))
        self._values = values if every else values[place]
        self._last: Any = None

    def fit(self, c: float, *, warm: bool = False) -> Fitted:
        """A head at one strength.

        Parameters
        ----------
        c : float
            Inverse strength of the penalty, as of scikit-learn's LogisticRegression: it weighs the sum of the losses.
        warm : bool, optional
            Whether to start from the head of the last fit, which is quicker and ends within the same tolerance.
        """
        model = self._last if warm and self._last is not None else self._sklearn.LogisticRegression(max_iter=MOST_ITERATIONS)
        model.set_params(C=c, warm_start=warm)
        with hearing() as heard:
            model.fit(self._values, self._examples.classes, self._examples.weights)
        self._last = model
        trouble = tuple(dict.fromkeys(heard))
        return Fitted(self._for_raw(model.coef_, model.intercept_), self.classes, c, trouble)

    def _for_raw(self, weight: npt.NDArray[Any], bias: npt.NDArray[Any]) -> Head:
        """From standardised features to features as they are. Of two classes scikit-learn fits the difference of the scores."""
        if len(weight) == 1:
            weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
        raw = weight.astype(np.float64) / self._scale
        return Head(raw.astype(np.float32), (bias - raw @ self._mean).astype(np.float32))


def standardised(features: Floats, rows: Ints) -> tuple[Floats, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Rows of features with mean 0 and standard deviation 1, and what was subtracted and divided by; a constant stays 0.

    Parameters
    ----------
    features : ndarray of float32, shape (n, d)
        May be memory-mapped.
    rows : ndarray of int, shape (t,)

    Returns
    -------
    values : ndarray of float32, shape (t, d)
    mean, scale : ndarray of float, shape (d,)
    """
    values = np.empty((len(rows), features.shape[1]), np.float32)
    parts = [slice(start, start + ROWS) for start in range(0, len(rows), ROWS)]
    total = np.zeros(features.shape[1])
    for part in parts:
        values[part] = features[rows[part]]
        total += values[part].sum(axis=0, dtype=np.float64)
    mean = total / len(rows)
    squares = np.zeros_like(mean)
    for part in parts:
        values[part] -= mean
        squares += np.einsum("ij,ij->j", values[part], values[part], dtype=np.float64)
    scale = np.sqrt(squares / len(rows))
    scale[scale <= CONSTANT * np.abs(mean)] = 1
    scale[scale == 0] = 1
    for part in parts:
        values[part] /= scale
    return values, mean, scale


def average(fitted: Sequence[Fitted]) -> tuple[Fitted, Ints]:
    """Mean of heads that were trained on different draws of the same examples.

    The weights of a class are averaged over the heads that have it.

    Returns
    -------
    mean : Fitted
        Of all classes that any of the heads has.
    lacking : ndarray of int
        Classes that some of the heads have not.
    """
    classes = np.unique(np.concatenate([one.classes for one in fitted]))
    weight = np.zeros((len(classes), fitted[0].head.weight.shape[1]))
    bias, count = np.zeros(len(classes)), np.zeros(len(classes), int)
    for one in fitted:
        at = np.searchsorted(classes, one.classes)
        weight[at] += one.head.weight
        bias[at] += one.head.bias
        count[at] += 1
    head = Head((weight / count[:, None]).astype(np.float32), (bias / count).astype(np.float32))
    trouble = tuple(dict.fromkeys(text for one in fitted for text in one.trouble))
    return Fitted(head, classes, fitted[0].c, trouble), classes[count < len(fitted)]


_heard: dict[int, list[str]] = {}
_lock = threading.Lock()
_outside: Any = None


@contextmanager
def hearing() -> Iterator[list[str]]:
    """What is warned of in this thread meanwhile, first lines only; several threads may listen at once.

    The state of warnings belongs to the process: the first that comes in takes it over, and the last that leaves gives it back.
    """
    global _outside
    thread, heard = threading.get_ident(), []  # type: int, list[str]
    with _lock:
        if not _heard:
            _outside = warnings.catch_warnings()
            _outside.__enter__()
            warnings.simplefilter("always")
            warnings.showwarning = _note(warnings.showwarning)
        _heard[thread] = heard
    try:
        yield heard
    finally:
        with _lock:
            del _heard[thread]
            if not _heard:
                _outside.__exit__(None, None, None)


def _note(show: Callable[..., None]) -> Callable[..., None]:
    def note(message: Warning | str, *more: Any, **rest: Any) -> None:
        heard = _heard.get(threading.get_ident())
        if heard is None:
            show(message, *more, **rest)
        else:
            heard.append(str(message).strip().splitlines()[0].rstrip(".:"))

    return note
