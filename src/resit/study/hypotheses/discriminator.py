"""Can a model tell original images from new ones? (Recht et al. 2018, §5.2; Lopez-Paz and Oquab 2017)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from resit.data.paths import counted
from resit.stats.intervals import clopper_pearson
from resit.stats.resample import generator
from resit.stats.splits import make_folds
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.folds import Ints, Job
from resit.study.hypotheses.interface import Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.trainings import Pool, diverged, lacking, nothing, pooled, seeds_of, trained, unshared
from resit.study.result import Caution, Estimate

PURPOSE = 73
FEWEST = 20  # pairs in a half
CROSS_FIT_BELOW = 5_000  # pairs in all
PAPER = "Recht et al. (2019) report 53.1 % at best between CIFAR-10 and CIFAR-10.1"


@dataclass(frozen=True, eq=False)
class Halves:
    """Pairs of an original and a new image of one class, dealt into two halves.

    Parameters
    ----------
    rows : ndarray of int, shape (pairs, 2)
        Original and new image of each pair.
    half : ndarray of int, shape (pairs,)
        0 or 1.
    """

    rows: Ints
    half: Ints

    def of(self, half: int) -> Ints:
        """All images of a half."""
        return np.sort(self.rows[self.half == half].ravel())


def run(material: Material, rules: Rules, tell: Tell) -> Gathered:
    """Train on one half to tell the sets apart, and ask about the other.

    Of each class there are as many original as new images in both halves, so that guessing gives 50 %.

    Parameters
    ----------
    material : Material
    rules : Rules
    tell : callable

    Returns
    -------
    Gathered
        Found where the interval of the accuracy lies above 50 %. It says nothing of how much of the drop that explains.
    """
    assert material.trainer is not None
    pool = pooled(material, tell, train=False)
    classes = np.intersect1d(pool.classes("original"), pool.classes("new"))
    title = f"{material.original.name} and {material.new.name}"
    cautions = [*pool.cautions, *unshared(pool, classes, ("original", "new"), title)]
    halves = matched_halves(generator(rules.seed, PURPOSE), pool, classes)
    fewest = min(int((halves.half == at).sum()) for at in (0, 1))
    if fewest < FEWEST:
        why = f"there are {counted(len(halves.rows), 'pair')} of an original and a new image of one class, too few to train on"
        return nothing(why, "too-few", title, cautions)
    origin = np.zeros(len(pool.labels), np.int64)
    origin[pool.rows["new"]] = 1
    examples = replace(pool.examples, labels=origin, n_classes=2)
    directions = ((0, 1), (1, 0)) if len(halves.rows) < CROSS_FIT_BELOW else ((0, 1),)
    fitter = material.trainer.fitter
    jobs = [Job(fitter, halves.of(a), halves.of(b), seed, must_learn=False) for a, b in directions for seed in seeds_of(rules)]
    outcomes = trained(examples, jobs, rules, tell)
    names = [f"training {at + 1}" for at in range(len(jobs))]
    cautions += diverged(outcomes, names)
    right = {
        name: (float((one.answers == origin[job.test]).mean()), len(job.test))
        for name, one, job in zip(names, outcomes, jobs, strict=True)
        if not one.diverged
    }
    if not right:
        return nothing("all trainings diverged", "diverged", material.trainer.name, cautions)
    return _told(right, material.trainer.name, title, rules, len(directions) == 2, cautions)


def matched_halves(rng: np.random.Generator, pool: Pool, classes: npt.NDArray[np.int64]) -> Halves:
    """Pair originals with new images of the same class at random, as many as there are of the rarer, and deal the pairs.

    Parameters
    ----------
    rng : numpy.random.Generator
    pool : Pool
    classes : ndarray of int
        Those that both sets have.
    """
    pairs, strata = [np.empty((0, 2), int)], []
    for one in classes:
        both = [rng.permutation(own[pool.labels[own] == one]) for own in (pool.rows["original"], pool.rows["new"])]
        size = min(map(len, both))
        pairs.append(np.stack([own[:size] for own in both], axis=1))
        strata += [int(one)] * size
    rows = np.concatenate(pairs)
    half = make_folds(rng, np.array(strata, int), 2) if len(rows) >= 2 else np.zeros(len(rows), int)
    return Halves(rows, half)


def _told(
    right: dict[str, tuple[float, int]], trainer: str, title: str, rules: Rules, crossed: bool, cautions: list[Caution]
) -> Gathered:
    """Accuracies on two halves depend on each other: their mean varies by no more than one of them, so it counts as one."""
    mean, n = float(np.mean([share for share, _ in right.values()])), min(size for _, size in right.values())
    exact = clopper_pearson(round(mean * n), n, rules.level)
    several = f"mean of {counted(len(right), 'training')}, Clopper-Pearson for one held-out half"
    how = several if len(right) > 1 else "Clopper-Pearson"
    accuracy = Estimate(mean, float(exact.low), float(exact.high), how)
    low, high = float(exact.low), float(exact.high)
    found = low > 0.5
    if high < 0.5:
        message = "The discriminator is wrong more often than guessing is: the sets may share images. Look for duplicates."
        cautions.append(Caution("below-chance", title, message))
    said = "tells original from new images" if found else "cannot tell original from new images"
    verdict = (
        f"A {trainer} {said}: {100 * mean:.1f} % right [{100 * low:.1f}, {100 * high:.1f}] on {n:,} held-out images, where "
        f"guessing gives 50 %. {PAPER}."
    )
    rows = tuple((name, share, size) for name, (share, size) in right.items())
    sheet = Sheet("Trainings", ("training", "accuracy", "n"), ("number", "fraction", "count"), rows)
    points = tuple(Point(name, share) for name, (share, _) in right.items())
    series = (Series("mean", (Point("mean", mean, low, high),)), Series("one training", points))
    picture = Picture("Accuracy at telling original from new", "training", "accuracy", series, line_at=0.5)
    figures = (
        Figure("accuracy of the discriminator", "fraction", accuracy, n),
        Figure("trained on each half", "count", Estimate(2.0 if crossed else 1.0)),
    )
    return Gathered(verdict, found, figures=figures, sheets=(sheet,), pictures=(picture,), warnings=tuple(cautions))


def _seconds(material: Material, rules: Rules) -> float:
    if material.trainer is None:
        return 0.0
    pairs = min(material.original.n, material.new.n)
    return rules.seeds * (2 if pairs < CROSS_FIT_BELOW else 1) * material.trainer.fitter.seconds(pairs)


HYPOTHESIS = Hypothesis(
    name="discriminator",
    title="Discriminator",
    question="Can a model tell original images from new ones of the same class?",
    source="Recht et al. (2018), §5.2; Recht et al. (2019), §3.4; Lopez-Paz and Oquab (2017)",
    lacks=lambda material: lacking(material, train=False),
    seconds=_seconds,
    run=run,
    trains=True,
)
