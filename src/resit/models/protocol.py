"""What resit needs of a model: a name, a set of classes, a way to prepare an image, and scores for a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import ClassInfo
from resit.data.models import ModelId
from resit.errors import ResitError, UsageError

if TYPE_CHECKING:
    from PIL.Image import Image

Batch = npt.NDArray[Any]
Scores = npt.NDArray[np.floating[Any]]
ScoreKind = Literal["logit", "probability"]
POSITIONS = "positions"


class OutOfMemory(ResitError):  # noqa: N818
    """A batch that was too large for the device; the run asks again with a smaller one."""


@dataclass(frozen=True)
class LabelSpace:
    """The classes that a model scores, in the order of its scores.

    Parameters
    ----------
    name : str
        Such as ``imagenet-1k``; ``POSITIONS`` where a score has no identity but its place, which must be that of the
        benchmark's class.
    classes : tuple of ClassInfo
        Their ids are matched with those of a benchmark.
    """

    name: str
    classes: tuple[ClassInfo, ...]


class Transform(Protocol):
    """How one decoded image becomes one input of the model. It is called from several threads at once."""

    @property
    def fingerprint(self) -> str:
        """Short text that is the same only for transforms that give the same numbers; people read it too."""

    def __call__(self, image: Image) -> npt.NDArray[Any]:
        """Prepare an 8-bit RGB image; every result has the same shape and type."""


@runtime_checkable
class Model(Protocol):
    """A classifier that can be asked.

    A model is used from one thread. It need not be picklable unless it is given as an object to a cluster.

    A model may have an attribute ``score_kind`` that says what its scores are: ``logit`` or ``probability``. The confidence of
    its answers is stored then; see `score_kind_of`.
    """

    @property
    def id(self) -> ModelId:
        """Its name, and its variant where the name alone does not tell."""

    @property
    def label_space(self) -> LabelSpace:
        """The classes that its scores are of."""

    @property
    def transform(self) -> Transform:
        """How its images are prepared."""

    @property
    def provenance(self) -> Mapping[str, str]:
        """What makes its answers: ``adapter``, ``weights`` (a digest), ``precision``. Not the device.

        Keys that end in " version" are told and do not make answers other ones.
        """

    def scores(self, batch: Batch) -> Scores:
        """Scores of a batch of prepared images, the higher the likelier.

        Parameters
        ----------
        batch : ndarray, shape (b, …)
            Results of the transform, stacked.

        Returns
        -------
        ndarray of float, shape (b, number of classes)

        Raises
        ------
        OutOfMemory
            If the batch is too large for the device.
        """


def score_kind_of(model: Model) -> ScoreKind | None:
    """What a model says that its scores are; None where it does not say.

    ``logit``: their softmax is the model's probabilities. ``probability``: they are, nonnegative with a sum of 1.

    Raises
    ------
    UsageError
        If it says anything else.
    """
    kind: ScoreKind | None = getattr(model, "score_kind", None)
    if kind is not None and kind not in get_args(ScoreKind):
        what = f"its score_kind is {kind!r}"
        raise UsageError(what, where=model.id, fix=f"Use {' or '.join(get_args(ScoreKind))}, or None where scores are neither.")
    return kind


@runtime_checkable
class FeatureModel(Model, Protocol):
    """A classifier whose last layer is linear and can be replaced."""

    def features(self, batch: Batch) -> Scores:
        """Inputs of the last layer, shape (b, number of features)."""

    def head(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights (classes, features) and biases (classes,) of the last layer: ``scores = features @ weights.T + biases``."""
