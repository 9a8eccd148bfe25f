"""Images that are one array of pixels."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from resit.data.arrays import open_npy
from resit.data.guard import GIB
from resit.errors import InputError

CHANNELS = (1, 3, 4)
BLOCK = 2**20
BLOCKS = 1024
Channels = Literal["first", "last"]


class ArrayImages:
    """Images in one array, uint8 or uint16, shape (n, h, w) or (n, h, w, channels).

    Parameters
    ----------
    source : path or ndarray
        A ``.npy`` file, which is mapped into memory so that only what is asked for is read, or an array.
    channels : {'first', 'last'}, optional
        Where the channels are. Default: last, and an array in which they may be first is refused.

    Raises
    ------
    InputError
        If it is no such array.

    Notes
    -----
    The fingerprint is of all bytes up to 1 GiB. Of larger arrays it is of the shape, the type and 1,024 blocks of 1 MiB at
    equal distances, the last bytes among them: a change between these is not seen.
    """

    def __init__(self, source: str | Path | npt.NDArray[Any], channels: Channels | None = None) -> None:
        self.source = source if isinstance(source, np.ndarray) else str(Path(source).absolute())
        self.channels = channels
        self._pixels: npt.NDArray[Any] | None = None
        self._lock = threading.Lock()
        self._place = "array" if isinstance(source, np.ndarray) else str(source)
        _check(self._array(), channels, self._place)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pixels": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def __len__(self) -> int:
        return len(self._array())

    def __getitem__(self, index: int) -> npt.NDArray[np.generic]:
        try:
            image = self._array()[index]
        except InputError as error:
            raise OSError(error.what) from error
        if self.channels == "first" and image.ndim == 3:
            image = image.transpose(1, 2, 0)
        return np.array(image, order="C")

    def where(self, index: int) -> str:
        """The file and row of an image."""
        return f"{self._place} (row {index})"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the bytes, or of some of them; see the notes."""
        array = self._array()
        found = hashlib.sha256(f"{array.shape} {array.dtype.str} {self.channels == 'first'}".encode())
        if not array.flags.c_contiguous:
            for row in array:
                found.update(np.ascontiguousarray(row).data)
            return found.hexdigest()[:16]
        data = array.reshape(-1).view(np.uint8).data
        starts: Sequence[int] = range(0, len(data), BLOCK)
        if len(data) > GIB:
            starts = np.linspace(0, len(data) - BLOCK, BLOCKS).astype(int).tolist()
        for start in starts:
            found.update(data[start : start + BLOCK])
        return found.hexdigest()[:16]

    def _array(self) -> npt.NDArray[Any]:
        if isinstance(self.source, np.ndarray):
            return self.source
        with self._lock:
            if self._pixels is None:
                self._pixels = open_npy(Path(self.source))
            return self._pixels


def _check(array: npt.NDArray[Any], channels: Channels | None, where: str) -> None:
    if array.dtype.kind != "u" or array.dtype.itemsize > 2:
        raise InputError(
            f"an array of {array.dtype}", where=where, fix="Images need uint8 from 0 to 255 (or uint16): how to scale others?"
        )
    if array.ndim == 3 and array.size:
        return
    if array.ndim != 4 or not array.size:
        raise InputError(
            f"an array of shape {array.shape}",
            where=where,
            fix="Images need shape (n, h, w) or (n, h, w, channels): reshape it.",
        )
    first, last = array.shape[1] in CHANNELS, array.shape[3] in CHANNELS
    if channels is None and first and not (last and array.shape[1] == 4):  # 4 rows, rather than RGBA before 3 columns
        raise InputError(
            f"an array of shape {array.shape}, whose channels may come first",
            where=where,
            fix="Say which: channels='first' or channels='last' (--channels).",
        )
    if not (first if channels == "first" else last):
        raise InputError(
            f"an array of shape {array.shape} without 1, 3 or 4 channels where they are looked for ({channels or 'last'})",
            where=where,
            fix="Images need shape (n, h, w, channels); channels='first' is for (n, channels, h, w).",
        )
