"""One row a model: its scores on both sets, ranks, change and effective robustness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId, ModelTable
from resit.stats import intervals, pairs, ranks, robustness
from resit.stats.pairs import PairTests
from resit.stats.scales import off_the_edge
from resit.study.fits import ALL_ALIKE, SAME
from resit.study.pairing import Pairing
from resit.study.result import Estimate, ModelRow, PairOnSet, RankInterval, Score, Swap
from resit.study.setview import Scores, SetView

Array = npt.NDArray[np.float64]
NO_COUNTS = "no interval: neither the number of examples nor a standard error is known"


@dataclass(frozen=True)
class Bounds:
    """Intervals of M figures and how they were made; None where there is none."""

    low: Array
    high: Array
    method: tuple[str | None, ...]


def model_rows(pairing: Pairing, table: ModelTable | None, level: float) -> tuple[ModelRow, ...]:
    """Rows of all models of a pairing, in the order of the original set."""
    old, new = pairing.old_scores, pairing.new_scores
    original, fresh = score_rows(pairing, pairing.original, old, level), score_rows(pairing, pairing.new, new, level)
    change = change_bounds(old, new, level)
    moved = off_the_edge(new.accuracy, new.n)
    robust = robustness.effective_robustness(off_the_edge(old.accuracy, old.n), moved, pairing.baseline)
    robust += new.accuracy - moved
    look_up: Callable[[ModelId, str], str | None] = table.get if table else lambda *_: None
    return tuple(
        ModelRow(
            key=str(model),
            model=model.model,
            variant=model.variant,
            family=look_up(model, "family"),
            kind=look_up(model, "kind"),
            date=look_up(model, "date"),
            baseline=bool(pairing.baseline[at]),
            original=original[at],
            new=fresh[at],
            change=_change(old, new, change, at),
            rank_change=original[at].rank - fresh[at].rank,
            effective_robustness=_known(robust[at]),
            reason=None
            if np.isfinite(robust[at])
            else "effective robustness: no baseline line on the logit scale for this model",
        )
        for at, model in enumerate(pairing.models)
    )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _change(old: Scores, new: Scores, bounds: Bounds, at: int) -> Estimate:
    low, high, method = _known(bounds.low[at]), _known(bounds.high[at]), bounds.method[at]
    reason = None if method else next((why for why in map(_no_interval, (old, new)) if why != NO_COUNTS), NO_COUNTS)
    return Estimate(float(new.accuracy[at] - old.accuracy[at]), low, high, method, reason)


def _no_interval(scores: Scores) -> str:
    return NO_COUNTS if scores.replicates is None else ALL_ALIKE


def score_rows(pairing: Pairing, view: SetView, scores: Scores, level: float) -> list[Score]:
    """Scores of the models of a pairing on one of its sets."""
    rank = ranks.mean_ranks(scores.accuracy)
    bounds = accuracy_bounds(scores, level)
    tests = view.pair_tests(pairing.metric, pairing.models)
    around = None if tests is None else np.stack(pairs.rank_interval(tests, level)).T.tolist()
    return [
        Score(
            correct=int(scores.correct[at]) if np.isfinite(scores.correct[at]) else None,
            n=int(scores.n[at]) if np.isfinite(scores.n[at]) else None,
            accuracy=float(scores.accuracy[at]),
            low=_known(bounds.low[at]),
            high=_known(bounds.high[at]),
            method=bounds.method[at],
            rank=float(rank[at]),
            rank_interval=None if around is None else RankInterval(*around[at]),
            reason=_score_reason(bounds.method[at], view.why_no_pairs, scores, at),
        )
        for at in range(len(scores.accuracy))
    ]


def _score_reason(method: str | None, no_ranks: str | None, scores: Scores, at: int) -> str | None:
    reasons = [_no_interval(scores)] if method is None else []
    if not np.isfinite(scores.correct[at]) and method is not None:
        reasons.append("correct: not a count of right answers")
    if no_ranks:
        reasons.append(f"rank interval: {no_ranks}")
    return "; ".join(reasons) or None


def accuracy_bounds(scores: Scores, level: float) -> Bounds:
    """Clopper-Pearson where counts are known, else normal from standard errors, else bootstrap (class-macro), else none."""
    exact = intervals.clopper_pearson(scores.correct, scores.n, level)
    told = intervals.normal(scores.accuracy, scores.standard_error, level)
    choices = [("Clopper-Pearson", exact.low, exact.high), ("normal, from the standard error", told.low, told.high)]
    if scores.replicates is not None:
        choices.append(("stratified bootstrap", *_spread(scores.replicates, level)))
    return _first_known(choices)


def change_bounds(old: Scores, new: Scores, level: float) -> Bounds:
    """Newcombe where counts are known, else normal from standard errors, else bootstrap (class-macro), else none."""
    hybrid = intervals.newcombe(old.correct, old.n, new.correct, new.n, level)
    error = np.hypot(_standard_error(old), _standard_error(new))
    told = intervals.normal(new.accuracy - old.accuracy, error, level)
    choices = [("Newcombe", hybrid.low, hybrid.high), ("normal, from the standard errors", told.low, told.high)]
    if old.replicates is not None and new.replicates is not None:
        choices.append(("stratified bootstrap", *_spread(new.replicates - old.replicates, level)))
    return _first_known(choices)


def _spread(replicates: Array, level: float) -> tuple[Array, Array]:
    low, high = intervals.percentile(replicates.T, level)
    alike = np.ptp(replicates, axis=0) < SAME
    return np.where(alike, np.nan, low), np.where(alike, np.nan, high)


def _standard_error(scores: Scores) -> Array:
    counted = np.where(np.isfinite(scores.correct), np.sqrt(scores.accuracy * (1 - scores.accuracy) / scores.n), np.nan)
    return np.where(np.isfinite(scores.standard_error), scores.standard_error, counted)


def _first_known(choices: list[tuple[str, Array, Array]]) -> Bounds:
    low = np.full_like(choices[0][1], np.nan)
    high, method = low.copy(), np.full(len(low), None, object)
    for name, lower, upper in choices:
        fill = np.isnan(low) & np.isfinite(lower)
        low[fill], high[fill], method[fill] = lower[fill], upper[fill], name
    return Bounds(low, high, tuple(method.tolist()))


def real_swaps(pairing: Pairing, level: float) -> tuple[Swap, ...] | None:
    """Pairs of models whose order is significant on both sets and opposite; None where answers are not known on both."""
    original, new = (view.pair_tests(pairing.metric, pairing.models) for view in (pairing.original, pairing.new))
    if original is None or new is None:
        return None
    found, adjusted = pairs.swapped_pairs(original, new, level)
    return tuple(
        Swap(
            str(pairing.models[first]),
            str(pairing.models[second]),
            _pair_on_set(original, first, second, level),
            _pair_on_set(new, first, second, level),
            float(p),
        )
        for (first, second), p in zip(found.tolist(), adjusted, strict=True)
    )


def _pair_on_set(tests: PairTests, first: int, second: int, level: float) -> PairOnSet:
    table = tests.table(first, second)
    gap = intervals.newcombe_paired(*table, level)
    difference = Estimate(float(gap.estimate), float(gap.low), float(gap.high), "Newcombe, paired")
    return PairOnSet(table[1], table[2], difference, float(pairs.mcnemar_exact(table[1], table[2])))
