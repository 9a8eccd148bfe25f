"""Does disparity shrink as models get better on the original? A line over models, with an interval over redrawn models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from resit.data.models import ModelId
from resit.stats import lines, resample
from resit.stats.intervals import percentile
from resit.study.fits import MODELS, MOST_FAILED, NO_LINE
from resit.study.group_rows import Rules
from resit.study.groups_result import GroupStudy, ModelGroups, Trend, TrendPoint
from resit.study.result import Estimate
from resit.study.setview import SetView

LARGEST = "best minus worst"


def trends(study: GroupStudy, original: SetView, rules: Rules) -> Iterator[Trend]:
    """Lines of each measure of disparity against accuracy on the original, over the models that are on both sets.

    Parameters
    ----------
    study : GroupStudy
    original : SetView
    rules : Rules
    """
    known = {str(model): model for model in original.models_with(study.metric)}
    both = [one for one in study.models if one.model in known]
    if not both:
        return
    models: list[ModelId] = [known[one.model] for one in both]
    accuracy = original.scores(study.metric, models).accuracy
    for measure, take in _measures(both[0]):
        values = [take(one).estimate for one in both]
        points = [
            TrendPoint(one.model, float(x), value)
            for one, x, value in zip(both, accuracy, values, strict=True)
            if value is not None
        ]
        nothing = Trend(
            study.set.name,
            study.metric,
            study.columns,
            measure,
            len(points),
            Estimate(None, reason=NO_LINE),
            None,
            None,
            tuple(points),
        )
        yield _fitted(nothing, rules)


def _measures(one: ModelGroups) -> Iterator[tuple[str, Callable[[ModelGroups], Estimate]]]:
    yield LARGEST, lambda found: found.disparity.difference
    yield f"{LARGEST}, normalised", lambda found: found.disparity.normalised
    if one.pair is not None:
        name = f"{one.pair.first} minus {one.pair.second}"
        yield name, lambda found: found.pair.difference if found.pair else Estimate(None)
        yield f"{name}, normalised", lambda found: found.pair.normalised if found.pair else Estimate(None)


def _fitted(trend: Trend, rules: Rules) -> Trend:
    x, y = (np.array([getattr(point, side) for point in trend.points]) for side in ("original", "disparity"))
    if not lines.has_spread(x):
        return trend
    line = lines.fit_line(x, y)
    pieces = [
        lines.fit_weighted(resample.draw_counts(own, rows, len(x)).astype(float), x[None], y[None])[0][0]
        for own, rows in resample.chunks(resample.generator(rules.seed, MODELS), rules.resamples, len(x))
    ]
    drawn = np.concatenate(pieces) if pieces else np.empty(0)
    fine = np.isfinite(drawn)
    failed = int((~fine).sum())
    if fine.sum() < 2 or failed > MOST_FAILED * len(drawn):
        slope = Estimate(line.slope, reason=f"{failed} of {len(drawn)} resamples of models have no spread in original accuracy")
    else:
        low, high = percentile(drawn[fine], rules.level)
        slope = Estimate(line.slope, float(low), float(high), "percentile bootstrap over models")
    return replace(trend, slope=slope, intercept=line.intercept, r2=None if np.isnan(line.r2) else line.r2)
