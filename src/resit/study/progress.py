"""Is it getting better everywhere? What progress on the original set goes with on other sets (Richards et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId, ModelTable
from resit.data.paths import counted
from resit.errors import Notice, UsageError
from resit.stats.intervals import percentile
from resit.stats.threads import one_blas_thread
from resit.study import fits
from resit.study.notices import set_notices
from resit.study.overlap import find_shared
from resit.study.pairing import Pairing
from resit.study.prepare import repair, require_sets
from resit.study.progress_result import SCHEMA, Gap, NetImprovement, Point, Progress, Rate
from resit.study.result import Baseline, Caution, Estimate, Fit
from resit.study.settings import Data, Settings, versions
from resit.study.setview import SetView
from resit.study.verdict import gap_sentence, weak_rate_sentence

Line = tuple[fits.Task, Fit]
SCALES = ("linear", "logit")
UNBOUNDED = "unbounded: the interval of the slope on {other} holds 0"


def progress(
    original: Data,
    *new: Data,
    standard: str | None = None,
    models: Sequence[str] = (),
    exclude: Sequence[str] = (),
    alias: Mapping[str, str] | None = None,
    worst_first: Sequence[str] = (),
    model_table: ModelTable | None = None,
    level: float = 0.95,
    seed: int = 0,
    bootstrap: str = "models",
    model_resamples: int = 100_000,
    example_resamples: int = 2_000,
    weighting: str = "micro",
    allow_different_transforms: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Progress:
    """Compare the rates at which accuracy on several sets grows with accuracy on the original.

    Parameters
    ----------
    original, *new : Predictions or Accuracies
        The sets. Only models that are on all of them count.
    standard : str, optional
        Set that the others are held against. Default: the first new one.
    models, exclude, alias, worst_first, model_table, level, seed, bootstrap
        As in :func:`resit.compare`.
    model_resamples, example_resamples, weighting, allow_different_transforms, progress
        As in :func:`resit.compare`.

    Returns
    -------
    Progress
        For each set and metric the rate (slope), on the linear and logit scale, and the progress gap: rate of the standard set
        divided by that of the other, with both slopes of each replicate from the same resample.

    Raises
    ------
    UsageError
        If arguments do not fit together or do not fit the data.

    References
    ----------
    Richards et al. (2023), arXiv:2307.13136, section 3.
    """
    say = progress or (lambda _: None)
    settings = Settings(
        level=level,
        seed=seed,
        bootstrap=bootstrap,
        model_resamples=model_resamples,
        example_resamples=example_resamples,
        weighting=weighting,
        baseline=(),
        allow_different_transforms=allow_different_transforms,
    )
    loaded = require_sets([original, *new])
    settings.check(model_table, loaded)
    sets, repairs = repair(loaded, alias=alias or {}, worst_first=worst_first, models=models, exclude=exclude)
    held_against = _standard(standard, sets[1:])
    with one_blas_thread():
        say("matching models and scoring answers")
        views = [SetView(data, weighting, seed, example_resamples) for data in sets]
        by_metric = {metric: _pairings(views, metric) for metric in _metrics(views)}
        say("fitting lines and resampling")
        tasks = [task for pairings in by_metric.values() for task in _tasks(pairings)]
        lines = list(zip(tasks, fits.fit_tasks(tasks, model_table, settings), strict=True))
        rates = tuple(_rate(pairing, lines) for pairings in by_metric.values() for pairing in pairings)
        gaps = tuple(_gaps(lines, held_against, settings))
    everywhere = {model for pairings in by_metric.values() for model in pairings[0].models}
    left_out = sorted({str(model) for data in sets for model in data.models if model not in everywhere})
    notices = dict.fromkeys([*set_notices(sets, settings), *_overlap_notices(views[1:], bootstrap)])
    return Progress(
        schema=SCHEMA,
        level=level,
        seed=seed,
        original=views[0].info(),
        standard=held_against,
        rates=rates,
        gaps=gaps,
        verdict=(
            *(gap_sentence(gap, views[0].name, rates) for gap in gaps if gap.scale == "linear"),
            *filter(None, map(weak_rate_sentence, rates)),
        ),
        left_out=tuple(left_out),
        repairs=repairs,
        warnings=tuple(Caution(note.code, note.where, note.message) for note in notices),
        settings={**settings.told(), "bootstrap": bootstrap, "model_table": model_table.name if model_table else "none"},
        versions=versions(),
    )


def _overlap_notices(views: Sequence[SetView], bootstrap: str) -> Iterator[Notice]:
    """Gaps under resampled examples take sets for independent: tell which are not, or may not be."""
    for first, second in combinations(views, 2) if bootstrap in ("examples", "crossed") else ():
        shared = find_shared(first, second, {})
        if shared.count != 0:
            count = "an unknown number of examples" if shared.count is None else counted(shared.count, "example")
            message = f"they share {count}, but are redrawn as if they shared none: their gap's interval is too wide."
            yield Notice("overlap-not-counted", f"{first.name} and {second.name}", message)


def _standard(name: str | None, sets: Sequence[Data]) -> str:
    names = [data.name for data in sets]
    if name is not None and name not in names:
        raise UsageError(f"no new set is called {name!r}", where="--standard", fix=f"They are {', '.join(names)}")
    return name or names[0]


def _metrics(views: Sequence[SetView]) -> list[str]:
    """Metrics that some models have on all sets."""
    found = [metric for metric in views[0].metrics() if all(metric in view.metrics() for view in views)]
    if not found:
        told = "; ".join(f"{view.name} has {', '.join(view.metrics()) or 'none'}" for view in views)
        raise UsageError(f"no metric is on all sets: {told}", fix="Name the columns alike (--column top1=COLUMN)")
    return found


def _pairings(views: Sequence[SetView], metric: str) -> list[Pairing]:
    """The original with each other set, over the models that are on all."""
    on_all = frozenset.intersection(*(view.models_with(metric) for view in views))
    models = tuple(model for model in views[0].data.models if model in on_all)
    if not models:
        raise UsageError(
            f"no model has {metric} on all of {', '.join(view.name for view in views)}",
            fix="Tell which names mean the same model with --alias FOUND=NAME",
        )
    used, rule = np.ones(len(models), bool), Baseline("all", len(models))
    old = views[0].scores(metric, models)
    return [Pairing(views[0], view, metric, models, used, rule, old, view.scores(metric, models)) for view in views[1:]]


def _tasks(pairings: list[Pairing]) -> list[fits.Task]:
    """Lines of all sets on each scale, over models whose accuracies can stand on it on every set."""
    found = []
    for scale in SCALES:
        keeps = [fits.make_task(pairing, scale, pairing.baseline).keep for pairing in pairings]
        chosen: npt.NDArray[np.bool_] = np.zeros_like(pairings[0].baseline)
        chosen[sorted(set.intersection(*(set(keep.tolist()) for keep in keeps)))] = True
        found += [fits.make_task(pairing, scale, chosen) for pairing in pairings]
    return found


def _rate(pairing: Pairing, lines: Sequence[Line]) -> Rate:
    old, new = pairing.old_scores.accuracy, pairing.new_scores.accuracy
    return Rate(
        new=pairing.new.info(),
        metric=pairing.metric,
        n_models=len(pairing.models),
        mean_original=float(old.mean()),
        mean_new=float(new.mean()),
        fits={task.scale: fit for task, fit in lines if task.pairing is pairing},
        net_improvement=_net_improvement(pairing.models, new),
        points=tuple(Point(str(m), float(x), float(y)) for m, x, y in zip(pairing.models, old, new, strict=True)),
    )


def _net_improvement(models: Sequence[ModelId], accuracy: npt.NDArray[np.float64]) -> NetImprovement:
    best, worst = int(accuracy.argmax()), int(accuracy.argmin())
    return NetImprovement(str(models[best]), str(models[worst]), float(accuracy[best] - accuracy[worst]))


def _gaps(lines: Sequence[Line], standard: str, settings: Settings) -> Iterator[Gap]:
    """The standard set against every other, by metric and scale."""
    for top in lines:
        for bottom in lines:
            name, other = (task.pairing.new.name for task, _ in (top, bottom))
            alike = (top[0].pairing.metric, top[0].scale) == (bottom[0].pairing.metric, bottom[0].scale)
            if alike and name == standard and other != standard:
                yield Gap(standard, other, top[0].pairing.metric, top[0].scale, _ratio(top, bottom, settings))


def _ratio(top: Line, bottom: Line, settings: Settings) -> Estimate:
    above, below = top[1].slope, bottom[1].slope
    if above.estimate is None or below.estimate is None:
        return Estimate(None, reason=fits.NO_LINE)
    if above.low is None or below.low is None or below.high is None:
        return Estimate(None, reason=above.reason or below.reason)
    if below.low <= 0 <= below.high:
        return Estimate(None, reason=UNBOUNDED.format(other=bottom[0].pairing.new.name))
    drawn = [next(made.slope for made in task.replicates if made.unit == settings.bootstrap) for task, _ in (top, bottom)]
    fine = np.isfinite(drawn[0]) & np.isfinite(drawn[1]) & (drawn[1] != 0)
    low, high = percentile(drawn[0][fine] / drawn[1][fine], settings.level)
    method = f"percentile bootstrap over {settings.bootstrap}, both slopes from one resample"
    return Estimate(above.estimate / below.estimate, float(low), float(high), method)
