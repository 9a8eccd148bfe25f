"""What looks wrong in predictions that could be read, before anybody believes a figure made of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.predictions import Predictions
from resit.errors import Notice

CLEARLY = 5.0
ABOVE_CHANCE = 3.0
FEWEST = 30
MANY = 100
RARE = 0.00135  # one side of three standard deviations


def check(predictions: Predictions) -> tuple[Notice, ...]:
    """Look for answers that can be read but are probably not what their owner thinks.

    Parameters
    ----------
    predictions : Predictions

    Returns
    -------
    tuple of Notice
        Codes: ``worst-first`` (the last stored answer is right far more often than the first), ``near-chance``,
        ``invalid-answers``, ``repeated-classes`` (one class twice among the answers to one example), ``top5-not-available``.
    """
    if predictions.is_correctness:
        return ()
    known = {notice.code for notice in predictions.notices}
    notices = list(_about_set(predictions))
    for row in range(len(predictions.models)):
        notices += _about_model(predictions, row, count_invalid=not known & {"invalid-scores", "invalid-answers"})
    return tuple(notices)


def _about_model(predictions: Predictions, row: int, *, count_invalid: bool) -> Iterator[Notice]:
    model, name, n = predictions.models[row], predictions.name, predictions.n
    where = f"{model}@{name}"
    answers = predictions.answers[row, :, : int(predictions.depth[row])]
    first, last = (_right(predictions, answers[:, rank]) for rank in (0, -1))
    if last - first > CLEARLY * np.sqrt(last + first):
        message = (
            f"{model} on {name} looks like classes stored worst first: its last answer is right for {last / n:.1%} of the "
            f"examples, its first for {first / n:.1%}. If so, put them in order with --worst-first {where}."
        )
        yield Notice("worst-first", where, message)
    elif _is_near_chance(predictions, first):
        message = (
            f"{model} on {name} is right for {first / n:.2%} of the examples, not clearly better than guessing one of "
            f"{predictions.benchmark.n_classes} classes. Unless the examples were chosen against such models, the likely cause "
            "is a wrong class map (ids of another list) or answers in another order than the labels."
        )
        yield Notice("near-chance", where, message)
    invalid = int(np.count_nonzero(answers[:, 0] < 0))
    if count_invalid and invalid:
        message = f"{invalid} of {n} examples have no valid answer; they are counted wrong."
        yield Notice("invalid-answers", where, message)
    repeated = _repeated(answers)
    if repeated:
        message = f"{repeated} of {n} examples have one class more than once among their answers; top-k counts it once."
        yield Notice("repeated-classes", where, message)


def _right(predictions: Predictions, answers: npt.NDArray[Any]) -> int:
    labels = predictions.benchmark.labels
    return int(np.count_nonzero(np.any((labels == answers[:, None]) & (labels >= 0), axis=1)))


def _is_near_chance(predictions: Predictions, right: int) -> bool:
    n, classes = predictions.n, predictions.benchmark.n_classes
    if classes < 2 or n < FEWEST:
        return False
    chance = min(1.0, float(np.count_nonzero(predictions.benchmark.labels >= 0)) / n / classes)
    if n < MANY:
        tail = sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(right, n + 1))
        return bool(tail > RARE)
    return bool(right - n * chance < ABOVE_CHANCE * np.sqrt(n * chance * (1 - chance)))


def _repeated(answers: npt.NDArray[Any]) -> int:
    ordered = np.sort(answers, axis=1)
    return int(np.count_nonzero(np.any((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0), axis=1)))


def _about_set(predictions: Predictions) -> Iterator[Notice]:
    deepest, classes = int(predictions.depth.max(initial=0)), predictions.benchmark.n_classes
    if deepest > 1 and classes <= 5:
        message = f"Top-5 is not available: with {classes} classes the first five answers are always right."
        yield Notice("top5-not-available", predictions.name, message)
    elif 1 < deepest < 5:
        message = f"Top-5 is not available: at most {deepest} answers an example are stored."
        yield Notice("top5-not-available", predictions.name, message)
