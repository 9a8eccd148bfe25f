"""The figures of one model in the groups of a grouping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resit.stats import clusters as clustered
from resit.stats import disparity as gaps
from resit.stats import groups as stat
from resit.stats.intervals import clopper_pearson, percentile
from resit.stats.resample import generator
from resit.study.groupings import Grouping, split_clusters
from resit.study.groups_result import Disparity, GroupScore, ModelGroups, NamedPair, Null, PercentileGap
from resit.study.result import Estimate

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int_]
Bools = npt.NDArray[np.bool_]
CLASSES, PERMUTED, CLUSTERS = 10, 11, 12  # purposes of the generators
CLASS_RESAMPLES = 2_000
MOST_LONE = 0.05
MOST_FAILED = 0.05
MOST_SPLIT = 0.05
MIN_CLUSTERS = 10
PERCENTS = (5.0, 10.0, 25.0)
MANY = 10
ONE_GROUP = "fewer than two groups to compare"
PLAIN = "Clopper-Pearson"
CLUSTERED = "bootstrap of whole clusters"
PAIRWISE = "Newcombe, all pairs simultaneously, projected onto the largest"
MAXIMAL_T = "maximal t over redrawn clusters, all pairs simultaneously, projected onto the largest"


@dataclass(frozen=True)
class Rules:
    """How groups are studied, as far as one model's figures need it."""

    level: float
    seed: int
    resamples: int
    min_size: int


@dataclass(frozen=True, eq=False)
class Frame:
    """A grouping with what all models share: sizes, clusters and classes.

    ``clusters`` and ``strata`` are the cluster and class of each example, numbered from 0; ``no_classes``: why there are none.
    """

    grouping: Grouping
    rules: Rules
    clusters: Ints | None
    strata: Ints | None
    no_classes: str | None
    pair: tuple[str, str] | None

    @cached_property
    def n(self) -> Ints:
        """Size of each group."""
        return np.bincount(self.grouping.codes, minlength=len(self.grouping.names))

    @cached_property
    def large(self) -> Bools:
        """Which groups have at least the minimum size, and where there are clusters at least ten of them."""
        enough = np.asarray(self.n >= self.rules.min_size)
        return enough if self.by_cluster is None else enough & (self.by_cluster.clusters_of >= MIN_CLUSTERS)

    @cached_property
    def by_cluster(self) -> clustered.Clusters | None:
        """Examples by cluster and group."""
        found = self._parts
        return None if found is None else clustered.make_clusters(found[0], self.grouping.codes, len(self.n))

    @property
    def n_split(self) -> int:
        """How many clusters lie in several groups and are split into parts of one."""
        return 0 if self._parts is None else self._parts[1]

    @cached_property
    def _parts(self) -> tuple[Ints, int] | None:
        return None if self.clusters is None else split_clusters(self.clusters, self.grouping.codes, MOST_SPLIT)

    @cached_property
    def cells(self) -> stat.Cells | None:
        """Examples by group and class."""
        return None if self.strata is None else stat.make_cells(self.grouping.codes, self.strata, len(self.n))

    @cached_property
    def standard(self) -> tuple[Array, int, float]:
        """Weights of cells for standardised accuracies, the number of classes that count, and their share of the examples."""
        assert self.cells is not None
        return stat.standard_weights(self.cells, self.large)


def model_groups(frame: Frame, model: str, right: Bools) -> ModelGroups:
    """All figures of one model.

    Parameters
    ----------
    frame : Frame
    model : str
        Its key.
    right : ndarray of bool, shape (n,)
        Which of its answers are right.
    """
    one = _Model(frame, right)
    everything = np.arange(len(frame.n))
    headline = everything[frame.large]
    disparity = one.disparity(headline, null=True)
    return ModelGroups(
        model=model,
        accuracy=one.overall(),
        groups=tuple(one.scores()),
        disparity=disparity,
        disparity_all=replace(disparity, null=None) if frame.large.all() else one.disparity(everything, null=False),
        pair=one.pair(),
        percentile_gaps=tuple(one.percentile_gaps(headline)),
    )


class _Model:
    """One model's counts, and what is drawn once from them."""

    def __init__(self, frame: Frame, right: Bools) -> None:
        self.frame, self.rules, self.right = frame, frame.rules, right
        self.correct = np.bincount(frame.grouping.codes[right], minlength=len(frame.n))
        self.accuracy: Array = self.correct / frame.n

    @cached_property
    def cluster_right(self) -> Ints:
        """Number right by cluster and group."""
        assert self.frame.by_cluster is not None
        return self.frame.by_cluster.count_right(self.right)

    @cached_property
    def redrawn(self) -> clustered.Redrawn | None:
        """Accuracies over redrawn clusters; None without clusters."""
        clusters = self.frame.by_cluster
        if clusters is None:
            return None
        return clustered.redraw_clusters(
            generator(self.rules.seed, CLUSTERS), clusters, self.cluster_right, self.rules.resamples
        )

    def bounds(self, groups: Ints, level: float) -> gaps.Simultaneous | str:
        """Simultaneous bounds of some groups, or why there are none."""
        clusters = self.frame.by_cluster
        if clusters is None:
            return gaps.by_counts(self.correct[groups], self.frame.n[groups], level)
        lone = [self.frame.grouping.names[at] for at in groups if clusters.clusters_of[at] < 2]
        if lone:
            return f"no interval: {', '.join(lone[:3])}{', …' if len(lone) > 3 else ''} lie in one cluster"
        assert self.redrawn is not None
        drawn, failed = self.redrawn.take(groups)
        if len(drawn.replicates) < 2 or failed > MOST_FAILED * self.rules.resamples:
            return f"no interval: {failed} of {self.rules.resamples} resamples of clusters lose a group"
        return clustered.by_clusters(drawn, level)

    def overall(self) -> Estimate:
        """Accuracy on all examples."""
        frame = self.frame
        if frame.clusters is None:
            own = clopper_pearson(self.right.sum(), len(self.right), self.rules.level)
            return Estimate(float(own.estimate), float(own.low), float(own.high), PLAIN)
        whole = clustered.make_clusters(frame.clusters, np.zeros_like(frame.clusters), 1)
        drawn = clustered.redraw_clusters(
            generator(self.rules.seed, CLUSTERS), whole, whole.count_right(self.right), self.rules.resamples
        )
        return _of_cluster(drawn, 0, self.rules.level)

    def scores(self) -> list[GroupScore]:
        """Every group's accuracies."""
        frame = self.frame
        exact = clopper_pearson(self.correct, frame.n, self.rules.level)
        macro, standard = self._by_class()
        found = []
        for at, name in enumerate(frame.grouping.names):
            accuracy = Estimate(float(self.accuracy[at]), float(exact.low[at]), float(exact.high[at]), PLAIN)
            if frame.by_cluster is not None and self.redrawn is not None:
                accuracy = _of_cluster(self.redrawn, at, self.rules.level)
            found.append(
                GroupScore(
                    group=name,
                    n=int(frame.n[at]),
                    correct=int(self.correct[at]),
                    accuracy=accuracy,
                    class_macro=macro[at],
                    standardised=standard[at],
                    small=not frame.large[at],
                    n_classes=None if frame.cells is None else int(frame.cells.classes_of[at]),
                    n_clusters=None if frame.by_cluster is None else int(frame.by_cluster.clusters_of[at]),
                )
            )
        return found

    def _by_class(self) -> tuple[list[Estimate], list[Estimate]]:
        """Class-macro and standardised accuracy of each group, with stratified bootstrap intervals."""
        frame, cells = self.frame, self.frame.cells
        if cells is None:
            nothing = [Estimate(None, reason=frame.no_classes)] * len(frame.n)
            return nothing, nothing
        weights = np.stack([stat.macro_weights(cells), frame.standard[0]])
        correct = np.bincount(cells.code[self.right], minlength=len(cells.n))
        values = [stat.weighted(cells, correct, row) for row in weights]
        lone = [stat.lone_share(cells, row) for row in weights]
        why = [self._why_not(share) for share in lone]
        drawable = np.stack([[reason is None for reason in row] for row in why])[:, cells.group]
        rng = generator(self.rules.seed, CLASSES)
        resamples = min(CLASS_RESAMPLES, self.rules.resamples)
        drawn = stat.bootstrap_cells(rng, cells, correct, np.where(drawable, weights, 0), resamples)
        macro = [_drawn(values[0][at], drawn[0, :, at], why[0][at], self.rules.level) for at in range(len(frame.n))]
        standard = [
            _drawn(values[1][at], drawn[1, :, at], why[1][at], self.rules.level)
            if np.isfinite(values[1][at])
            else Estimate(None, reason=self._why_no_standard(at))
            for at in range(len(frame.n))
        ]
        return macro, standard

    def _why_not(self, lone: Array) -> list[str | None]:
        if self.frame.clusters is not None:
            return ["no interval: examples are clustered, and it redraws them one by one"] * len(lone)
        if self.rules.resamples < 2:
            return ["no interval: too few resamples"] * len(lone)
        message = "no interval: classes with one example, which cannot be redrawn, make up {:.0%} of the figure"
        return [message.format(share) if share > MOST_LONE else None for share in lone.tolist()]

    def _why_no_standard(self, at: int) -> str:
        if not self.frame.large[at]:
            few = "" if self.frame.clusters is None else f", or under {MIN_CLUSTERS} clusters"
            return f"under {self.rules.min_size} examples{few}"
        return "no class is in all groups that are not small"

    def disparity(self, groups: Ints, *, null: bool) -> Disparity:
        """Best minus worst of some groups."""
        if len(groups) < 2:
            nothing = Estimate(None, reason=ONE_GROUP)
            reason = Null(None, None, None, 0, self._unit, ONE_GROUP) if null else None
            return Disparity(None, None, nothing, nothing, reason)
        own = self.accuracy[groups]
        best, worst = int(own.argmax()), int(own.argmin())
        value, ratio = float(own[best] - own[worst]), gaps.relative(float(own[best]), float(own[worst]))
        found = self.bounds(groups, self.rules.level)
        if isinstance(found, str):
            difference, normalised = Estimate(value, reason=found), Estimate(_known(ratio), reason=found)
        else:
            method = PAIRWISE if self.frame.clusters is None else MAXIMAL_T
            low, high = found.largest()
            difference = Estimate(value, low, high, method)
            normalised = _normalised(ratio, *found.largest_ratio())
        names = self.frame.grouping.names
        return Disparity(
            names[groups[best]], names[groups[worst]], difference, normalised, self._null(groups, "largest") if null else None
        )

    def pair(self) -> NamedPair | None:
        """The named pair, where these groups have it."""
        names, pair = self.frame.grouping.names, self.frame.pair
        if pair is None or not set(pair) <= set(names):
            return None
        at = np.array([names.index(name) for name in pair])
        first, second = (float(value) for value in self.accuracy[at])
        ratio = gaps.relative(first, second)
        found = self.bounds(at, self.rules.level)
        if isinstance(found, str):
            return NamedPair(*pair, Estimate(first - second, reason=found), Estimate(_known(ratio), reason=found))
        method = "Newcombe" if self.frame.clusters is None else CLUSTERED
        lowest = gaps.relative(float(found.group_low[0]), float(found.group_high[1]))
        highest = gaps.relative(float(found.group_high[0]), float(found.group_low[1]))
        return NamedPair(
            *pair,
            Estimate(first - second, float(found.low[0, 1]), float(found.high[0, 1]), method),
            _normalised(ratio, lowest, highest),
        )

    def percentile_gaps(self, groups: Ints) -> list[PercentileGap]:
        """Gaps between the ends of many groups."""
        if len(groups) < MANY:
            return []
        own = self.accuracy[groups]
        return [
            PercentileGap(
                percent,
                len(groups),
                gaps.groups_at_end(len(groups), percent),
                float(gaps.percentile_gap(own, percent)),
                self._null(groups, f"{percent:g}"),
            )
            for percent in PERCENTS
        ]

    @property
    def _unit(self) -> str:
        return "examples" if self.frame.clusters is None else "clusters"

    def _null(self, groups: Ints, which: str) -> Null:
        """What permuted labels give. ``groups`` are always the headline ones."""
        found = self._permuted
        if isinstance(found, str):
            return Null(None, None, None, self.rules.resamples, self._unit, found)
        own = self.accuracy[groups]
        column = found[:, 0 if which == "largest" else 1 + [f"{p:g}" for p in PERCENTS].index(which)]
        observed = gaps.largest_difference(own) if which == "largest" else gaps.percentile_gap(own, float(which))
        upper = float(np.quantile(column, self.rules.level))
        return Null(float(column.mean()), upper, gaps.p_value(column, float(observed)), len(column), self._unit)

    @cached_property
    def _permuted(self) -> Array | str:
        """Largest difference and percentile gaps of the headline groups under permuted labels, or why there are none."""
        frame = self.frame
        if self.rules.resamples < 1:
            return "no permutations were asked for"
        groups = np.flatnonzero(frame.large)
        rng = generator(self.rules.seed, PERMUTED)
        if frame.by_cluster is None:
            correct = int(self.correct[groups].sum())
            return gaps.null_of_examples(rng, correct, frame.n[groups], self.rules.resamples, _statistics)
        if frame.by_cluster.strata is None:
            return "clusters that lie in several groups cannot be permuted between groups"
        rows = frame.large[frame.by_cluster.strata]
        labels = np.searchsorted(groups, frame.by_cluster.strata[rows])
        right, n = self.cluster_right[rows].sum(axis=1), frame.by_cluster.n[rows].sum(axis=1)
        return gaps.null_of_clusters(rng, right, n, labels, self.rules.resamples, _statistics)


def _statistics(accuracy: Array) -> Array:
    found = [gaps.largest_difference(accuracy)]
    if accuracy.shape[-1] >= MANY:
        found += [gaps.percentile_gap(accuracy, percent) for percent in PERCENTS]
    return np.stack(found, axis=-1)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _normalised(value: float, low: float, high: float) -> Estimate:
    if not np.isfinite(value):
        return Estimate(None, reason="both accuracies are 0")
    if not (np.isfinite(low) and np.isfinite(high)):
        return Estimate(value, reason="no interval: both accuracies may be 0")
    return Estimate(value, low, high, "from simultaneous intervals of the accuracies")


def _drawn(value: float, drawn: Array, reason: str | None, level: float) -> Estimate:
    if reason is not None:
        return Estimate(float(value), reason=reason)
    if np.ptp(drawn) < gaps.SAME:
        return Estimate(float(value), reason="no interval: all resamples are alike")
    low, high = percentile(drawn, level)
    return Estimate(float(value), float(low), float(high), "bootstrap stratified by class")


def _of_cluster(redrawn: clustered.Redrawn, group: int, level: float) -> Estimate:
    """Interval of one accuracy over redrawn clusters."""
    drawn, failed = redrawn.take(np.array([group]))
    value, clusters = float(drawn.observed[0]), int(drawn.clusters_of[0])
    if clusters < 2:
        return Estimate(value, reason="no interval: it lies in one cluster")
    if len(drawn.replicates) < 2 or failed > MOST_FAILED * (failed + len(drawn.replicates)):
        return Estimate(value, reason="no interval: too few resamples have the group")
    if value in (0, 1):
        own = clopper_pearson(value * clusters, clusters, level)
        return Estimate(value, float(own.low), float(own.high), "Clopper-Pearson, each cluster counted once")
    found = clustered.by_clusters(drawn, level)
    return Estimate(value, float(found.group_low[0]), float(found.group_high[0]), CLUSTERED)


def some(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, and how many there are in all."""
    shown = ", ".join(names[:most])
    return f"{shown}, … ({len(names)} in all)" if len(names) > most else shown
