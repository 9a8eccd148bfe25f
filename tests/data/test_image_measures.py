"""Measures of images against scipy and plain NumPy, and small pictures."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from resit.data.image_measures import LONGEST, MEASURES, measure
from resit.data.thumbnails import thumbnail


class Some:
    """Images in memory; None is one that cannot be read."""

    fingerprint = "some"

    def __init__(self, *images: np.ndarray | bytes | None) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> np.ndarray | bytes:
        found = self.images[index]
        if found is None:
            raise OSError("gone")
        return found

    def where(self, index: int) -> str:
        return str(index)


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def test_measures_are_those_of_scipy_and_numpy():
    grey = noise(20, 30)
    found = dict(zip(MEASURES, measure(Some(grey), [0])[0], strict=True))
    values = grey / 255
    assert found["size"] == pytest.approx(np.sqrt(600))
    assert found["brightness"] == pytest.approx(values.mean())
    assert found["contrast"] == pytest.approx(values.std())
    inside = ndimage.laplace(values)[1:-1, 1:-1]
    assert found["sharpness"] == pytest.approx(inside.std() / values.std())


def test_a_blurred_image_is_less_sharp_and_a_flat_one_not_at_all():
    sharp = noise(64, 64)
    blurred = ndimage.gaussian_filter(sharp, 2)
    found = measure(Some(sharp, blurred, np.full((9, 9), 7, np.uint8), noise(2, 2)), [0, 1, 2, 3])[:, 3]
    assert found[0] > found[1] > 0
    assert found[2] == found[3] == 0


def test_large_images_are_made_smaller_before_sharpness_and_keep_their_size():
    small = noise(LONGEST, LONGEST)
    large = np.kron(small, np.ones((3, 3), np.uint8))
    found = measure(Some(small, large), [0, 1])
    assert found[1, 0] == 3 * found[0, 0]
    assert found[1, 1:] == pytest.approx(found[0, 1:], rel=0.01)


def test_images_that_cannot_be_read_have_no_measures_and_the_order_is_that_asked_for():
    images = Some(noise(8, 8), None, b"no image", np.zeros((8, 8), np.uint8))
    found = measure(images, [3, 2, 1, 0])
    assert np.isnan(found).all(axis=1).tolist() == [False, True, True, False]
    assert found[0, 1] == 0


def test_more_images_than_are_read_at_a_time():
    images = Some(*(np.full((4, 4), at, np.uint8) for at in range(200)))
    assert measure(images, range(200))[:, 1] == pytest.approx(np.arange(200) / 255)


@pytest.mark.parametrize(("shape", "size"), [((400, 200, 3), (48, 96)), ((32, 32, 3), (32, 32))])
def test_thumbnails_fit_and_small_ones_keep_every_pixel(shape: tuple[int, ...], size: tuple[int, int]):
    pixels = noise(*shape)
    kind, data = thumbnail(Some(pixels), 0).split(",")
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert kind == "data:image/webp;base64"
    assert image.size == size
    if shape[0] == 32:
        assert np.array_equal(np.asarray(image.convert("RGB")), pixels)
