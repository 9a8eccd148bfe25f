"""Images of a split of a data set of the Hugging Face hub, or of one stored in a folder, read by the library datasets."""

from __future__ import annotations

import hashlib
import threading
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from resit.data.guard import reading
from resit.data.image_sources.places import read_place
from resit.errors import InputError, ResitError

SAMPLED = 64


def open_dataset(source: str, config: str | None, split: str, revision: str | None = None) -> Any:
    """One split of a data set.

    Parameters
    ----------
    source : str
        Its id on the hub, such as ``uoft-cs/cifar10``, or a folder.
    config : str or None
    split : str
    revision : str or None
        Version on the hub.

    Raises
    ------
    InputError
        If it cannot be loaded.
    """
    datasets = import_datasets()
    where = f"hf:{source}"
    try:
        with reading(where):
            if (Path(source) / "dataset_dict.json").is_file() or (Path(source) / "state.json").is_file():
                stored = datasets.load_from_disk(source)
                return stored[split] if hasattr(stored, "keys") else stored
            return datasets.load_dataset(source, config, split=split, revision=revision)
    except ResitError:
        raise
    except Exception as error:  # the library has many errors of its own
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"cannot be loaded: {first}", where=where, fix="Check its id, configuration and split, and the network."
        ) from error


def import_datasets() -> Any:
    """The library datasets.

    Raises
    ------
    InputError
        If it is missing.
    """
    try:
        return import_module("datasets")
    except ImportError as error:
        raise InputError(
            "the library datasets is missing", where="hf:", fix="Install it, for example with `pip install datasets`."
        ) from error


class DatasetImages:
    """Images of one split of a data set of Hugging Face, as they were stored.

    Parameters
    ----------
    source, config, split, revision
        As in :func:`open_dataset`. After pickling, the split is opened again by these.
    column : str
        Column of images.
    opened : datasets.Dataset, optional
        The split, where it is open already.

    Raises
    ------
    InputError
        If it cannot be loaded or has no such column.

    Notes
    -----
    The fingerprint is of the number of rows and of the bytes of up to 64 images at equal distances.
    """

    def __init__(
        self, source: str, config: str | None, split: str, column: str, revision: str | None = None, opened: Any = None
    ) -> None:
        self.source, self.config, self.split, self.column, self.revision = source, config, split, column, revision
        self._lock = threading.Lock()
        self._rows = None if opened is None else self._undecoded(opened)
        self._n = len(self._opened())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_lock": None, "_rows": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> bytes:
        try:
            value = self._opened()[int(index)][self.column]
        except ResitError as error:
            raise OSError(error.what) from error
        if isinstance(value, dict):
            path = value.get("path")
            value = value.get("bytes")
            if value is None and path:
                return read_place(path)
        if value is None:
            raise OSError("no image in this row")
        return bytes(value)

    def where(self, index: int) -> str:
        """Data set, split and row of an image."""
        return f"hf:{self.source}@{self.split} (row {index})"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the number of rows and of some images; see the notes."""
        found = hashlib.sha256(f"datasets {self._n}".encode())
        for row in np.unique(np.linspace(0, self._n - 1, SAMPLED).astype(int)) if self._n else ():
            try:
                found.update(hashlib.sha256(self[row]).digest())
            except OSError:
                found.update(b"unreadable")
        return found.hexdigest()[:16]

    def _opened(self) -> Any:
        with self._lock:
            if self._rows is None:
                self._rows = self._undecoded(open_dataset(self.source, self.config, self.split, self.revision))
            return self._rows

    def _undecoded(self, rows: Any) -> Any:
        """The column of images alone, not decoded by the library, whose rules are others."""
        where = f"hf:{self.source}"
        if self.column not in rows.column_names:
            raise InputError(f"no column {self.column!r}", where=where, fix="Name the column of images: image_column=….")
        with reading(where):
            rows = rows.select_columns([self.column]).with_format(None)
            if type(rows.features[self.column]).__name__ == "Image":
                rows = rows.cast_column(self.column, import_datasets().Image(decode=False))
        return rows
