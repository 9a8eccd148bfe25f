"""What a new last layer changed on one set by one metric: overall, in every group, in disparity and in the named pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resit.stats import clusters as clustered
from resit.stats import paired_groups as paired
from resit.stats.intervals import newcombe_paired
from resit.stats.pairs import mcnemar_exact
from resit.stats.resample import generator
from resit.study.group_rows import CLUSTERED, MOST_FAILED, MOST_SPLIT, ONE_GROUP, Frame
from resit.study.groupings import split_clusters
from resit.study.result import Estimate
from resit.study.retrain_result import Change, GroupChange, PairedChange

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int_]
REDRAWN = 22  # purpose of the generator
PAIRED = "Newcombe's paired score"
PROJECTED = "{} simultaneously of all pairs before, after and in change, projected onto the disparities"
BY_COUNTS, BY_CLUSTERS = "Newcombe's", "maximal t over redrawn clusters,"


def change_of(frame: Frame, before: Bools, after: Bools) -> Change:
    """What changed on a set.

    Parameters
    ----------
    frame : Frame
        Groups and clusters of the set.
    before, after : ndarray of bool, shape (n,)
        Which answers are right.
    """
    return _Change(frame, before, after).record()


@dataclass(eq=False)
class _Change:
    frame: Frame
    before: Bools
    after: Bools

    def record(self) -> Change:
        names = self.frame.grouping.names
        whole = self.counts.sum(axis=0)
        groups = tuple(GroupChange(name, self._paired(self.counts[at], self.drawn, at)) for at, name in enumerate(names))
        overall = self._paired(whole, None if self.frame.clusters is None else self._redraw(self.frame.clusters, None), 0)
        return Change(overall, groups, self._disparity(), self._pair())

    @cached_property
    def counts(self) -> Ints:
        """Right both times, only before, only after and never, by group."""
        return paired.tables(self.before, self.after, self.frame.grouping.codes, len(self.frame.n))

    @cached_property
    def drawn(self) -> clustered.Redrawn | None:
        """Accuracies of all groups before, then after, over clusters that are redrawn together; None without clusters."""
        clusters, codes = self.frame.clusters, self.frame.grouping.codes
        return None if clusters is None else self._redraw(split_clusters(clusters, codes, MOST_SPLIT)[0], codes)

    def _redraw(self, clusters: Ints, codes: Ints | None) -> clustered.Redrawn:
        groups = 1 if codes is None else len(self.frame.n)
        codes = np.zeros_like(clusters) if codes is None else codes
        twice = clustered.make_clusters(np.tile(clusters, 2), np.concatenate([codes, codes + groups]), 2 * groups)
        right = twice.count_right(np.concatenate([self.before, self.after]))
        rules = self.frame.rules
        return clustered.redraw_clusters(generator(rules.seed, REDRAWN), twice, right, rules.resamples)

    def _paired(self, counts: Ints, drawn: clustered.Redrawn | None, at: int) -> PairedChange:
        both, first, last, neither = counts.tolist()
        level = self.frame.rules.level
        if drawn is None:
            own = newcombe_paired(both, last, first, neither, level)
            difference = Estimate(float(own.estimate), float(own.low), float(own.high), PAIRED)
            return PairedChange(both, first, last, neither, difference, float(mcnemar_exact(last, first)))
        value = (last - first) / counts.sum()
        taken = self._taken(drawn, np.array([at, at + len(drawn.observed) // 2]))
        if isinstance(taken, str):
            return PairedChange(both, first, last, neither, Estimate(float(value), reason=taken), None)
        found = clustered.by_clusters(taken, level)
        difference = Estimate(float(value), float(found.low[1, 0]), float(found.high[1, 0]), CLUSTERED)
        return PairedChange(both, first, last, neither, difference, None)

    def _taken(self, drawn: clustered.Redrawn, columns: Ints) -> clustered.Redrawn | str:
        """Some columns of what was redrawn, or why they have no interval."""
        if (drawn.clusters_of[columns] < 2).any():
            return "no interval: it lies in one cluster"
        taken, failed = drawn.take(columns)
        if len(taken.replicates) < 2 or failed > MOST_FAILED * self.frame.rules.resamples:
            return f"no interval: {failed} of {self.frame.rules.resamples} resamples of clusters lose a group"
        return taken

    def _both_times(self, groups: Ints) -> clustered.Redrawn | str:
        assert self.drawn is not None
        return self._taken(self.drawn, np.concatenate([groups, groups + len(self.frame.n)]))

    def _disparity(self) -> Estimate:
        groups = np.flatnonzero(self.frame.large)
        if len(groups) < 2:
            return Estimate(None, reason=ONE_GROUP)
        counts = self.counts[groups]
        n = counts.sum(axis=1)
        before, after = (counts[:, 0] + counts[:, 1]) / n, (counts[:, 0] + counts[:, 2]) / n
        value = paired.disparity_change(before, after)
        level = self.frame.rules.level
        if self.frame.clusters is None:
            bounds, method = paired.paired_by_counts(counts, level), BY_COUNTS
        else:
            taken = self._both_times(groups)
            if isinstance(taken, str):
                return Estimate(value, reason=taken)
            bounds, method = paired.paired_by_clusters(taken, level), BY_CLUSTERS
        return Estimate(value, *bounds.disparity_change(), PROJECTED.format(method))

    def _pair(self) -> Estimate | None:
        names, pair = self.frame.grouping.names, self.frame.pair
        if pair is None or not set(pair) <= set(names):
            return None
        groups = np.array([names.index(name) for name in pair])
        counts = self.counts[groups]
        own = (counts[:, 2] - counts[:, 1]) / counts.sum(axis=1)
        value, level = float(own[0] - own[1]), self.frame.rules.level
        if self.frame.clusters is None:
            found = paired.change_by_counts(counts, level)
            return Estimate(value, float(found.low[0, 1]), float(found.high[0, 1]), f"{PAIRED} limits, squared and added")
        taken = self._both_times(groups)
        if isinstance(taken, str):
            return Estimate(value, reason=taken)
        found = paired.change_by_clusters(taken, level)
        return Estimate(value, float(found.low[0, 1]), float(found.high[0, 1]), CLUSTERED)
