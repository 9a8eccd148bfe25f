"""What several hypotheses share in telling their figures: points with intervals, and whether an interval leaves out 0."""

from __future__ import annotations

import numpy as np

from resit.study.estimate import Estimate
from resit.study.hypotheses.interface import Array, percentile

POINTS = 100


def within(value: Estimate) -> str:
    """A difference in points with its interval, for a sentence."""
    said = f"{POINTS * (value.estimate or 0.0):z.2f} points"
    if value.low is None or value.high is None:
        return said
    return f"{said} [{POINTS * value.low:z.2f}, {POINTS * value.high:z.2f}]"


def percent(value: float | None) -> str:
    """A fraction in percent, for a sentence."""
    return "n/a" if value is None else f"{POINTS * value:.2f} %"


def excludes_zero(value: Estimate) -> bool:
    """Whether the whole interval is above or below 0."""
    return value.low is not None and value.high is not None and (value.low > 0 or value.high < 0)


def bootstrapped(replicates: Array, estimate: float, level: float, method: str) -> Estimate:
    """A figure with the percentile interval of those of its replicates that are numbers.

    Parameters
    ----------
    replicates : ndarray of float, shape (B,)
        NaN where a resample has no figure.
    estimate, level, method
        As :func:`resit.study.hypotheses.interface.percentile`.

    Returns
    -------
    Estimate
        Without an interval, and with the reason, where more than half of the replicates are no numbers.
    """
    known = replicates[np.isfinite(replicates)]
    lost = len(replicates) - len(known)
    if not len(known) or lost > len(known):
        return Estimate(estimate, reason=f"{lost:,} of {len(replicates):,} resamples have no figure")
    return percentile(known, estimate, level, method if not lost else f"{method}; {lost:,} without a figure left out")
