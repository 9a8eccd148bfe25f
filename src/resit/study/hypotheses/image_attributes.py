"""Do the sets differ in plain attributes of images, such as brightness, that models are sensitive to?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from resit.stats.reweighting import Reweighted, Side, reweight
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet, Unit
from resit.study.hypotheses.attributes import MOST_IMAGES, Attribute, attributes, can_measure, shared_columns
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.shown import bootstrapped, excludes_zero, percent, within
from resit.study.hypotheses.statistical_error import sets_of
from resit.study.setview import SetView

PURPOSE = 78
READING = 1e-2  # seconds an image of usual size


class _Told(NamedTuple):
    """An attribute with what reweighting by it gives, and the part at the level that holds for all together."""

    attribute: Attribute
    found: Reweighted
    part: Estimate
    difference: float | None


def lacks(material: Material) -> tuple[str, ...]:
    """What is missing.

    Parameters
    ----------
    material : Material
    """
    if can_measure(material) or shared_columns(material):
        return ()
    without = [one.name for one, _ in sets_of(material) if one.benchmark.images is None]
    return (
        f"the images of {' and '.join(without)}: give them with --benchmark, once for each set; "
        "or a group column that both sets have",
    )


def seconds(material: Material, rules: Rules) -> float:
    """How long it takes: mostly to read images.

    Parameters
    ----------
    material : Material
    rules : Rules
    """
    sizes = [one.n for one, _ in sets_of(material)]
    reading = READING * sum(min(size, MOST_IMAGES) for size in sizes) if can_measure(material) else 0.0
    return 2 + 2e-8 * rules.resamples * sum(sizes) + reading


def run(material: Material, rules: Rules, tell: Tell) -> Gathered:
    """Accuracy by attribute on both sets, and the new set's with the original's shares of each attribute's cells.

    The part is that of the attribute that explains most in either direction. Intervals hold for all attributes together
    (Bonferroni), so that one of many does not look large by chance.

    Parameters
    ----------
    material : Material
    rules : Rules
    tell : callable
    """
    known, cautions = attributes(material, rules, tell)
    if not known:
        said = "No attribute tells images apart."
        return Gathered(said, warnings=tuple(cautions))
    told = _told(material, known, rules)
    best = max(told, key=lambda one: (abs(one.part.estimate or 0.0), one.attribute.name))
    sure = [one for one in told if excludes_zero(one.part)]
    for one in told:
        if one.found.uncovered:
            message = (
                f"{percent(one.found.uncovered)} of {material.original.name} has {one.attribute.name} that no new image has."
            )
            cautions.append(
                Caution("attribute-missing", material.new.name, f"{message} It is left out of that attribute's part.")
            )
    figures = tuple(Figure(f"part by {one.attribute.name}", "points", one.part) for one in told)
    sheets = (_differences(told), *(_sheet(material, one) for one in told))
    pictures = tuple(_picture(material, one) for one in told)
    verdict = _verdict(told, best, sure)
    return Gathered(verdict, bool(sure), best.part, "estimate", figures, sheets, pictures, warnings=tuple(cautions))


def _told(material: Material, known: list[Attribute], rules: Rules) -> list[_Told]:
    sides = []
    for at, (one, right) in enumerate(sets_of(material)):
        strata = SetView(one, "micro", rules.seed, 0).strata
        sides.append(Side(right.mean(axis=0, dtype=float), [attribute.of[at] for attribute in known], strata))
    sizes = [len(attribute.cells) for attribute in known]
    found = reweight(sides[0], sides[1], sizes, rules.resamples, rules.seed, PURPOSE)
    level = 1 - (1 - rules.level) / len(known)
    method = f"{rules.resamples:,} resamples of images, together at {100 * rules.level:g} %"
    return [
        _Told(attribute, one, bootstrapped(one.replicates, one.explained, level, method), _standardised(attribute))
        for attribute, one in zip(known, found, strict=True)
    ]


def _standardised(attribute: Attribute) -> float | None:
    """New minus original mean over the pooled standard deviation (Cohen's d); None for text, or without spread."""
    if attribute.values is None:
        return None
    old, new = (values[np.isfinite(values)] for values in attribute.values)
    if min(len(old), len(new)) < 2:
        return None
    degrees = len(old) + len(new) - 2
    variance = ((len(old) - 1) * old.var(ddof=1) + (len(new) - 1) * new.var(ddof=1)) / degrees
    return float((new.mean() - old.mean()) / np.sqrt(variance)) if variance > 0 else None


def _differences(told: list[_Told]) -> Sheet:
    rows = []
    for one in told:
        means: list[float | None] = [None, None]
        if one.attribute.values is not None:
            means = [float(np.nanmean(values)) for values in one.attribute.values]
        rows.append((one.attribute.name, *means, one.difference, one.part.estimate, one.part.low, one.part.high))
    columns = ("attribute", "mean, original", "mean, new", "standardised difference", "part of the drop", "low", "high")
    units: tuple[Unit, ...] = ("number", "number", "number", "number", "points", "points", "points")
    return Sheet("How the sets differ", columns, units, tuple(rows))


def _sheet(material: Material, one: _Told) -> Sheet:
    found = one.found
    rows = tuple(
        (
            name,
            int(found.original_count[at]),
            int(found.new_count[at]),
            _known(found.original_mean[at]),
            _known(found.new_mean[at]),
        )
        for at, name in enumerate(one.attribute.cells)
    )
    sets = (material.original.name, material.new.name)
    columns = (one.attribute.name, *(f"images, {name}" for name in sets), *(f"accuracy, {name}" for name in sets))
    return Sheet(f"Accuracy by {one.attribute.name}", columns, ("number", "count", "count", "fraction", "fraction"), rows)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _picture(material: Material, one: _Told) -> Picture:
    means: tuple[Array, Array] = (one.found.original_mean, one.found.new_mean)
    series = tuple(
        Series(
            own.name,
            tuple(Point(one.attribute.cells[at], float(mean[at])) for at in np.flatnonzero(np.isfinite(mean)).tolist()),
        )
        for (own, _), mean in zip(sets_of(material), means, strict=True)
    )
    return Picture(f"Mean accuracy by {one.attribute.name}", one.attribute.name, "accuracy", series)


def _verdict(told: list[_Told], best: _Told, sure: list[_Told]) -> str:
    apart = [one for one in told if one.difference is not None]
    far = max(apart, key=lambda one: abs(one.difference or 0.0)) if apart else None
    beside = (
        ""
        if far is None
        else f" The sets differ most in {far.attribute.name}, by {far.difference or 0:+.2f} standard deviations."
    )
    if sure:
        names = ", ".join(f"{one.attribute.name} {within(one.part)}" for one in sure)
        return f"With the original's mix of attributes the new set's accuracy changes: {names}.{beside}"
    return f"No attribute explains more than chance; most has {best.attribute.name}, with {within(best.part)}.{beside}"


HYPOTHESIS = Hypothesis(
    name="image-attributes",
    title="Image attributes",
    question="Do the sets differ in plain attributes of images that models are sensitive to?",
    source="Torralba and Efros (2011); Holt and Smith (1979)",
    lacks=lacks,
    seconds=seconds,
    run=run,
)
