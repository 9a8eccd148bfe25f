"""What did the rounds of review change, from the first revision to the last? (Recht et al. 2019, appendix C.1)"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from resit.data.paths import counted
from resit.stats.resample import generator, resample_examples
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.revisions import Revised, answered, revisions_of, why_no_build
from resit.study.hypotheses.shown import bootstrapped, excludes_zero, percent, within

if TYPE_CHECKING:
    from resit.build.diff import Diff

PURPOSE = 75


def lacks(material: Material) -> list[str]:
    """What is missing.

    Parameters
    ----------
    material : Material
    """
    if why := why_no_build(material):
        return [why]
    if (rounds := len(_rounds(material))) < 2:
        return [
            f"a build with two revisions: this one has {rounds} (one made afresh is the first again); review and sample again"
        ]
    return []


def _rounds(material: Material) -> list[Revised]:
    """The last revision and those that it goes on from, first to last."""
    found = {one.number: one for one in revisions_of(material)}
    rounds, number = [], max(found, default=None)
    while number in found:
        rounds.append(found[number])
        number = found[number].parent
    return rounds[::-1]


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Which images came and went between the first and the last revision, and accuracy on both where all were answered.

    The part is first minus last mean accuracy, which is how much larger review made the drop; below 0 it made it smaller.

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable
    """
    from resit.build.steps.changes import changes

    revisions = _rounds(material)
    first, last = revisions[0], revisions[-1]
    assert material.build is not None
    from resit.build.steps.opened import open_build

    with open_build(material.build) as build:
        changed = changes(build, first.number, last.number)
    figures = [
        Figure(f"images of revision {first.number}", "count", Estimate(len(first.places))),
        Figure(f"images of revision {last.number}", "count", Estimate(len(last.places))),
        Figure("images that stayed", "count", Estimate(changed.stayed)),
        Figure("images that went", "count", Estimate(len(changed.went))),
        Figure("images that came", "count", Estimate(len(changed.came))),
    ]
    share = answered(material)[1].mean(axis=0, dtype=float)
    sheets = (_reasons(changed, first, last, share), _sheet(revisions, share))
    said = _said(changed, first, last)
    if not (first.covered and last.covered):
        message = _uncovered(material, first, last)
        caution = Caution("not-covered", str(material.build), message)
        return Gathered(f"{said} {message}", figures=tuple(figures), sheets=sheets, warnings=(caution,))
    part = _part(share, first, last, rules)
    effect = excludes_zero(part)
    for one in (first, last):
        value = Estimate(float(share[one.places].mean()))
        figures.append(Figure(f"mean accuracy on revision {one.number}", "fraction", value, len(one.places)))
    verdict = f"{said} {_verdict(part, first, last, share, effect)}"
    pictures = (_picture(revisions, share),)
    return Gathered(verdict, effect, part, "estimate", tuple(figures), sheets, pictures)


def _part(share: Array, first: Revised, last: Revised, rules: Rules) -> Estimate:
    """First minus last, over redrawn images: one that is in both is redrawn in both."""
    inside = np.stack([np.bincount(one.places, minlength=len(share)) for one in (first, last)], axis=1).astype(float)
    either = inside.any(axis=1)
    weights = inside[either]
    scores = np.concatenate([weights, weights * share[either, None]], axis=1)
    drawn = resample_examples(generator(rules.seed, PURPOSE), scores, rules.resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        replicates = drawn[:, 2] / drawn[:, 0] - drawn[:, 3] / drawn[:, 1]
    value = float(share[first.places].mean() - share[last.places].mean())
    return bootstrapped(replicates, value, rules.level, f"{rules.resamples:,} resamples of the images of both")


def _uncovered(material: Material, first: Revised, last: Revised) -> str:
    missing = [
        f"{one.missing:,} of the {len(one.places):,} images of revision {one.number}" for one in (first, last) if one.missing
    ]
    fix = "ask the models about all of the build's candidates" if material.candidates is None else "ask them about these too"
    return f"Models did not answer {' and '.join(missing)}, so that accuracies cannot be compared: {fix}."


def _said(changed: Diff, first: Revised, last: Revised) -> str:
    reasons = Counter(changed.went["reason"].to_pylist())
    why = ", ".join(f"{count:,} {name}" for name, count in sorted(reasons.items(), key=lambda one: (-one[1], one[0])))
    gone = f"{counted(len(changed.went), 'image')} went ({why})" if why else "no image went"
    return (
        f"From revision {first.number} to {last.number} {gone}, {counted(len(changed.came), 'image')} came, "
        f"and {changed.stayed:,} stayed."
    )


def _verdict(part: Estimate, first: Revised, last: Revised, share: Array, effect: bool) -> str:
    ends = " to ".join(percent(float(share[one.places].mean())) for one in (first, last))
    if not effect:
        return f"Mean accuracy went from {ends}: review changed the drop by no more than chance, {within(part)}."
    way = "larger" if (part.estimate or 0) > 0 else "smaller"
    return f"Mean accuracy went from {ends}: review made the drop {way}, a part of {within(part)}."


def _reasons(changed: Diff, first: Revised, last: Revised, share: Array) -> Sheet:
    """How many images came and went for each reason, and how models do on them."""
    place = {
        name: (dict(zip(one.selected["image"].to_pylist(), one.places.tolist(), strict=True)), rows, column)
        for name, one, rows, column in (("went", first, changed.went, "reason"), ("came", last, changed.came, "fate"))
    }
    rows = []
    for name, (where, table, column) in place.items():
        images, reasons = table["image"].to_pylist(), np.array(table[column].to_pylist(), object)
        for reason in sorted(set(reasons.tolist())):
            at = np.array([where[image] for image, why in zip(images, reasons, strict=True) if why == reason], int)
            known = at[at >= 0]
            rows.append((name, reason, len(at), len(known), float(share[known].mean()) if len(known) else None))
    columns = ("change", "reason", "images", "answered", "mean accuracy on them")
    return Sheet("What came and went, and why", columns, ("number", "number", "count", "count", "fraction"), tuple(rows))


def _sheet(revisions: list[Revised], share: Array) -> Sheet:
    rows = tuple(
        (str(one.number), one.strategy, len(one.places), float(share[one.places].mean()) if one.covered else None)
        for one in revisions
    )
    columns = ("revision", "strategy", "images", "mean accuracy")
    return Sheet("The rounds", columns, ("number", "number", "count", "fraction"), rows)


def _picture(revisions: list[Revised], share: Array) -> Picture:
    points = tuple(Point(float(one.number), float(share[one.places].mean())) for one in revisions if one.covered)
    return Picture("Mean accuracy by revision", "revision", "accuracy", (Series("revisions", points, "line"),))


HYPOTHESIS = Hypothesis(
    name="review-rounds",
    title="Review rounds",
    question="What did the rounds of review change, from the first revision to the last?",
    source="Recht et al. (2019), appendix C.1",
    lacks=lacks,
    seconds=lambda material, rules: 2 + 1e-8 * rules.resamples * material.new.n,
    run=run,
)
