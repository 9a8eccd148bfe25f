from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from resit.stats.ranks import kendall, mean_ranks, spearman

quick = settings(deadline=None, max_examples=150)
accuracies = st.lists(st.integers(0, 12), min_size=1, max_size=25).map(lambda k: np.array(k) / 12)
couples = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=25).map(lambda k: np.array(k) / 9)


@quick
@given(accuracies)
def test_ranks_agree_with_scipy(accuracy):
    found = mean_ranks(accuracy)
    assert found.tolist() == stats.rankdata(-accuracy, "average").tolist()
    assert found.sum() == len(accuracy) * (len(accuracy) + 1) / 2


@quick
@given(couples)
def test_correlations_agree_with_scipy(couple):
    x, y = couple.T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(spearman(x, y))
        assert np.isnan(kendall(x, y))
        return
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y, variant="b").statistic, abs=1e-12)


def test_few_models_have_ranks_but_no_correlation():
    assert mean_ranks(np.array([])).tolist() == []
    assert mean_ranks(np.array([0.7])).tolist() == [1.0]
    for count in (0, 1):
        assert np.isnan(spearman(np.ones(count), np.ones(count)))
        assert np.isnan(kendall(np.ones(count), np.ones(count)))


def test_rounding_of_weighted_accuracies_makes_no_order():
    counts = np.array([3, 3, 5, 5, 9, 1])
    accuracy = np.array([0.1 + 0.1 + 0.1, 0.3, 0.5, 1 - 5 * 0.1, 0.9, 0.1])  # three tenths added up are not 0.3
    assert accuracy[0] != accuracy[1]
    assert mean_ranks(accuracy).tolist() == stats.rankdata(-counts).tolist()
    other = np.array([4, 3, 2, 1, 0, 5.0])
    assert kendall(accuracy, other) == pytest.approx(stats.kendalltau(counts, other).statistic)
    assert spearman(accuracy, other) == pytest.approx(stats.spearmanr(counts, other).statistic)


def test_accuracies_one_example_apart_are_no_tie():
    n = 50_000
    assert mean_ranks(np.array([37_999, 38_000, 38_001]) / n).tolist() == [3, 2, 1]
    assert mean_ranks(np.array([37_999 / 50_000, 37_998 / 49_999])).tolist() == [1, 2]
