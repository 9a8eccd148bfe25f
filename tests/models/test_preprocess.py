"""Preprocess against torchvision's own transforms, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extras import needs
from resit.errors import UsageError
from resit.models.preprocess import IMAGENET_MEAN, IMAGENET_STD, Preprocess

transforms = needs("torchvision.transforms")
Image = needs("PIL.Image")

SIDE = st.integers(1, 90)
MODES = {name: getattr(transforms.InterpolationMode, name.upper()) for name in ("nearest", "bilinear", "bicubic", "lanczos")}
HALF = (0.5, 0.5, 0.5)


def noise(height: int, width: int, seed: int = 0):
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


def theirs(size, resize, interpolation, mean, std):
    steps = [transforms.Resize(resize, MODES[interpolation])] if resize is not None else []
    steps += [transforms.CenterCrop(size), transforms.ToTensor(), transforms.Normalize(mean, std)]
    return transforms.Compose(steps)


@settings(max_examples=150, deadline=None)
@given(
    height=SIDE,
    width=SIDE,
    size=st.one_of(SIDE, st.tuples(SIDE, SIDE)),
    resize=st.one_of(st.none(), SIDE, st.tuples(SIDE, SIDE)),
    interpolation=st.sampled_from(sorted(MODES)),
    colours=st.sampled_from([(IMAGENET_MEAN, IMAGENET_STD), (HALF, HALF), ((127 / 255,) * 3, (128 / 255,) * 3)]),
    seed=st.integers(0, 1000),
)
def test_it_equals_torchvision(height, width, size, resize, interpolation, colours, seed):
    mean, std = colours
    image = noise(height, width, seed)
    if isinstance(resize, int) and resize * max(height, width) / min(height, width) > 3000:
        return
    expected = theirs(size, resize, interpolation, mean, std)(image).numpy()
    got = Preprocess(size, resize, interpolation, mean, std)(image)
    assert got.dtype == np.float32
    assert got.flags.c_contiguous
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("shape", [(375, 500), (500, 375), (333, 500), (224, 224), (100, 150), (223, 225)])
@pytest.mark.parametrize("interpolation", sorted(MODES))
def test_it_equals_torchvision_at_usual_sizes(shape, interpolation):
    image = noise(*shape)
    expected = theirs(224, 256, interpolation, IMAGENET_MEAN, IMAGENET_STD)(image).numpy()
    assert np.array_equal(Preprocess(224, 256, interpolation)(image), expected)


def test_equal_numbers_have_equal_fingerprints_and_others_do_not():
    base = {"size": 224, "resize": 256, "interpolation": "bicubic", "mean": HALF, "std": HALF}
    others = [
        {"size": 225},
        {"resize": None},
        {"resize": (256, 256)},
        {"interpolation": "bilinear"},
        {"mean": (0.5, 0.5, 0.51)},
    ]
    others += [{"size": (224, 225)}, {"std": (0.5, 0.5, 0.50000006)}]
    prints = {Preprocess(**{**base, **other}).fingerprint for other in others}
    assert len(prints | {Preprocess(**base).fingerprint}) == len(others) + 1
    assert Preprocess(**base).fingerprint == Preprocess(**base).fingerprint
    assert (
        Preprocess(224, 256, mean=HALF, std=HALF).fingerprint
        == "resize 256 bicubic, crop 224, mean 0.5 0.5 0.5, std 0.5 0.5 0.5"
    )


def test_pixels_are_not_normalised():
    image = noise(40, 30)
    expected = np.asarray(transforms.CenterCrop(20)(transforms.Resize(25, MODES["bilinear"])(image)))
    got = Preprocess(20, 25, "bilinear").pixels(image)
    assert got.dtype == np.uint8
    assert np.array_equal(got, expected)


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 0},
        {"size": 2.5},
        {"resize": -1},
        {"resize": (0, 4)},
        {"interpolation": "box"},
        {"mean": (0.5, 0.5)},
        {"mean": (0.5, 0.5, float("nan"))},
        {"std": (1, 1, 0)},
        {"std": (1, 1, float("inf"))},
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(UsageError, match="preprocess"):
        Preprocess(**{"size": 8, **wrong})


def test_an_image_that_is_not_rgb_is_refused():
    with pytest.raises(UsageError, match="mode L"):
        Preprocess(8)(Image.new("L", (8, 8)))
