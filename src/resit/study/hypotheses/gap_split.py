"""The drop as the sum of three gaps, and what bounds each (Recht et al. 2019, §2.1)."""

from __future__ import annotations

import numpy as np

from resit.stats.reuse import fixed_models_bound
from resit.study.estimate import Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series
from resit.study.hypotheses.interface import Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.statistical_error import mean_of


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Bound the adaptivity gap and the generalization gap, and so the distribution gap.

    Drop = (accuracy on the original − accuracy on all that it was drawn from) + (that − the same for the new set's)
    + (that − accuracy on the new set). The models never saw the new set, so the last one is sampling error alone.

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable
    """
    tried = max(rules.tried or 0, len(material.models))
    old, new = (
        mean_of(material.original, material.right_original, rules, 0),
        mean_of(material.new, material.right_new, rules, 1),
    )
    highest = float(fixed_models_bound(material.right_original.mean(axis=1), material.original.n, tried, rules.level).mean())
    bound = f"union bound over {tried:,} models fixed beforehand, mean over the {len(material.models):,} that are here"
    adaptivity = Estimate(None, -_above(old), highest, bound)
    generalization = Estimate(0.0, -_below(new), _above(new), new.method)
    low, high = material.drop - highest - _above(new), material.drop + _above(old) + _below(new)
    distribution = Estimate(None, low, high, "the drop less the others at their extremes")
    gaps = (("adaptivity gap", adaptivity), ("distribution gap", distribution), ("generalization gap", generalization))
    shown = "; ".join(f"{name} [{100 * (gap.low or 0):.2f}, {100 * (gap.high or 0):.2f}]" for name, gap in gaps)
    sure = low > 0 or high < 0
    said = "a difference between the distributions remains" if sure else "no difference between the distributions is proved"
    verdict = f"Of the drop of {100 * material.drop:.2f} points: {shown} points. Even at the extremes of the others {said}."
    figures = tuple(Figure(name, "points", gap) for name, gap in gaps)
    return Gathered(verdict, effect=sure, figures=figures, pictures=(_picture(gaps, material.drop),))


def _above(value: Estimate) -> float:
    return (value.high or 0.0) - (value.estimate or 0.0)


def _below(value: Estimate) -> float:
    return (value.estimate or 0.0) - (value.low or 0.0)


def _picture(gaps: tuple[tuple[str, Estimate], ...], drop: float) -> Picture:
    points = [Point("the drop", drop)]
    for name, gap in gaps:
        low, high = gap.low or 0.0, gap.high or 0.0
        points.append(Point(name, float(np.mean([low, high])), low, high))
    title = "What bounds each gap (dots are mid-points)"
    return Picture(title, "", "gap", (Series("gaps", tuple(points)),), y_unit="points", line_at=0.0)


HYPOTHESIS = Hypothesis(
    name="gap-split",
    title="Three gaps",
    question="How much of the drop can be adaptivity, distribution and generalization?",
    source="Recht et al. (2019), §2.1",
    lacks=lambda _: (),
    seconds=lambda material, rules: 2e-9 * rules.resamples * (material.original.n + material.new.n) + 1,
    run=run,
)
