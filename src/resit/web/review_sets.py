"""What reviewers see of a revision: the images that are selected for a class, and a sample of the original's.

Revisions and originals never change, so that what was read of them is kept. Verdicts do, and are read each time.
"""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from resit.build.steps.originals import image_bytes, row_of
from resit.errors import InputError
from resit.web.stop import Stop
from resit.web.times import Moments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from resit.build.steps.opened import Build
    from resit.data.benchmark import Benchmark

PAGE = 10  # images of each kind on a page: two rows of five
KEPT = 4  # revisions


@dataclass(frozen=True, slots=True)
class Chosen:
    """An image of a revision.

    Parameters
    ----------
    image : str
    selected, shown : int
        Its votes when the revision was made.
    """

    image: str
    selected: int
    shown: int


@dataclass(frozen=True)
class Revised:
    """A revision, by class.

    Parameters
    ----------
    number : int
    parent : int or None
    chosen : mapping of str to sequence of Chosen
        By class id, sorted by image.
    short : mapping of str to str
        Why a class lacks images, by class id.
    """

    number: int
    parent: int | None
    chosen: Mapping[str, Sequence[Chosen]]
    short: Mapping[str, str]

    def images(self, class_id: str) -> list[str]:
        """Images that are selected for a class."""
        return [one.image for one in self.chosen.get(class_id, ())]


class ReviewSets:
    """Revisions, and the originals beside them. Safe in threads.

    Parameters
    ----------
    build : Build
    """

    def __init__(self, build: Build) -> None:
        self._build = build
        self._lock = threading.RLock()
        self._kept: OrderedDict[int, Revised] = OrderedDict()
        self.moments = Moments(max(build.store.verdicts()["time"].to_pylist(), default=""))

    def last(self) -> int | None:
        """Number of the last revision; None where there is none."""
        known = self._build.store.revisions()
        return known[-1].revision if known else None

    def revision(self, number: int) -> Revised:
        """A revision.

        Raises
        ------
        Stop
            If there is none of that number.
        """
        with self._lock:
            if number not in self._kept:
                self._kept[number] = self._read(number)
            self._kept.move_to_end(number)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[number]

    def _read(self, number: int) -> Revised:
        if number not in {one.revision for one in self._build.store.revisions()}:
            raise Stop(404, "There is no such revision.")
        found = self._build.store.selection(number)
        chosen: dict[str, list[Chosen]] = {}
        names = ("class_id", "image", "selected", "shown")
        for key, *row in sorted(zip(*(found.selected[name].to_pylist() for name in names), strict=True)):
            chosen.setdefault(key, []).append(Chosen(*row))
        short = {one["class_id"]: one["why"] for one in found.record["shortages"]}
        return Revised(number, found.parent, chosen, short)

    @cached_property
    def _originals(self) -> dict[str, dict[str, int]]:
        """Images of the original by class, each with its row in the test set."""
        found: dict[str, dict[str, int]] = {}
        rows = self._build.store.images("original").select(["class_id", "image", "attributes"])
        for key, image, attributes in sorted(zip(*(column.to_pylist() for column in rows.columns), strict=True)):
            found.setdefault(key, {})[image] = row_of(attributes)
        return found

    def originals(self, class_id: str) -> list[str]:
        """Images of the original that are of a class, in an order drawn by the build's seed."""
        with self._lock:
            images = list(self._originals.get(class_id, ()))
        rng = np.random.default_rng([self._build.config.seed, zlib.crc32(class_id.encode())])
        return [images[place] for place in rng.permutation(len(images))]

    def beside(self, class_id: str, page: int) -> list[str]:
        """The originals on one page of a class: other ones on each page, as long as there are."""
        images = self.originals(class_id)
        n = min(PAGE, len(images))
        return [images[(page * PAGE + place) % len(images)] for place in range(n)]

    def known(self, number: int, class_id: str) -> dict[str, str]:
        """Names, as in "New 3", of all images of a class that a revision, the one before it, or the original has."""
        revised = self.revision(number)
        names = {image: f"Original {place}" for place, image in enumerate(self.originals(class_id), 1)}
        if revised.parent is not None:
            names |= dict.fromkeys(self.revision(revised.parent).images(class_id), "An earlier image")
        return names | {image: f"New {place}" for place, image in enumerate(revised.images(class_id), 1)}

    def bring(self, class_id: str, image: str) -> None:
        """Put an original into the build's folder, from where it is shown; an image that is there stays.

        Raises
        ------
        Stop
            If it cannot be read, or is not what it was.
        """
        with self._lock:
            row = self._originals.get(class_id, {}).get(image)
        if row is None or self._is_there(image):
            return
        try:
            with self._lock:
                self._build.folder.put_image(image_bytes(self._benchmark, row))
        except InputError as error:
            raise Stop(404, "This image cannot be read. Tell whoever invited you.") from error

    def _is_there(self, image: str) -> bool:
        try:
            return bool(self._build.folder.find_image(image))
        except InputError:
            return False

    @cached_property
    def _benchmark(self) -> Benchmark:
        return self._build.load_original()
