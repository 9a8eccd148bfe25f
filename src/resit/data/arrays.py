"""Opens ``.npy`` and ``.npz`` files. Nothing pickled is ever loaded."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.guard import GIB, MIB, reading, refuse_unfit
from resit.errors import InputError

LARGEST_ARCHIVE = 4 * GIB


@contextmanager
def _python_2_is_fine() -> Iterator[None]:
    """Let NumPy not warn of headers that Python 2 wrote, as those of many old predictions."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Reading `.npy` or `.npz` file required additional header parsing")
        yield


def open_npy(path: Path) -> npt.NDArray[Any]:
    """Map an array into memory, so that only what is used is read.

    Raises
    ------
    InputError
        If it is not an array of numbers, text or bool, or is cut off.
    """
    refuse_unfit(path)
    with reading(path), _python_2_is_fine():
        return np.lib.format.open_memmap(path, mode="r")


def open_npz(path: Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an archive.

    Raises
    ------
    InputError
        If it is not such an archive, holds nothing, or holds pickled objects.
    """
    refuse_unfit(path)
    with reading(path), path.open("rb") as file:
        with zipfile.ZipFile(file) as packed:
            size = sum(item.file_size for item in packed.infolist())
        if size > LARGEST_ARCHIVE:
            raise InputError(f"{size // MIB:,} MiB once unpacked", where=path, fix="Store it as .npy, one file a model.")
        file.seek(0)
        with np.load(file, allow_pickle=False) as archive, _python_2_is_fine():
            arrays = {name: archive[name] for name in archive.files}
    if not arrays:
        raise InputError("an archive without arrays", where=path, fix="Write it again or remove it.")
    return arrays
