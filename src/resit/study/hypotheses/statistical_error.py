"""Could the drop be chance? Intervals of the accuracies, and of the drop over redrawn examples (Recht et al. 2019, §2.1)."""

from __future__ import annotations

import numpy as np

from resit.data.paths import counted
from resit.data.predictions import Predictions
from resit.stats.intervals import clopper_pearson
from resit.stats.resample import generator, resample_examples
from resit.study.estimate import Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Right, Rules, Tell, percentile
from resit.study.setview import SetView

PURPOSE = 61


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Redraw the examples of both sets, and see how far the drop moves.

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable

    Returns
    -------
    Gathered
        The part that chance could explain is the half width of the drop's interval: a bound.
    """
    drop = drop_of(material, rules)
    low, high = drop.low or 0.0, drop.high or 0.0
    half = (high - low) / 2
    outside = low > 0 or high < 0
    said = "is more than chance" if outside else "may be chance"
    points = f"{100 * material.drop:.2f} points [{100 * low:.2f}, {100 * high:.2f}]"
    verdict = (
        f"The mean drop of {counted(len(material.models), 'model')} {said}: {points}; chance moves it by ±{100 * half:.2f}."
    )
    figures = [Figure("mean drop", "points", drop)]
    for one, right in sets_of(material):
        figures.append(Figure(f"mean accuracy on {one.name}", "fraction", Estimate(float(right.mean())), one.n))
    bound = Estimate(half, method="half the width of the drop's interval")
    pictures = (_picture(material, rules),)
    return Gathered(verdict, effect=not outside, part=bound, kind="bound", figures=tuple(figures), pictures=pictures)


def drop_of(material: Material, rules: Rules) -> Estimate:
    """Original minus new mean accuracy of the models, with its interval over redrawn examples, stratified by class.

    Parameters
    ----------
    material : Material
    rules : Rules
    """
    views = [(SetView(one, "micro", rules.seed, 0), right) for one, right in sets_of(material)]
    redrawn = [_redrawn(view, right, rules, at) for at, (view, right) in enumerate(views)]
    return percentile(redrawn[0] - redrawn[1], material.drop, rules.level, f"{rules.resamples:,} resamples of examples")


def mean_of(one: Predictions, right: Right, rules: Rules, at: int) -> Estimate:
    """Mean accuracy of the models on one set, with its interval over redrawn examples, stratified by class.

    Parameters
    ----------
    one : Predictions
    right : ndarray of bool, shape (M, n)
    rules : Rules
    at : int
        0 for the original, 1 for the new set: each is redrawn as in :func:`drop_of`.
    """
    redrawn = _redrawn(SetView(one, "micro", rules.seed, 0), right, rules, at)
    return percentile(redrawn, float(right.mean()), rules.level, f"{rules.resamples:,} resamples of examples")


def sets_of(material: Material) -> tuple[tuple[Predictions, Right], tuple[Predictions, Right]]:
    """Original and new, each with which answers are right."""
    return (material.original, material.right_original), (material.new, material.right_new)


def _redrawn(view: SetView, right: Right, rules: Rules, at: int) -> Array:
    share = right.mean(axis=0, dtype=float)[:, None]
    draws = resample_examples(generator(rules.seed, PURPOSE, at), share, rules.resamples, view.strata)
    return np.asarray(draws[:, 0] / len(share), float)


def _picture(material: Material, rules: Rules) -> Picture:
    series = []
    for one, right in sets_of(material):
        count = right.sum(axis=1)
        exact = clopper_pearson(count, np.full(len(count), one.n), rules.level)
        rows = zip(map(str, material.models), count / one.n, exact.low, exact.high, strict=True)
        series.append(Series(one.name, tuple(Point(name, float(y), float(low), float(high)) for name, y, low, high in rows)))
    return Picture("Accuracy of each model, with exact intervals", "model", "accuracy", tuple(series))


HYPOTHESIS = Hypothesis(
    name="statistical-error",
    title="Statistical error",
    question="Could the drop be chance, as each set is only a sample?",
    source="Recht et al. (2019), §2.1 and appendix B.1",
    lacks=lambda _: (),
    seconds=lambda material, rules: 2e-9 * rules.resamples * (material.original.n + material.new.n) + 1,
    run=run,
)
