"""Draw the next revision of a build."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.build.bias import bias_report
from resit.build.bias_record import BiasReport
from resit.build.clock import now
from resit.build.config import SamplingConfig
from resit.build.diff import Diff, diff
from resit.build.eligibility import Eligible, voted
from resit.build.keys import Ints
from resit.build.sampling.corrected_frequency import CorrectedFrequency
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.records import Drawn
from resit.build.sampling.registry import strategy_of
from resit.build.sampling.run import sample
from resit.build.sampling.strategy import Strategy
from resit.build.selection import record
from resit.build.steps.opened import Build, Tell, silent
from resit.build.steps.originals import row_of
from resit.build.steps.pool import Pool, read_pool
from resit.data.predictions import Predictions
from resit.errors import InputError, UsageError
from resit.store.records import Selection
from resit.store.schemas import COUNTS

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Sampled:
    """A new revision.

    Parameters
    ----------
    revision : int
    parent : int or None
    eligible : Eligible
    drawn : Drawn
    bias : BiasReport
    change : Diff or None
        From the parent; None where there is none.
    """

    revision: int
    parent: int | None
    eligible: Eligible
    drawn: Drawn
    bias: BiasReport
    change: Diff | None

    def __str__(self) -> str:
        lines = [f"revision r{self.revision}" + ("" if self.parent is None else f", from r{self.parent}")]
        lines += [str(self.eligible), str(self.drawn)]
        if self.change is not None:
            lines.append(f"against r{self.parent}: {self.change}")
        if len(self.drawn.selected):
            lines.append(str(self.bias))
        if not self.drawn.valid:
            lines.append("This selection is not valid: some classes are short. `resit build status` says what to do.")
        return "\n".join(lines)


def draw_revision(
    build: Build,
    *,
    afresh: bool = False,
    parent: int | None = None,
    seed: int | None = None,
    strategy: str | None = None,
    correct_bias: bool = False,
    predictions: Predictions | None = None,
    tell: Tell = silent,
) -> Sampled:
    """Draw a selection as the configuration says, and store it as the next revision, whether it is valid or not.

    Parameters
    ----------
    build : Build
    afresh : bool, optional
        Whether to keep nothing of an earlier revision.
    parent : int, optional
        The revision to go on from. Default: the last one.
    seed : int, optional
        Default: that of the configuration.
    strategy : str, optional
        How images are drawn; default: that of the configuration.
    correct_bias : bool, optional
        Whether ``matched-frequency`` matches estimated true frequencies: ``corrected-frequency``, as which it is recorded.
    predictions : Predictions, optional
        Answers of models on the original, by which the expected shift of accuracy is told.
    tell : callable, optional
        Told what is being done.

    Returns
    -------
    Sampled

    Raises
    ------
    InputError
        If the predictions are of another test set, or there is no such revision.
    UsageError
        If the strategy's settings do not fit, or the revision to go on from was drawn by another strategy.
    """
    drawing = strategy_of(_asked_for(build.config.sampling, strategy, correct_bias))
    before = None if afresh else _parent(build, parent)
    _refuse_other_strategy(drawing, before)
    seed = build.config.seed if seed is None else seed
    tell("Reading the build")
    pool = read_pool(build)
    found = pool.eligible
    originals = voted(pool.images, pool.counts, "original")
    _refuse_missing_attribute(drawing, originals)
    previous = None if before is None else before.selected
    tell("Sampling")
    drawn = sample(drawing, found.candidates, originals, previous, build.classes, build.config.per_class, seed=seed)
    tell("Estimating the bias of noisy votes")
    bias = bias_report(
        originals.select(list(COUNTS)),
        drawn.selected,
        found.candidates.select(list(COUNTS)),
        correct_original=None if predictions is None else correct_share(pool, predictions),
        chosen_by_votes=drawing.by_votes,
        votes=build.config.sampling.minimum_votes,
        seed=seed,
    )
    number = None if before is None else before.revision
    told = record(drawing, found, drawn, seed=seed, time=now(), parent=number, bias=bias)
    revision = build.store.add_selection(told, drawn.selected, found.excluded, parent=number)
    change = None if before is None else diff(before.selected, drawn.selected, found.excluded)
    return Sampled(revision, number, found, drawn, bias, change)


def _asked_for(config: SamplingConfig, strategy: str | None, correct_bias: bool) -> SamplingConfig:
    """The configuration with another strategy, where one is asked for."""
    name = config.strategy if strategy is None else strategy
    if correct_bias and name not in (MatchedFrequency.name, CorrectedFrequency.name):
        what = f"no correction of bias for {name}"
        raise UsageError(what, where="sampling", fix=f"It is for {MatchedFrequency.name}: name it as the strategy.")
    return config.model_copy(update={"strategy": CorrectedFrequency.name if correct_bias else name})


def _refuse_other_strategy(strategy: Strategy, before: Selection | None) -> None:
    """Images kept from another strategy's selection would not be drawn as the new one says."""
    drawn_by = strategy.name if before is None else before.record.get("strategy", strategy.name)
    if before is not None and drawn_by != strategy.name:
        what = f"r{before.revision} was drawn by {drawn_by}, and now images are drawn by {strategy.name}"
        raise UsageError(what, where="sampling", fix="Keep nothing of it: afresh=True (--afresh).")


def _refuse_missing_attribute(strategy: Strategy, originals: pa.Table) -> None:
    """Without any original that has the attribute there would be nothing to match."""
    name = strategy.needs
    if name is not None and not any(name in json.loads(text or "{}") for text in originals["attributes"].to_pylist()):
        fix = "Name an attribute of both the original and the candidates: `sampling.attribute` in build.yaml."
        raise UsageError(f"no original has the attribute {name!r}", where=strategy.name, fix=fix)


def _parent(build: Build, parent: int | None) -> Selection | None:
    if parent is None and not build.store.revisions():
        return None
    return build.store.selection(parent)


def correct_share(pool: Pool, predictions: Predictions) -> pa.Table:
    """The share of models that are right on each original: columns image, class_id and correct.

    Raises
    ------
    InputError
        If the predictions are not of the original's length, or their labels are not the original's.
    """
    import pyarrow as pa

    share = predictions.correct().mean(axis=0)
    rows = rows_of_original(pool, predictions)
    return pool.originals.select(["image", "class_id"]).append_column("correct", pa.array(share[rows]))


def rows_of_original(pool: Pool, predictions: Predictions) -> Ints:
    """The row of the predictions for each original.

    Raises
    ------
    InputError
        If the predictions are not of the original's length, or their labels are not the original's.
    """
    n = pool.build.original["n"]
    if predictions.benchmark.n != n:
        what = f"predictions of {predictions.benchmark.n:,} examples, while the original has {n:,}"
        raise InputError(what, where=predictions.benchmark.name, fix="Give predictions on the original test set, whole.")
    rows = np.array([row_of(attributes) for attributes in pool.originals["attributes"].to_pylist()], np.int64)
    refuse_other_labels(pool.originals["class_id"].to_pylist(), rows, predictions)
    return rows


def refuse_other_labels(class_ids: list[str], rows: Ints, predictions: Predictions) -> None:
    """Refuse predictions whose labels are not the original's, or under other ids do not go one to one with them.

    Parameters
    ----------
    class_ids : list of str
        Classes of some images in the build.
    rows : ndarray of int
        Where each of them is in the predictions' test set.
    predictions : Predictions

    Raises
    ------
    InputError
        If they are others.
    """
    if predictions.is_correctness:
        return
    labels = predictions.benchmark.labels[rows]
    one = np.flatnonzero((labels >= 0).sum(axis=1) == 1)
    found = {(predictions.benchmark.class_id(int(labels[row].max())), class_ids[row]) for row in one}
    if {label for label, _ in found} <= set(class_ids):
        wrong = any(label != class_id for label, class_id in found)
    else:
        wrong = any(len({pair[at] for pair in found}) < len(found) for at in range(2))
    if wrong:
        fix = "Give predictions on the original test set, in its order."
        raise InputError("predictions with other labels than the original's", where=predictions.name, fix=fix)
