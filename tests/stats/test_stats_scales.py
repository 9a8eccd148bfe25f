from __future__ import annotations

from math import exp, log
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from resit.stats import lines
from resit.stats.scales import backward, derivative, forward, off_the_edge

SCALES = ("linear", "probit", "logit")
PLAIN = {
    "linear": (lambda p: p, lambda v: v),
    "probit": (NormalDist().inv_cdf, NormalDist().cdf),
    "logit": (lambda p: log(p / (1 - p)), lambda v: 1 / (1 + exp(-v))),
}
inside = st.floats(1e-6, 1 - 1e-6)


@pytest.mark.parametrize("scale", SCALES)
@settings(deadline=None, max_examples=100)
@given(p=inside)
def test_scales_agree_with_plain_functions_and_come_back(scale, p):
    there, back = PLAIN[scale]
    value = forward(np.array([p]), scale)
    assert value[0] == pytest.approx(there(p), rel=1e-9, abs=1e-9)
    assert backward(value, scale)[0] == pytest.approx(back(there(p)), rel=1e-9)
    assert backward(value, scale)[0] == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_derivative_is_the_limit_of_differences(scale):
    p, step = np.linspace(0.02, 0.98, 25), 1e-6
    numeric = [(PLAIN[scale][0](x + step) - PLAIN[scale][0](x - step)) / (2 * step) for x in p]
    assert derivative(p, scale) == pytest.approx(numeric, rel=1e-5)


@pytest.mark.parametrize("scale", SCALES)
def test_scales_keep_order_and_mirror(scale):
    p = np.linspace(0.001, 0.999, 999)
    value = forward(p, scale)
    assert (np.diff(value) > 0).all()
    centre = forward(np.array([0.5]), scale)
    assert value - centre == pytest.approx(-(forward(1 - p, scale) - centre), abs=1e-9)


def test_case_28_accuracy_0_or_1_moves_half_an_example_inward():
    moved = off_the_edge([0.0, 0.1, 0.5, 1.0, 0.0, 1.0], [10, 10, 10, 10, 2000, 2000])
    assert moved == pytest.approx([0.05, 0.1, 0.5, 0.95, 0.00025, 0.99975])
    nearest = np.array([1, 9]) / 10  # one example from the edge stays nearer to the middle than the moved ones
    assert moved[0] < nearest[0]
    assert moved[3] > nearest[1]


def test_case_28_without_a_number_of_examples_the_edge_is_not_available():
    moved = off_the_edge([0.0, 1.0, 0.5, 0.0, np.nan, 0.3], [np.nan, np.nan, np.nan, 0, 0, 0])
    assert np.isnan(moved).tolist() == [True, True, False, True, True, False]


@pytest.mark.parametrize("scale", ["probit", "logit"])
def test_case_28_no_infinity_reaches_a_fit(scale):
    old, new = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.0, 0.0, 0.75, 1.0])
    x, y = (forward(off_the_edge(accuracy, 8), scale) for accuracy in (old, new))
    there = PLAIN[scale][0]
    assert x == pytest.approx([there(p) for p in (1 / 16, 0.25, 0.5, 15 / 16)])
    assert y == pytest.approx([there(p) for p in (1 / 16, 1 / 16, 0.75, 15 / 16)])
    line, scipys = lines.fit_line(x, y), stats.linregress(x, y)
    assert (line.slope, line.intercept) == pytest.approx((scipys.slope, scipys.intercept))
    assert np.isfinite([line.slope, line.intercept, line.r2]).all()
    assert np.isfinite(derivative(off_the_edge(old, 8), scale)).all()
