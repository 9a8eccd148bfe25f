"""Heads trained fold by fold, so that every example is answered by a head that did not see it, and one head on all examples."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.models.heads import Fitted, Trainer, average, examples_of
from resit.stats.resample import generator
from resit.stats.splits import make_folds
from resit.study.retrain_result import FoldRow, Tried
from resit.study.retrain_sets import Answers, Posed

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int_]
FOLDS, BALANCE = 20, 21  # purposes of the generators
WHOLE = -1


@dataclass(frozen=True)
class Recipe:
    """How heads are trained."""

    grid: tuple[float, ...]
    folds: int
    balanced: bool
    refits: int
    min_size: int
    seed: int


@dataclass(frozen=True, eq=False)
class _Fold:
    row: FoldRow
    answers: Answers
    at: Ints
    right: Array
    asked: Array
    lacking: Ints
    trouble: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """What came of a set's folds.

    Parameters
    ----------
    answers : ndarray of int32, shape (n, depth)
        Each example's, by the head of its fold.
    folds : tuple of FoldRow
    head : Fitted
        Trained on all examples.
    tried : tuple of Tried
        Validation accuracy of each strength over all folds together.
    n_examples : int
        How many the head was trained on.
    n_drawn : int or None
        How many of them are in one balanced draw.
    lacking : int
        Classes that some balanced draw had no example of, the most of any head.
    trouble : tuple of str
        What the solver said of heads that are used.
    """

    answers: Answers
    folds: tuple[FoldRow, ...]
    head: Fitted
    tried: tuple[Tried, ...]
    n_examples: int
    n_drawn: int | None
    lacking: int
    trouble: tuple[str, ...]


def cross_fit(posed: Posed, recipe: Recipe, tell: Callable[[str], None]) -> CrossFitted:
    """Train on all folds but one and answer that one, in turn; then train on all.

    Folds are alike in groups and classes, and have clusters whole. For each fold the strength of the penalty is chosen by
    accuracy on the next fold, of heads that are trained on the others; then a head is trained on all but the fold itself. The
    strength of the head that is trained on all examples has the best validation accuracy over all folds together. Of equals the
    strongest penalty is chosen.

    Parameters
    ----------
    posed : Posed
    recipe : Recipe
    tell : callable
        Told each step in words.

    Raises
    ------
    UsageError
        If there are fewer examples or clusters than folds, or a fold leaves examples of one class only.
    """
    fold_of = make_folds(generator(recipe.seed, FOLDS), posed.strata(), recipe.folds, posed.clusters)
    done: list[_Fold] = []
    with ThreadPoolExecutor(min(recipe.folds, _cores())) as pool:
        for one in pool.map(lambda fold: _one_fold(posed, recipe, fold_of, fold), range(recipe.folds)):
            done.append(one)
            tell(f"{posed.benchmark.name}: {len(done)} of {recipe.folds} folds trained")
    answers = np.empty((posed.benchmark.n, posed.depth), np.int32)
    for one in done:
        answers[one.at] = one.answers
    right, asked = sum(one.right for one in done), sum(one.asked for one in done)
    tried = _tried(recipe, np.asarray(right), np.asarray(asked))
    tell(f"{posed.benchmark.name}: training on all examples")
    every = np.flatnonzero(posed.usable)
    head, lacking = _train(posed, recipe, every, _chosen(tried), WHOLE)
    return CrossFitted(
        answers=answers,
        folds=tuple(one.row for one in done),
        head=head,
        tried=tried,
        n_examples=len(every),
        n_drawn=len(_drawn(posed, recipe, every, WHOLE, 1)) if recipe.balanced else None,
        lacking=max(len(lacking), *(len(one.lacking) for one in done)),
        trouble=tuple(dict.fromkeys([*head.trouble, *(text for one in done for text in one.trouble)])),
    )


def _one_fold(posed: Posed, recipe: Recipe, fold_of: Ints, fold: int) -> _Fold:
    usable = posed.usable
    test = np.flatnonzero(fold_of == fold)
    validation = np.flatnonzero((fold_of == (fold + 1) % recipe.folds) & usable)
    rest = np.flatnonzero((fold_of != fold) & usable)
    train = np.setdiff1d(rest, validation)
    right, asked = _validate(posed, recipe, train, validation, fold)
    tried = _tried(recipe, right, asked)
    fitted, lacking = _train(posed, recipe, rest, _chosen(tried), fold)
    untaught = ~np.isin(posed.benchmark.labels[test], fitted.classes).any(axis=1)
    row = FoldRow(
        fold=fold + 1,
        n_train=len(train),
        n_validation=len(validation),
        n_test=len(test),
        n_untaught=int(untaught.sum()),
        c=fitted.c,
        tried=tried,
        converged=not fitted.trouble,
    )
    answers = posed.answers(fitted.head, fitted.classes.astype(np.int32), test)
    return _Fold(row, answers, test, right, asked, lacking, fitted.trouble)


def _validate(posed: Posed, recipe: Recipe, train: Ints, validation: Ints, fold: int) -> tuple[Array, Array]:
    """How many validation examples each strength gets right, shape (strengths, groups), and how many each group has."""
    groups = len(posed.grouping.names)
    trainer = _trainer(posed, _drawn(posed, recipe, train, fold, 0) if recipe.balanced else train)
    codes, labels = posed.grouping.codes[validation], posed.benchmark.labels[validation]
    right = np.zeros((len(recipe.grid), groups))
    for at, c in enumerate(recipe.grid):
        fitted = trainer.fit(c, warm=True)
        first = posed.answers(fitted.head, fitted.classes.astype(np.int32), validation)[:, :1]
        hits = ((first == labels) & (first >= 0)).any(axis=1)
        right[at] = np.bincount(codes[hits], minlength=groups)
    return right, np.bincount(codes, minlength=groups).astype(float)


def _tried(recipe: Recipe, right: Array, asked: Array) -> tuple[Tried, ...]:
    there = asked > 0
    by_group = (right[:, there] / asked[there]).mean(axis=1)
    accuracy = by_group if recipe.balanced else right.sum(axis=1) / max(1.0, asked.sum())
    return tuple(Tried(c, float(value)) for c, value in zip(recipe.grid, accuracy, strict=True))


def _chosen(tried: tuple[Tried, ...]) -> float:
    return max(tried, key=lambda one: (one.accuracy, -one.c)).c


def _train(posed: Posed, recipe: Recipe, rows: Ints, c: float, fold: int) -> tuple[Fitted, Ints]:
    """One head of all these examples, or the mean of heads of balanced draws; with the classes that some draw lacks."""
    if not recipe.balanced:
        return _trainer(posed, rows).fit(c), np.empty(0, int)
    fitted = [_trainer(posed, _drawn(posed, recipe, rows, fold, 1 + draw)).fit(c) for draw in range(recipe.refits)]
    mean, lacking = average(fitted)
    everything = np.unique(posed.benchmark.labels[rows])
    return mean, np.union1d(lacking, np.setdiff1d(everything[everything >= 0], mean.classes))


def _trainer(posed: Posed, at: Ints) -> Trainer:
    """Examples by their rows of features; labels go with them."""
    examples = examples_of(posed.benchmark.labels, at)
    return Trainer(posed.features.values, type(examples)(posed.rows[examples.rows], examples.classes, examples.weights))


def _drawn(posed: Posed, recipe: Recipe, rows: Ints, fold: int, draw: int) -> Ints:
    """Of each group as many examples, drawn without replacement, as the smallest group has that is not small.

    A smaller group gives all it has.
    """
    rng = generator(recipe.seed, BALANCE, fold + 1, draw)
    codes = posed.grouping.codes
    sizes = np.bincount(codes[rows], minlength=len(posed.grouping.names))
    whole = np.bincount(codes, minlength=len(sizes))
    large = (whole >= recipe.min_size) & (sizes > 0)
    most = int(sizes[large].min()) if large.any() else int(sizes.max())
    parts = []
    for group, own in enumerate(rng.spawn(len(sizes))):
        mine = rows[codes[rows] == group]
        parts.append(mine if len(mine) <= most else own.choice(mine, most, replace=False))
    return np.sort(np.concatenate(parts))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
