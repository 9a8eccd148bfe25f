"""Images as files in memory with their classes, read from a test set and written as Parquet that ``datasets`` reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.collect.images import encoded
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.decode import decode
from resit.errors import InputError, OutputError

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Labelled:
    """Images with one class each.

    Parameters
    ----------
    files : tuple of bytes, length n
        Each image as a file.
    labels : ndarray of int64, shape (n,)
        Places in ``classes``.
    classes : tuple of ClassInfo
    """

    files: tuple[bytes, ...]
    labels: Ints
    classes: tuple[ClassInfo, ...]

    def __len__(self) -> int:
        return len(self.files)

    @property
    def digests(self) -> list[str]:
        """Id of each image in a build: the SHA-256 of its bytes."""
        return [hashlib.sha256(data).hexdigest() for data in self.files]

    @property
    def class_ids(self) -> list[str]:
        """Class of each image."""
        return [self.classes[label].id for label in self.labels.tolist()]

    def some(self, rows: Sequence[int] | Ints) -> Labelled:
        """Some of the images, in the given order."""
        places = np.asarray(rows, np.int64)
        return replace(self, files=tuple(self.files[row] for row in places.tolist()), labels=self.labels[places])

    def pixels(self, size: int) -> Floats:
        """Pixels from 0 to 1 of each image at one size, shape (n, size · size · 3).

        Raises
        ------
        InputError
            If an image cannot be decoded.
        """
        from PIL.Image import Resampling

        found = np.empty((len(self), size * size * 3), np.float32)
        for row, data in enumerate(self.files):
            image = decode(data).image.resize((size, size), Resampling.BOX)
            found[row] = np.asarray(image, np.float32).ravel() / 255
        return found


def read_labelled(benchmark: Benchmark, rows: Sequence[int] | Ints | None = None) -> Labelled:
    """The images of a test set, or some of them.

    Parameters
    ----------
    benchmark : Benchmark
        With images, and one label for each.
    rows : sequence of int, optional
        Default: all.

    Raises
    ------
    InputError
        If it has no images, no class list, or images with several labels.
    """
    images = benchmark.images
    if images is None or not benchmark.classes or not benchmark.single_label:
        fix = "Give images with one label each, and their class list: classes=…."
        raise InputError("no images, no class list, or several labels", where=benchmark.name, fix=fix)
    places = np.arange(benchmark.n) if rows is None else np.asarray(rows, np.int64)
    raws = (images[row] for row in places.tolist())
    files = tuple(raw if isinstance(raw, bytes) else encoded(raw) for raw in raws)
    return Labelled(files, benchmark.labels[places, 0].astype(np.int64), benchmark.classes)


def write_labelled(labelled: Labelled, path: Path) -> None:
    """Write images to a Parquet file as Hugging Face lays them out: columns image (bytes and path) and label.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    import pyarrow as pa

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    names = [info.id for info in labelled.classes]
    kinds = {"image": {"_type": "Image"}, "label": {"names": names, "_type": "ClassLabel"}}
    metadata = {"huggingface": json.dumps({"info": {"features": kinds}})}
    files = [{"bytes": data, "path": f"{row:06}.{ending(data)}"} for row, data in enumerate(labelled.files)]
    columns = {"image": pa.array(files, image), "label": pa.array(labelled.labels)}
    save(pa.table(columns, schema=pa.schema([("image", image), ("label", pa.int64())], metadata=metadata)), path)


def save(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    import pyarrow.parquet as pq

    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, part, compression="zstd")
        part.replace(path)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", where=path, fix="Check its permissions.") from error


def ending(data: bytes) -> str:
    """Ending of an image's name."""
    return "jpg" if data.startswith(b"\xff\xd8") else "png"
