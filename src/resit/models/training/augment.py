"""Random changes of images that leave their class as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Images = npt.NDArray[Any]
EIGHTH = 8


def shifted(images: Images, rng: np.random.Generator) -> Images:
    """Shift each image by up to an eighth of its side in both directions; its edges are black where nothing was.

    Parameters
    ----------
    images : ndarray, shape (b, h, w, c)
    rng : numpy.random.Generator
    """
    count, height, width, channels = images.shape
    by_h, by_w = height // EIGHTH, width // EIGHTH
    padded = np.zeros((count, height + 2 * by_h, width + 2 * by_w, channels), images.dtype)
    padded[:, by_h : by_h + height, by_w : by_w + width] = images
    top, left = rng.integers(2 * by_h + 1, size=count), rng.integers(2 * by_w + 1, size=count)
    out = np.empty_like(images)
    for one, (y, x) in enumerate(zip(top.tolist(), left.tolist(), strict=True)):
        out[one] = padded[one, y : y + height, x : x + width]
    return out


def flipped(images: Images, rng: np.random.Generator) -> Images:
    """Mirror each image left to right, or not, with equal chance."""
    turn = rng.random(len(images)) < 0.5
    out = images.copy()
    out[turn] = out[turn, :, ::-1]
    return out
