"""Features of pictures by models, for the search of near-duplicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.build.duplicates.rows import Features, Tell
from resit.errors import UsageError

if TYPE_CHECKING:
    from resit.models.protocol import FeatureModel


def features_of(names: Sequence[str], models: Mapping[str, FeatureModel], tell: Tell) -> dict[str, Features]:
    """How the features of each model are made.

    Parameters
    ----------
    names : sequence of str
        Of the models; those that are not given are loaded, as :func:`resit.load_model` takes them.
    models : mapping of str to FeatureModel
    tell : callable
        Told each step in words.

    Raises
    ------
    InputError
        If a model cannot be read.
    UsageError
        If there is no such model, or it has no features.
    """
    from resit.models.load import load_model
    from resit.models.protocol import FeatureModel

    found: dict[str, Features] = {}
    for name in dict.fromkeys(names):
        if name not in models:
            tell(f"Loading {name}")
        model = models[name] if name in models else load_model(name)
        if not isinstance(model, FeatureModel):
            fix = "Use a model whose last layer is one linear layer, such as timm:resnet50.a1_in1k."
            raise UsageError("the model has no features: its last layer cannot be replaced", where=name, fix=fix)
        found[name] = _Embedding(model)
    return found


class _Embedding:
    """Asks one model for features, in batches as large as the device holds."""

    def __init__(self, model: FeatureModel) -> None:
        from resit.evaluate.local import batch_size_for
        from resit.evaluate.settings import EvaluateSettings

        self._model = model
        self._size = batch_size_for(model, EvaluateSettings())

    def __call__(self, images: Sequence[Any]) -> npt.NDArray[np.float32]:
        from resit.models.protocol import OutOfMemory

        parts: list[npt.NDArray[np.float32]] = []
        start = 0
        while start < len(images):
            batch = np.stack([np.asarray(self._model.transform(image)) for image in images[start : start + self._size]])
            try:
                parts.append(np.asarray(self._model.features(batch), np.float32))
            except OutOfMemory:
                if len(batch) == 1:
                    raise
                self._size = max(1, len(batch) // 2)
                continue
            start += len(batch)
        return np.concatenate(parts)
