"""Does training on a part of the new set help on the rest of it? (Recht et al. 2018, §5.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resit.data.paths import counted
from resit.stats.intervals import newcombe_paired
from resit.stats.resample import generator
from resit.stats.splits import make_folds
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.folds import Job
from resit.study.hypotheses.interface import Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.trainings import diverged, lacking, nothing, pooled, seeds_of, trained, unshared
from resit.study.result import Caution, Estimate

PURPOSE = 74
FEWEST = 10  # examples in a half
Right = npt.NDArray[np.bool_]


def run(material: Material, rules: Rules, tell: Tell) -> Gathered:
    """Train with and without one half of the new set, and compare on the other.

    Parameters
    ----------
    material : Material
    rules : Rules
    tell : callable

    Returns
    -------
    Gathered
        The part is the accuracy that the half gains.
    """
    assert material.trainer is not None
    pool = pooled(material, tell)
    classes = np.intersect1d(pool.classes("train"), pool.classes("new"))
    cautions = [*pool.cautions, *unshared(pool, classes, ("train", "new"), material.new.name)]
    train, new, old = pool.rows["train"], pool.among("new", classes), pool.among("original", pool.classes("train"))
    if len(new) < 2 * FEWEST or len(np.unique(pool.labels[train])) < 2:
        why = f"there are {counted(len(new), 'new example')} of classes with training data"
        return nothing(f"{why}, too few to train on a part of them", "too-few", material.new.name, cautions)
    half = make_folds(generator(rules.seed, PURPOSE), pool.labels[new], 2)
    part, rest = new[half == 0], new[half == 1]
    test = np.concatenate([rest, old])
    fitter, seeds = material.trainer.fitter, seeds_of(rules)
    rows = (train, np.concatenate([train, part]))
    jobs = [Job(fitter, own, test, seed) for seed in seeds for own in rows]
    outcomes = trained(pool.examples, jobs, rules, tell)
    names = [f"training {at // 2 + 1} {'with' if at % 2 else 'without'} the part" for at in range(len(jobs))]
    cautions += diverged(outcomes, names)
    both = [(a, b) for a, b in zip(outcomes[::2], outcomes[1::2], strict=True) if not (a.diverged or b.diverged)]
    if not both:
        return nothing(
            "no pair of trainings, with and without the part, went well", "diverged", material.trainer.name, cautions
        )
    right = np.stack([[one.answers == pool.labels[test] for one in pair] for pair in both])
    sizes = (len(train), len(part), len(rest))
    return _told(right, sizes, material, rules, cautions)


def gain(right: npt.NDArray[np.bool_], level: float) -> Estimate:
    """How much more of the same examples is right with than without, mean over pairs of trainings.

    Parameters
    ----------
    right : ndarray of bool, shape (pairs of trainings, 2, n)
        Without, and with.
    level : float
    """
    without, with_ = right[:, 0], right[:, 1]
    pairs = ((with_, without), (with_, ~without), (~with_, without))
    both, more, less = (float((one & two).sum(axis=1).mean()) for one, two in pairs)
    found = newcombe_paired(both, more, less, right.shape[2] - both - more - less, level)
    how = f"Newcombe, paired; mean of {counted(len(right), 'pair')} of trainings"
    return Estimate(float(found.estimate), float(found.low), float(found.high), how)


def _told(right: Right, sizes: Sequence[int], material: Material, rules: Rules, cautions: list[Caution]) -> Gathered:
    assert material.trainer is not None
    n_train, n_part, n_rest = sizes
    on_new = gain(right[:, :, :n_rest], rules.level)
    low, high = on_new.low or 0.0, on_new.high or 0.0
    found = low > 0
    means = right[:, :, :n_rest].mean(axis=(0, 2))
    said = "raises" if found else "lowers" if high < 0 else "does not clearly change"
    verdict = (
        f"Training on {n_part:,} new examples besides {n_train:,} others {said} the accuracy on the {n_rest:,} other new ones: "
        f"{100 * means[0]:.2f} to {100 * means[1]:.2f} %, {100 * (on_new.estimate or 0.0):+.2f} points "
        f"[{100 * low:.2f}, {100 * high:.2f}], for a {material.trainer.name}."
    )
    figures = [Figure("gain on the other part of the new set", "points", on_new, n_rest)]
    if right.shape[2] > n_rest:
        on_old = gain(right[:, :, n_rest:], rules.level)
        figures.append(Figure("gain on the original", "points", on_old, right.shape[2] - n_rest))
    accuracies = right[:, :, :n_rest].mean(axis=2)
    rows = tuple((at + 1, float(a), float(b), float(b - a)) for at, (a, b) in enumerate(accuracies))
    columns = ("training", "without the part", "with it", "gain")
    sheet = Sheet("Accuracy on the other part of the new set", columns, ("count", "fraction", "fraction", "points"), rows)
    names = ("without the part", "with it")
    points = (Point(name, float(one)) for pair in accuracies for name, one in zip(names, pair, strict=True))
    means_of = Series("mean", tuple(Point(name, float(mean)) for name, mean in zip(names, means, strict=True)))
    series = (means_of, Series("one training", tuple(points)))
    picture = Picture("Accuracy on the other part of the new set", "training data", "accuracy", series, line_at=float(means[0]))
    return Gathered(verdict, found, on_new, "estimate", tuple(figures), (sheet,), (picture,), warnings=tuple(cautions))


def _seconds(material: Material, rules: Rules) -> float:
    if material.trainer is None:
        return 0.0
    rows = sum(one.n for one in material.train)
    return 2 * rules.seeds * material.trainer.fitter.seconds(rows + material.new.n // 4)


HYPOTHESIS = Hypothesis(
    name="train-on-part",
    title="Training on part of the new set",
    question="Does training on one half of the new set help on the other half?",
    source="Recht et al. (2018), §5.2; Recht et al. (2019), appendix B.2",
    lacks=lacking,
    seconds=_seconds,
    run=run,
    trains=True,
)
