"""Sets as a retraining sees them: which examples and classes count, and what the model's own head answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.paths import counted, short_list
from resit.data.predictions import Predictions
from resit.data.relabel import take
from resit.errors import InputError, Notice, UsageError
from resit.evaluate.answers import INVALID, best
from resit.evaluate.features import Features
from resit.evaluate.spaces import Scoring, columns_of, scored_as
from resit.models.heads import ROWS, Head
from resit.models.protocol import FeatureModel
from resit.study.groupings import Grouping, class_codes, cluster_codes, make_groupings

Ints = npt.NDArray[np.int_]
Answers = npt.NDArray[np.int32]
DEEP = 5


@dataclass(frozen=True, eq=False)
class Posed:
    """The examples of a set that count, and the classes that answers are taken from.

    Parameters
    ----------
    benchmark : Benchmark
        Those examples.
    scoring : Scoring
        Those classes, as indices of the benchmark.
    features : Features
        Of the whole set.
    rows : ndarray of int, shape (n,)
        Row of the features for each example.
    grouping : Grouping
    clusters : ndarray of int, shape (n,), or None
    left_out : int
        Examples of the whole set that do not count.
    """

    benchmark: Benchmark
    scoring: Scoring
    features: Features
    rows: Ints
    grouping: Grouping
    clusters: Ints | None
    left_out: int

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Which examples have features, shape (n,)."""
        return self.features.usable[self.rows]

    @property
    def depth(self) -> int:
        """How many answers are kept."""
        return DEEP if len(self.scoring.classes) > DEEP else 1

    def strata(self) -> Ints:
        """Group and set of accepted labels of each example as one number."""
        unknown = Predictions(self.benchmark, (), np.empty((0, self.benchmark.n, 1), np.int32))
        classes = class_codes(unknown, None)[0]
        assert classes is not None
        return np.unique(np.stack([self.grouping.codes, classes]), axis=1, return_inverse=True)[1].reshape(-1)

    def answers(self, head: Head, classes: npt.NDArray[np.int32], at: Ints) -> Answers:
        """Answers of a head to some examples, best first, shape (len(at), depth); −1 where there are no features.

        Parameters
        ----------
        head : Head
        classes : ndarray of int32
            What its rows mean: class indices of the benchmark.
        at : ndarray of int
            Places of the examples.
        """
        found = np.full((len(at), self.depth), INVALID, np.int32)
        k = min(self.depth, len(classes))
        usable = np.flatnonzero(self.usable[at]) if k else np.empty(0, int)
        for start in range(0, len(usable), ROWS):
            part = usable[start : start + ROWS]
            top = best(head.scores(self.features.values[self.rows[at[part]]]), k)
            found[part, :k] = np.where(top < 0, INVALID, classes[top])
        return found

    def own_answers(self, model: FeatureModel) -> Answers:
        """Answers of the model's own head to all examples, out of the same classes.

        Raises
        ------
        InputError
            If it does not score these classes.
        """
        columns = columns_of(model.label_space, self.benchmark, self.scoring, model.id)
        weight, bias = model.head()
        own = Head(np.ascontiguousarray(weight[columns], np.float32), np.asarray(bias[columns], np.float32))
        return self.answers(own, self.scoring.classes, np.arange(self.benchmark.n))


@dataclass(frozen=True)
class Columns:
    """Columns of a set that are needed: groups, how a column of numbers is cut, clusters."""

    by: str
    quantiles: Mapping[str, int]
    cluster: str | None


def pose(benchmark: Benchmark, features: Features, columns: Columns) -> Posed:
    """A set whose own classes are trained: those that have examples.

    Raises
    ------
    InputError
        If fewer than two classes have examples.
    UsageError
        If there is no such column.
    """
    present = np.unique(benchmark.labels[benchmark.labels >= 0]).astype(np.int32)
    if len(present) < 2:
        what = f"examples of {counted(len(present), 'class', 'classes')}"
        raise InputError(what, where=benchmark.name, fix="A last layer is trained on two classes at least: check the labels.")
    return _posed(benchmark, features, columns, present)


def pose_elsewhere(benchmark: Benchmark, features: Features, columns: Columns, trained: Posed) -> Posed:
    """Another set, over the classes that have examples on both, matched by id.

    Raises
    ------
    InputError
        If there are fewer than two such classes.
    UsageError
        If classes have no ids that mean the same on both, or there is no such column.
    """
    first = trained.benchmark
    named = bool(benchmark.classes) and bool(first.classes)
    if not named and (benchmark.label_space != first.label_space or benchmark.label_space == "unnamed"):
        what = f"classes of {first.name} and {benchmark.name} are known by number only, which is no identity between sets"
        raise UsageError(
            what, where="transfer", fix="Give class lists: --classes imagenet-1k or a file with label, wnid, name."
        )
    known = {first.class_id(int(index)) for index in trained.scoring.classes}
    present = np.unique(benchmark.labels[benchmark.labels >= 0]).astype(np.int32)
    shared = np.array([index for index in present.tolist() if benchmark.class_id(index) in known], np.int32)
    if len(shared) < 2:
        what = f"shares {counted(len(shared), 'class', 'classes')} with {first.name}, where the head is trained"
        raise InputError(what, where=benchmark.name, fix="Check the class lists: classes are matched by id.")
    return _posed(benchmark, features, columns, shared)


def _posed(benchmark: Benchmark, features: Features, columns: Columns, classes: npt.NDArray[np.int32]) -> Posed:
    keep = np.isin(benchmark.labels, classes).any(axis=1)
    name = benchmark.label_space
    if len(classes) < benchmark.n_classes:
        name = f"{len(classes)} of {name}"
    scoring = Scoring(name, classes)
    some = scored_as(benchmark if keep.all() else take(benchmark, np.flatnonzero(keep)), scoring)
    grouping = make_groupings(some, [columns.by], columns.quantiles, refuse=False)[0]
    clusters = None if columns.cluster is None else cluster_codes(some, columns.cluster)
    return Posed(some, scoring, features, np.flatnonzero(keep), grouping, clusters, int((~keep).sum()))


def own_classes(posed: Posed) -> tuple[ClassInfo, ...]:
    """The classes that answers are taken from, with ids and names."""
    one = posed.benchmark
    return tuple(ClassInfo(one.class_id(index), one.class_name(index)) for index in posed.scoring.classes.tolist())


def about(whole: Benchmark, posed: Posed, first: Posed | None) -> Iterator[Notice]:
    """What should be known of which classes and examples count."""
    one = posed.benchmark
    if first is None:
        if posed.left_out:
            yield Notice("no-label", whole.name, f"{posed.left_out:,} of {whole.n:,} examples have no label and are left out.")
        taught = {one.class_id(index) for index in posed.scoring.classes.tolist()}
        if idle := [info.id for info in whole.classes if info.id not in taught]:
            what = f"{len(idle):,} of {len(whole.classes):,} classes have no example: {short_list(idle, 3)}"
            yield Notice("classes-without-examples", whole.name, f"{what}. Neither head can answer them here, before or after.")
        return
    trained = {first.benchmark.class_id(index) for index in first.scoring.classes.tolist()}
    there = {whole.class_id(index) for index in np.unique(whole.labels[whole.labels >= 0]).tolist()}
    if trained != there:
        message = (
            f"{len(posed.scoring.classes):,} classes have examples on both sets, by id; answers are taken from these alone. "
            f"Only on {first.benchmark.name}: {len(trained - there):,}; only here: {len(there - trained):,}."
        )
        yield Notice("shared-classes", whole.name, message)
    if posed.left_out:
        message = f"{posed.left_out:,} of {whole.n:,} examples have none of these classes, and are left out."
        yield Notice("left-out", whole.name, message)
    if whole.ids is not None and first.benchmark.ids is not None:
        both = len(np.intersect1d(whole.ids, first.benchmark.ids))
        if both:
            message = f"{both:,} examples have an id that an example of {first.benchmark.name} has, where the head was trained."
            yield Notice("shared-examples", whole.name, f"{message} If they are the same images, it was trained on them.")
