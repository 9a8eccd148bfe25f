"""What groups gain, on the same examples: counts, bounds that hold at once, and the change of disparity."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resit.stats import paired_groups as paired
from resit.stats.clusters import make_clusters, redraw_clusters
from resit.stats.intervals import newcombe, newcombe_paired

CELLS = st.lists(st.tuples(*[st.integers(0, 60)] * 4).filter(any), min_size=2, max_size=5)


def by_hand(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = counts.sum(axis=1)
    return (counts[:, 0] + counts[:, 1]) / n, (counts[:, 0] + counts[:, 2]) / n


def test_tables_count_each_example_once():
    rng = np.random.default_rng(0)
    before, after = rng.random((2, 200)) < 0.6
    codes = rng.integers(3, size=200)
    found = paired.tables(before, after, codes, 4)
    for group in range(4):
        own = codes == group
        pairs = [(True, True), (True, False), (False, True), (False, False)]
        assert found[group].tolist() == [int(np.sum(own & (before == b) & (after == a))) for b, a in pairs]


def test_bounds_are_newcombes_at_the_shared_level():
    counts = np.array([[50, 5, 20, 25], [30, 2, 40, 28], [70, 9, 3, 18]])
    found = paired.paired_by_counts(counts, 0.95)
    each = 1 - 0.05 / 9
    n = counts.sum(axis=1)
    before = counts[:, 0] + counts[:, 1]
    for i, j in permutations(range(3), 2):
        own = newcombe(before[j], n[j], before[i], n[i], each)
        assert found.before.low[i, j] == pytest.approx(float(own.low))
        assert found.before.high[i, j] == pytest.approx(float(own.high))
        gains = [newcombe_paired(*counts[at][[0, 2, 1, 3]], each) for at in (i, j)]
        value = float(gains[0].estimate - gains[1].estimate)
        low = value - np.hypot(gains[0].estimate - gains[0].low, gains[1].high - gains[1].estimate)
        assert found.change.low[i, j] == pytest.approx(float(low))
        assert found.change.low[i, j] == pytest.approx(-found.change.high[j, i])


@given(CELLS)
def test_the_change_of_disparity_lies_within_its_bounds(cells: list[tuple[int, ...]]):
    counts = np.array(cells)
    before, after = by_hand(counts)
    low, high = paired.paired_by_counts(counts).disparity_change()
    value = paired.disparity_change(before, after)
    assert low - 1e-12 <= value <= high + 1e-12
    back = paired.paired_by_counts(counts[:, [0, 2, 1, 3]]).disparity_change()
    assert back == pytest.approx((-high, -low))


@settings(max_examples=300)
@given(st.integers(2, 6), st.integers(0, 10_000))
def test_the_projection_holds_for_all_accuracies_within_the_bounds(groups: int, seed: int):
    """Whatever the true accuracies are, if all bounds hold, the true change of disparity is within the projected ones."""
    rng = np.random.default_rng(seed)
    before, after = rng.random((2, groups))
    sides = [side[:, None] - side for side in (before, after, after - before)]
    bounds = []
    for side in sides:
        down, up = rng.exponential(0.05, (2, groups, groups))
        low, high = side - down, side + up
        low, high = np.maximum(low, -high.T), np.minimum(high, -low.T)
        np.fill_diagonal(low, 0)
        np.fill_diagonal(high, 0)
        bounds.append(paired.Bounds(np.minimum(low, side), np.maximum(high, side)))
    low, high = paired.PairedBounds(*bounds).disparity_change()
    assert low <= np.ptp(after) - np.ptp(before) <= high


def redrawn(before: np.ndarray, after: np.ndarray, codes: np.ndarray, clusters: np.ndarray, resamples: int = 500):
    groups = int(codes.max()) + 1
    made = make_clusters(np.tile(clusters, 2), np.concatenate([codes, codes + groups]), 2 * groups)
    right = made.count_right(np.concatenate([before, after]))
    return redraw_clusters(np.random.default_rng(0), made, right, resamples)


def test_clusters_of_one_give_about_the_bounds_of_examples():
    rng = np.random.default_rng(1)
    codes = np.arange(1_200) % 3
    before = rng.random(1_200) < np.array([0.8, 0.6, 0.5])[codes]
    after = np.where(rng.random(1_200) < 0.7, before, rng.random(1_200) < 0.75)
    drawn = redrawn(before, after, codes, np.arange(1_200), 4_000)
    plain = paired.paired_by_counts(paired.tables(before, after, codes, 3)).disparity_change()
    assert paired.paired_by_clusters(drawn).disparity_change() == pytest.approx(plain, abs=0.03)


def test_clusters_whose_examples_are_alike_widen_the_bounds():
    rng = np.random.default_rng(2)
    homes = 240
    codes = np.arange(homes) % 3
    before = rng.random(homes) < np.array([0.8, 0.6, 0.5])[codes]
    after = np.where(rng.random(homes) < 0.6, before, rng.random(homes) < 0.75)
    one = redrawn(before, after, codes, np.arange(homes))
    five = redrawn(*(np.repeat(part, 5) for part in (before, after, codes, np.arange(homes))))
    assert paired.paired_by_clusters(one).disparity_change() == pytest.approx(
        paired.paired_by_clusters(five).disparity_change()
    )
    narrow = paired.paired_by_counts(paired.tables(*(np.repeat(part, 5) for part in (before, after, codes)), 3))
    assert np.ptp(paired.paired_by_clusters(five).disparity_change()) > 1.5 * np.ptp(narrow.disparity_change())


def test_groups_that_never_vary_still_have_bounds():
    codes, clusters = np.repeat([0, 1], 60), np.arange(120) // 3
    before, after = np.repeat([True, False], 60), np.ones(120, bool)
    found = paired.paired_by_clusters(redrawn(before, after, codes, clusters))
    low, high = found.disparity_change()
    assert low < -1 + 1e-9
    assert -1 < high < -0.7
    alone = paired.change_by_clusters(redrawn(before, after, codes, clusters))
    assert alone.low[1, 0] < 1 <= alone.high[1, 0] + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(
    "truth", [([0.8, 0.6, 0.5, 0.75], [0.8, 0.78, 0.75, 0.79]), ([0.7, 0.7, 0.7, 0.7], [0.7, 0.7, 0.7, 0.7])]
)
def test_the_change_of_disparity_is_covered(truth: tuple[list[float], list[float]], clustered: bool):
    """At least nominally, as the bounds are projected; also where nothing differs, where a bootstrap of the change fails."""
    rng = np.random.default_rng(5)
    old, new = map(np.array, truth)
    inside, runs, homes = 0, 400, 160
    codes = np.arange(homes) % 4
    for _ in range(runs):
        ease, luck = rng.random((2, homes))
        before, after = ease < old[codes], np.where(luck < 0.5, ease, rng.random(homes)) < new[codes]
        if clustered:
            three = (np.repeat(part, 3) for part in (before, after, codes, np.arange(homes)))
            found = paired.paired_by_clusters(redrawn(*three, 400))
        else:
            found = paired.paired_by_counts(paired.tables(before, after, codes, 4))
        low, high = found.disparity_change()
        inside += low <= np.ptp(new) - np.ptp(old) <= high
    assert inside / runs >= 0.94
