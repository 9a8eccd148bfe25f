"""People and their assignments under numbers that only those who know the build's salt can trace back."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def keyed(salt: str, *texts: str) -> str:
    """Keyed hash (HMAC-SHA256) of texts, in hexadecimal digits."""
    return hmac.new(salt.encode(), "\0".join(texts).encode(), hashlib.sha256).hexdigest()


def pseudonyms(names: Iterable[str], salt: str, prefix: str) -> dict[str, str]:
    """Numbers in place of names, in the order of a keyed hash: ``p001``, ``p002`` and so on.

    Parameters
    ----------
    names : iterable of str
        May repeat; their order does not matter.
    salt : str
        Secret of the build.
    prefix : str
        Letter before the number, which also tells kinds of names apart.

    Returns
    -------
    dict of str to str
    """
    ordered = sorted(set(names), key=lambda name: keyed(salt, prefix, name))
    width = max(3, len(str(len(ordered))))
    return {name: f"{prefix}{number:0{width}d}" for number, name in enumerate(ordered, 1)}


def renamed(column: pa.ChunkedArray, names: dict[str, str]) -> pa.ChunkedArray:
    """A column of names with their pseudonyms in place."""
    import pyarrow as pa

    codes = column.combine_chunks().dictionary_encode()
    others = pa.array([names[name] for name in codes.dictionary.to_pylist()], pa.string())
    return others.take(codes.indices)
