"""Which candidates are known already, from earlier runs and in this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from resit.build.collect.found import Found

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[str, str]  # image and class
Seen = Literal["new", "known", "repeated"]


@dataclass(frozen=True, slots=True)
class Stored:
    """An image that is in the build's folder: its digest, and its path from there."""

    image: str
    path: str


class Known:
    """The candidates of a build, by address and by image and class.

    Parameters
    ----------
    before : pyarrow.Table or None
        Those that were saved before, in columns of :data:`resit.store.schemas.IMAGES`.
    source : str
        Name of the source that is collected from now.
    """

    def __init__(self, before: pa.Table | None, source: str) -> None:
        self._before: set[Key] = set()
        self._now: set[Key] = set()
        self._stored: dict[str, Stored] = {}
        self._of_class: dict[str, set[str]] = {}
        for batch in before.to_batches(max_chunksize=2**16) if before is not None else ():
            names = ("image", "class_id", "path", "source", "url")
            for image, key, path, place, url in zip(*(batch.column(name).to_pylist() for name in names), strict=True):
                self._before.add((image, key))
                if url:
                    self._stored[url] = Stored(image, path)
                if not place.startswith(source):
                    self._of_class.setdefault(key, set()).add(image)

    def at(self, url: str) -> Stored | None:
        """The image that an address is known to have."""
        return self._stored.get(url)

    def add(self, found: Found, stored: Stored) -> Seen:
        """Take a candidate in, and say whether it is new."""
        key = (stored.image, found.class_id)
        if found.url and not found.path:
            self._stored.setdefault(found.url, stored)
        repeated = key in self._now
        self._now.add(key)
        self._of_class.setdefault(found.class_id, set()).add(stored.image)
        return "repeated" if repeated else "known" if key in self._before else "new"

    def count(self, class_id: str) -> int:
        """Images of a class that this run or other sources found."""
        return len(self._of_class.get(class_id, ()))
