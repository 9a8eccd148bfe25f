"""New sets that share examples are dependent: what they share, and their difference with that taken into account."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from resit.errors import Notice, UsageError
from resit.stats.intervals import z_value
from resit.study.pairing import Pairing
from resit.study.result import Estimate, Overlap
from resit.study.setview import SetView

Array = npt.NDArray[np.float64]
Pair = tuple[str, str]
NUMBERED_FILE = re.compile(r"(^|/)\d+\.[A-Za-z]+$", re.ASCII)
UNKNOWN = "whether the sets share examples is not known; tell it with --overlap FIRST,SECOND=COUNT"

# Fingerprints of the labels of released sets, so that they are known under any name.
KNOWN_LABELS = {"cifar10.1-v4": "cedb8ae1ed1007ce", "cifar10.1-v6": "b1dacf0d5787d5a5"}
# CIFAR-10.1's release notes (about 90 % of v6), and the image ids of ImageNetV2's release.
KNOWN_SHARED = {
    frozenset({"cifar10.1-v4", "cifar10.1-v6"}): 1_800,
    frozenset({"imagenetv2-matched-frequency", "imagenetv2-threshold0.7"}): 3_186,
}


KNOWN_SIZES = {
    "cifar10.1-v4": 2_021,
    "cifar10.1-v6": 2_000,
    "imagenetv2-matched-frequency": 10_000,
    "imagenetv2-threshold0.7": 10_000,
}


@dataclass(frozen=True)
class Shared:
    """How many examples two sets share, how that is known, and where they stand in each, if ids tell."""

    count: int | None
    source: str
    rows: tuple[npt.NDArray[np.int_], npt.NDArray[np.int_]] | None = None


def overlaps(pairings: Sequence[Pairing], told: Mapping[Pair, int], level: float) -> tuple[Overlap, ...]:
    """Overlap of each pair of new sets, by their first metric in common.

    Parameters
    ----------
    pairings : sequence of Pairing
        All comparisons of a study.
    told : mapping of (str, str) to int
        Numbers of shared examples that the user knows.
    level : float

    Raises
    ------
    UsageError
        If ``told`` names a set that is not there, or more examples than a set has.
    """
    by_name: dict[str, list[Pairing]] = {}
    for pairing in pairings:
        by_name.setdefault(pairing.new.name, []).append(pairing)
    for names in told:
        if len(set(names)) != 2 or not set(names) <= by_name.keys():
            raise UsageError(
                f"no two new sets are called {names[0]!r} and {names[1]!r}",
                where="--overlap",
                fix=f"The new sets are {', '.join(by_name)}",
            )
    return tuple(_overlap(by_name[a], by_name[b], told, level) for a, b in combinations(by_name, 2))


def _overlap(first: list[Pairing], second: list[Pairing], told: Mapping[Pair, int], level: float) -> Overlap:
    a, b = next(((a, b) for a in first for b in second if a.metric == b.metric), (first[0], second[0]))
    shared = find_shared(a.new, b.new, told)
    difference = _difference(a, b, shared, level)
    return Overlap(a.new.name, b.new.name, shared.count, shared.source, difference, a.metric)


def find_shared(a: SetView, b: SetView, told: Mapping[Pair, int]) -> Shared:
    """What two sets share: from real ids, else what the user says, else the known benchmarks; never from positions."""
    count = told.get((a.name, b.name), told.get((b.name, a.name)))
    ids = [real_ids(view) for view in (a, b)]
    if ids[0] is not None and ids[1] is not None:
        common, rows_a, rows_b = np.intersect1d(ids[0], ids[1], return_indices=True)
        if count not in (None, len(common)):
            raise UsageError(f"{count} shared examples are told, but by their ids they share {len(common)}", where="--overlap")
        return Shared(len(common), "example ids", (rows_a, rows_b))
    if count is not None:
        sizes = [view.info().n for view in (a, b)]
        if count < 0 or any(n is not None and count > n for n in sizes):
            raise UsageError(f"{count} shared examples do not fit sets of {sizes[0]} and {sizes[1]}", where="--overlap")
        return Shared(count, "told by the user")
    known = frozenset({known_as(a), known_as(b)})
    whole = all(view.info().n == KNOWN_SIZES.get(known_as(view)) for view in (a, b))
    count = KNOWN_SHARED.get(known) if whole else None
    return Shared(None, "not known") if count is None else Shared(count, "known benchmarks")


def real_ids(view: SetView) -> npt.NDArray[np.str_] | None:
    """Ids of a set's examples, unless they only number its rows or its files (``dog/35.jpg``): positions are no identity."""
    ids = view.predictions.benchmark.ids if view.predictions else None
    if ids is None or not len(ids):
        return None
    numbered = any(np.array_equal(ids, np.arange(start, start + len(ids)).astype(str)) for start in (0, 1))
    return None if numbered or all(map(NUMBERED_FILE.search, ids.tolist())) else ids


def shared_with_original(original: SetView, new: SetView) -> Notice | None:
    """A new set that has examples of the original: all intervals take the two for independent."""
    shared = find_shared(original, new, {})
    parts = [view.predictions for view in (original, new)]
    same = parts[0] is not None and parts[1] is not None and not any(part.is_correctness for part in parts if part)
    alike = same and len({part.benchmark.labels_fingerprint for part in parts if part}) == 1 and not _in_order(original)
    if shared.count:
        what = f"{shared.count:,} of its examples are in the original too ({shared.source})"
    elif alike and shared.count is None:
        what = "it has the labels of the original, in the same order: it may be the same set"
    else:
        return None
    message = f"{what}. Intervals of changes and slopes take the sets for independent, and are too wide or mean nothing here."
    return Notice("shares-with-original", new.name, message)


def _in_order(view: SetView) -> bool:
    """Whether the examples stand class by class: then balanced sets have the same labels, and it says nothing."""
    labels = view.predictions.benchmark.labels[:, 0] if view.predictions else np.empty(0)
    return bool(np.all(labels[1:] >= labels[:-1]))


def known_as(view: SetView) -> str:
    """Name of a released set whose labels these are, else the name it came with."""
    if view.predictions is None:
        return view.name
    fingerprint = view.predictions.benchmark.labels_fingerprint
    return next((name for name, labels in KNOWN_LABELS.items() if labels == fingerprint), view.name)


def _difference(a: Pairing, b: Pairing, shared: Shared, level: float) -> Estimate:
    models = tuple(model for model in a.models if model in set(b.models))
    if a.metric != b.metric or not models:
        return Estimate(None, reason="the two sets have no metric and model in common")
    value = float(
        np.mean([a.new_scores.accuracy[a.models.index(m)] - b.new_scores.accuracy[b.models.index(m)] for m in models])
    )
    if shared.count is None:
        return Estimate(value, reason=UNKNOWN)
    right = [pairing.new.right(pairing.metric, models) for pairing in (a, b)]
    if right[0] is None or right[1] is None:
        return Estimate(value, reason="needs the models' answers on both sets, not only their figures")
    if a.original.weighting != "micro":
        return Estimate(value, reason="defined for micro accuracy only")
    means = right[0].mean(axis=0), right[1].mean(axis=0)
    half = z_value(level) * float(np.sqrt(shared_variance(*means, shared)))
    return Estimate(value, value - half, value + half, "normal, shared examples counted once")


def shared_variance(a: Array, b: Array, shared: Shared) -> float:
    """Variance of mean(a) - mean(b) over redrawn examples, some of which are in both.

    Var = s_a^2 / n_a + s_b^2 / n_b - 2 m c / (n_a n_b), with c the covariance over the m shared examples where ids tell which
    they are, else, since a shared example gets the same answers, their pooled variance.

    Parameters
    ----------
    a, b : ndarray of float, shape (n_a,), (n_b,)
        Mean score of each example.
    shared : Shared

    Returns
    -------
    float
    """
    m = shared.count or 0
    if shared.rows is not None and m > 1:
        covariance = float(np.mean((a[shared.rows[0]] - a.mean()) * (b[shared.rows[1]] - b.mean())))
    else:
        covariance = float((np.var(a) + np.var(b)) / 2)
    return max(0.0, float(np.var(a) / len(a) + np.var(b) / len(b) - 2 * m * covariance / (len(a) * len(b))))
