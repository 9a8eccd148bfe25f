"""Which countries groups are made of, where a set has a column of countries: what places regions on a map."""

from __future__ import annotations

import numpy as np

from resit.data.benchmark import Benchmark
from resit.study.groupings import MISSING, Grouping
from resit.study.groups_result import Countries, CountryGroup

CALLED = "countr"
MOST_ELSEWHERE = 0.05
MOST_COUNTRIES = 300


def countries_of(benchmark: Benchmark, grouping: Grouping) -> Countries | None:
    """The countries of each group, by the first column whose name says that it has them.

    Parameters
    ----------
    benchmark : Benchmark
    grouping : Grouping

    Returns
    -------
    Countries or None
        Each country with the group that most of its examples are in. None where there is no such column, where groups come
        from it or from several columns, or where they are not made of countries: a group that is no country's, or more than
        5 % of the examples outside their country's group.
    """
    column = next((name for name in benchmark.groups if CALLED in name.lower()), None)
    if column is None or len(grouping.columns) > 1 or column in grouping.columns or len(grouping.names) < 2:
        return None
    values = benchmark.groups[column]
    known = values != ""
    names, codes = np.unique(values[known], return_inverse=True)
    if not 0 < len(names) <= MOST_COUNTRIES:
        return None
    counts = np.bincount(codes * len(grouping.names) + grouping.codes[known], minlength=len(names) * len(grouping.names))
    counts = counts.reshape(len(names), len(grouping.names))
    home, inside, all_of_it = counts.argmax(axis=1), counts.max(axis=1), counts.sum(axis=1)
    real = {at for at, name in enumerate(grouping.names) if name != MISSING}
    if real - set(home.tolist()) or inside.sum() < (1 - MOST_ELSEWHERE) * all_of_it.sum():
        return None
    found = zip(names.tolist(), home.tolist(), inside.tolist(), (all_of_it - inside).tolist(), strict=True)
    return Countries(column, tuple(CountryGroup(name, grouping.names[at], n, rest) for name, at, n, rest in found))
