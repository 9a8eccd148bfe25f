"""What counts as an image: told by its content, whole, and of a size that can be decoded."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resit.data.decode import Unreadable, decode
from resit.data.image_sources.places import is_url, read_place
from resit.errors import InputError

PAGES = (b"<!doctype html", b"<html", b"<head", b"<?xml")


def check_image(data: bytes) -> None:
    """Refuse what is no image, by its content and not by its name or what a server says of it.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    InputError
        If it is empty, a web page, cut off, of another format, or a decompression bomb.
    """
    if not data:
        raise Unreadable("an empty file")
    if data[:64].lstrip().lower().startswith(PAGES):
        raise Unreadable("a web page, not an image")
    decode(data)


def read_file(path: str, largest: int) -> bytes:
    """Bytes of one local file, or of an address that fsspec reads.

    Parameters
    ----------
    path : str
    largest : int
        Bytes at most.

    Raises
    ------
    InputError
        If it cannot be read, is no regular file, or is larger.
    """
    try:
        if not is_url(path):
            found = Path(path).stat()
            if not stat.S_ISREG(found.st_mode):
                raise Unreadable("no regular file")
            _refuse_large(found.st_size, largest)
        data = read_place(path)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    _refuse_large(len(data), largest)
    return data


def _refuse_large(size: int, largest: int) -> None:
    if size > largest:
        raise Unreadable(f"too large: {size:,} bytes, more than {largest:,}")


def encoded(pixels: npt.NDArray[np.generic]) -> bytes:
    """Pixels of an array as a PNG file, in 8-bit RGB by the policy of :mod:`resit.data.decode`.

    Raises
    ------
    InputError
        If it is no array of an image.
    """
    file = io.BytesIO()
    decode(pixels).image.save(file, "PNG")
    return file.getvalue()
