"""Images of a data set of torchvision."""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.guard import reading
from resit.errors import InputError, ResitError

SAMPLED = 64


def read_file(path: str) -> bytes:
    """The loader that torchvision is given, so that images are decoded by our policy and not by its."""
    return Path(path).read_bytes()


def open_dataset(name: str, options: Mapping[str, Any]) -> Any:
    """A data set of torchvision, with the bytes of its files where it reads files one by one.

    Parameters
    ----------
    name : str
        Name of its class.
    options : mapping of str to object
        What the class is called with, such as ``root`` and ``train``.

    Raises
    ------
    InputError
        If there is no such class, or it cannot be opened with these.
    """
    where = f"torchvision:{name}"
    kind = _class(name)
    more = {"loader": read_file} if takes_loader(kind) else {}
    try:
        with reading(where):
            return kind(**options, **more)
    except ResitError:
        raise
    except Exception as error:  # RuntimeError where files are missing, ImportError where a library is
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"cannot be opened: {first}", where=where, fix="Check root; download=true fetches what can be fetched."
        ) from error


def _class(name: str) -> Any:
    where = f"torchvision:{name}"
    try:
        module = import_module("torchvision.datasets")
    except ImportError as error:
        raise InputError(
            "the library torchvision is missing", where=where, fix="Install it, for example with `pip install torchvision`."
        ) from error
    kind = getattr(module, name, None) if name in module.__all__ else None
    if kind is None:
        raise InputError(f"torchvision has no data set {name!r}", where=where, fix="Names are those of its classes: CIFAR10.")
    return kind


def parameters_of(name: str) -> set[str]:
    """What the class of a data set may be called with, whichever of its parents takes it.

    Raises
    ------
    InputError
        If there is no such class.
    """
    return {word for one in _class(name).__mro__ if one is not object for word in inspect.signature(one).parameters}


def takes_loader(kind: type) -> bool:
    """Whether the class of a data set can be told how to load an image."""
    return any("loader" in inspect.signature(one).parameters for one in kind.__mro__ if one is not object)


class TorchvisionImages:
    """Images of a data set of torchvision: bytes of files where it can be told to give them, else pixels.

    Parameters
    ----------
    name : str
        Name of its class.
    options : mapping of str to object
        What the class is called with. After pickling, the data set is opened again by these.
    opened : torchvision.datasets.VisionDataset, optional
        The data set, where it is open already.

    Raises
    ------
    InputError
        If it cannot be opened.

    Notes
    -----
    The fingerprint is of the number of images and of the bytes or pixels of up to 64 images at equal distances.
    """

    def __init__(self, name: str, options: Mapping[str, Any], opened: Any = None) -> None:
        self.name, self.options = name, dict(options)
        self._lock = threading.Lock()
        self._rows = opened
        self._n = len(self._opened())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_lock": None, "_rows": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> bytes | npt.NDArray[np.generic]:
        try:
            image = self._opened()[int(index)][0]
        except ResitError as error:
            raise OSError(error.what) from error
        if isinstance(image, bytes):
            return image
        mode = getattr(image, "mode", "")
        if mode not in ("L", "RGB", "RGBA"):
            raise OSError(f"torchvision gives an image of {mode or type(image).__name__}, not of L, RGB or RGBA")
        return np.asarray(image)

    def where(self, index: int) -> str:
        """Data set and row of an image."""
        return f"torchvision:{self.name} (row {index})"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the number of images and of some of them; see the notes."""
        found = hashlib.sha256(f"torchvision {self._n}".encode())
        for row in np.unique(np.linspace(0, self._n - 1, SAMPLED).astype(int)) if self._n else ():
            try:
                raw = self[row]
            except OSError:
                raw = b"unreadable"
            found.update(hashlib.sha256(raw if isinstance(raw, bytes) else np.ascontiguousarray(raw).data).digest())
        return found.hexdigest()[:16]

    def _opened(self) -> Any:
        with self._lock:
            if self._rows is None:
                self._rows = open_dataset(self.name, self.options)
            return self._rows
