"""Least-squares lines: one, many weighted ones at once, and one corrected for noise on both axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class Line:
    """A line y = intercept + slope * x; ``r2`` is NaN where y has no spread."""

    slope: float
    intercept: float
    r2: float

    def at(self, x: Array) -> Array:
        """Value of the line at x."""
        return self.intercept + self.slope * x


def has_spread(x: Array) -> bool:
    """Whether a line can be fitted: at least three points, not all at one x."""
    return len(x) >= 3 and bool(np.ptp(x) > SPREAD * max(1.0, float(np.abs(x).max())))


def fit_line(x: Array, y: Array) -> Line:
    """Ordinary least squares of y on x.

    Parameters
    ----------
    x, y : ndarray of float, shape (M,)
        At least three points with spread in x (:func:`has_spread`).

    Returns
    -------
    Line
    """
    dx, dy = x - x.mean(), y - y.mean()
    sxx, sxy, syy = dx @ dx, dx @ dy, dy @ dy
    slope = sxy / sxx
    flat = np.ptp(y) <= SPREAD * max(
        1.0, float(np.abs(y).max())
    )  # a mean of equal numbers may differ from them in the last bit
    r2 = np.nan if flat else min(1.0, float(sxy**2 / (sxx * syy)))
    return Line(float(slope), float(y.mean() - slope * x.mean()), r2)


def fit_weighted(weights: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Least-squares lines of F data sets under B weightings of the same M points.

    Parameters
    ----------
    weights : ndarray of float, shape (B, M)
        How often each point counts.
    x, y : ndarray of float, shape (F, M)
        The data sets.

    Returns
    -------
    slope, intercept : ndarray of float, shape (F, B)
        NaN where a weighting leaves no spread in x.
    """
    cx, cy = x.mean(axis=1, keepdims=True), y.mean(axis=1, keepdims=True)
    dx, dy = x - cx, y - cy
    count = len(x)
    sums = weights @ np.concatenate([dx, dy, dx * dx, dx * dy, np.ones((1, x.shape[1]))]).T
    total = sums[:, -1:]
    mx, my = sums[:, :count] / total, sums[:, count : 2 * count] / total
    return _solve(
        mx, my, sums[:, 2 * count : 3 * count] / total - mx**2, sums[:, 3 * count : 4 * count] / total - mx * my, dx, cx, cy
    )


def _solve(mx: Array, my: Array, vxx: Array, vxy: Array, dx: Array, cx: Array, cy: Array) -> tuple[Array, Array]:
    flat = vxx <= SPREAD * (dx**2).mean(axis=1) + (SPREAD * np.maximum(1.0, np.abs(cx[:, 0]))) ** 2
    slope = np.divide(vxy, vxx, out=np.full_like(vxx, np.nan), where=~flat)
    intercept = my + cy[:, 0] - slope * (mx + cx[:, 0])
    return np.ascontiguousarray(slope.T), np.ascontiguousarray(intercept.T)


def fit_rows(x: Array, y: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Least-squares line of each row of y on the same row of x.

    Parameters
    ----------
    x, y : ndarray of float, shape (B, M)
        One data set a row.
    weights : ndarray of float, shape (B, M), optional
        How often each point counts in its row.

    Returns
    -------
    slope, intercept : ndarray of float, shape (B,)
        NaN where a row has no spread in x.
    """
    w = np.ones_like(x) if weights is None else weights
    total = w.sum(axis=1, keepdims=True)
    mx, my = (w * x).sum(axis=1, keepdims=True) / total, (w * y).sum(axis=1, keepdims=True) / total
    dx = x - mx
    sxx, sxy = (w * dx * dx).sum(axis=1), (w * dx * (y - my)).sum(axis=1)
    flat = sxx <= SPREAD * total[:, 0] * np.maximum(1.0, mx[:, 0] ** 2) * 1e-6
    slope = np.divide(sxy, sxx, out=np.full_like(sxx, np.nan), where=~flat)
    return slope, my[:, 0] - slope * mx[:, 0]


def moment_slope(x: Array, y: Array, noise_x: float) -> float:
    """Slope with the sampling noise of x taken out of its variance (method of moments).

    Parameters
    ----------
    x, y : ndarray of float, shape (M,)
        Noisy coordinates; the noise of x is independent of that of y.
    noise_x : float
        Expected part of the variance of x (divisor M) that is noise; see :mod:`resit.stats.noise`.

    Returns
    -------
    float
        NaN where the noise explains all of the variance.

    References
    ----------
    Fuller (1987), Measurement Error Models, section 1.2.
    """
    spread = float(np.var(x)) - noise_x
    return float(np.mean((x - x.mean()) * (y - y.mean())) / spread) if spread > 0 else np.nan


def deming_slope(x: Array, y: Array, ratio: float) -> float:
    """Deming regression: the slope of least total error, both axes noisy.

    Parameters
    ----------
    x, y : ndarray of float, shape (M,)
        Noisy coordinates.
    ratio : float
        Lambda: noise variance of y over noise variance of x.

    Returns
    -------
    float
        NaN where x and y are uncorrelated.

    References
    ----------
    Deming (1943), Statistical Adjustment of Data.
    """
    sxx, syy = np.var(x), np.var(y)
    sxy = np.mean((x - x.mean()) * (y - y.mean()))
    if sxy == 0:
        return np.nan
    gap = syy - ratio * sxx
    root = np.sqrt(gap**2 + 4 * ratio * sxy**2)
    # two forms of one root, each without cancellation where it is used
    return float((gap + root) / (2 * sxy) if gap >= 0 else 2 * ratio * sxy / (root - gap))
