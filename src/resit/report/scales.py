"""The three scales a scatter is drawn on, and where their ticks go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

NAMES = {"linear": "Linear", "probit": "Probit", "logit": "Logit"}
FORWARD = {"linear": "{0}", "probit": "quantileNormal({0})", "logit": "log(({0})/(1-({0})))"}
BACK = {"linear": "datum.value", "probit": "cumulativeNormal(datum.value)", "logit": "1/(1+exp(-datum.value))"}
STEPS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
ENDS = (0.0001, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999)


def forward(scale: str, fraction: float) -> float:
    """Where an accuracy strictly between 0 and 1 (linear: any) lies on a scale.

    Parameters
    ----------
    scale : str
        ``linear``, ``probit`` or ``logit``.
    fraction : float
        The accuracy.

    Returns
    -------
    float
    """
    if scale == "linear":
        return fraction
    return NormalDist().inv_cdf(fraction) if scale == "probit" else math.log(fraction / (1 - fraction))


def backward(scale: str, value: float) -> float:
    """The accuracy that lies at a place on a scale; the inverse of :func:`forward`."""
    if scale == "linear":
        return value
    return NormalDist().cdf(value) if scale == "probit" else 1 / (1 + math.exp(-value))


def ticks(scale: str, low: float, high: float, most: int = 8) -> list[float]:
    """Round accuracies between two bounds, at most ``most`` of them, evenly enough spread on the scale."""
    steps = [_multiples(step, low, high) for step in STEPS]
    fine = [choice for choice in steps if len(choice) <= most]
    even = fine[-1] if fine else steps[0]
    if scale == "linear" or (low > 0.05 and high < 0.95):
        return even
    return _spaced(scale, sorted({*ENDS, *even}), low, high, most)


def _multiples(step: float, low: float, high: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 6) for k in range(first, last + 1)]


def _spaced(scale: str, candidates: Sequence[float], low: float, high: float, most: int) -> list[float]:
    """Candidates at least 1/``most`` of the axis apart, the round ones first."""
    gap = (forward(scale, high) - forward(scale, low)) / most
    kept: list[float] = []
    inside = [value for value in candidates if low <= value <= high and 0 < value < 1]
    for value in sorted(inside, key=lambda v: (ENDS.index(v) if v in ENDS else len(ENDS), v)):
        if all(abs(forward(scale, value) - forward(scale, other)) >= gap for other in kept):
            kept.append(value)
    return sorted(kept)


def rounds(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Round numbers between two bounds, four to eight of them; if ``whole``, whole numbers from 1."""
    power = 10 ** math.floor(math.log10(high - low))
    step = next(s for s in (power / 5, power / 2, power, 2 * power, 5 * power) if (high - low) / s <= 7)
    step = max(step, 1.0) if whole else step
    values = [round(k * step, 6) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [max(value, 1.0) for value in values if value >= 0] if whole else values
