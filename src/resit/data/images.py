"""The images of a benchmark: read one at a time, from wherever they lie, as they were stored."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

Raw = bytes | npt.NDArray[np.generic]


class Images(Protocol):
    """The images of a test set in its order.

    Reading is safe from several threads at once. A source can be pickled: open files stay behind and are opened again.
    """

    def __len__(self) -> int:
        """Number of images."""

    def __getitem__(self, index: int) -> Raw:
        """One image as it was stored: the bytes of a file, or its pixels, shape (h, w) or (h, w, channels).

        Raises
        ------
        OSError
            If it cannot be read.
        """

    def where(self, index: int) -> str:
        """Where an image lies, for messages: its path or address, or the file and row."""

    @property
    def fingerprint(self) -> str:
        """Digest that tells these images from others without reading all pixels: for example names and sizes of files."""
