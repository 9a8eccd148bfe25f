"""Decodes images by one declared policy: whatever was stored, what models see is 8-bit RGB."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from resit.data.exif import ORIENTATION, UPRIGHT, Exif, exif_of_jpeg, read_exif
from resit.errors import InputError, UsageError

if TYPE_CHECKING:
    from PIL.Image import Image

    from resit.data.images import Raw

Orientation = Literal["apply", "ignore"]
VERSION = 1
POLICY = (
    f"decode {VERSION}: 8-bit RGB by content, alpha on white, 16-bit grey by its high byte, first frame, no colour profile, "
    "EXIF orientation {}"
)
# The size from which Pillow warns of a decompression bomb.
MOST_PIXELS = 89_478_485
# Formats that are told by their first bytes and hold pixels: no PostScript, no video, nothing that starts another program.
FORMATS = ("JPEG", "MPO", "PNG", "GIF", "WEBP", "AVIF", "BMP", "TIFF", "JPEG2000", "PPM")
# Formats whose mode I means whole numbers from 0 to 65535.
SIXTEEN_BIT_AS_I = ("PNG", "PPM")
# Greys of fewer than 8 bits are scaled by Pillow, and the grey that stands for transparent is not.
GREY_SCALES = {"L;2": 85, "L;4": 17}
MIN_IS_WHITE = (262, 0)  # tag and value of a TIFF file
# The orientation that undoes another; the others undo themselves.
BACK = {6: 8, 8: 6}
JPEG_START = b"\xff\xd8"


class Unreadable(InputError):  # noqa: N818
    """An image that cannot be decoded; its message is a short reason."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """An image ready for models.

    Parameters
    ----------
    image : PIL.Image.Image
        In mode RGB, 8 bits a channel.
    notes : tuple of str
        What was odd but did no harm, such as broken EXIF data.
    """

    image: Image
    notes: tuple[str, ...] = ()


def fingerprint(orientation: Orientation = "apply") -> str:
    """The policy in words, with a version: it is part of how answers were made.

    Parameters
    ----------
    orientation : {'apply', 'ignore'}

    Raises
    ------
    UsageError
        If the orientation is another word.
    """
    _check_orientation(orientation)
    return POLICY.format({"apply": "applied", "ignore": "ignored"}[orientation])


def decode(raw: Raw, *, orientation: Orientation = "apply") -> Decoded:
    """Decode one image to 8-bit RGB. Safe in threads.

    Parameters
    ----------
    raw : bytes or ndarray
        The bytes of a file, told by its content and not by its name; or pixels, uint8 or uint16, shape (h, w) or (h, w, c) with
        c = 1, 3 or 4.
    orientation : {'apply', 'ignore'}
        Whether to turn the image as its EXIF data say.

    Returns
    -------
    Decoded

    Raises
    ------
    Unreadable
        If it is cut off, no image, of a type that has no one meaning as 8-bit RGB (floating point, 32-bit), or larger than
        `MOST_PIXELS`.
    UsageError
        If the orientation is another word, or a library has told Pillow to accept cut off files.

    Notes
    -----
    Greyscale, palettes, CMYK, YCbCr and Lab are converted as Pillow does; colour profiles are ignored. Alpha, in whatever form,
    is composited on white. Of 16 bits a channel the high byte is taken, as Pillow does for 16-bit colour. Of animations and
    files of several pages the first is taken. JPEG files are decoded in full size.
    """
    _check_orientation(orientation)
    if isinstance(raw, np.ndarray):
        return Decoded(_of_pixels(raw))
    with _pillow():
        raw, exif = _hide_broken_exif(raw)
        image, rawmode, applied = _loaded(raw)
        exif = exif or _exif(image)
        turn = exif.orientation if orientation == "apply" else BACK.get(applied, applied)
        rgb = _turned(_rgb(image, rawmode), turn)
    return Decoded(rgb, (f"broken EXIF data: {exif.fault}",) if exif.fault else ())


def _check_orientation(orientation: str) -> None:
    if orientation not in get_args(Orientation):
        raise UsageError(f"no orientation {orientation!r}", where="orientation", fix="Use 'apply' or 'ignore'.")


@contextmanager
def _pillow() -> Iterator[None]:
    """Turn whatever Pillow and its codecs raise at odd bytes into Unreadable."""
    from PIL import Image, UnidentifiedImageError

    try:
        yield
    except (Unreadable, UsageError):
        raise
    except UnidentifiedImageError as error:
        raise Unreadable("no image, or of a format that is not read") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large() from error
    except Exception as error:
        raise Unreadable(f"cannot be decoded: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


def _too_large(size: tuple[int, int] | None = None) -> Unreadable:
    what = f"{size[0]:,} × {size[1]:,} pixels, " if size else ""
    return Unreadable(f"too large: {what}more than {MOST_PIXELS:,} pixels; it may be a decompression bomb")


@cache
def _formats() -> tuple[str, ...]:
    from PIL import Image

    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)


def _loaded(raw: bytes) -> tuple[Image, str, int]:
    """The image with its pixels, how these were stored, and the orientation that Pillow has already applied."""
    from PIL import Image, ImageFile

    if ImageFile.LOAD_TRUNCATED_IMAGES:
        raise UsageError(
            "some library has told Pillow to accept images that are cut off",
            where="PIL.ImageFile.LOAD_TRUNCATED_IMAGES",
            fix="Set it to False: the missing part of such images is made up.",
        )
    image = Image.open(io.BytesIO(raw), formats=_formats())
    if image.width * image.height > MOST_PIXELS:
        raise _too_large(image.size)
    applied = int(image.getexif().get(ORIENTATION, UPRIGHT)) if image.format == "TIFF" else UPRIGHT
    rawmode = _rawmode(image.tile)
    image.load()
    return image, rawmode, applied


def _rawmode(tiles: list[Any]) -> str:
    args = tiles[0][3] if tiles else ""
    first = args[0] if isinstance(args, tuple) and args else args
    return first if isinstance(first, str) else ""


def _hide_broken_exif(raw: bytes) -> tuple[bytes, Exif | None]:
    """The bytes of a JPEG file with broken EXIF data hidden from Pillow, which may warn or fail, and what is left of these."""
    places, data = exif_of_jpeg(raw) if raw.startswith(JPEG_START) else ([], b"")
    exif = read_exif(data) if places else Exif()
    if not exif.fault:
        return raw, None
    hidden = bytearray(raw)
    for place in places:
        hidden[place] = ord("-")
    return bytes(hidden), exif


def _exif(image: Image) -> Exif:
    data = image.info.get("exif")
    if isinstance(data, bytes) and (exif := read_exif(data)).fault:
        return exif
    try:
        found = int(image.getexif().get(ORIENTATION, UPRIGHT))
    except Exception as error:  # whatever Pillow says at odd bytes: the pixels are sound
        return Exif(fault=_reason(error))
    return Exif(found) if 1 <= found <= 8 else Exif(fault=f"an orientation of {found}")


def _turned(image: Image, orientation: int) -> Image:
    """The image as it is to be seen, where its pixels are stored in one of the eight orientations of EXIF."""
    from PIL.Image import Transpose

    steps = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return image.transpose(steps[orientation]) if orientation in steps else image


def _rgb(image: Image, rawmode: str) -> Image:
    """The pixels in 8-bit RGB; those that are so already are not copied."""
    mode = image.mode
    if mode.startswith("I") or mode == "F":
        return _of_grey(image, rawmode)
    if not image.has_transparency_data:
        return image if mode == "RGB" else image.convert("RGB")
    if mode == "RGB" and "16" in rawmode:
        raise Unreadable("16-bit colour of which one is transparent")
    if rawmode in GREY_SCALES:
        image.info["transparency"] *= GREY_SCALES[rawmode]
    return _on_white(image.convert("LA") if mode == "La" else image)


def _on_white(image: Image) -> Image:
    from PIL import Image as Pillow

    image = image.convert("RGBA")
    if image.getchannel("A").getextrema() == (255, 255):
        return image.convert("RGB")
    white = Pillow.new("RGBA", image.size, (255, 255, 255, 255))
    return Pillow.alpha_composite(white, image).convert("RGB")


def _of_grey(image: Image, rawmode: str) -> Image:
    """Grey of more than 8 bits."""
    if not (image.mode.startswith("I;16") or (image.mode == "I" and image.format in SIXTEEN_BIT_AS_I)):
        raise Unreadable("floating point or 32-bit pixels, whose range is not known")
    if rawmode == "I;12":
        raise Unreadable("12-bit grey")
    grey = np.asarray(image)
    high = (grey >> 8).astype(np.uint8)
    if image.format == "TIFF" and image.tag_v2.get(MIN_IS_WHITE[0]) == MIN_IS_WHITE[1]:  # type: ignore[attr-defined]
        high = 255 - high
    if isinstance(key := image.info.get("transparency"), int):
        high[grey == key] = 255
    return _of_pixels(high)


def _of_pixels(pixels: npt.NDArray[np.generic]) -> Image:
    """An image of an array of pixels."""
    from PIL import Image

    if pixels.dtype.kind != "u" or pixels.dtype.itemsize > 2:
        raise Unreadable(f"pixels of {pixels.dtype}, not uint8 or uint16")
    shape: tuple[int, ...] = pixels.shape
    if not (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3, 4))) or 0 in shape:
        channels_first = len(shape) == 3 and shape[0] in (1, 3, 4)
        hint = "; its channels may come first" if channels_first else ""
        raise Unreadable(f"pixels of shape {shape}, not (h, w), (h, w, 1), (h, w, 3) or (h, w, 4){hint}")
    if shape[0] * shape[1] > MOST_PIXELS:
        raise _too_large((shape[1], shape[0]))
    if pixels.dtype.itemsize == 2:
        pixels = (pixels >> 8).astype(np.uint8)  # type: ignore[operator]
    grey = len(shape) == 3 and shape[2] == 1
    image = Image.fromarray(np.ascontiguousarray(pixels[..., 0] if grey else pixels))
    return _on_white(image) if image.mode == "RGBA" else image if image.mode == "RGB" else image.convert("RGB")
