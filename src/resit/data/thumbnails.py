"""Small pictures of images as data addresses, for pages that stand alone."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from resit.data.decode import decode

if TYPE_CHECKING:
    from resit.data.images import Images

LONGEST = 96
QUALITY = 80


def thumbnail(images: Images, index: int, longest: int = LONGEST) -> str:
    """One image as a WebP data address.

    Parameters
    ----------
    images : Images
    index : int
    longest : int, optional
        Pixels of the longer side at most; smaller images keep their size and every pixel.

    Raises
    ------
    OSError
        If it cannot be read.
    Unreadable
        If it cannot be decoded.
    """
    from PIL.Image import Resampling

    image = decode(images[index]).image.copy()
    small = max(image.size) <= longest
    image.thumbnail((longest, longest), Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "WEBP", lossless=small, quality=100 if small else QUALITY, method=2)
    return f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"
