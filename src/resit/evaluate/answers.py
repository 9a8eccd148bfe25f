"""From scores to answers: the best classes of each example, and batches that a device can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.confidence import Confidence, are_probabilities, softmax_of_best
from resit.errors import InputError, ResitError
from resit.evaluate.spaces import Columns
from resit.models.protocol import Batch, Model, OutOfMemory, ScoreKind, Scores, score_kind_of

Top = npt.NDArray[np.int32]
INVALID = -1


@dataclass(frozen=True)
class Answers:
    """What a model answered to a batch.

    Parameters
    ----------
    top : ndarray of int32, shape (b, k)
        Class indices, best first; −1 where the scores are not finite.
    confidence : ndarray of float32, shape (b,), or None
        Probability of each first answer, NaN where there is none. None: the model does not say what its scores are.
    """

    top: Top
    confidence: Confidence | None


def best(scores: Scores, k: int) -> npt.NDArray[np.intp]:
    """The columns of the k largest scores, best first; of equal scores the first column.

    Parameters
    ----------
    scores : ndarray of float, shape (b, c)
    k : int
        At most c.

    Returns
    -------
    ndarray of int, shape (b, k)
        −1 throughout where a score is NaN or infinite: no order can be told then.
    """
    finite = np.asarray(np.all(np.isfinite(scores), axis=1))
    left = np.where(finite[:, None], scores, 0).astype(np.result_type(scores, np.float32))
    rows, found = np.arange(len(left)), np.empty((len(left), k), np.intp)
    for rank in range(k):
        found[:, rank] = left.argmax(axis=1)
        left[rows, found[:, rank]] = -np.inf
    found[~finite] = INVALID
    return found


class Asker:
    """Asks one model, in batches as large as its device holds.

    Parameters
    ----------
    model : Model
    columns : ndarray of int, shape (c,)
        Columns of its scores that count.
    classes : ndarray of int32, shape (c,)
        What they mean: class indices of the benchmark.
    k : int
        How many answers are kept.
    batch_size : int
        Largest batch to begin with; halved for good where memory is too small.
    """

    def __init__(self, model: Model, columns: Columns, classes: npt.NDArray[np.int32], k: int, batch_size: int) -> None:
        self.model, self.columns, self.classes, self.k = model, columns, classes, min(k, len(classes))
        self.batch_size, self.kind = batch_size, score_kind_of(model)
        self._every = len(columns) == len(model.label_space.classes) and bool(np.all(columns == np.arange(len(columns))))

    def answers(self, batch: Batch) -> Answers:
        """The best answers to a batch, and how sure the model is of the first.

        Raises
        ------
        InputError
            If the model fails, its scores have another shape than its classes ask for, or it calls them probabilities and
            they are not.
        OutOfMemory
            If not even one example fits.
        """
        found = np.empty((len(batch), self.k), np.int32)
        confidence = np.full(len(batch), np.nan, np.float32)
        start = 0
        while start < len(batch):
            part = batch[start : start + self.batch_size]
            try:
                scores = self._scores(part)
            except OutOfMemory:
                if len(part) == 1:
                    raise
                self.batch_size = max(1, min(self.batch_size, len(part)) // 2)
                continue
            counted, here = self._counted(scores, len(part)), slice(start, start + len(part))
            top = best(counted, self.k)
            found[here] = np.where(top < 0, INVALID, self.classes[top])
            if self.kind is not None:
                confidence[here] = self._confidence(scores, counted, self.kind)
            start += len(part)
        return Answers(found, None if self.kind is None else confidence)

    def _confidence(self, scores: npt.NDArray[Any], counted: Scores, kind: ScoreKind) -> Confidence:
        """Probability of the best answer out of the classes that count; NaN where the counted scores are not finite."""
        found = np.full(len(scores), np.nan, np.float32)
        finite = np.isfinite(counted).all(axis=1)
        whole = finite & np.isfinite(scores).all(axis=1)
        probable = are_probabilities(scores[whole])
        if kind == "probability" and not probable.all():
            row = scores[whole][~probable][0]
            raise InputError(
                f"scores that it calls probabilities, with a sum of {row.sum():.4g} and a least of {row.min():.4g}",
                where=self.model.id,
                fix="Probabilities are nonnegative with a sum of 1. Leave its score_kind out, or say logit for logits.",
            )
        part = counted[finite].astype(np.float64)
        if kind == "logit" and not (len(probable) and probable.all()):
            found[finite] = softmax_of_best(part)
        else:
            total = part.sum(axis=1)
            found[finite] = np.divide(part.max(axis=1), total, out=np.full(len(part), np.nan), where=total > 0)
        return found

    def _scores(self, batch: Batch) -> npt.NDArray[Any]:
        try:
            return np.asarray(self.model.scores(batch))
        except ResitError:
            raise
        except Exception as error:
            raise InputError(
                f"the model failed on a batch of shape {batch.shape}: {type(error).__name__}: {error}",
                where=self.model.id,
                fix="Does its transform give what it takes? What was answered is kept.",
            ) from error

    def _counted(self, scores: npt.NDArray[Any], examples: int) -> Scores:
        expected = (examples, len(self.model.label_space.classes))
        if scores.shape != expected or scores.dtype.kind not in "fiu":
            raise InputError(
                f"scores of shape {scores.shape} and type {scores.dtype} where {expected} numbers are needed",
                where=self.model.id,
                fix="A model returns one row of scores for each example, one column for each of its classes.",
            )
        return scores if self._every else scores[:, self.columns]
