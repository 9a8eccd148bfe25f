"""Images of reference sets. They are no images of the build: each is looked up in its set when somebody is to see it."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from resit.build.steps.dedupe import reference_sources
from resit.build.steps.init import from_root
from resit.build.steps.originals import image_bytes
from resit.data.load_benchmark import load_benchmark
from resit.errors import InputError, ResitError
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.build.steps.opened import Build
    from resit.data.benchmark import Benchmark

WAIT = 2  # seconds
LOOKED_UP = "This image is being looked up in its reference set. That can take minutes where the set is large."
NOT_THERE = (
    "This image cannot be shown: it is not found in the reference sets any more, or cannot be read there. "
    "Skip the pair, and tell whoever invited you."
)
TOLD = 5  # images that cannot be read and are named in the log


class References:
    """Finds images of reference sets by the digest of their bytes. Safe in threads.

    The sets are read through once, in the background, when an image is asked for that is not in the build's folder.

    Parameters
    ----------
    build : Build
    wanted : callable
        Gives the digests of all images that may be asked for; where the others lie is not kept.
    """

    def __init__(self, build: Build, wanted: Callable[[], set[str]]) -> None:
        self._build, self._wanted = build, wanted
        self._lock = threading.Lock()
        self._places: dict[str, tuple[Benchmark, int]] = {}
        self._sought: set[str] = set()
        self._seeking = False

    def bring(self, image: str) -> None:
        """Put an image into the build's folder; one that is there stays.

        Parameters
        ----------
        image : str
            Digest of its bytes.

        Raises
        ------
        Stop
            If it cannot be found or read; with a time to wait where it is still being looked up.
        """
        if self._is_there(image):
            return
        place = self._place(image)
        try:
            brought = self._build.folder.put_image(image_bytes(*place))
        except InputError as error:
            raise Stop(404, NOT_THERE) from error
        if brought != image:
            raise Stop(404, NOT_THERE)

    def _is_there(self, image: str) -> bool:
        try:
            return bool(self._build.folder.find_image(image))
        except InputError:
            return False

    def _place(self, image: str) -> tuple[Benchmark, int]:
        with self._lock:
            if image in self._places:
                return self._places[image]
            if image in self._sought and not self._seeking:
                raise Stop(404, NOT_THERE)
        wanted = {image, *self._wanted()}
        with self._lock:
            if not self._seeking:
                self._seeking = True
                threading.Thread(target=self._seek, args=(wanted,), name="references", daemon=True).start()
        raise Stop(404, LOOKED_UP, wait=WAIT)

    def _seek(self, wanted: set[str]) -> None:
        """Go through the sets until all that is wanted is found; what was found before stays."""
        log = logging.getLogger("resit.web")
        try:
            for source in reference_sources(self._build):
                left = wanted - self._places.keys()
                if not left:
                    break
                try:
                    self._go_through(self._loaded(source), left)
                except ResitError as error:
                    log.error("images of a reference set cannot be shown: %s", error)
        except Exception:  # whoever asks for an image is told that it is not found
            log.exception("images of reference sets")
        finally:
            with self._lock:
                self._sought |= wanted
                self._seeking = False

    def _loaded(self, source: str) -> Benchmark:
        original = self._build.config.original
        return load_benchmark(source, classes=original.classes if source == from_root(original.source) else None)

    def _go_through(self, benchmark: Benchmark, left: set[str]) -> None:
        unreadable = 0
        for row in range(benchmark.n):
            try:
                digest = hashlib.sha256(image_bytes(benchmark, row)).hexdigest()
            except InputError as error:
                if benchmark.images is None:
                    raise
                unreadable += 1
                if unreadable <= TOLD:
                    logging.getLogger("resit.web").error("%s", error)
                continue
            if digest in left:
                with self._lock:
                    self._places.setdefault(digest, (benchmark, row))
                left.discard(digest)
                if not left:
                    break
        if unreadable > TOLD:
            logging.getLogger("resit.web").error("%s: %d images cannot be read", benchmark.name, unreadable)
