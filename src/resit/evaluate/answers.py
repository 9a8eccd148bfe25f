"""From scores to answers: the best classes of each example, and batches that a device can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from resit.errors import InputError, ResitError
from resit.evaluate.spaces import Columns
from resit.models.protocol import Batch, Model, OutOfMemory, Scores

Top = npt.NDArray[np.int32]
INVALID = -1


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
        self.batch_size = batch_size
        self._every = len(columns) == len(model.label_space.classes) and bool(np.all(columns == np.arange(len(columns))))

    def answers(self, batch: Batch) -> Top:
        """Class indices of the best answers, shape (b, k); −1 where the scores are not finite.

        Raises
        ------
        InputError
            If the model fails, or its scores have another shape than its classes ask for.
        OutOfMemory
            If not even one example fits.
        """
        found = np.empty((len(batch), self.k), np.int32)
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
            top = best(self._counted(scores, len(part)), self.k)
            found[start : start + len(part)] = np.where(top < 0, INVALID, self.classes[top])
            start += len(part)
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
