"""The lines of a study, all at once, so that their resamples are shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelTable
from resit.stats import lines, noise, resample, scales
from resit.stats.intervals import percentile
from resit.study.pairing import Pairing
from resit.study.result import SCALES, Band, Estimate, Fit, FitInterval, NoiseCorrection
from resit.study.settings import Settings

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], npt.NDArray[np.int64]]
GRID = 17
MOST_FAILED = 0.05
SAME = 1e-12
ALL_ALIKE = "no interval: all resamples are alike"
NO_LINE = "no line: it needs at least three models whose original accuracies are not all equal"
MODELS, CROSSED, FAMILIES = 1, 3, 4  # purposes of the generators; 2 redraws examples


@dataclass(frozen=True)
class Replicates:
    """Resampled lines of one task under one unit, shape (B,) each."""

    unit: str
    slope: Array
    intercept: Array


@dataclass
class Task:
    """One line to fit: the chosen models of a pairing on one scale. ``keep`` are the models with finite values on it."""

    pairing: Pairing
    scale: str
    keep: npt.NDArray[np.int_]
    x: Array
    y: Array
    adjusted: int
    left_out: tuple[str, ...]
    replicates: list[Replicates] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        """Whether a line can be fitted at all."""
        return lines.has_spread(self.x)


def make_task(pairing: Pairing, scale: str, chosen: npt.NDArray[np.bool_]) -> Task:
    """Put the accuracies of the chosen models on a scale, counting what had to be moved or left out."""
    rows = np.flatnonzero(chosen)
    old, new = pairing.old_scores, pairing.new_scores
    raw = np.stack([old.accuracy[rows], new.accuracy[rows]])
    values = _on_scale(raw, np.stack([old.n[rows], new.n[rows]]), scale)
    fine = np.isfinite(values).all(axis=0)
    edge = ((raw <= 0) | (raw >= 1)).any(axis=0) & fine if scale != "linear" else np.zeros_like(fine)
    left_out = tuple(str(pairing.models[row]) for row in rows[~fine])
    return Task(pairing, scale, rows[fine], values[0, fine], values[1, fine], int(edge.sum()), left_out)


def fit_all(
    pairings: Sequence[Pairing], table: ModelTable | None, settings: Settings
) -> list[tuple[dict[str, Fit], dict[str, Fit]]]:
    """Lines of every pairing on every scale, over its baseline models and over all.

    Parameters
    ----------
    pairings : sequence of Pairing
    table : ModelTable or None
        Gives families, by which models can be resampled.
    settings : Settings

    Returns
    -------
    list of (dict of str to Fit, dict of str to Fit)
        For each pairing, by scale: over the baseline models, over all models.
    """
    baseline = [[make_task(pairing, scale, pairing.baseline) for scale in SCALES] for pairing in pairings]
    everyone = [
        own if pairing.baseline.all() else [make_task(pairing, scale, np.ones_like(pairing.baseline)) for scale in SCALES]
        for pairing, own in zip(pairings, baseline, strict=True)
    ]
    tasks = list({id(task): task for group in baseline + everyone for task in group}.values())
    done = {id(task): fit for task, fit in zip(tasks, fit_tasks(tasks, table, settings), strict=True)}
    return [
        ({task.scale: done[id(task)] for task in own}, {task.scale: done[id(task)] for task in every})
        for own, every in zip(baseline, everyone, strict=True)
    ]


def fit_tasks(tasks: Sequence[Task], table: ModelTable | None, settings: Settings) -> list[Fit]:
    """Resample tasks, those of equally many models alike, and fit them; their replicates stay with them."""
    fitting = [task for task in tasks if task.fits]
    resample_models(fitting, settings.model_resamples, settings.seed)
    if table is not None and "family" in table.columns:
        resample_families(fitting, table, settings.model_resamples, settings.seed)
    resample.in_parallel(lambda task: resample_examples(task, settings.example_resamples, settings.seed), fitting)
    return resample.in_parallel(lambda task: finish(task, settings.bootstrap, settings.level), tasks)


def resample_models(tasks: Iterable[Task], resamples: int, seed: int) -> None:
    """Refit all tasks of one number of models under the same resamples of models."""
    groups: dict[int, list[Task]] = {}
    for task in tasks:
        groups.setdefault(len(task.x), []).append(task)
    for size, group in groups.items():
        _refit(group, "models", resamples, resample.generator(seed, MODELS), partial(resample.draw_counts, size=size))


def resample_families(tasks: Iterable[Task], table: ModelTable, resamples: int, seed: int) -> None:
    """The same with whole families; a model of unknown family is a family of its own."""
    groups: dict[tuple[int, ...], list[Task]] = {}
    for task in tasks:
        models = [task.pairing.models[row] for row in task.keep]
        names = [table.get(model, "family") or f"\0{model}" for model in models]
        groups.setdefault(tuple(np.unique(names, return_inverse=True)[1].tolist()), []).append(task)
    for codes, group in groups.items():
        draw = partial(resample.draw_family_counts, families=np.array(codes))
        _refit(group, "families", resamples, resample.generator(seed, FAMILIES), draw)


def _refit(group: list[Task], unit: str, resamples: int, rng: np.random.Generator, draw: Draw) -> None:
    x, y = np.stack([task.x for task in group]), np.stack([task.y for task in group])

    def fit_chunk(job: tuple[np.random.Generator, int]) -> tuple[Array, Array]:
        return lines.fit_weighted(draw(*job).astype(float), x, y)

    pieces = resample.in_parallel(fit_chunk, resample.chunks(rng, resamples, x.shape[1]))
    if not pieces:
        return
    slope, intercept = (np.concatenate(part, axis=1) for part in zip(*pieces, strict=True))
    for at, task in enumerate(group):
        task.replicates.append(Replicates(unit, slope[at], intercept[at]))


def resample_examples(task: Task, resamples: int, seed: int) -> None:
    """Refit a task under resamples of examples, and of examples and models at once, where answers are known on both sets."""
    old, new = task.pairing.old_scores, task.pairing.new_scores
    if old.replicates is None or new.replicates is None:
        return
    x = _on_scale(old.replicates[:, task.keep], old.n[task.keep], task.scale)
    y = _on_scale(new.replicates[:, task.keep], new.n[task.keep], task.scale)
    task.replicates.append(Replicates("examples", *lines.fit_rows(x, y)))
    weights = resample.draw_counts(resample.generator(seed, CROSSED), resamples, len(task.x)).astype(float)
    task.replicates.append(Replicates("crossed", *lines.fit_rows(x, y, weights)))


def _on_scale(accuracy: Array, n: Array, scale: str) -> Array:
    return accuracy if scale == "linear" else scales.forward(scales.off_the_edge(accuracy, n), scale)


def finish(task: Task, unit: str, level: float) -> Fit:
    """The Fit of a task, its headline intervals those of ``unit``."""
    nothing = Estimate(None, reason=NO_LINE)
    fit = Fit(task.scale, len(task.x), nothing, nothing, None, None, task.adjusted, task.left_out, reason=NO_LINE)
    if not task.fits:
        return fit
    line = lines.fit_line(task.x, task.y)
    intervals = tuple(_interval(own, line, level) for own in task.replicates)
    headline = next((at for at, own in enumerate(intervals) if own.unit == unit), None)
    missing = f"resampling by {unit} is not available here"
    slope = Estimate(line.slope, reason=missing) if headline is None else intervals[headline].slope
    intercept = Estimate(line.intercept, reason=missing) if headline is None else intervals[headline].intercept
    flat = bool(np.isnan(line.r2))
    return replace(
        fit,
        slope=slope,
        intercept=intercept,
        r2=None if flat else line.r2,
        rmse=_rmse(task, line),
        intervals=intervals,
        band=None if headline is None else _band(task, line, task.replicates[headline], level),
        correction=_correct(task),
        reason="R² is not available: all new accuracies are equal" if flat else None,
    )


def _interval(own: Replicates, line: lines.Line, level: float) -> FitInterval:
    fine = np.isfinite(own.slope)
    failed = int((~fine).sum())
    resamples = len(own.slope)
    if fine.any() and own.unit in ("examples", "crossed") and np.ptp(own.slope[fine]) < SAME:
        alike = [Estimate(value, reason=ALL_ALIKE) for value in (line.slope, line.intercept)]
        return FitInterval(own.unit, resamples, failed, *alike)
    if failed > MOST_FAILED * resamples or resamples == 0:
        reason = f"no interval: {failed:,} of {resamples:,} resamples by {own.unit} have no spread in original accuracy"
        bounds = [Estimate(value, reason=reason) for value in (line.slope, line.intercept)]
    else:
        low, high = percentile(np.stack([own.slope[fine], own.intercept[fine]]), level)
        method = f"percentile bootstrap over {own.unit}"
        values = (line.slope, line.intercept)
        bounds = [Estimate(value, float(low[at]), float(high[at]), method) for at, value in enumerate(values)]
    return FitInterval(own.unit, resamples, failed, *bounds)


def _rmse(task: Task, line: lines.Line) -> float:
    predicted = scales.backward(line.at(task.x), task.scale)
    return float(np.sqrt(np.mean((predicted - scales.backward(task.y, task.scale)) ** 2)))


def _band(task: Task, line: lines.Line, own: Replicates, level: float) -> Band | None:
    fine = np.isfinite(own.slope)
    if fine.mean() < 1 - MOST_FAILED:
        return None
    x = np.linspace(task.x.min(), task.x.max(), GRID)
    low, high = percentile(own.intercept[fine] + np.multiply.outer(x, own.slope[fine]), level)
    return Band(*(tuple(scales.backward(values, task.scale).tolist()) for values in (x, line.at(x), low, high)))


def _correct(task: Task) -> NoiseCorrection:
    pairing = task.pairing
    if pairing.original.weighting != "micro":
        return NoiseCorrection(None, None, None, "none", "defined for micro accuracy only")
    (noise_x, from_x), (noise_y, from_y) = (_noise(pairing, side, task) for side in ("original", "new"))
    assumption = from_x if from_x == from_y else f"original: {from_x}; new: {from_y}"
    if np.isnan(noise_x):
        return NoiseCorrection(None, None, None, assumption, "the noise of original accuracies is not known")
    if noise_x <= 0:
        return NoiseCorrection(None, None, None, assumption, "the models' errors leave no noise to correct for")
    slope = lines.moment_slope(task.x, task.y, noise_x)
    if np.isnan(slope):
        return NoiseCorrection(None, None, None, assumption, "sampling noise explains all of the spread in original accuracy")
    ratio = noise_y / noise_x
    deming = lines.deming_slope(task.x, task.y, ratio)
    if np.isnan(deming):
        return NoiseCorrection(slope, None, None, assumption, "Deming's slope needs the noise of new accuracies too")
    return NoiseCorrection(slope, deming, ratio, assumption)


def _noise(pairing: Pairing, side: str, task: Task) -> tuple[float, str]:
    view, scores = (pairing.original, pairing.old_scores) if side == "original" else (pairing.new, pairing.new_scores)
    n = scores.n[task.keep]
    accuracy = scores.accuracy[task.keep]
    gain = scales.derivative(accuracy if task.scale == "linear" else scales.off_the_edge(accuracy, n), task.scale)
    tests = view.pair_tests(pairing.metric, pairing.models)
    if tests is not None:
        both = tests.both[np.ix_(task.keep, task.keep)]
        return noise.noise_from_pairs(both, tests.n, gain), "covariance of the models' errors, from their answers"
    if np.isfinite(n).all():
        return noise.noise_from_counts(accuracy, n, gain), "errors independent between models: at most this much correction"
    return float("nan"), "number of examples not known"
