"""Are the new images harder for people too? (Recht et al. 2019, appendix B.2; Shankar et al. 2020)"""

from __future__ import annotations

from resit.data.paths import counted
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet, Unit
from resit.study.human_result import HumanAccuracy, Pooled
from resit.study.hypotheses.interface import Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.shown import excludes_zero, within

FEW_IMAGES = 100


def lacks(material: Material) -> tuple[str, ...]:
    """What is missing.

    Parameters
    ----------
    material : Material
    """
    if material.human is None:
        return ("people's accuracy: let them sit the exam (`resit build exam`), and give its results with --human",)
    if material.human.pooled is None:
        return (f"somebody who handed the exam in: {material.human.reason or 'nobody did'}",)
    return ()


def run(material: Material, _rules: Rules, _tell: Tell) -> Gathered:
    """People's own drop, beside that of the models on the same images.

    The part is original minus new accuracy of people: what is harder, or labelled more wrongly, for anybody.

    Parameters
    ----------
    material : Material
    _rules : Rules
    _tell : callable
    """
    human = material.human
    assert human is not None
    pooled = human.pooled
    assert pooled is not None
    part = _turned(pooled.change)
    effect = excludes_zero(part) if part.low is not None else None
    figures = [
        Figure("people, original images", "fraction", pooled.original, human.n_original),
        Figure("people, new images", "fraction", pooled.new, human.n_new),
        Figure("people's drop", "points", part),
    ]
    if human.models is not None:
        figures += [
            Figure("models, the same original images", "fraction", Estimate(human.models.mean_original), human.n_original),
            Figure("models, the same new images", "fraction", Estimate(human.models.mean_new), human.n_new),
            Figure("models' drop on the same images", "points", Estimate(-human.models.mean_change)),
        ]
    verdict = _verdict(material, human, pooled, part, effect)
    warnings = tuple(_cautions(human))
    return Gathered(verdict, effect, part, "estimate", tuple(figures), (_sheet(human),), (_picture(human),), warnings=warnings)


def _turned(change: Estimate) -> Estimate:
    """Original minus new, of a change that is new minus original."""
    value, low, high = (None if one is None else -one for one in (change.estimate, change.high, change.low))
    return Estimate(value, low, high, change.method, change.reason)


def _verdict(material: Material, human: HumanAccuracy, pooled: Pooled, part: Estimate, effect: bool | None) -> str:
    who = counted(pooled.n_people, "person", "people")
    if effect is None:
        said = f"Whether new images are harder for people is not decided by {who}: {within(part)}, without an interval."
    elif not effect:
        said = f"{who.capitalize()} did not do worse on new images by more than chance: a drop of {within(part)}."
    elif (part.estimate or 0) > 0:
        said = f"New images are harder for people too: {who} lose {within(part)}."
    else:
        said = f"New images are easier for people: {who} gain {within(_turned(part))}."
    beside = "" if human.models is None else f", and {within(Estimate(-human.models.mean_change))} on the same images"
    return f"{said} The models lose {within(Estimate(material.drop))}{beside}."


def _sheet(human: HumanAccuracy) -> Sheet:
    columns = ("person", "right, original", "right, new", "accuracy, original", "accuracy, new", "drop")
    units: tuple[Unit, ...] = ("number", "count", "count", "fraction", "fraction", "points")
    rows = tuple(
        (
            one.person,
            one.original.correct,
            one.new.correct,
            one.original.accuracy.estimate,
            one.new.accuracy.estimate,
            _turned(one.change).estimate,
        )
        for one in human.people
    )
    return Sheet("People who sat the exam", columns, units, rows)


def _picture(human: HumanAccuracy) -> Picture:
    people = [
        Series(
            f"people, {name}",
            tuple(
                Point(one.person, value.estimate or 0.0, value.low, value.high)
                for one in human.people
                for value in (getattr(one, name).accuracy,)
            ),
        )
        for name in ("original", "new")
    ]
    models = [] if human.models is None else human.models.models
    beside = [
        Series(f"models, {name}", tuple(Point(one.model, getattr(one, name)) for one in models))
        for name in ("original", "new")
        if models
    ]
    return Picture("People and models on the images of the exam", "who", "accuracy", (*people, *beside))


def _cautions(human: HumanAccuracy) -> list[Caution]:
    found = list(human.warnings)
    if min(human.n_original, human.n_new) < FEW_IMAGES:
        message = f"{human.n_original:,} original and {human.n_new:,} new images: only a large difference can be seen."
        found.append(Caution("few-images", human.exam, message))
    return found


HYPOTHESIS = Hypothesis(
    name="human-accuracy",
    title="Human accuracy",
    question="Are the new images harder for people too?",
    source="Recht et al. (2019), appendix B.2; Shankar et al. (2020)",
    lacks=lacks,
    seconds=lambda *_: 0.1,
    run=run,
)
