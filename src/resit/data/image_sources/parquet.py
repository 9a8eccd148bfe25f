"""Images in a column of Parquet files, as Hugging Face stores them."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from resit.data.guard import MIB, reading, refuse_unfit
from resit.data.image_sources.places import digest, join, read_place
from resit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# A group of rows up to this size is read at once, a larger one in blocks of about this size.
BLOCK = 32 * MIB
# Blocks are kept up to this size, whatever the number of threads.
KEPT = 256 * MIB
OPEN_FILES = 16
Key = tuple[int, int]  # group and block


class ParquetImages:
    """Images in a column of one or several Parquet files: bytes, or a struct of bytes and path.

    Where a struct has no bytes, the path is read, relative to the Parquet file's folder.

    Parameters
    ----------
    paths : sequence of path
    column : str

    Raises
    ------
    InputError
        If a file cannot be read or has no such column.

    Notes
    -----
    Threads share a store of the blocks last read, of at most 256 MiB. Reading in order, also by several threads, is quick; a
    group of rows larger than 32 MiB is read from its beginning when an earlier row of it is wanted that is no longer kept.

    The fingerprint is of the files' sizes, the numbers of rows and the sizes of the groups of rows.
    """

    def __init__(self, paths: Sequence[str | Path], column: str) -> None:
        import pyarrow.parquet as pq

        self.paths = tuple(str(Path(path).absolute()) for path in paths)
        self.column = column
        self._shown = tuple(map(str, paths))
        self._starts: list[int] = []  # first row of each group of rows of all files
        self._groups: list[tuple[int, int, int]] = []  # file, group in the file, rows of a block
        self._facts: list[tuple[int, ...]] = []
        total = 0
        for number, path in enumerate(paths):
            refuse_unfit(Path(path))
            with reading(path):
                found = pq.read_metadata(path)
                if column not in found.schema.to_arrow_schema().names:
                    raise InputError(f"no column {column!r}", where=path, fix="Name the column of images: image_column=….")
                self._facts.append((Path(path).stat().st_size, found.num_rows))
            for group in range(found.num_row_groups):
                rows, size = _size(found.row_group(group), column)
                self._starts.append(total)
                self._groups.append((number, group, max(1, min(rows, rows * BLOCK // max(size, 1)))))
                self._facts.append((rows, size))
                total += rows
        self._n = total
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[Key, pa.ChunkedArray] = OrderedDict()
        self._files: OrderedDict[int, Any] = OrderedDict()
        self._stream: tuple[int, int, Iterator[Any]] | None = None  # group, next block, and the blocks that follow

    def __getstate__(self) -> dict[str, Any]:
        fresh = ("_lock", "_blocks", "_files", "_stream")
        return {name: value for name, value in self.__dict__.items() if name not in fresh}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> bytes:
        group, row = self._find(index)
        number, _, rows = self._groups[group]
        with self._lock:
            block = self._block(group, row // rows)
        if row % rows >= len(block):
            raise OSError("cannot be read: a group of rows is shorter than it says")
        value = block[row % rows].as_py()
        if isinstance(value, dict):
            path = value.get("path")
            value = value.get("bytes")
            if value is None and path:
                return read_place(join(str(Path(self.paths[number]).parent), path))
        if value is None:
            raise OSError("no image in this row")
        return bytes(value)

    def where(self, index: int) -> str:
        """File and row of an image."""
        group, row = self._find(index)
        number = self._groups[group][0]
        first = next(start for start, other in zip(self._starts, self._groups, strict=True) if other[0] == number)
        return f"{self._shown[number]} (row {self._starts[group] + row - first})"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of numbers of rows and sizes; see the notes."""
        return digest("parquet", *self._facts)

    def _find(self, index: int) -> tuple[int, int]:
        index = int(index)
        if not 0 <= index < self._n:
            raise IndexError(f"image {index} of {self._n}")
        group = bisect_right(self._starts, index) - 1
        return group, index - self._starts[group]

    def _block(self, group: int, block: int) -> pa.ChunkedArray:
        """One block of images. Called by one thread at a time."""
        number, in_file, rows = self._groups[group]
        found = self._blocks.get((group, block))
        if found is not None:
            self._blocks.move_to_end((group, block))
            return found
        try:
            if self._stream is None or self._stream[0] != group or self._stream[1] > block:
                self._stream = (group, 0, self._open(number).iter_batches(rows, [in_file], [self.column]))
            _, following, stream = self._stream
            while following <= block:
                found = next(stream).column(self.column)
                self._keep((group, following), found)
                following += 1
                self._stream = (group, following, stream)
        except BaseException as error:
            self._stream = None
            if isinstance(error, StopIteration | ValueError | TypeError):
                raise OSError(f"cannot be read: {error}") from error
            raise
        return found

    def _keep(self, key: Key, block: pa.ChunkedArray) -> None:
        self._blocks[key] = block
        while len(self._blocks) > 1 and sum(one.nbytes for one in self._blocks.values()) > KEPT:
            self._blocks.popitem(last=False)

    def _open(self, number: int) -> Any:
        import pyarrow.parquet as pq

        if number not in self._files:
            self._files[number] = pq.ParquetFile(self.paths[number], memory_map=False, pre_buffer=False)
            while len(self._files) > OPEN_FILES:
                self._files.popitem(last=False)
        return self._files[number]


def _size(group: Any, column: str) -> tuple[int, int]:
    """Rows of a group, and how large its images are once unpacked."""
    columns = [group.column(place) for place in range(group.num_columns)]
    sizes = [one.total_uncompressed_size for one in columns if one.path_in_schema.split(".")[0] == column.split(".")[0]]
    return int(group.num_rows), int(np.sum(sizes, dtype=np.int64))
