"""Reads, decodes and prepares images in threads, a bounded number of batches ahead of the models."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from resit.data.decode import decode
from resit.data.images import Images
from resit.errors import InputError, ResitError, one_line
from resit.evaluate.settings import Orientation
from resit.models.protocol import Batch, Transform

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class Fault:
    """An image that could not be read.

    Parameters
    ----------
    row : int
        Its place in the benchmark.
    where : str
        Its path.
    reason : str
    """

    row: int
    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True)
class Prepared:
    """A batch, prepared once for each different transform.

    Parameters
    ----------
    rows : range
        The examples that were to be read.
    good : list of int
        Rows of those that could be.
    inputs : list of ndarray, shape (len(good), …)
        By transform. Empty where no image could be read.
    faults : list of Fault
        Those that could not.
    notes : list of str
        What was odd about images that could.
    """

    rows: range
    good: list[int]
    inputs: list[Batch]
    faults: list[Fault]
    notes: list[str]


def prepared(
    images: Images,
    batches: Iterable[range],
    transforms: Sequence[Transform],
    *,
    orientation: Orientation,
    threads: int,
) -> Generator[Prepared]:
    """Batches in the given order, each prepared in a thread while earlier ones are with the models.

    Parameters
    ----------
    images : Images
    batches : iterable of range
        Rows of each batch.
    transforms : sequence of Transform
        Each image is decoded once and goes through all of them.
    orientation : {'apply', 'ignore'}
        What to do with the orientation that EXIF tells.
    threads : int
        How many batches are prepared at once; one more may wait.

    Raises
    ------
    InputError
        If a transform fails, or gives arrays of different shapes.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix="resit-decode")
    left = iter(batches)
    try:
        waiting: deque[Future[Prepared]] = deque(
            pool.submit(_prepare, images, rows, transforms, orientation) for rows in islice(left, threads + 1)
        )
        while waiting:
            done = waiting.popleft().result()
            waiting.extend(pool.submit(_prepare, images, rows, transforms, orientation) for rows in islice(left, 1))
            yield done
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare(images: Images, rows: range, transforms: Sequence[Transform], orientation: Orientation) -> Prepared:
    good: list[int] = []
    faults: list[Fault] = []
    notes: list[str] = []
    inputs: list[Batch | None] = [None] * len(transforms)
    for row in rows:
        try:
            image = decode(images[row], orientation=orientation)
        except (OSError, ValueError, MemoryError, InputError) as error:
            faults.append(Fault(row, images.where(row), _reason(error)))
            continue
        ready = [_transformed(transform, image.image, images.where(row)) for transform in transforms]
        notes += [f"{images.where(row)}: {note}" for note in image.notes]
        for place, (transform, one) in enumerate(zip(transforms, ready, strict=True)):
            inputs[place] = _put(inputs[place], one, len(good), len(rows), transform)
        good.append(row)
    return Prepared(rows, good, [batch[: len(good)] for batch in inputs if batch is not None], faults, notes)


def is_readable(images: Images, row: int) -> bool:
    """Whether an image can be read and decoded."""
    try:
        decode(images[row])
    except (OSError, ValueError, MemoryError, InputError):
        return False
    return True


def _transformed(transform: Transform, image: Image, where: str) -> Batch:
    try:
        return np.asarray(transform(image))
    except ResitError:
        raise
    except Exception as error:
        raise InputError(
            f"the transform {transform.fingerprint} failed on an image that was read: {type(error).__name__}: {error}",
            where=where,
            fix="It must take 8-bit RGB images of all sizes. What was answered is kept.",
        ) from error


def _put(batch: Batch | None, one: Batch, place: int, size: int, transform: Transform) -> Batch:
    if batch is None:
        batch = np.empty((size, *one.shape), one.dtype)
    if one.shape != batch.shape[1:] or one.dtype != batch.dtype:
        raise InputError(
            f"inputs of shape {batch.shape[1:]} and {one.shape}",
            where=transform.fingerprint,
            fix="A transform must give every image the same shape and type: crop or resize to one size.",
        )
    batch[place] = one
    return batch


def _reason(error: Exception) -> str:
    if isinstance(error, InputError):
        return one_line(error.what)
    return one_line(getattr(error, "strerror", None) or str(error) or type(error).__name__)
