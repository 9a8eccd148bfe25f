"""Repairs that a user can ask for: other names, answers in the right order, fewer models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from resit.data.accuracies import Accuracies
from resit.data.models import ModelId
from resit.data.paths import unknown_name
from resit.data.predictions import Predictions
from resit.errors import UsageError

Data = TypeVar("Data", bound=Predictions | Accuracies)


def rename(data: Data, names: Mapping[str, str]) -> Data:
    """Give models other names; all variants of a name go with it.

    Parameters
    ----------
    data : Predictions or Accuracies
    names : mapping of str to str
        New name of each old one.

    Raises
    ------
    UsageError
        If there is no such model, or another one has the new name already.
    """
    for old in names:
        _find(data, old)
    models = tuple(_renamed(model, names) for model in data.models)
    twice = sorted(str(model) for model, count in Counter(models).items() if count > 1)
    if twice:
        raise UsageError(
            f"there would be two models {', '.join(twice)}", where=data.name, fix="Choose another name, or exclude one."
        )
    if isinstance(data, Predictions):
        provenance = {_renamed(model, names): value for model, value in data.provenance.items()}
        return replace(data, models=models, provenance=provenance)
    return replace(data, models=models)


def _renamed(model: ModelId, names: Mapping[str, str]) -> ModelId:
    return ModelId(names.get(model.model, model.model), model.variant)


def reverse_answers(predictions: Predictions, models: Sequence[str]) -> Predictions:
    """Put answers that were stored worst first in best-first order; confidence of what stood first is not kept.

    Parameters
    ----------
    predictions : Predictions
    models : sequence of str
        Names or globs of the models that it holds for.

    Raises
    ------
    UsageError
        If there is no such model, or it has one answer only.
    """
    chosen = {model for name in models for model in _find(predictions, name)}
    answers, provenance = predictions.answers.copy(), dict(predictions.provenance)
    sure = None if predictions.confidence is None else predictions.confidence.copy()
    for row, model in enumerate(predictions.models):
        if model not in chosen:
            continue
        depth = int(predictions.depth[row])
        if depth < 2:
            raise UsageError(f"{model} has one answer an example, so there is no order", where=predictions.name)
        turned = answers[row, :, depth - 1 :: -1] if depth == answers.shape[2] else answers[row, :, :depth][:, ::-1]
        valid_first = np.argsort(turned < 0, axis=1, kind="stable")
        answers[row, :, :depth] = np.take_along_axis(turned, valid_first, axis=1)
        if sure is not None:
            sure[row] = np.nan
        provenance[model] = {**provenance.get(model, {}), "repair": "answers put in best-first order"}
    return replace(predictions, answers=answers, provenance=provenance, confidence=sure)


def pick(data: Data, models: Sequence[str] = (), exclude: Sequence[str] = ()) -> Data:
    """Keep some of the models.

    Parameters
    ----------
    data : Predictions or Accuracies
    models : sequence of str
        Names or globs of the models to keep; none: all.
    exclude : sequence of str
        Names or globs of those to leave out of these.

    Raises
    ------
    UsageError
        If a name or glob matches no model, or no model is left.
    """
    kept = {model for name in models for model in _find(data, name)} if models else set(data.models)
    kept -= {model for name in exclude for model in _find(data, name)}
    if not kept:
        raise UsageError("no model is left", where=data.name, fix="Choose more models, or exclude fewer.")
    return cast(Data, data.select([model for model in data.models if model in kept]))


def _find(data: Predictions | Accuracies, name: str) -> list[ModelId]:
    """Models whose name, or name and variant, is this or matches this glob."""
    exact = [model for model in data.models if name in (model.model, str(model))]
    found = exact or [model for model in data.models if model.fits(name)]
    if not found:
        raise unknown_name(name, {model.model for model in data.models}, data.name)
    return found
