"""Structural similarity of pairs of pictures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resit.build.duplicates.rows import Array

WINDOW = 7
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def dssim(pictures: Array, others: Array) -> npt.NDArray[np.float64]:
    """Structural dissimilarity of pairs of pictures: (1 − SSIM) / 2, from 0 (the same) to 1.

    Parameters
    ----------
    pictures, others : ndarray of uint8, shape (n, height, width, channels)

    Returns
    -------
    ndarray of float64, shape (n,)

    Notes
    -----
    SSIM is the mean over all whole windows of 7 × 7 pixels, then over the channels, with sample variances, K1 = 0.01 and
    K2 = 0.03, as scikit-image has it. Sums over a window are whole numbers that float32 holds, so that the result is the same
    to the last bit in every order and grouping of pairs.

    References
    ----------
    Wang, Z., et al. (2004). Image quality assessment: from error visibility to structural similarity. IEEE TIP 13(4).
    """
    total = np.zeros(len(pictures))
    channels = pictures.shape[3]
    for channel in range(channels):
        x, y = (np.ascontiguousarray(one[..., channel], np.float32) for one in (pictures, others))
        total += _ssim(x, y)
    found: npt.NDArray[np.float64] = np.maximum((1 - total / channels) / 2, 0)
    return found


def _ssim(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Mean SSIM of pairs of one channel, shape (n,)."""
    size = WINDOW**2
    sum_x, sum_y = _windows(x), _windows(y)
    # Each is size·(size − 1) times the variance; together below 2³¹.
    spread_x, spread_y = size * _windows(x * x) - sum_x**2, size * _windows(y * y) - sum_y**2
    covariance = size * _windows(x * y) - sum_x * sum_y
    c1, c2 = C1 * size**2, C2 * size * (size - 1)
    # Of twice a product only the double may not fit an int32.
    products, squares = 2.0 * (sum_x * sum_y), sum_x**2 + sum_y**2
    luminance = (products + c1) / (squares + c1)
    structure = (2.0 * covariance + c2) / (spread_x + spread_y + c2)
    found: npt.NDArray[np.float64] = (luminance * structure).reshape(len(x), -1).mean(axis=1)
    return found


def _windows(values: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    """Sums over each whole window, shape (n, height − 6, width − 6)."""
    n, height, width = values.shape
    across, down = _bands(width), _bands(height)
    rows = (values.reshape(n * height, width) @ across.T).reshape(n, height, -1)
    found: npt.NDArray[np.int32] = np.matmul(down, rows).astype(np.int32)
    return found


def _bands(side: int) -> npt.NDArray[np.float32]:
    """Ones where a window, a row each, covers a pixel."""
    place = np.arange(side) - np.arange(side - WINDOW + 1)[:, None]
    return ((place >= 0) & (place < WINDOW)).astype(np.float32)
