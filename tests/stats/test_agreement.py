from __future__ import annotations

import json
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from resit.stats.agreement import aline, pairwise_agreement

PHI, PROBIT = NormalDist().cdf, NormalDist().inv_cdf
seeds = st.integers(0, 2**32 - 1)


def by_the_paper(accuracy: np.ndarray, old: np.ndarray, new: np.ndarray) -> tuple[float, float, list[float], list[float]]:
    """Baek et al. (2022), equations 2 (ALine-S) and 5 to 6 (ALine-D, a least-squares system with a row for each pair)."""
    line = stats.linregress([PROBIT(p) for p in old], [PROBIT(p) for p in new])
    by_slope = [PHI(line.slope * PROBIT(p) + line.intercept) for p in accuracy]
    pairs = list(combinations(range(len(accuracy)), 2))
    a, b = np.zeros((len(pairs), len(accuracy))), np.zeros(len(pairs))
    for row, (i, j) in enumerate(pairs):
        a[row, [i, j]] = 0.5
        middle = (PROBIT(accuracy[i]) + PROBIT(accuracy[j])) / 2
        b[row] = PROBIT(new[row]) + line.slope * (middle - PROBIT(old[row]))
    return line.slope, line.intercept, by_slope, [PHI(w) for w in np.linalg.lstsq(a, b)[0]]


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(1, 6), st.integers(1, 30))
def test_agreement_agrees_with_counting(seed, models, n):
    answers = np.random.default_rng(seed).integers(-1, 3, (models, n))
    expected = [
        sum(a == b and a != -1 for a, b in zip(answers[i], answers[j], strict=True)) / n
        for i, j in combinations(range(models), 2)
    ]
    assert pairwise_agreement(answers).tolist() == pytest.approx(expected)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(3, 9))
def test_aline_agrees_with_the_paper(seed, models):
    rng = np.random.default_rng(seed)
    accuracy, pairs = rng.uniform(0.4, 0.95, models), models * (models - 1) // 2
    old = rng.uniform(0.4, 0.95, pairs)
    new = np.clip(old - 0.1 + rng.normal(0, 0.02, pairs), 0.05, 0.95)
    found = aline(accuracy, old, new, 1000, 1000)
    slope, intercept, by_slope, by_pairs = by_the_paper(accuracy, old, new)
    assert found is not None
    assert (found.line.slope, found.line.intercept) == pytest.approx((slope, intercept), rel=1e-7, abs=1e-9)
    assert found.by_slope == pytest.approx(by_slope, abs=1e-8)
    assert found.by_pairs == pytest.approx(by_pairs, abs=1e-8)


def test_models_and_agreements_on_one_line_are_estimated_exactly():
    rng = np.random.default_rng(0)
    accuracy, old = rng.uniform(0.5, 0.95, 6), rng.uniform(0.5, 0.95, 15)
    new = np.array([PHI(0.9 * PROBIT(p) - 0.4) for p in old])
    found = aline(accuracy, old, new, 1000, 1000)
    truth = [PHI(0.9 * PROBIT(p) - 0.4) for p in accuracy]
    assert found is not None
    assert found.by_slope == pytest.approx(truth)
    assert found.by_pairs == pytest.approx(truth)


def test_case_28_agreement_and_accuracy_of_exactly_0_or_1_stay_finite():
    accuracy, old, new = np.array([0.5, 0.8, 1.0]), np.array([0.0, 0.7, 1.0]), np.array([0.2, 0.6, 1.0])
    found = aline(accuracy, old, new, 100, 50)
    expected = by_the_paper(np.array([0.5, 0.8, 0.995]), np.array([0.005, 0.7, 0.995]), np.array([0.2, 0.6, 0.99]))
    assert found is not None
    assert found.by_slope == pytest.approx(expected[2])
    assert found.by_pairs == pytest.approx(expected[3])


def test_case_29_fewer_than_three_models_or_equal_agreements_have_no_line():
    assert aline(np.array([0.5, 0.6]), np.array([0.5]), np.array([0.4]), 100, 100) is None
    assert aline(np.array([0.5]), np.array([]), np.array([]), 100, 100) is None
    assert aline(np.array([0.5, 0.6, 0.7]), np.full(3, 0.5), np.array([0.4, 0.5, 0.6]), 100, 100) is None


def test_networks_on_cifar_are_estimated_as_well_as_known(shared_data):
    """Mean absolute errors on CIFAR-10.1 v4 over 26 networks, found by an independent computation."""
    names = sorted(
        path.name for path in (shared_data / "cifar10.1" / "v4").glob("*.json") if "random_features" not in path.name
    )
    answers, labels = {}, {}
    for name in ("original", "v4"):
        answers[name] = np.array([json.loads((shared_data / "cifar10.1" / name / model).read_text()) for model in names])
        labels[name] = np.load(shared_data / "cifar10.1" / f"{name}_labels.npy")
    assert len(names) == 26
    old, new = ((answers[name] == labels[name]).mean(axis=1) for name in ("original", "v4"))
    agreements = [pairwise_agreement(answers[name]) for name in ("original", "v4")]
    found = aline(old, *agreements, 10_000, 2_021)
    assert found is not None
    errors = [np.abs(guess - new).mean() for guess in (found.by_slope, found.by_pairs, old)]
    assert errors == pytest.approx([0.0109, 0.0106, 0.0723], abs=5.1e-5)
