"""Images that are files, on this machine or at addresses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from resit.data.image_sources.places import check_protocols, digest, is_url, join, read_place, sizes_of


class FileImages:
    """Images that are files: local, or whatever fsspec reads (``s3://``, ``gs://``, ``https://``, ``memory://``).

    Parameters
    ----------
    names : sequence of str or path
        In the test set's order. Relative to ``root``, or full paths or addresses.
    root : path or str
        Folder or address that they are in. Default: of paths, the innermost folder that holds them all.

    Raises
    ------
    InputError
        If a library that reads the addresses is missing.

    Notes
    -----
    The fingerprint is of the names and sizes, so that copies elsewhere are the same images and a file that is replaced by one
    of another size is not. Full paths below ``root`` count as relative. Of ``http`` addresses only the address counts.
    """

    def __init__(self, names: Sequence[str | Path], root: str | Path = "") -> None:
        texts = [str(name) for name in names]
        folder = str(root) or _common_folder(texts)
        if folder and not is_url(folder):
            folder = os.path.abspath(folder)  # noqa: PTH100
        if not str(root):
            texts = [name if is_url(name) else os.path.abspath(name) for name in texts]  # noqa: PTH100
        start = folder.rstrip("/" + os.sep).replace(os.sep, "/") + "/"
        self.root = folder
        self.names = tuple(name.replace(os.sep, "/").removeprefix(start) if folder else name for name in texts)
        check_protocols((self.root, *self.names))

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> bytes:
        return read_place(join(self.root, self.names[index]))

    def where(self, index: int) -> str:
        """Path or address of an image."""
        return join(self.root, self.names[index])

    @cached_property
    def sizes(self) -> list[int]:
        """Size of each file in bytes, -1 where it is missing or not known."""
        return sizes_of([join(self.root, name) for name in self.names])

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the names and sizes."""
        return digest("files", self.names, self.sizes)


def _common_folder(names: Sequence[str]) -> str:
    """The innermost folder that holds all paths; empty where some are addresses."""
    if not names or any(map(is_url, names)):
        return ""
    return os.path.commonpath([os.path.dirname(os.path.abspath(name)) for name in names])  # noqa: PTH100, PTH120
