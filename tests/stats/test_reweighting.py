"""Reweighting against plain loops, scipy, and what must hold for any mix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from resit.stats.mixes import same_mix
from resit.stats.quantile_gaps import quantile_means
from resit.stats.reweighting import Side, reweight

CELLS = 4


def sides(seed: int, n: int = 300) -> tuple[Side, Side]:
    rng = np.random.default_rng(seed)
    cells = [rng.choice(CELLS, size, p=share) for size, share in ((n, (0.4, 0.3, 0.2, 0.1)), (n // 2, (0.1, 0.2, 0.3, 0.4)))]
    return Side(rng.random(n), [cells[0]]), Side(rng.random(n // 2) * (0.5 + cells[1] / 8), [cells[1]])


def by_loop(old: Side, new: Side, size: int) -> float:
    total, weight = 0.0, 0
    for cell in range(size):
        mine = [value for value, place in zip(new.values, new.cells[0], strict=True) if place == cell]
        theirs = sum(place == cell for place in old.cells[0])
        if mine:
            total += theirs * sum(mine) / len(mine)
            weight += theirs
    return total / weight


@pytest.mark.parametrize("seed", range(5))
def test_the_mean_is_that_of_a_plain_loop(seed: int):
    old, new = sides(seed)
    found = reweight(old, new, [CELLS], 50, 0, 1)[0]
    assert found.reweighted == pytest.approx(by_loop(old, new, CELLS))
    assert found.plain == pytest.approx(new.values.mean())
    assert found.explained == pytest.approx(found.reweighted - found.plain)
    assert found.original_count.tolist() == np.bincount(old.cells[0], minlength=CELLS).tolist()


def test_several_divisions_are_those_of_each_alone():
    old, new = sides(1)
    other = Side(old.values, [old.cells[0], old.cells[0] // 2]), Side(new.values, [new.cells[0], new.cells[0] // 2])
    both = reweight(*other, [CELLS, 2], 50, 0, 1)
    coarse = reweight(Side(old.values, [old.cells[0] // 2]), Side(new.values, [new.cells[0] // 2]), [2], 50, 0, 1)[0]
    assert both[0].explained == pytest.approx(by_loop(old, new, CELLS) - new.values.mean())
    assert both[1].replicates == pytest.approx(coarse.replicates)


def test_the_same_mix_explains_nothing():
    _, new = sides(2)
    found = reweight(Side(np.zeros(len(new.values)), new.cells), new, [CELLS], 50, 0, 1)[0]
    assert found.explained == pytest.approx(0)


def test_cells_that_the_new_set_lacks_are_told_and_left_out():
    old, new = sides(3)
    some = new.cells[0] > 0
    cut = Side(new.values[some], [new.cells[0][some]])
    found = reweight(old, cut, [CELLS], 50, 0, 1)[0]
    assert found.uncovered == pytest.approx((old.cells[0] == 0).mean())
    assert found.reweighted == pytest.approx(by_loop(old, cut, CELLS))
    assert np.isnan(found.new_mean[0])


def test_images_of_no_cell_are_left_out():
    old, new = sides(4)
    cells = np.where(np.arange(len(new.values)) < 20, -1, new.cells[0])
    found = reweight(old, Side(new.values, [cells]), [CELLS], 50, 0, 1)[0]
    assert found.plain == pytest.approx(new.values[20:].mean())


def test_no_shared_cell_gives_no_number():
    old = Side(np.ones(5), [np.zeros(5, int)])
    found = reweight(old, Side(np.ones(5), [np.ones(5, int)]), [2], 50, 0, 1)[0]
    assert np.isnan(found.reweighted)
    assert np.isnan(found.replicates).all()


def test_replicates_spread_as_repeated_samples_do():
    again = [reweight(*sides(seed), [CELLS], 0, 0, 1)[0].explained for seed in range(300)]
    spread = [np.std(reweight(*sides(seed), [CELLS], 300, 0, 1)[0].replicates) for seed in range(10)]
    assert np.mean(spread) == pytest.approx(np.std(again), rel=0.15)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=6))
def test_mixes_are_compared_as_scipy_does(pairs: list[tuple[int, int]]):
    counts = np.array(pairs).T
    known = counts[:, counts.sum(axis=0) > 0]
    if known.shape[1] < 2 or not known.sum(axis=1).all():
        assert same_mix(*counts) == 1
    else:
        assert same_mix(*counts) == pytest.approx(stats.chi2_contingency(known, correction=False).pvalue)


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=40),
    st.lists(st.floats(0.01, 0.99), min_size=0, max_size=5, unique=True),
)
def test_quantile_means_add_up_to_the_mean(values: list[float], cuts: list[float]):
    edges = np.array([0, *sorted(cuts), 1])
    found = quantile_means(values, edges)
    assert (np.diff(edges) * found).sum() == pytest.approx(np.mean(values), abs=1e-9)
    assert (np.diff(found) >= -1e-9).all()


def test_quantile_means_are_those_of_images_counted_in_part():
    # of five values the lowest three tenths are one and a half of them
    assert quantile_means([5, 1, 4, 2, 3], [0, 0.3, 1]) == pytest.approx([(1 + 0.5 * 2) / 1.5, (0.5 * 2 + 3 + 4 + 5) / 3.5])
