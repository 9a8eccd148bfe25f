"""Differences between groups against plain loops: pairs, projections, permutations, clusters."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from resit.stats import clusters as clustered
from resit.stats import disparity
from resit.stats.intervals import clopper_pearson, newcombe

CORRECT, SIZES = np.array([60, 90, 45, 20]), np.array([100, 120, 90, 25])


def statistics(accuracy: np.ndarray) -> np.ndarray:
    return disparity.largest_difference(accuracy)[..., None]


def test_pairs_are_newcombe_at_the_adjusted_level_and_the_largest_is_projected():
    found = disparity.by_counts(CORRECT, SIZES, 0.9)
    lows, highs = [0.0], [0.0]
    for i, j in combinations(range(4), 2):
        one = newcombe(CORRECT[j], SIZES[j], CORRECT[i], SIZES[i], 1 - 0.1 / 6)
        assert (found.low[i, j], found.high[i, j]) == (pytest.approx(float(one.low)), pytest.approx(float(one.high)))
        assert found.low[j, i] == pytest.approx(-float(one.high))
        lows += [float(one.low), -float(one.high)]
        highs += [float(one.high), -float(one.low)]
    assert found.largest() == (pytest.approx(max(lows)), pytest.approx(max(highs)))
    own = clopper_pearson(CORRECT, SIZES, 1 - 0.1 / 4)
    low, high = found.largest_ratio()
    assert low == pytest.approx(max(0, 1 - own.high.min() / own.low.max()))
    assert high == pytest.approx(1 - own.low.min() / own.high.max())


def test_two_groups_are_one_pair_at_the_level():
    found = disparity.by_counts(np.array([10, 15]), np.array([40, 40]))
    one = newcombe(10, 40, 15, 40)
    assert found.largest() == (max(0.0, float(one.low)), pytest.approx(float(one.high)))


def test_case_27_none_and_all_right_bound_the_ratio_at_0_and_1():
    found = disparity.by_counts(np.array([0, 20]), np.array([20, 20]))
    assert found.largest_ratio()[1] == 1
    assert (found.group_low[0], found.group_high[1]) == (0, 1)
    assert np.isnan(disparity.relative(0.0, 0.0))
    assert disparity.relative(0.4, 0.5) == pytest.approx(-0.2)


@pytest.mark.parametrize(("percent", "each"), [(5, 1), (10, 2), (25, 5)])
def test_percentile_gap_is_the_mean_of_the_ends(percent: float, each: int):
    values = np.random.default_rng(0).random((3, 21))
    for row, found in zip(values, disparity.percentile_gap(values, percent), strict=True):
        ordered = sorted(row)
        assert found == pytest.approx(np.mean(ordered[-each:]) - np.mean(ordered[:each]))


def test_null_of_examples_is_that_of_permuted_labels():
    right = np.repeat([True, False], [215, 120])
    labels, rng = np.repeat(np.arange(4), SIZES), np.random.default_rng(0)
    slow = []
    for _ in range(5_000):
        shuffled = rng.permutation(right)
        means = [shuffled[labels == g].mean() for g in range(4)]
        slow.append(max(means) - min(means))
    fast = disparity.null_of_examples(np.random.default_rng(1), 215, SIZES, 20_000, statistics)[:, 0]
    assert fast.mean() == pytest.approx(np.mean(slow), abs=0.003)
    assert np.quantile(fast, 0.95) == pytest.approx(np.quantile(slow, 0.95), abs=0.01)
    assert disparity.p_value(fast, 1.0) == pytest.approx(1 / 20_001)
    assert disparity.p_value(fast, 0.0) == 1


@pytest.fixture
def homes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which answers are right, cluster and group of each example: 48 clusters in 3 groups, each of an ease of its own."""
    rng = np.random.default_rng(2)
    clusters = rng.integers(48, size=700)
    ease = 0.3 + 0.15 * (np.arange(48) % 3) + rng.normal(0, 0.15, 48)
    return rng.random(700) < ease[clusters], clusters, clusters % 3


def test_clusters_are_counted_and_known_to_lie_in_one_group(homes):
    right, clusters, codes = homes
    found = clustered.make_clusters(clusters, codes, 3)
    assert found.n[4].tolist() == [0, (clusters == 4).sum(), 0]
    assert found.count_right(right)[4].tolist() == [0, right[clusters == 4].sum(), 0]
    assert found.clusters_of.tolist() == [16, 16, 16]
    assert clustered.make_clusters(clusters, np.arange(700) % 3, 3).strata is None


def test_maximal_t_is_that_of_a_loop_over_redrawn_clusters(homes):
    right, clusters, codes = homes
    counted = clustered.make_clusters(clusters, codes, 3)
    drawn = clustered.redraw_clusters(np.random.default_rng(0), counted, counted.count_right(right), 20_000)
    found = clustered.by_clusters(drawn)
    members = [[np.flatnonzero(clusters == k) for k in range(48) if k % 3 == g] for g in range(3)]

    def summary(parts: list[np.ndarray]) -> tuple[float, float]:
        p = np.concatenate([right[part] for part in parts]).mean()
        residuals = [right[part].sum() - p * len(part) for part in parts]
        return float(p), sum(r * r for r in residuals) / sum(map(len, parts)) ** 2

    observed = [summary(group) for group in members]
    rng, largest = np.random.default_rng(1), []
    for _ in range(3_000):
        redrawn = [summary([group[k] for k in rng.integers(16, size=16)]) for group in members]
        t = [
            abs(redrawn[i][0] - redrawn[j][0] - observed[i][0] + observed[j][0]) / np.sqrt(redrawn[i][1] + redrawn[j][1])
            for i, j in combinations(range(3), 2)
        ]
        largest.append(max(t))
    for i, j in combinations(range(3), 2):
        half = np.quantile(largest, 0.95) * np.sqrt(observed[i][1] + observed[j][1])
        assert found.high[i, j] == pytest.approx(observed[i][0] - observed[j][0] + half, abs=0.15 * half)
    independent = disparity.by_counts(counted.count_right(right).sum(axis=0), counted.n.sum(axis=0))
    assert (found.high - found.low)[0, 1] > (independent.high - independent.low)[0, 1]


def test_clusters_in_several_groups_take_their_covariance_into_account(homes):
    right, clusters, _ = homes
    counted = clustered.make_clusters(clusters, np.arange(700) % 2, 2)
    drawn = clustered.redraw_clusters(np.random.default_rng(0), counted, counted.count_right(right), 8_000)
    found = clustered.by_clusters(drawn)
    spread = np.std(drawn.replicates[:, 0] - drawn.replicates[:, 1])
    assert (found.high - found.low)[0, 1] / 2 == pytest.approx(1.96 * spread, rel=0.08)


def test_groups_whose_clusters_are_all_alike_still_have_width():
    clusters = np.repeat(np.arange(24), 5)
    codes = clusters // 12
    right = codes == 1
    counted = clustered.make_clusters(clusters, codes, 2)
    found = clustered.by_clusters(clustered.redraw_clusters(np.random.default_rng(0), counted, counted.count_right(right), 500))
    assert np.isfinite(found.high).all()
    assert (found.group_low[0], found.group_high[1]) == (0, 1)


def test_null_of_clusters_is_that_of_permuted_clusters(homes):
    right, clusters, codes = homes
    counted = clustered.make_clusters(clusters, codes, 3)
    k_right, k_n = counted.count_right(right).sum(axis=1), counted.n.sum(axis=1)
    fast = disparity.null_of_clusters(np.random.default_rng(0), k_right, k_n, counted.strata, 10_000, statistics)[:, 0]
    rng, slow = np.random.default_rng(1), []
    for _ in range(4_000):
        labels = rng.permutation(np.arange(48) % 3)[clusters]
        means = [right[labels == g].mean() for g in range(3)]
        slow.append(max(means) - min(means))
    assert fast.mean() == pytest.approx(np.mean(slow), abs=0.004)
    assert np.quantile(fast, 0.95) == pytest.approx(np.quantile(slow, 0.95), abs=0.012)


def test_same_seed_same_figures():
    one, again, other = (
        disparity.null_of_examples(np.random.default_rng(seed), 215, SIZES, 500, statistics) for seed in (3, 3, 4)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
