from __future__ import annotations

import statistics
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from resit.stats.intervals import Interval, clopper_pearson, newcombe, newcombe_paired, normal, percentile, wilson, z_value

LEVELS = (0.5, 0.8, 0.95, 0.99)
quick = settings(deadline=None, max_examples=100)
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
cells = st.tuples(*[st.integers(0, 60)] * 4).filter(any)
levels = st.sampled_from(LEVELS)


def bounds(interval: Interval) -> tuple[float, float]:
    return float(interval.low), float(interval.high)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("ours", "method"), [(clopper_pearson, "exact"), (wilson, "wilson")])
def test_one_proportion_agrees_with_scipy(ours, method, level):
    for n in (1, 2, 7, 40, 2021):
        for k in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            theirs = stats.binomtest(k, n).proportion_ci(level, method)
            assert bounds(ours(k, n, level)) == pytest.approx((theirs.low, theirs.high), abs=1e-10)


@pytest.mark.parametrize(
    ("k", "n", "exact", "score"),
    [  # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, methods 5 and 3
        (81, 263, (0.2527, 0.3676), (0.2553, 0.3662)),
        (15, 148, (0.0578, 0.1617), (0.0624, 0.1605)),
        (0, 20, (0.0000, 0.1684), (0.0000, 0.1611)),
        (1, 29, (0.0009, 0.1776), (0.0061, 0.1718)),
    ],
)
def test_one_proportion_is_as_newcombe_printed_it(k, n, exact, score):
    assert bounds(clopper_pearson(k, n)) == pytest.approx(exact, abs=6e-5)
    assert bounds(wilson(k, n)) == pytest.approx(score, abs=6e-5)


@pytest.mark.parametrize(
    ("first", "second", "printed"),
    [  # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10, of p1 - p2
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((0, 10), (0, 10), (-0.2775, 0.2775)),
        ((10, 10), (0, 20), (0.6791, 1.0000)),
        ((10, 10), (0, 10), (0.6075, 1.0000)),
    ],
)
def test_independent_difference_is_as_newcombe_printed_it(first, second, printed):
    assert bounds(newcombe(*second, *first)) == pytest.approx(printed, abs=6e-5)


@pytest.mark.parametrize(
    ("table", "printed"),
    [  # Newcombe (1998), Statistics in Medicine 17, 2635-2650, table III, method 10; four decimals, some of them cut off
        ((36, 12, 2, 0), (0.0569, 0.3404)),
        ((20, 12, 2, 16), (0.0562, 0.3292)),
        ((18, 12, 2, 18), (0.0562, 0.3290)),
        ((36, 14, 0, 0), (0.1528, 0.4167)),
        ((35, 14, 0, 1), (0.1461, 0.4175)),
        ((18, 14, 0, 18), (0.1441, 0.3963)),
        ((2, 97, 1, 0), (0.8721, 0.9854)),
        ((1, 97, 1, 1), (0.8736, 0.9850)),
        ((0, 29, 1, 0), (0.6666, 0.9882)),
        ((2, 98, 0, 0), (0.9178, 0.9945)),
        ((1, 98, 0, 1), (0.9171, 0.9916)),
        ((0, 30, 0, 0), (0.8395, 1.0000)),
        ((54, 0, 0, 0), (-0.0664, 0.0664)),
        ((53, 0, 0, 1), (-0.0729, 0.0729)),
        ((30, 0, 0, 24), (-0.0358, 0.0358)),
        ((29, 0, 0, 25), (-0.0354, 0.0354)),
        ((28, 0, 0, 26), (-0.0352, 0.0352)),
        ((27, 0, 0, 27), (-0.0351, 0.0351)),
    ],
)
def test_paired_difference_is_as_newcombe_printed_it(table, printed):
    found = newcombe_paired(*table)
    assert bounds(found) == pytest.approx(printed, abs=1.1e-4)
    assert found.estimate == pytest.approx((table[1] - table[2]) / sum(table))


def test_differences_of_many_examples_tend_to_the_normal_interval():
    n, z = 4_000_000, statistics.NormalDist().inv_cdf(0.975)
    a, b, c = int(0.5 * n), int(0.2 * n), int(0.1 * n)
    error = np.sqrt(b + c - (b - c) ** 2 / n) / n  # standard error of a paired difference, McNemar's
    assert bounds(newcombe_paired(a, b, c, n - a - b - c)) == pytest.approx((0.1 - z * error, 0.1 + z * error), abs=3e-7)
    error = np.sqrt(0.7 * 0.3 / n + 0.6 * 0.4 / (n / 2))
    assert bounds(newcombe(0.7 * n, n, 0.3 * n, n / 2)) == pytest.approx((-0.1 - z * error, -0.1 + z * error), abs=1e-6)


def test_pairing_what_is_not_correlated_gives_the_independent_interval():
    paired = newcombe_paired(24, 36, 16, 24)  # each margin independent of the other: 24 * 24 == 36 * 16
    assert bounds(paired) == pytest.approx(bounds(newcombe(40, 100, 60, 100)), abs=1e-12)


@pytest.mark.parametrize("interval", [clopper_pearson, wilson])
def test_case_27_none_or_all_right_has_an_outer_bound_of_exactly_0_or_1(interval):
    for n in (1, 3, 10, 50_000):
        none, everything = interval(0, n), interval(n, n)
        assert none.low == 0.0
        assert everything.high == 1.0
        assert 0 < none.high < 1
        assert none.high == pytest.approx(1 - everything.low, abs=1e-12)


def test_case_27_no_examples_is_not_available_and_leaves_the_others():
    for found in (clopper_pearson([0, 3, np.nan, 2], [0, 10, 10, np.nan]), wilson([0, 3, np.nan, 2], [0, 10, 10, np.nan])):
        for part in (found.estimate, found.low, found.high):
            assert np.isnan(part).tolist() == [True, False, True, True]
    for found in (newcombe(0, 0, 1, 2), newcombe(1, 2, 0, 0), newcombe_paired(0, 0, 0, 0), newcombe_paired(np.nan, 1, 1, 1)):
        assert np.isnan([found.estimate, found.low, found.high]).all()


def test_case_31_one_example_has_an_exact_interval():
    assert bounds(clopper_pearson(1, 1)) == pytest.approx((0.025, 1.0))
    assert bounds(clopper_pearson(0, 1)) == pytest.approx((0.0, 0.975))


def test_ten_thousand_examples_know_accuracy_to_one_point():
    found = clopper_pearson(np.arange(10_001), 10_000)
    assert np.maximum(found.high - found.estimate, found.estimate - found.low).max() < 0.01


@quick
@given(counts, levels)
def test_one_proportion_holds_its_estimate_and_mirrors(count, level):
    k, n = count
    for interval in (clopper_pearson, wilson):
        found, mirrored = interval(k, n, level), interval(n - k, n, level)
        assert 0 <= found.low <= found.estimate <= found.high <= 1
        assert bounds(found) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-10)


@quick
@given(counts, counts, levels)
def test_independent_difference_holds_its_estimate_and_mirrors(one, two, level):
    found = newcombe(*one, *two, level)
    swapped = newcombe(*two, *one, level)
    mirrored = newcombe(one[1] - one[0], one[1], two[1] - two[0], two[1], level)
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    assert found.estimate == pytest.approx(two[0] / two[1] - one[0] / one[1])
    for other in (swapped, mirrored):
        assert bounds(found) == pytest.approx((-other.high, -other.low), abs=1e-10)


@quick
@given(cells, levels)
def test_paired_difference_holds_its_estimate_and_mirrors(table, level):
    a, b, c, d = table
    found = newcombe_paired(*table, level)
    assert -1 - 1e-12 <= found.low <= found.estimate <= found.high <= 1 + 1e-12
    for other in (newcombe_paired(a, c, b, d, level), newcombe_paired(d, c, b, a, level)):
        assert bounds(found) == pytest.approx((-other.high, -other.low), abs=1e-10)


@quick
@given(counts, counts, cells)
def test_a_higher_level_never_gives_a_narrower_interval(one, two, table):
    for make in (
        lambda level: clopper_pearson(*one, level),
        lambda level: wilson(*one, level),
        lambda level: newcombe(*one, *two, level),
        lambda level: newcombe_paired(*table, level),
    ):
        found = [bounds(make(level)) for level in LEVELS]
        assert all(wide[0] <= slim[0] + 1e-12 and slim[1] <= wide[1] + 1e-12 for slim, wide in pairwise(found))


def test_arrays_give_what_their_elements_give():
    k, n = np.array([0, 5, 9, 10]), 10
    together = clopper_pearson(k, n)
    assert together.low.tolist() == [float(clopper_pearson(int(one), n).low) for one in k]
    together = newcombe(k, n, k[::-1], n)
    assert together.high.tolist() == [float(newcombe(int(k[i]), n, int(k[3 - i]), n).high) for i in range(4)]
    together = newcombe_paired(k, 3, [1, 2, 3, 4], 5)
    assert together.low.tolist() == [float(newcombe_paired(int(k[i]), 3, i + 1, 5).low) for i in range(4)]


@pytest.mark.parametrize("level", LEVELS)
def test_normal_agrees_with_scipy(level):
    assert z_value(level) == pytest.approx(statistics.NormalDist().inv_cdf((1 + level) / 2))
    assert bounds(normal(0.3, 0.02, level)) == pytest.approx(stats.norm.interval(level, 0.3, 0.02))
    assert np.isnan(bounds(normal(0.3, np.nan, level))).all()


def test_percentile_agrees_with_the_standard_library():
    rng = np.random.default_rng(5)
    replicates = rng.normal(size=(3, 2, 1237))
    low, high = percentile(replicates, 0.95)
    assert low.shape == high.shape == (3, 2)
    for at in np.ndindex(3, 2):
        cuts = statistics.quantiles(replicates[at].tolist(), n=40, method="inclusive")
        assert (low[at], high[at]) == pytest.approx((cuts[0], cuts[-1]))
