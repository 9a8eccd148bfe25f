"""Figures of plans that are estimated from models' answers instead of guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.data.accuracies import Accuracies
from resit.data.predictions import Predictions
from resit.errors import UsageError
from resit.stats.noise import noise_from_counts, noise_from_pairs
from resit.stats.pairs import PairTests, compare_pairs, holm
from resit.study.pairing import pair_up
from resit.study.settings import Data
from resit.study.setview import SetView

Array = npt.NDArray[np.float64]
NEAR = 0.01
METRIC = "top1"


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Median discordance of pairs of models that are at most a point of accuracy apart (else of the nearest pairs)."""

    name: str
    discordance: float
    pairs: int
    models: int
    n: int

    def __str__(self) -> str:
        return f"median of {self.pairs:,} near pairs of {self.models:,} models on {self.name}"


def near_pairs(data: Data) -> NearPairs:
    """How often exactly one of two models of about the same accuracy is right.

    Parameters
    ----------
    data : Predictions
        Of two models or more.

    Returns
    -------
    NearPairs

    Raises
    ------
    UsageError
        If there are fewer than two models, or figures only.
    """
    return near_of(compare_pairs(_answers(data).correct()), data.name)


def _answers(data: Data) -> Predictions:
    if isinstance(data, Accuracies):
        raise UsageError("figures only, and no answers", where=data.name, fix="Give the models' answers, or --discordance.")
    if len(data.models) < 2:
        what = f"{len(data.models)} model, and no pair to compare"
        raise UsageError(what, where=data.name, fix="Give answers of two models or more.")
    return data


def near_of(tests: PairTests, name: str) -> NearPairs:
    """The same from tests of all pairs."""
    first, second = np.triu_indices(len(tests.both), 1)
    only = tests.only[first, second], tests.only[second, first]
    apart = np.abs(only[0] - only[1])
    near = apart <= max(NEAR * tests.n, int(apart.min()))
    discordance = float(np.median((only[0] + only[1])[near]) / tests.n)
    return NearPairs(name, discordance, int(near.sum()), len(tests.both), tests.n)


@dataclass(frozen=True, slots=True)
class BothSets:
    """Near pairs on the original and on the new set, of the models that are on both, and pairs that are clear on both."""

    near: tuple[NearPairs, NearPairs]
    models: int
    pairs: int
    clear: int


def on_both(original: Data, new: Data, level: float) -> BothSets:
    """Near pairs of two sets, and how many pairs of models differ significantly on both of them.

    For each pair the larger of its two exact McNemar p-values counts, with Holm's correction over all pairs.

    Raises
    ------
    UsageError
        If fewer than two models are on both, or only figures are known.
    """
    for data in (original, new):
        _answers(data)
    views = [SetView(data, "micro", 0, 0) for data in (original, new)]
    models = pair_up(views[0], views[1], (), None)[0].models
    tests = [view.pair_tests(METRIC, models) for view in views]
    if len(models) < 2 or tests[0] is None or tests[1] is None:
        raise UsageError(f"no pair of models is on both sets, but {len(models)} model", where=new.name, fix="Give more models.")
    clear = holm(np.maximum(tests[0].p, tests[1].p)) <= 1 - level
    near = near_of(tests[0], original.name), near_of(tests[1], new.name)
    return BothSets(near, len(models), len(clear), int(clear.sum()))


def mean_accuracy(data: Data) -> tuple[float, str]:
    """Mean top-1 accuracy of the models of a set, and whose it is.

    Raises
    ------
    UsageError
        If no model has one.
    """
    view = SetView(data, "micro", 0, 0)
    models = tuple(model for model in data.models if model in view.models_with(METRIC))
    if not models:
        raise UsageError("no top-1 accuracy", where=data.name, fix="Give answers, or a table with a column top1.")
    return float(np.mean(view.scores(METRIC, models).accuracy)), f"mean of {len(models):,} models on {data.name}"


@dataclass(frozen=True, slots=True)
class Side:
    """Accuracies of M models on one set, its examples, and the share of sampling noise that a model has for itself."""

    name: str
    accuracy: Array
    n: Array
    noise_share: float | None


def two_sides(original: Data, new: Data) -> tuple[Side, Side]:
    """Top-1 accuracies of the models that are on both sets.

    Raises
    ------
    UsageError
        If no model is on both, or a number of examples is not known.
    """
    views = [SetView(data, "micro", 0, 0) for data in (original, new)]
    pairing = next((one for one in pair_up(views[0], views[1], (), None) if one.metric == METRIC), None)
    if pairing is None:
        raise UsageError("no top-1 accuracy on both sets", where=new.name, fix="Give answers, or tables with a column top1.")
    sides = []
    for view, scores in zip(views, (pairing.old_scores, pairing.new_scores), strict=True):
        if not np.isfinite(scores.n).all():
            raise UsageError("the number of examples is not known", where=view.name, fix="Tell it with --n, or give answers.")
        tests = view.pair_tests(METRIC, pairing.models)
        share = None
        if tests is not None and len(pairing.models) > 1:
            ones = np.ones(len(pairing.models))
            alone = noise_from_counts(scores.accuracy, scores.n, ones)
            share = noise_from_pairs(tests.both, tests.n, ones) / alone if alone > 0 else None
        sides.append(Side(view.name, scores.accuracy, scores.n, share))
    return sides[0], sides[1]
