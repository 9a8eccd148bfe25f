"""A model under another name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId
from resit.models.protocol import Batch, FeatureModel, LabelSpace, Model, ScoreKind, Scores, Transform, score_kind_of


class RenamedModel:
    """A model under another name; all else is asked of the model itself."""

    def __init__(self, model: Model, model_id: ModelId) -> None:
        self.id = model_id
        self._model = model

    @property
    def label_space(self) -> LabelSpace:
        """The classes that its scores are of."""
        return self._model.label_space

    @property
    def transform(self) -> Transform:
        """How its images are prepared."""
        return self._model.transform

    @property
    def provenance(self) -> Mapping[str, str]:
        """What makes its answers, and the name that it has of itself."""
        return {**self._model.provenance, "renamed from": str(self._model.id)}

    @property
    def score_kind(self) -> ScoreKind | None:
        """What its scores are."""
        return score_kind_of(self._model)

    def scores(self, batch: Batch) -> Scores:
        """Scores of a batch of prepared images."""
        return self._model.scores(batch)


class RenamedFeatureModel(RenamedModel):
    """The same for a model whose last layer is linear."""

    _model: FeatureModel

    def features(self, batch: Batch) -> Scores:
        """Inputs of the last layer."""
        return self._model.features(batch)

    def head(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights and biases of the last layer."""
        return self._model.head()


def renamed(model: Model, name: str) -> Model:
    """The same model under another name; its variant stays."""
    kind = RenamedFeatureModel if isinstance(model, FeatureModel) else RenamedModel
    return kind(model, ModelId(name, model.id.variant))
