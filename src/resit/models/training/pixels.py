"""Pixels of images at one size, as inputs of small models."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.decode import decode, fingerprint
from resit.data.images import Images
from resit.data.paths import short_list
from resit.errors import InputError, Notice, UsageError, one_line
from resit.models.preprocess import Preprocess
from resit.models.training.protocol import Prepared, Tell, digest

PART = 1_024


@dataclass(frozen=True)
class Pixels:
    """RGB pixels: the shorter side resized (bicubic, antialiased), the centre cropped; uint8, shape (n, size, size, 3).

    Parameters
    ----------
    size : int
        Height and width in pixels. In memory is n · 3 · size² bytes.
    """

    size: int = 32

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.size}×{self.size} pixels"

    @property
    def fingerprint(self) -> str:
        """Digest of size and decoding."""
        return digest("pixels", self._steps.geometry, fingerprint())

    @property
    def _steps(self) -> Preprocess:
        return Preprocess(self.size, resize=self.size)

    def prepare(self, benchmark: Benchmark, tell: Tell) -> Prepared:
        """Decode the images of a benchmark; those that cannot be read are not usable, and told.

        Parameters
        ----------
        benchmark : Benchmark
            With images.
        tell : callable

        Raises
        ------
        UsageError
            If it has no images.
        """
        images = benchmark.images
        if images is None:
            raise UsageError("a benchmark without images cannot be trained on", where=benchmark.name, fix="Give its images.")
        values = np.zeros((benchmark.n, self.size, self.size, 3), np.uint8)
        parts = [range(start, min(start + PART, benchmark.n)) for start in range(0, benchmark.n, PART)]
        faults: list[tuple[int, str]] = []
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for done, found in enumerate(pool.map(lambda rows: self._fill(values, images, rows), parts), 1):
                faults += found
                tell(f"{benchmark.name}, pixels: {done / len(parts):.0%}")
        usable = np.ones(benchmark.n, bool)
        usable[[row for row, _ in faults]] = False
        return Prepared(values, usable, _notices(benchmark, [text for _, text in faults]))

    def _fill(self, values: npt.NDArray[np.uint8], images: Images, rows: range) -> list[tuple[int, str]]:
        steps, faults = self._steps, []
        for row in rows:
            try:
                values[row] = steps.pixels(decode(images[row]).image)
            except (OSError, ValueError, MemoryError, InputError) as error:
                reason = error.what if isinstance(error, InputError) else str(error) or type(error).__name__
                faults.append((row, f"{images.where(row)} ({one_line(reason)})"))
        return faults


def _notices(benchmark: Benchmark, faults: list[str]) -> tuple[Notice, ...]:
    if not faults:
        return ()
    message = f"{len(faults)} of {benchmark.n} images cannot be read and are left out of trainings: {short_list(faults)}."
    return (Notice("unreadable-images", benchmark.name, message),)
