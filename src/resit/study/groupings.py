"""From group columns to numbered groups: missing values, quantiles of numbers, intersections, clusters and classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.predictions import Predictions
from resit.errors import UsageError

MISSING = "(missing)"
MOST_GROUPS = 1_000
Ints = npt.NDArray[np.int_]


@dataclass(frozen=True)
class Grouping:
    """Examples in groups: ``names[codes]`` is the group of each. ``missing`` of them have no value in some column."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    codes: Ints
    missing: int

    @property
    def by(self) -> str:
        """The columns as people write them."""
        return " × ".join(self.columns)


def make_groupings(benchmark: Benchmark, by: Sequence[str], quantiles: Mapping[str, int], *, refuse: bool) -> list[Grouping]:
    """Groups by each column, and by all of them together where there are several.

    Parameters
    ----------
    benchmark : Benchmark
    by : sequence of str
        Group columns.
    quantiles : mapping of str to int
        Columns of numbers, and into how many groups of about equally many examples they are cut.
    refuse : bool
        Whether missing values are an error, instead of a group of their own.

    Raises
    ------
    UsageError
        If there is no such column, it has missing values that are refused, or makes too many groups.
    """
    single = [_of_column(benchmark, column, quantiles.get(column), refuse) for column in by]
    return single if len(single) == 1 else [*single, _crossed(benchmark, single)]


def values_of(benchmark: Benchmark, column: str, where: str) -> npt.NDArray[np.str_]:
    """A group column.

    Raises
    ------
    UsageError
        If there is none of this name.
    """
    if column in benchmark.groups:
        return benchmark.groups[column]
    known = [name for name in benchmark.groups if name]
    if "," in column and all(part.strip() in benchmark.groups for part in column.split(",")):
        apart = " ".join(f"--by {part.strip()}" for part in column.split(","))
        raise UsageError(f"{column!r} is several columns", where=where, fix=f"Write {apart}")
    fix = f"It has {', '.join(known)}" if known else "Give labels with more columns: --labels FILE with id, label and groups"
    raise UsageError(f"{benchmark.name} has no group column {column!r}", where=where, fix=fix)


def _of_column(benchmark: Benchmark, column: str, parts: int | None, refuse: bool) -> Grouping:
    values = values_of(benchmark, column, f"--by {column}")
    absent = values == ""
    count = int(absent.sum())
    if count and refuse:
        raise UsageError(
            f"{count} of {benchmark.n} examples of {benchmark.name} have no {column}, the first is example {absent.argmax()}",
            where=f"--by {column}",
            fix=f"Fill them in, leave these examples out, or let them form the group {MISSING}",
        )
    if count and MISSING in values:
        raise UsageError(f"{column} is both missing and called {MISSING}", where=f"--by {column}", fix="Rename that group")
    if parts is not None:
        names, codes = _quantiles(values, column, parts)
    else:
        distinct, codes = np.unique(values, return_inverse=True)
        names = [str(name) or MISSING for name in distinct]
    if len(names) > MOST_GROUPS:
        raise UsageError(
            f"{column} has {len(names):,} values in {benchmark.name}, and at most {MOST_GROUPS:,} groups are told apart",
            where=f"--by {column}",
            fix=f"Numbers can be cut into quantiles: --quantiles {column}=4",
        )
    return Grouping((column,), tuple(names), codes, count)


def _quantiles(values: npt.NDArray[np.str_], column: str, parts: int) -> tuple[list[str], Ints]:
    where = f"--quantiles {column}={parts}"
    if parts < 2:
        raise UsageError("at least two groups are needed", where=where)
    present = values != ""
    distinct, inverse = np.unique(values[present], return_inverse=True)
    try:
        numbers = np.array([float(text) for text in distinct.tolist()])[inverse]
    except ValueError as error:
        raise UsageError(f"a value of {column} is no number: {error}", where=where) from None
    if not len(numbers) or not np.isfinite(numbers).all():
        raise UsageError(f"{column} has no numbers, or some that are not finite", where=where)
    edges = np.unique(np.quantile(numbers, np.arange(1, parts) / parts))
    part = np.unique(np.searchsorted(edges, numbers, side="left"), return_inverse=True)[1]
    ends = [(numbers[part == at].min(), numbers[part == at].max()) for at in range(part.max() + 1)]
    names = [f"{column} {at + 1} of {len(ends)}: {_short(low)} to {_short(high)}" for at, (low, high) in enumerate(ends)]
    codes = np.full(len(values), len(names))
    codes[present] = part
    return names if present.all() else [*names, MISSING], codes


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _crossed(benchmark: Benchmark, single: Sequence[Grouping]) -> Grouping:
    found, codes = np.unique(np.stack([grouping.codes for grouping in single], axis=1), axis=0, return_inverse=True)
    if len(found) > MOST_GROUPS:
        raise UsageError(
            f"{', '.join(grouping.by for grouping in single)} cross to {len(found):,} groups, more than {MOST_GROUPS:,}",
            where="--by",
            fix="Ask for fewer columns at a time, or cut numbers into quantiles",
        )
    names = [" × ".join(grouping.names[at] for grouping, at in zip(single, row, strict=True)) for row in found.tolist()]
    missing = np.zeros(benchmark.n, bool)
    columns: tuple[str, ...] = ()
    for grouping in single:
        missing |= np.array([name == MISSING for name in grouping.names])[grouping.codes]
        columns += grouping.columns
    return Grouping(columns, tuple(names), codes.reshape(-1), int(missing.sum()))


def split_clusters(clusters: Ints, codes: Ints, most: float) -> tuple[Ints, int]:
    """Clusters, those that lie in several groups split into parts of one group each, where they are a small share of all.

    Parameters
    ----------
    clusters, codes : ndarray of int, shape (n,)
        Cluster and group of each example, numbered from 0.
    most : float
        Share of clusters up to which they are split; beyond it they stay as they are.

    Returns
    -------
    clusters : ndarray of int, shape (n,)
    split : int
        How many were.
    """
    pairs, parts = np.unique(np.stack([clusters, codes], axis=1), axis=0, return_inverse=True)
    across = int((np.bincount(pairs[:, 0]) > 1).sum())
    if across == 0 or across > most * (clusters.max() + 1):
        return clusters, 0
    return parts.reshape(-1), across


def cluster_codes(benchmark: Benchmark, column: str) -> Ints:
    """Cluster of each example, numbered from 0.

    Raises
    ------
    UsageError
        If there is no such column, or an example has no cluster.
    """
    values = values_of(benchmark, column, f"--cluster {column}")
    absent = int((values == "").sum())
    if absent:
        raise UsageError(
            f"{absent} of {benchmark.n} examples of {benchmark.name} have no {column}",
            where=f"--cluster {column}",
            fix="Give each example its cluster; one that stands alone is a cluster of its own",
        )
    return np.unique(values, return_inverse=True)[1]


def class_codes(data: Predictions, column: str | None) -> tuple[Ints | None, str | None]:
    """Class of each example, numbered from 0: by a column, else by its accepted labels; None and the reason where unknown.

    Raises
    ------
    UsageError
        If there is no such column.
    """
    if column is not None:
        return np.unique(values_of(data.benchmark, column, f"--class-column {column}"), return_inverse=True)[1], None
    if data.is_correctness:
        return None, "only right or wrong is known, not the classes; name a column of classes with --class-column"
    labels = np.sort(data.benchmark.labels, axis=1)
    if labels.shape[1] == 1:
        return np.unique(labels[:, 0], return_inverse=True)[1], None
    return np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1), None


def find_pair(groupings: Sequence[Grouping], pair: tuple[str, str]) -> Iterator[Grouping]:
    """Groupings that have both groups of a pair."""
    yield from (grouping for grouping in groupings if set(pair) <= set(grouping.names))
