"""Is the original test set like its training data? Cross-validation with the test set as a fold (Recht et al. 2018, §5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.data.paths import counted
from resit.stats.intervals import Interval, clopper_pearson, newcombe
from resit.stats.newcombe_p import newcombe_p
from resit.stats.pairs import holm
from resit.stats.resample import generator
from resit.stats.splits import make_folds
from resit.study.explain_result import Figure, Gathered, Picture, Point, Series, Sheet
from resit.study.folds import Ints, Job, Outcome
from resit.study.hypotheses.interface import Array, Hypothesis, Material, Rules, Tell
from resit.study.hypotheses.shown import POINTS
from resit.study.hypotheses.trainings import Pool, diverged, lacking, nothing, pooled, seeds_of, trained, unshared
from resit.study.result import Caution, Estimate

PURPOSE = 72
ORIGINAL = "original test"
FEWEST = 10  # examples in a fold


@dataclass(frozen=True)
class Fold:
    """A fold that was tested: its size, and the accuracy of each training (NaN where it diverged)."""

    name: str
    n: int
    accuracies: Array

    @property
    def mean(self) -> float:
        """Over the trainings that did not diverge; NaN where all did."""
        good = self.accuracies[np.isfinite(self.accuracies)]
        return float(good.mean()) if len(good) else float("nan")

    @property
    def right(self) -> float:
        """Number right, the mean of the trainings."""
        return self.mean * self.n


def run(material: Material, rules: Rules, tell: Tell) -> Gathered:
    """Test each fold with models trained on all others, and compare with the original test.

    All trainings have the same number of examples, of each class the same share.

    Parameters
    ----------
    material : Material
    rules : Rules
        ``folds`` counts the original test.
    tell : callable

    Returns
    -------
    Gathered
        The part is how much easier the original test is than the folds of the training data.
    """
    assert material.trainer is not None
    pool = pooled(material, tell, new=False)
    classes = np.intersect1d(pool.classes("train"), pool.classes("original"))
    title = material.original.name
    cautions = [*pool.cautions, *unshared(pool, classes, ("train", "original"), title)]
    train, test = pool.among("train", classes), pool.among("original", classes)
    k = max(2, rules.folds - 1)
    if len(classes) < 2 or len(train) < FEWEST * k or len(test) < FEWEST:
        why = f"{len(train)} training and {len(test)} test examples of {counted(len(classes), 'class', 'classes')}"
        return nothing(f"{why} are too few for {k + 1} folds", "too-few", title, cautions)
    folds = make_folds(generator(rules.seed, PURPOSE), pool.labels[train], k)
    held = [train[folds == at] for at in range(k)] + [test]
    names = [f"fold {at + 1}" for at in range(k)] + [ORIGINAL]
    jobs = _jobs(material, rules, pool, np.concatenate([train, test]), held)
    cautions += _missing(pool, jobs, classes, title)
    outcomes = trained(pool.examples, jobs, rules, tell)
    each = len(jobs) // len(held)
    cautions += diverged(outcomes, [f"{names[at // each]}, training {at % each + 1}" for at in range(len(jobs))])
    found = [_fold(pool, names[at], held[at], outcomes[at * each : (at + 1) * each]) for at in range(len(held))]
    return _told(found, material.trainer.name, rules, tuple(cautions))


def _jobs(material: Material, rules: Rules, pool: Pool, every: Ints, held: list[Ints]) -> list[Job]:
    assert material.trainer is not None
    size = len(every) - max(map(len, held))
    jobs = []
    for at, own in enumerate(held):
        rows = share_of(generator(rules.seed, PURPOSE, 1, at), pool.labels, np.setdiff1d(every, own), size)
        jobs += [Job(material.trainer.fitter, rows, own, seed) for seed in seeds_of(rules)]
    return jobs


def share_of(rng: np.random.Generator, labels: npt.NDArray[np.int64], rows: Ints, size: int) -> Ints:
    """Some of the rows, drawn at random with the same share of each class.

    Parameters
    ----------
    rng : numpy.random.Generator
    labels : ndarray of int
        Class of each example.
    rows : ndarray of int
    size : int
        How many are wanted.
    """
    own = labels[rows]
    order = np.lexsort((rng.permutation(len(rows)), own))
    sizes = np.bincount(own)
    starts = np.cumsum(sizes) - sizes
    place = (np.arange(len(rows)) - starts[own[order]] + 0.5) / sizes[own[order]]
    return np.sort(rows[order[np.argsort(place, kind="stable")[:size]]])


def _missing(pool: Pool, jobs: list[Job], classes: npt.NDArray[np.int64], title: str) -> list[Caution]:
    lost = sum(len(np.setdiff1d(classes, pool.labels[job.train])) > 0 for job in jobs)
    if not lost:
        return []
    message = f"{lost} of {counted(len(jobs), 'training')} had no example of some class, so that all tested ones are wrong."
    return [Caution("class-missing", title, message)]


def _fold(pool: Pool, name: str, rows: Ints, outcomes: list[Outcome]) -> Fold:
    labels = pool.labels[rows]
    return Fold(name, len(rows), np.array([np.nan if one.diverged else (one.answers == labels).mean() for one in outcomes]))


def _told(folds: list[Fold], trainer: str, rules: Rules, cautions: tuple[Caution, ...]) -> Gathered:
    *others, test = [fold for fold in folds if np.isfinite(fold.mean)] or [folds[-1]]
    if test.name != ORIGINAL or not others:
        return nothing("the trainings that it needs diverged", "diverged", trainer, cautions)
    right, n = np.array([fold.right for fold in others]), np.array([fold.n for fold in others])
    apart = newcombe(test.right, test.n, right, n, rules.level)
    p = holm(newcombe_p(test.right, test.n, right, n))
    pooled_folds = newcombe(right.sum(), n.sum(), test.right, test.n, rules.level)
    low, high = float(pooled_folds.low), float(pooled_folds.high)
    part = Estimate(float(pooled_folds.estimate), low, high, "Newcombe; trainings as they are")
    none = None if rules.seeds > 1 else "one training of each fold"
    spread = Estimate(_spread([*others, test]), method="standard deviation", reason=none)
    which = [fold.name for fold, own in zip(others, p, strict=True) if own <= 1 - rules.level]
    verdict = _verdict(others, test, which, spread.estimate, trainer)
    verdict += f" The original test is {_easier(pooled_folds)}."
    figures = (
        Figure("original test easier than the folds by", "points", part, test.n),
        Figure("smallest p of a fold (Holm)", "number", Estimate(float(p.min()))),
        Figure("accuracy on the original test", "fraction", _exact(test, rules.level), test.n),
        Figure("spread between training seeds", "points", spread),
    )
    pictures, sheets = (_picture([*others, test], rules),), (_sheet(others, test, apart, p),)
    return Gathered(verdict, bool(which), part, "estimate", figures, sheets, pictures, warnings=cautions)


def _easier(found: Interval) -> str:
    """By how much, or how much harder it is, so that the figure is not negative."""
    estimate, low, high = (POINTS * float(value) for value in (found.estimate, found.low, found.high))
    if estimate < 0:
        return f"{-estimate:.2f} points [{-high:z.2f}, {-low:z.2f}] harder than the folds"
    return f"{estimate:z.2f} points [{low:z.2f}, {high:z.2f}] easier than the folds"


def _verdict(others: list[Fold], test: Fold, which: list[str], spread: float | None, trainer: str) -> str:
    means = [100 * fold.mean for fold in others]
    said = f"Differ from the original test: {', '.join(which)}" if which else "No fold differs from the original test"
    beside = "" if spread is None else f" Trainings with other seeds differ by {100 * spread:.2f} points (standard deviation)."
    return (
        f"{said} ({100 * test.mean:.2f} %; folds of the training data {min(means):.2f} to {max(means):.2f} %, for a {trainer}; "
        f"Newcombe, Holm over {counted(len(others), 'fold')}).{beside}"
    )


def _sheet(others: list[Fold], test: Fold, apart: Interval, p: Array) -> Sheet:
    rows = [
        (fold.name, fold.n, fold.mean, float(fold.mean - test.mean), float(low), float(high), float(own))
        for fold, low, high, own in zip(others, apart.low, apart.high, p, strict=True)
    ]
    return Sheet(
        "Folds",
        ("fold", "n", "accuracy", "minus original test", "low", "high", "p (Holm)"),
        ("number", "count", "fraction", "points", "points", "points", "number"),
        (*rows, (test.name, test.n, test.mean, None, None, None, None)),
    )


def _spread(folds: list[Fold]) -> float | None:
    """Standard deviation between trainings of one fold, over all folds."""
    rows = [fold.accuracies[np.isfinite(fold.accuracies)] for fold in folds]
    free = sum(len(row) - 1 for row in rows)
    return float(np.sqrt(sum(((row - row.mean()) ** 2).sum() for row in rows) / free)) if free else None


def _exact(fold: Fold, level: float) -> Estimate:
    exact = clopper_pearson(fold.right, fold.n, level)
    return Estimate(fold.mean, float(exact.low), float(exact.high), "Clopper-Pearson")


def _picture(folds: list[Fold], rules: Rules) -> Picture:
    means = [Point(fold.name, own.estimate or 0.0, own.low, own.high) for fold in folds for own in [_exact(fold, rules.level)]]
    single = [Point(fold.name, float(one)) for fold in folds for one in fold.accuracies if np.isfinite(one)]
    series = (Series("mean of the trainings", tuple(means)), Series("one training", tuple(single)))
    return Picture("Accuracy of each fold", "fold", "accuracy", series, line_at=folds[-1].mean)


def _seconds(material: Material, rules: Rules) -> float:
    if material.trainer is None:
        return 0.0
    rows = sum(one.n for one in material.train)
    return rules.folds * rules.seeds * material.trainer.fitter.seconds(rows)


HYPOTHESIS = Hypothesis(
    name="cross-validation",
    title="Cross-validation",
    question="Is the original test set like its training data, or easier?",
    source="Recht et al. (2018), §5.2; Recht et al. (2019), §3.4",
    lacks=lambda material: lacking(material, new=False),
    seconds=_seconds,
    run=run,
    trains=True,
)
