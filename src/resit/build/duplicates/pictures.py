"""The images of one set for the search of near-duplicates: an id for each, and a way to read a few at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resit.build.collect.images import encoded
from resit.data.benchmark import Benchmark
from resit.data.decode import decode
from resit.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

    from resit.build.folder import BuildFolder
    from resit.data.images import Raw

Read = Callable[[int, int], "Sequence[Image]"]


@dataclass(frozen=True)
class Pictures:
    """The images of one set.

    Parameters
    ----------
    ids : sequence of str
        Id of each image, such as the SHA-256 of its bytes. Of several images with one id the first counts.
    read : callable
        Given start and stop, decodes the images from start up to, but without, stop.
    """

    ids: Sequence[str]
    read: Read

    def __len__(self) -> int:
        return len(self.ids)


def pictures_of_benchmark(benchmark: Benchmark) -> Pictures:
    """The images of a test set, each under the SHA-256 of its bytes; pixels of an array are taken as a PNG file.

    All bytes are read once here, and once more when the pictures are.

    Parameters
    ----------
    benchmark : Benchmark
        With images.

    Raises
    ------
    InputError
        If it has no images, or one cannot be read.
    """
    images = benchmark.images
    if images is None:
        raise InputError("no images, only labels", where=benchmark.name, fix="Give the folder or file that has them.")

    def raw(row: int) -> Raw:
        try:
            return images[row]
        except OSError as error:
            raise _unreadable(images.where(row), error.strerror or str(error)) from error

    def read(start: int, stop: int) -> list[Image]:
        return [_decoded(raw(row), images.where(row)) for row in range(start, stop)]

    return Pictures([_digest(raw(row), images.where(row)) for row in range(len(images))], read)


def pictures_of_folder(folder: BuildFolder, ids: Sequence[str]) -> Pictures:
    """Images of a build's folder.

    Parameters
    ----------
    folder : BuildFolder
    ids : sequence of str
        Digests of the images that are wanted.
    """

    def read(start: int, stop: int) -> list[Image]:
        return [_of_file(folder, digest) for digest in ids[start:stop]]

    return Pictures(ids, read)


def _of_file(folder: BuildFolder, digest: str) -> Image:
    path = folder.find_image(digest)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    return _decoded(data, path)


def _digest(raw: Raw, where: object) -> str:
    if isinstance(raw, bytes):
        return hashlib.sha256(raw).hexdigest()
    try:
        return hashlib.sha256(encoded(raw)).hexdigest()
    except InputError as error:
        raise _unreadable(where, error.what) from error


def _decoded(raw: Raw, where: object) -> Image:
    try:
        return decode(raw).image
    except InputError as error:
        raise _unreadable(where, error.what) from error


def _unreadable(where: object, reason: str) -> InputError:
    return InputError(f"an image cannot be read ({reason})", where=where, fix="Mend the file, or leave it out.")
