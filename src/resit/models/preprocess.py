"""The usual preparation of an image: resize, centre crop, scale to 0–1, subtract the mean, divide by the deviation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

if TYPE_CHECKING:
    from PIL.Image import Image

Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos"]
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Preprocess:
    """Resize the shorter side, crop the centre, and normalise, as torchvision and timm evaluate: equal to the bit.

    Parameters
    ----------
    size : int or (int, int)
        Height and width of the result in pixels.
    resize : int or (int, int), optional
        Length of the shorter side after resizing; two numbers are height and width, whatever the aspect. None: not resized.
    interpolation : {'nearest', 'bilinear', 'bicubic', 'lanczos'}
        Always with antialiasing, as Pillow does.
    mean, std : tuple of float
        Of each channel, for values from 0 to 1.

    Raises
    ------
    UsageError
        If a number cannot be meant.
    """

    size: int | tuple[int, int]
    resize: int | tuple[int, int] | None = None
    interpolation: Interpolation = "bicubic"
    mean: tuple[float, ...] = IMAGENET_MEAN
    std: tuple[float, ...] = IMAGENET_STD

    def __post_init__(self) -> None:
        sides = [side for value in (self.size, self.resize) if value is not None for side in np.atleast_1d(value).tolist()]
        if any(side != int(side) or side < 1 for side in sides):
            raise UsageError(f"sizes {sides} are not whole numbers of pixels", where="preprocess")
        fix = f"Use one of {', '.join(get_args(Interpolation))}."
        if self.interpolation not in get_args(Interpolation):
            raise UsageError(f"no interpolation {self.interpolation!r}", where="preprocess", fix=fix)
        numbers = [*self.mean, *self.std]
        if len(self.mean) != 3 or len(self.std) != 3 or not np.all(np.isfinite(numbers)) or min(self.std) <= 0:
            raise UsageError("mean and std need three numbers each, std above 0", where="preprocess")
        # One value for each of the 256 levels of a channel, by torchvision's arithmetic, so that results are equal to the bit.
        levels = np.arange(256, dtype=np.float32)[:, None] / np.float32(255)
        table = (levels - np.asarray(self.mean, np.float32)) / np.asarray(self.std, np.float32)
        object.__setattr__(self, "_table", np.ascontiguousarray(table.T))

    @property
    def fingerprint(self) -> str:
        """The steps in words, the same only for the same numbers."""
        return f"{self.geometry}, mean {_numbers(self.mean)}, std {_numbers(self.std)}"

    @property
    def geometry(self) -> str:
        """The steps up to the normalisation in words."""
        resize = "as it is" if self.resize is None else f"resize {_pixels(self.resize)} {self.interpolation}"
        return f"{resize}, crop {_pixels(self.size)}"

    def __call__(self, image: Image) -> npt.NDArray[np.float32]:
        """Prepare an RGB image: float32, shape (3, height, width)."""
        pixels = self.pixels(image)
        table: npt.NDArray[np.float32] = self._table  # type: ignore[attr-defined]
        return np.stack([table[channel].take(pixels[..., channel]) for channel in range(3)])

    def pixels(self, image: Image) -> npt.NDArray[np.uint8]:
        """Resize and crop an RGB image without normalising it: uint8, shape (height, width, 3)."""
        if image.mode != "RGB":
            raise UsageError(f"an image of mode {image.mode}", where="preprocess", fix="Convert it to 8-bit RGB first.")
        return np.asarray(self._crop(self._resized(image)))

    def _resized(self, image: Image) -> Image:
        if self.resize is None:
            return image
        from PIL.Image import Resampling

        width, height = image.size
        if isinstance(self.resize, tuple):
            height_to, width_to = self.resize
        elif width <= height:  # as torchvision: the longer side is cut to whole pixels, not rounded
            width_to, height_to = self.resize, int(self.resize * height / width)
        else:
            width_to, height_to = int(self.resize * width / height), self.resize
        if (width, height) == (width_to, height_to):
            return image
        return image.resize((width_to, height_to), Resampling[self.interpolation.upper()])

    def _crop(self, image: Image) -> Image:
        """The centre; what lies outside of a smaller image is black, as torchvision pads."""
        height, width = (self.size, self.size) if isinstance(self.size, int) else self.size
        if image.size == (width, height):
            return image
        left, top = (_centre(of, to) for of, to in ((image.width, width), (image.height, height)))
        return image.crop((left, top, left + width, top + height))


def _centre(of: int, to: int) -> int:
    """First pixel of the centre ``to`` of ``of`` pixels, with torchvision's rounding, which differs where it pads."""
    return round((of - to) / 2) if of >= to else -((to - of) // 2)


def _pixels(value: int | tuple[int, int]) -> str:
    return str(value) if isinstance(value, int) else f"{value[0]}×{value[1]}"


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:.9g}" for value in values)
