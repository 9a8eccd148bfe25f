"""Coverage of the intervals of proportions: exactly, by summing over every outcome, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from resit.stats.intervals import clopper_pearson, newcombe, newcombe_paired

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("n", [10, 50, 400])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_clopper_pearson_always_covers(n, level):
    p = np.linspace(0.001, 0.999, 1999)[:, None]
    k = np.arange(n + 1)
    found = clopper_pearson(k, n, level)
    coverage = (stats.binom.pmf(k, n, p) * ((found.low <= p) & (p <= found.high))).sum(axis=1)
    assert coverage.min() >= level - 1e-9


def test_clopper_pearson_covers_in_each_tail():
    """Each bound alone fails at most half of the time that both may: no one-sided interval in a two-sided coat."""
    p, k = np.linspace(0.01, 0.99, 981)[:, None], np.arange(101)
    found, chance = clopper_pearson(k, 100), stats.binom.pmf(k, 100, p)
    assert (chance * (found.low > p)).sum(axis=1).max() <= 0.025 + 1e-9
    assert (chance * (found.high < p)).sum(axis=1).max() <= 0.025 + 1e-9
    assert (chance * (found.low > p)).sum(axis=1).max() > 0.02


@pytest.mark.parametrize(("n_1", "n_2"), [(20, 30), (100, 100), (200, 40)])
def test_newcombe_independent_covers_as_newcombe_reports(n_1, n_2):
    """Newcombe (1998) reports mean coverage of 0.952 and a minimum of 0.867 for method 10, over n from 5 to 50."""
    k_1, k_2 = np.arange(n_1 + 1)[:, None], np.arange(n_2 + 1)
    found = newcombe(k_1, n_1, k_2, n_2)
    coverage = []
    for p_1, p_2 in np.random.default_rng(0).uniform(0.02, 0.98, (300, 2)):
        chance = stats.binom.pmf(k_1, n_1, p_1) * stats.binom.pmf(k_2, n_2, p_2)
        coverage.append((chance * ((found.low <= p_2 - p_1) & (p_2 - p_1 <= found.high))).sum())
    assert 0.945 <= np.mean(coverage) <= 0.965
    assert np.min(coverage) > 0.90


@pytest.mark.parametrize("n", [30, 200, 2000])
def test_newcombe_paired_covers_as_newcombe_reports(n):
    """Newcombe (1998) reports mean coverage of 0.9548 for the paired method 10, over n from 10 to 100."""
    rng, coverage = np.random.default_rng(1), []
    for chances in rng.dirichlet([3, 0.7, 0.7, 1.5], 150):
        true = chances[1] - chances[2]
        found = newcombe_paired(*rng.multinomial(n, chances, 4000).T)
        coverage.append(((found.low <= true) & (true <= found.high)).mean())
    assert 0.945 <= np.mean(coverage) <= 0.975
    assert np.quantile(coverage, 0.05) > 0.92


def test_paired_intervals_of_models_that_err_alike_are_narrower_and_still_cover():
    chances = np.array([0.70, 0.04, 0.03, 0.23])
    tables = np.random.default_rng(2).multinomial(2000, chances, 20_000).T
    paired = newcombe_paired(*tables)
    apart = newcombe(tables[0] + tables[2], 2000, tables[0] + tables[1], 2000)
    assert ((paired.low <= 0.01) & (paired.high >= 0.01)).mean() == pytest.approx(0.95, abs=0.01)
    assert ((apart.low <= 0.01) & (apart.high >= 0.01)).mean() > 0.999
    assert np.median(paired.high - paired.low) < 0.55 * np.median(apart.high - apart.low)
