"""Are models more confident than right on the new set? Calibration on both sets, where confidences are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId
from resit.data.paths import counted
from resit.data.predictions import Predictions
from resit.stats.calibration import BINS, redrawn_squares, reliability, squared_error
from resit.stats.intervals import z_value
from resit.stats.resample import generator, resample_examples
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Cell, Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Right, Rules, Tell, percentile
from resit.study.hypotheses.shown import percent, within
from resit.study.setview import SetView

PURPOSE = 65
MOST_RESAMPLES = 300
COLUMNS = ("model", "ECE, original", "ECE, new", "confidence minus accuracy, original", "the same, new")


@dataclass(frozen=True)
class _Side:
    """Models with known confidences on one set, and the examples for which all are known."""

    name: str
    confidence: npt.NDArray[np.float32]
    right: Right
    strata: npt.NDArray[np.int_] | None

    @property
    def gap(self) -> Array:
        """Confidence minus right, mean over models, of each example."""
        return np.asarray((self.confidence - self.right).mean(axis=0), float)


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Compare calibration errors, and confidence minus accuracy, between the sets.

    Expected calibration errors are told and not compared: their bias is another on each set.

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable
    """
    chosen, cautions = _known(material)
    old, new = (_side(one, chosen, rules, cautions) for one in (material.original, material.new))
    errors = [np.array([reliability(*pair).ece for pair in zip(one.confidence, one.right, strict=True)]) for one in (old, new)]
    unbiased = [_root(one, rules, at) for at, one in enumerate((old, new))]
    grown = _grown(*unbiased)
    gaps = [one.gap.mean() for one in (old, new)]
    drawn = [_gap_redrawn(one, rules, at) for at, one in enumerate((old, new))]
    method = f"{rules.resamples:,} resamples of examples"
    shift = percentile(drawn[1] - drawn[0], float(gaps[1] - gaps[0]), rules.level, method)
    figures = [
        *(
            Figure(f"{one.name}: ECE, mean of models", "fraction", Estimate(float(own.mean())))
            for one, own in zip((old, new), errors, strict=True)
        ),
        *(
            Figure(f"{one.name}: calibration error without bias", "fraction", own)
            for one, own in zip((old, new), unbiased, strict=True)
        ),
        Figure("calibration error grows by", "points", grown),
        *(
            Figure(f"{one.name}: confidence minus accuracy", "points", percentile(draws, float(gap), rules.level, method))
            for one, gap, draws in zip((old, new), gaps, drawn, strict=True)
        ),
        Figure("overconfidence grows by", "points", shift),
    ]
    found = (shift.low or 0.0) > 0 or (shift.high or 0.0) < 0
    moved = "changes" if found else "does not surely change"
    verdict = (
        f"Confidence is {100 * gaps[0]:+.2f} points from accuracy on {old.name} and {100 * gaps[1]:+.2f} on {new.name}, mean "
        f"of {counted(len(chosen), 'model')}: overconfidence {moved} by {100 * (shift.estimate or 0):+.2f} points "
        f"[{100 * (shift.low or 0):.2f}, {100 * (shift.high or 0):.2f}]. Calibration error, without what "
        f"chance adds, goes from {percent(unbiased[0].estimate)} to {percent(unbiased[1].estimate)}: by {within(grown)}."
    )
    sheet = _sheet(chosen, (old, new), errors)
    pictures = (_picture(old, new),)
    return Gathered(verdict, effect=found, figures=tuple(figures), sheets=(sheet,), pictures=pictures, warnings=tuple(cautions))


def _known(material: Material) -> tuple[list[ModelId], list[Caution]]:
    """Models whose confidences are known on both sets."""
    old, new = (_rows(one) for one in (material.original, material.new))
    both = [model for model, a, b in zip(material.models, old, new, strict=True) if a and b]
    without = len(material.models) - len(both)
    where = material.new.name
    message = f"Without confidences on one of the sets, and left out: {counted(without, 'model')}."
    return both, [Caution("models-without-confidence", where, message)] if without and both else []


def _rows(one: Predictions) -> npt.NDArray[np.bool_]:
    if one.confidence is None:
        return np.zeros(len(one.models), bool)
    return np.asarray(np.isfinite(one.confidence).any(axis=1))


def _side(one: Predictions, chosen: list[ModelId], rules: Rules, cautions: list[Caution]) -> _Side:
    own = one.select(chosen)
    assert own.confidence is not None
    known = np.isfinite(own.confidence).all(axis=0)
    if not known.all():
        message = f"{counted(int((~known).sum()), 'image has', 'images have')} no confidence of some model and are left out."
        cautions.append(Caution("images-without-confidence", one.name, message))
    strata = SetView(one, "micro", rules.seed, 0).strata
    codes = None if strata is None else np.unique(strata[known], return_inverse=True)[1]
    return _Side(one.name, own.confidence[:, known], own.correct(1)[:, known], codes)


def _root(one: _Side, rules: Rules, at: int) -> Estimate:
    """Root of the mean over models of squared errors without bias; the interval is that of the squares, under the root.

    Squares below zero, which chance gives where models are calibrated, are taken for zero.
    """
    resamples = min(rules.resamples, MOST_RESAMPLES)
    square = np.mean([squared_error(*pair) for pair in zip(one.confidence, one.right, strict=True)])
    draws = redrawn_squares(rules.seed, (PURPOSE, 2 + at), one.confidence, one.right, resamples, one.strata).mean(axis=1)
    reach = z_value(rules.level) * float(draws.std(ddof=1))
    root, low, high = np.sqrt(np.maximum([square, square - reach, square + reach], 0)).tolist()
    return Estimate(root, low, high, f"root of a normal interval, spread of {resamples:,} resamples of examples")


def _grown(old: Estimate, new: Estimate) -> Estimate:
    """Difference of two independent errors, whose distances to their limits are squared and added (Zou and Donner 2008)."""
    (a, a_low, a_high), (b, b_low, b_high) = ((one.estimate or 0.0, one.low or 0.0, one.high or 0.0) for one in (old, new))
    low, high = b - a - np.hypot(b - b_low, a_high - a), b - a + np.hypot(b_high - b, a - a_low)
    return Estimate(b - a, float(low), float(high), "from the intervals of both (Zou and Donner 2008)")


def _gap_redrawn(one: _Side, rules: Rules, at: int) -> Array:
    draws = resample_examples(generator(rules.seed, PURPOSE, at), one.gap[:, None], rules.resamples, one.strata)
    return np.asarray(draws[:, 0] / len(one.gap), float)


def _sheet(chosen: list[ModelId], sides: tuple[_Side, _Side], errors: list[Array]) -> Sheet:
    gaps = [(one.confidence - one.right).mean(axis=1, dtype=float) for one in sides]
    rows: list[tuple[Cell, ...]] = []
    for at, model in enumerate(chosen):
        rows.append((str(model), *(float(column[at]) for column in (*errors, *gaps))))
    return Sheet("Calibration of each model", COLUMNS, ("number", "fraction", "fraction", "points", "points"), tuple(rows))


def _picture(old: _Side, new: _Side) -> Picture:
    series = []
    for one in (old, new):
        found = reliability(one.confidence.ravel(), one.right.ravel())
        points = zip(found.confidence.tolist(), found.accuracy.tolist(), strict=True)
        series.append(Series(one.name, tuple(Point(x, y) for x, y in points)))
    low = min(point.x for one in series for point in one.points if isinstance(point.x, float))
    same = Series("as confident as right", (Point(low, low), Point(1.0, 1.0)), "line")
    return Picture("Accuracy by confidence, all models", "confidence", "accuracy", (*series, same), x_unit="fraction")


def lacks(material: Material) -> tuple[str, ...]:
    """Confidences of one model on both sets, and two examples a bin for which all models with confidences have one."""
    if material.metric != "top1":
        return ("top-1 accuracy (--metric top1)",)
    both = _rows(material.original) & _rows(material.new)
    how = "scores of each class, or a column confidence, as `resit evaluate` stores it"
    if not both.any():
        return (f"confidences of at least one model on both sets ({how})",)
    fewest = 2 * BINS
    return tuple(
        f"{fewest} examples of {one.name} with the confidence of every model that has any; there are {known}"
        for one in (material.original, material.new)
        if one.confidence is not None and (known := int(np.isfinite(one.confidence[both]).all(axis=0).sum())) < fewest
    )


HYPOTHESIS = Hypothesis(
    name="calibration",
    title="Calibration under shift",
    question="Are models more confident than right on the new set?",
    source="Guo et al. (2017); Ovadia et al. (2019)",
    lacks=lacks,
    seconds=lambda material, _: 2 + 1e-6 * len(material.models) * (material.original.n + material.new.n),
    run=run,
)
