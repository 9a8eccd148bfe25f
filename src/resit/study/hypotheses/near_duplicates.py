"""Are scores on the original lifted by images that have near-duplicates in train? (Recht et al. 2018; 2019, appendix B.2)"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resit.data.paths import counted
from resit.stats.resample import generator, resample_examples
from resit.study.estimate import Caution, Estimate
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.hypotheses.duplicate_pairs import Marked, marked
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Right, Rules, Tell
from resit.study.hypotheses.shown import bootstrapped, excludes_zero, percent, within
from resit.study.hypotheses.statistical_error import sets_of
from resit.study.setview import SetView

PURPOSE = 74
SHARES = tuple(at / 100 for at in range(1, 11))


class _Lift(NamedTuple):
    """What near-duplicates do to one set: its name, which they are, and how much lower the mean accuracy is without them."""

    name: str
    marked: Marked
    lift: Estimate
    replicates: Array


def bound(accuracy: float, share: float) -> float:
    """How much a share of near-duplicates can at most lift an accuracy: d (1 - a) / (1 - d), where all of them are right.

    Parameters
    ----------
    accuracy : float
        a, as it is, duplicates and all.
    share : float
        d, of images that have a near-duplicate in train.

    Returns
    -------
    float
        No more than the accuracy itself: (a - d) / (1 - d) is that of the others, and 0 at least.
    """
    return accuracy - max(0.0, (accuracy - share) / (1 - share))


def needed(accuracy: float, drop: float) -> float:
    """Share of near-duplicates, all right, that lifts an accuracy by a drop: drop / (1 - accuracy + drop)."""
    return drop / (1 - accuracy + drop)


def run(material: Material, rules: Rules, _tell: Tell) -> Gathered:
    """Accuracy with and without images that have a near-duplicate in train, of the same models; and what any share could do.

    Parameters
    ----------
    material : Material
    rules : Rules
    _tell : callable
    """
    found, cautions = marked(material)
    accuracy = float(material.right_original.mean())
    sheet, picture = _bounds(accuracy)
    figures = [
        Figure(
            f"{100 * share:g} % near-duplicates lift {material.original.name} at most",
            "points",
            Estimate(bound(accuracy, share)),
        )
        for share in (0.01, 0.08)
    ]
    if material.drop > 0:
        share = Estimate(needed(accuracy, material.drop), method="where models are right on all of them")
        figures.append(Figure("share of near-duplicates that would explain the whole drop", "fraction", share))
    lifts = [
        _lift(one.name, right, own, SetView(one, "micro", rules.seed, 0).strata, rules, at)
        for at, ((one, right), own) in enumerate(zip(sets_of(material), found, strict=True))
        if own is not None
    ]
    for lift in lifts:
        figures += _figures(lift)
    pictures = [picture, *(_models(material, at, own) for at, own in _split(found))]
    part, effect = _part(found, lifts, rules)
    verdict = " ".join([*_said(lifts, part, effect), _at_most(material, accuracy)])
    return Gathered(
        verdict, effect, part, "estimate", tuple(figures), (sheet,), tuple(pictures), warnings=tuple(cautions + _tiny(lifts))
    )


def _lift(name: str, right: Right, own: Marked, strata: npt.NDArray[np.int_] | None, rules: Rules, at: int) -> _Lift:
    share = right.mean(axis=0, dtype=float)
    kept = (~own.duplicate).astype(float)
    drawn = resample_examples(
        generator(rules.seed, PURPOSE, at), np.stack([share, kept, kept * share], 1), rules.resamples, strata
    )
    with np.errstate(invalid="ignore"):
        replicates = drawn[:, 0] / len(share) - drawn[:, 2] / drawn[:, 1]
    value = float(share.mean() - share[~own.duplicate].mean()) if kept.any() else float("nan")
    method = f"{rules.resamples:,} resamples of examples, the same models with and without"
    if not kept.any():
        return _Lift(name, own, Estimate(None, reason="every image has a near-duplicate"), np.full(rules.resamples, np.nan))
    return _Lift(name, own, bootstrapped(replicates, value, rules.level, method), replicates)


def _part(found: list[Marked | None], lifts: list[_Lift], rules: Rules) -> tuple[Estimate | None, bool | None]:
    """Lift of the original minus that of the new set; None where the original's near-duplicates are not known."""
    if found[0] is None:
        return None, excludes_zero(lifts[0].lift) if lifts else None
    new = lifts[1] if len(lifts) == 2 else None
    if lifts[0].lift.estimate is None or (new is not None and new.lift.estimate is None):
        return None, None
    replicates = lifts[0].replicates - (0.0 if new is None else new.replicates)
    value = lifts[0].lift.estimate - (0.0 if new is None else new.lift.estimate or 0.0)
    method = f"{rules.resamples:,} resamples of examples" + ("" if new is not None else "; none known in the new set")
    part = bootstrapped(replicates, value, rules.level, method)
    return part, excludes_zero(part)


def _figures(lift: _Lift) -> list[Figure]:
    number = int(lift.marked.duplicate.sum())
    n = len(lift.marked.duplicate)
    return [
        Figure(f"{lift.name}: images with a near-duplicate in train", "count", Estimate(number), n),
        Figure(f"{lift.name}: share of them", "fraction", Estimate(number / n), n),
        Figure(f"{lift.name}: accuracy with minus without them", "points", lift.lift, n),
    ]


def _split(found: list[Marked | None]) -> list[tuple[int, Marked]]:
    return [(at, own) for at, own in enumerate(found) if own is not None and own.duplicate.any() and not own.duplicate.all()]


def _models(material: Material, at: int, own: Marked) -> Picture:
    one, right = sets_of(material)[at]
    parts = {"near-duplicates": right[:, own.duplicate], "all images": right, "the others": right[:, ~own.duplicate]}
    series = tuple(
        Series(name, tuple(Point(str(model), float(y)) for model, y in zip(material.models, rows.mean(axis=1), strict=True)))
        for name, rows in parts.items()
    )
    return Picture(f"{one.name}: accuracy of each model with and without near-duplicates", "model", "accuracy", series)


def _bounds(accuracy: float) -> tuple[Sheet, Picture]:
    rows = tuple((share, accuracy - bound(accuracy, share), bound(accuracy, share)) for share in SHARES)
    columns = ("near-duplicates", "accuracy without them, at least", "lift, at most")
    sheet = Sheet("What near-duplicates could do, were models right on all", columns, ("fraction", "fraction", "points"), rows)
    line = Series("at most", tuple(Point(share, bound(accuracy, share)) for share in (0.0, *SHARES)), "line")
    title = "How much near-duplicates could lift the original"
    return sheet, Picture(title, "share of near-duplicates", "lift", (line,), x_unit="fraction", y_unit="points")


def _said(lifts: list[_Lift], part: Estimate | None, effect: bool | None) -> list[str]:
    said = []
    for lift in lifts:
        number = counted(int(lift.marked.duplicate.sum()), "image has a near-duplicate", "images have near-duplicates")
        if lift.lift.estimate is None:
            said.append(f"On {lift.name} {number} in train: no other image is left to say what they lift.")
            continue
        said.append(f"On {lift.name} {number} in train, which lifts mean accuracy by {within(lift.lift)}.")
    if part is not None:
        beyond = "more than chance" if effect else "no more than chance"
        said.append(f"Of the drop this explains {within(part)}: {beyond}.")
    elif not lifts:
        said.append("Which images have near-duplicates is not known.")
    return said


def _at_most(material: Material, accuracy: float) -> str:
    eight = bound(accuracy, 0.08)
    said = f"8 % near-duplicates that all models get right would move {percent(accuracy)} to {percent(accuracy - eight)}"
    if material.drop <= 0:
        return f"{said}."
    return f"{said}; the whole drop would take {percent(needed(accuracy, material.drop))} of them."


def _tiny(lifts: list[_Lift]) -> list[Caution]:
    return [
        Caution("no-near-duplicates", lift.name, "None of its images has a pair with train that was judged same or near.")
        for lift in lifts
        if not lift.marked.duplicate.any()
    ]


HYPOTHESIS = Hypothesis(
    name="near-duplicates",
    title="Near-duplicates",
    question="Are scores on the original lifted by images that have near-duplicates in train?",
    source="Recht et al. (2019), appendix B.2; Barz and Denzler (2020)",
    lacks=lambda _: (),
    seconds=lambda material, rules: 1 + 6e-9 * rules.resamples * (material.original.n + material.new.n),
    run=run,
)
