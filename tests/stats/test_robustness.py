from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from resit.stats.robustness import effective_robustness


def logit(p: float) -> float:
    return log(p / (1 - p))


def by_refitting(old: np.ndarray, new: np.ndarray, baseline: np.ndarray, first: int | None = None) -> list[float]:
    """Taori et al. (2020): accuracy minus that of the log-odds line, refitted without each baseline model in turn."""
    found = []
    for model in range(len(old))[:first]:
        used = [i for i in range(len(old)) if baseline[i] and i != model and not np.isnan(old[i] + new[i])]
        line = stats.linregress([logit(old[i]) for i in used], [logit(new[i]) for i in used])
        predicted = line.intercept + line.slope * logit(old[model])
        found.append(new[model] - 1 / (1 + exp(-predicted)))
    return found


def models(seed: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    old = rng.uniform(0.2, 0.95, count)
    new = np.clip(old - 0.1 + rng.normal(0, 0.04, count), 0.02, 0.98)
    return old, new, np.arange(count) < max(4, count - 3)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 2**32 - 1), st.integers(4, 25))
def test_effective_robustness_agrees_with_refitting(seed, count):
    old, new, baseline = models(seed, count)
    assert effective_robustness(old, new, baseline) == pytest.approx(by_refitting(old, new, baseline), abs=1e-7)


def test_models_on_the_line_have_none_and_one_above_has_its_distance():
    old = np.array([0.3, 0.5, 0.6, 0.8, 0.7])
    line = 1 / (1 + np.exp(-(0.9 * np.log(old / (1 - old)) - 0.5)))
    new = line + np.array([0, 0, 0, 0, 0.05])
    found = effective_robustness(old, new, np.array([True, True, True, True, False]))
    assert found == pytest.approx([0, 0, 0, 0, 0.05], abs=1e-12)


def test_a_model_without_a_figure_is_left_out_alone():
    old, new, _ = models(1, 8)
    baseline = np.ones(8, bool)
    new[2] = np.nan
    found = effective_robustness(old, new, baseline)
    others = np.arange(8) != 2
    assert np.isnan(found[2])
    assert found[others] == pytest.approx(by_refitting(old[others], new[others], baseline[others]), abs=1e-10)


def test_case_29_without_a_line_there_is_none():
    old, new, _ = models(2, 6)
    assert np.isnan(effective_robustness(old, new, np.arange(6) < 3)).all()
    assert np.isnan(effective_robustness(np.full(6, 0.7), new, np.ones(6, bool))).all()
    assert np.isnan(effective_robustness(old, new, np.zeros(6, bool))).all()


def test_a_model_that_alone_makes_the_spread_has_none():
    old, new = np.array([0.5, 0.5, 0.5, 0.5, 0.9]), np.array([0.4, 0.45, 0.42, 0.41, 0.8])
    found = effective_robustness(old, new, np.ones(5, bool))
    assert np.isnan(found).tolist() == [False, False, False, False, True]
    assert found[:4] == pytest.approx(by_refitting(old, new, np.ones(5, bool), 4), abs=1e-10)
