"""Simple measures of images: size, brightness, contrast and sharpness, one image at a time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.data.decode import Unreadable, decode

if TYPE_CHECKING:
    from resit.data.images import Images

MEASURES = ("size", "brightness", "contrast", "sharpness")
LONGEST = 256
WORKERS = 4
AHEAD = 64  # images in memory at a time
GREYS = 255.0


def measure(images: Images, rows: Sequence[int]) -> npt.NDArray[np.float64]:
    """Measures of some images, read one after another in a few threads.

    ``size`` is the square root of the number of pixels. The others are of the image in grey from 0 to 1, made smaller to
    :data:`LONGEST` pixels on its longer side where it is larger, so that large images do not count as blurred:
    ``brightness`` is the mean, ``contrast`` the standard deviation, and ``sharpness`` the standard deviation of the discrete
    Laplacian over ``contrast``, 0 where there is none.

    Parameters
    ----------
    images : Images
    rows : sequence of int

    Returns
    -------
    ndarray of float, shape (len(rows), 4)
        In the order of :data:`MEASURES`; NaN for images that cannot be read.
    """
    found = np.full((len(rows), len(MEASURES)), np.nan)
    with ThreadPoolExecutor(WORKERS) as pool:
        for start in range(0, len(rows), AHEAD):
            part = rows[start : start + AHEAD]
            found[start : start + len(part)] = list(pool.map(lambda row: _of(images, row), part))
    return found


def _of(images: Images, row: int) -> npt.NDArray[np.float64]:
    from PIL.Image import Resampling

    try:
        image = decode(images[row]).image
    except (OSError, Unreadable):
        return np.full(len(MEASURES), np.nan)
    size = np.sqrt(image.width * image.height)
    grey = image.convert("L")
    if max(grey.size) > LONGEST:
        grey.thumbnail((LONGEST, LONGEST), Resampling.BOX)
    values = np.asarray(grey, np.float64) / GREYS
    contrast = float(values.std())
    laplacian = (
        4 * values[1:-1, 1:-1] - values[:-2, 1:-1] - values[2:, 1:-1] - values[1:-1, :-2] - values[1:-1, 2:]
        if min(values.shape) > 2
        else np.zeros(1)
    )
    return np.array([size, values.mean(), contrast, float(laplacian.std()) / contrast if contrast else 0.0])
