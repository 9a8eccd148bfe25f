"""Which models are compared, over which the line is fitted, and their scores on both sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId, ModelTable
from resit.errors import UsageError
from resit.study.result import Baseline
from resit.study.setview import Scores, SetView


@dataclass(frozen=True)
class Pairing:
    """The original and one new set by one metric, over the models that both have."""

    original: SetView
    new: SetView
    metric: str
    models: tuple[ModelId, ...]
    baseline: npt.NDArray[np.bool_]
    rule: Baseline
    old_scores: Scores
    new_scores: Scores

    @property
    def baseline_models(self) -> tuple[ModelId, ...]:
        """The models that the line is fitted over."""
        return tuple(model for model, used in zip(self.models, self.baseline, strict=True) if used)


def pair_up(original: SetView, new: SetView, baseline: Sequence[str], table: ModelTable | None) -> list[Pairing]:
    """Pairings by every metric that both sets have, top-1 first.

    Parameters
    ----------
    original, new : SetView
    baseline : sequence of str
        Globs of model names, or ``column=value`` of the model table; a model is in the baseline if one holds. Empty: all.
    table : ModelTable or None

    Raises
    ------
    UsageError
        If the sets share no metric or no model, or the baseline names nothing.
    """
    metrics = [metric for metric in original.metrics() if metric in new.metrics()]
    if not metrics:
        raise UsageError(
            f"no metric in common: {original.name} has {_names(original.metrics())}, {new.name} has {_names(new.metrics())}",
            where=new.name,
            fix="Name the columns of both in the same way (--column top1=COLUMN)",
        )
    pairings = [_pair(original, new, metric, baseline, table) for metric in metrics]
    found = [pairing for pairing in pairings if pairing is not None]
    if not found:
        raise UsageError(
            f"no model is on both {original.name} and {new.name}",
            where=new.name,
            fix=f"Tell which names mean the same model with --alias NEW=OLD; {original.name} has "
            f"{_names(original.data.models)}; {new.name} has {_names(new.data.models)}",
        )
    return found


def _names(things: Sequence[object]) -> str:
    shown = ", ".join(str(thing) for thing in things[:5])
    return f"{shown}, … ({len(things)} in all)" if len(things) > 5 else shown or "none"


def _pair(original: SetView, new: SetView, metric: str, baseline: Sequence[str], table: ModelTable | None) -> Pairing | None:
    on_both = original.models_with(metric) & new.models_with(metric)
    models = tuple(model for model in original.data.models if model in on_both)
    if not models:
        return None
    used = np.array([is_baseline(model, baseline, table) for model in models])
    if not used.any():
        raise UsageError(
            f"no model on both sets fits the baseline {_names(baseline)}",
            where=f"{original.name} and {new.name}",
            fix="Use a glob of model names, or COLUMN=VALUE of a model table given with --model-table",
        )
    rule = Baseline(", ".join(baseline) if baseline else "all", int(used.sum()))
    return Pairing(original, new, metric, models, used, rule, original.scores(metric, models), new.scores(metric, models))


def is_baseline(model: ModelId, rules: Sequence[str], table: ModelTable | None) -> bool:
    """Whether a model fits one of the rules; all do where there is none."""
    return not rules or any(_fits(model, rule, table) for rule in rules)


def _fits(model: ModelId, rule: str, table: ModelTable | None) -> bool:
    column, sign, value = rule.partition("=")
    if not sign:
        return model.fits(rule)
    if table is None or column not in table.columns:
        raise UsageError(
            f"the baseline {rule!r} needs a model table with a column {column!r}",
            fix="Give one with --model-table FILE" if table is None else f"It has {', '.join(table.columns)}",
        )
    return fnmatchcase(table.get(model, column) or "", value)
