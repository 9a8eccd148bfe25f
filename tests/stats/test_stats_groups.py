"""Group accuracies against plain loops over examples."""

from __future__ import annotations

import numpy as np
import pytest

from resit.stats import groups
from resit.stats.intervals import clopper_pearson

N, GROUPS, CLASSES = 600, 4, 6


@pytest.fixture
def exam() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which answers are right, group and class of each example; class 5 is not in group 0."""
    rng = np.random.default_rng(4)
    codes, strata = rng.integers(GROUPS, size=N), rng.integers(CLASSES, size=N)
    strata[(codes == 0) & (strata == 5)] = 1
    return rng.random((3, N)) < 0.3 + 0.1 * codes + 0.03 * strata, codes, strata


def test_counts_are_those_of_a_loop(exam):
    right, codes, _ = exam
    expected = [[sum(int(r) for r, c in zip(row, codes, strict=True) if c == g) for g in range(GROUPS)] for row in right]
    assert groups.count_right(right, codes, GROUPS).tolist() == expected


def test_class_macro_is_the_mean_of_its_classes(exam):
    right, codes, strata = exam
    cells = groups.make_cells(codes, strata, GROUPS)
    found = groups.weighted(cells, np.bincount(cells.code[right[0]], minlength=len(cells.n)), groups.macro_weights(cells))
    for g in range(GROUPS):
        mine = [right[0][(codes == g) & (strata == c)] for c in range(CLASSES)]
        assert found[g] == pytest.approx(np.mean([one.mean() for one in mine if len(one)]))
    assert cells.classes_of.tolist() == [5, 6, 6, 6]


def test_standardised_gives_all_groups_one_mix_of_the_classes_they_share(exam):
    right, codes, strata = exam
    cells = groups.make_cells(codes, strata, GROUPS)
    weights, classes, share = groups.standard_weights(cells, np.ones(GROUPS, bool))
    found = groups.weighted(cells, np.bincount(cells.code[right[1]], minlength=len(cells.n)), weights)
    common = strata < 5
    assert (classes, share) == (5, pytest.approx(common.mean()))
    for g in range(GROUPS):
        expected = sum((strata == c).sum() / common.sum() * right[1][(codes == g) & (strata == c)].mean() for c in range(5))
        assert found[g] == pytest.approx(expected)


def test_standardising_takes_away_a_difference_that_is_only_of_the_mix():
    strata = np.repeat([0, 1, 0, 1], [90, 10, 20, 80])
    codes = np.repeat([0, 1], 100)
    right = strata == 0
    cells = groups.make_cells(codes, strata, 2)
    correct = np.bincount(cells.code[right], minlength=len(cells.n))
    weights, _, _ = groups.standard_weights(cells, np.ones(2, bool))
    assert groups.count_right(right[None], codes, 2).tolist() == [[90, 20]]
    assert groups.weighted(cells, correct, weights) == pytest.approx([0.55, 0.55])


def test_groups_without_a_common_class_have_no_standardised_accuracy():
    cells = groups.make_cells(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 2)
    weights, classes, share = groups.standard_weights(cells, np.ones(2, bool))
    assert (classes, share) == (0, 0.0)
    assert np.isnan(groups.weighted(cells, np.array([1, 2]), weights)).all()


def test_redrawn_cells_are_a_stratified_bootstrap_of_examples(exam):
    right, codes, strata = exam
    cells = groups.make_cells(codes, strata, GROUPS)
    weights = np.stack([groups.macro_weights(cells), groups.standard_weights(cells, np.ones(GROUPS, bool))[0]])
    correct = np.bincount(cells.code[right[0]], minlength=len(cells.n))
    fast = groups.bootstrap_cells(np.random.default_rng(0), cells, correct, weights, 20_000)
    rng, slow = np.random.default_rng(1), np.empty((3_000, GROUPS))
    for row in range(len(slow)):
        for g in range(GROUPS):
            mine = [right[0][(codes == g) & (strata == c)] for c in range(CLASSES)]
            slow[row, g] = np.mean([rng.choice(one, len(one)).mean() for one in mine if len(one)])
    assert fast.shape == (2, 20_000, GROUPS)
    assert fast[0].mean(axis=0) == pytest.approx(slow.mean(axis=0), abs=0.003)
    assert np.quantile(fast[0], [0.025, 0.975], axis=0) == pytest.approx(np.quantile(slow, [0.025, 0.975], axis=0), abs=0.008)
    assert fast[1].mean(axis=0) == pytest.approx(groups.weighted(cells, correct, weights[1]), abs=0.003)


def test_redrawn_groups_are_a_bootstrap_of_examples(exam):
    right, codes, _ = exam
    correct, n = groups.count_right(right[:1], codes, GROUPS)[0], np.bincount(codes)
    fast = groups.bootstrap_groups(np.random.default_rng(0), correct, n, 20_000)
    rng, slow = np.random.default_rng(1), np.empty((4_000, GROUPS))
    for row in range(len(slow)):
        drawn = rng.integers(N, size=N)
        slow[row] = [right[0][drawn][codes[drawn] == g].mean() for g in range(GROUPS)]
    assert fast.std(axis=0) == pytest.approx(slow.std(axis=0), rel=0.05)
    assert np.quantile(fast, [0.025, 0.975], axis=0) == pytest.approx(np.quantile(slow, [0.025, 0.975], axis=0), abs=0.008)


def test_case_30_a_resample_that_loses_a_group_is_nan_and_no_other():
    found = groups.bootstrap_groups(np.random.default_rng(0), np.array([1, 150]), np.array([1, 200]), 4_000)
    assert np.isnan(found[:, 0]).mean() == pytest.approx((1 - 1 / 201) ** 201, abs=0.03)
    assert np.isfinite(found[:, 1]).all()
    assert np.isfinite(groups.bootstrap_groups(np.random.default_rng(0), np.array([0, 5]), np.array([0, 9]), 10)[:, 1]).all()


def test_case_27_and_31_small_groups_have_exact_intervals():
    found = clopper_pearson([0, 5, 1, 0], [5, 5, 1, 0])
    assert (found.low[0], found.high[1], found.high[2]) == (0, 1, 1)
    assert np.isnan([found.low[3], found.high[3], found.estimate[3]]).all()
