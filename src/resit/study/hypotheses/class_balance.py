"""Does the new set hold other numbers of images of each class? (Recht et al. 2019, appendix B.2: exact class balance)"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resit.data.paths import counted
from resit.data.predictions import Predictions
from resit.stats.mixes import same_mix
from resit.stats.resample import generator, resample_examples
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet, Unit
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Right, Rules, Tell, percentile
from resit.study.hypotheses.shown import excludes_zero, percent, within
from resit.study.hypotheses.statistical_error import sets_of

PURPOSE = 71
Ints = npt.NDArray[np.int_]
MOST_ROWS = 30
CLOSE = 1e-12
SMALLEST = 1e-300


class _Side(NamedTuple):
    """Share of models right on each image of a shared class, its class, and images and mean accuracy of each shared class."""

    share: Array
    classes: Ints
    counts: Ints
    means: Array

    @property
    def mix(self) -> Array:
        return np.asarray(self.counts / self.counts.sum(), float)


def lacks(material: Material) -> list[str]:
    """What is missing.

    Parameters
    ----------
    material : Material
    """
    needs = []
    for one, _ in sets_of(material):
        if one.is_correctness:
            needs.append(f"the class of each example of {one.name}: give predictions with labels, not only right and wrong")
        elif not one.benchmark.single_label:
            needs.append(f"one label an example: {one.name} accepts several or none")
    if not needs and not _shared(material.original, material.new):
        needs.append("a class that both sets have: give both the same class list with --classes")
    return needs


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Weight the classes of the new set as in the original, and those of both equally.

    Under resampling within classes the mixes stay as they are, so that each weighted accuracy is a sum with fixed weights.
    Deviations from a class's mean are scaled by sqrt(n / (n - 1)), which gives resamples of small classes their right variance.

    An effect is found where the mixes differ by the chi-squared test and the interval of the part leaves out 0.

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable
    """
    shared = _shared(material.original, material.new)
    old, new = (_side(one, right, shared) for one, right in sets_of(material))
    equal = np.full(len(shared), 1 / len(shared))
    part = _estimate(new, old.mix - new.mix, rules, 0)
    balanced = [_estimate(side, equal, rules, at) for at, side in enumerate((old, new), 1)]
    changed = _difference(old, new, equal, rules)
    p = same_mix(old.counts, new.counts)
    differ = p < 1 - rules.level
    effect = differ and excludes_zero(part)
    figures = [
        Figure(f"{material.new.name}: mean accuracy as it is", "fraction", Estimate(float(new.share.mean())), len(new.share)),
        Figure(f"{material.new.name}: with the original's class mix", "fraction", Estimate(float(new.means @ old.mix))),
        *(
            Figure(f"{one.name}: mean of classes", "fraction", told)
            for (one, _), told in zip(sets_of(material), balanced, strict=True)
        ),
        Figure("drop with equal classes", "points", changed),
        Figure("chance of such different class mixes (p)", "number", Estimate(p, method="chi-squared test")),
    ]
    said = _said(old, new, part, differ, p)
    stands = within(Estimate(material.drop))
    verdict = f"{said} With every class counting the same the drop is {within(changed)}, as the sets stand {stands}."
    sheet, picture = _sheet(material, shared, old, new), _picture(material, old, new)
    warnings = tuple(_cautions(material, old, new, len(shared)))
    return Gathered(verdict, effect, part, "estimate", tuple(figures), (sheet,), (picture,), warnings=warnings)


def _shared(original: Predictions, new: Predictions) -> list[str]:
    """Ids of the classes that have images in both, in the original's order."""
    theirs = {new.benchmark.class_id(label) for label in np.unique(new.benchmark.labels).tolist() if label >= 0}
    ours = [original.benchmark.class_id(label) for label in np.unique(original.benchmark.labels).tolist() if label >= 0]
    return [key for key in ours if key in theirs]


def _side(one: Predictions, right: Right, shared: list[str]) -> _Side:
    """Images of shared classes."""
    place = {key: at for at, key in enumerate(shared)}
    labels, index = np.unique(one.benchmark.labels[:, 0], return_inverse=True)
    of = np.array([place.get(one.benchmark.class_id(label), -1) for label in labels.tolist()], int)[index]
    inside = of >= 0
    classes, share = of[inside], right.mean(axis=0, dtype=float)[inside]
    counts = np.bincount(classes, minlength=len(shared))
    return _Side(share, classes, counts, np.bincount(classes, share, len(shared)) / counts)


def _draws(side: _Side, weights: Array, rules: Rules, at: int) -> Array:
    """Weighted accuracy of redrawn images, shape (B,)."""
    n = side.counts[side.classes]
    means = side.means[side.classes]
    scaled = means + (side.share - means) * np.sqrt(n / np.maximum(n - 1, 1))
    scores = (weights[side.classes] / n * scaled)[:, None]
    return resample_examples(generator(rules.seed, PURPOSE, at), scores, rules.resamples, side.classes)[:, 0]


def _estimate(side: _Side, weights: Array, rules: Rules, at: int) -> Estimate:
    method = f"{rules.resamples:,} resamples of examples within classes"
    return percentile(_draws(side, weights, rules, at), float(side.means @ weights), rules.level, method)


def _difference(old: _Side, new: _Side, weights: Array, rules: Rules) -> Estimate:
    draws = [_draws(side, weights, rules, at) for at, side in enumerate((old, new), 1)]
    method = f"{rules.resamples:,} resamples of examples within classes"
    return percentile(draws[0] - draws[1], float((old.means - new.means) @ weights), rules.level, method)


def _chance(p: float) -> str:
    return f"p = {p:.2g}" if p >= SMALLEST else f"p < {SMALLEST:g}"


def _said(old: _Side, new: _Side, part: Estimate, differ: bool, p: float) -> str:
    """Whether the mixes differ, which the counts tell, and apart from that what they make of the drop."""
    if np.array_equal(old.counts * new.counts.sum(), new.counts * old.counts.sum()):
        return "Both sets have the same class mix, so it explains nothing."
    if not differ:
        said = f"no more than by chance ({_chance(p)}); as they are, they make {within(part)} of the drop."
        return f"The class mixes differ {said}"
    if excludes_zero(part):
        said = f"and this explains {within(part)} of the drop."
    elif np.ptp(new.means) < CLOSE:
        said = "but no class of the new set is harder than another, so this explains nothing."
    else:
        said = f"but what this makes of the drop may be chance: {within(part)}."
    return f"The class mixes differ ({_chance(p)}), {said}"


def _sheet(material: Material, shared: list[str], old: _Side, new: _Side) -> Sheet:
    """Classes whose share changed most, and what each adds to the part."""
    shift = old.mix - new.mix
    order = np.argsort(-np.abs(shift * (new.means - new.share.mean())), kind="stable")[:MOST_ROWS]
    label = {material.original.benchmark.class_id(at): at for at in range(material.original.benchmark.n_classes)}
    rows = tuple(
        (
            material.original.benchmark.class_name(label[shared[at]]),
            int(old.counts[at]),
            int(new.counts[at]),
            float(old.means[at]),
            float(new.means[at]),
            float(shift[at] * (new.means[at] - new.share.mean())),
        )
        for at in order.tolist()
    )
    names = (f"images, {material.original.name}", f"images, {material.new.name}")
    columns = ("class", *names, f"accuracy, {material.original.name}", f"accuracy, {material.new.name}", "part of the drop")
    units: tuple[Unit, ...] = ("number", "count", "count", "fraction", "fraction", "points")
    return Sheet("Classes whose number of images matters most", columns, units, rows)


def _picture(material: Material, old: _Side, new: _Side) -> Picture:
    points = tuple(Point(float(a), float(b)) for a, b in sorted(zip(old.means.tolist(), new.means.tolist(), strict=True)))
    title = "Mean accuracy of each class on both sets"
    x, y = (f"accuracy on {one.name}" for one in (material.original, material.new))
    ends = (Point(0.0, 0.0), Point(1.0, 1.0))
    return Picture(title, x, y, (Series("classes", points), Series("no difference", ends, "line")), x_unit="fraction")


def _cautions(material: Material, old: _Side, new: _Side, shared: int) -> list[Caution]:
    found = []
    for (one, right), side in zip(sets_of(material), (old, new), strict=True):
        if out := right.shape[1] - len(side.share):
            message = (
                f"{counted(out, 'image')} of classes that the other set lacks are left out; {shared:,} classes are in both."
            )
            found.append(Caution("classes-missing", one.name, message))
        if alone := int((side.counts == 1).sum()):
            message = f"{counted(alone, 'class has', 'classes have')} one image: the intervals do not hold their chance."
            found.append(Caution("one-image-a-class", one.name, message))
    if found and found[0].code == "classes-missing":
        mean = [percent(float(side.share.mean())) for side in (old, new)]
        found.append(
            Caution("shared-classes-only", material.new.name, f"On the shared classes alone: {mean[0]} and {mean[1]}.")
        )
    return found


HYPOTHESIS = Hypothesis(
    name="class-balance",
    title="Class balance",
    question="Does the new set hold other numbers of images of each class, and of harder ones?",
    source="Recht et al. (2019), appendix B.2: exact class balance",
    lacks=lacks,
    seconds=lambda material, rules: 1 + 6e-9 * rules.resamples * (material.original.n + 2 * material.new.n),
    run=run,
)
