"""Images as rows of numbers in temporary files: pixels at one size, and features of models; read a part at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.errors import InputError, OutputError

if TYPE_CHECKING:
    from resit.build.duplicates.pictures import Pictures

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Tell = Callable[[str], None]
Features = Callable[[Sequence[Any]], npt.NDArray[np.float32]]
PIXELS = "pixels"
# Side of the square that every picture is brought to.
SIDE = 32
# Pictures that are decoded at once.
READ = 256


@dataclass(frozen=True)
class Rows:
    """Rows of one type and shape in a file.

    Parameters
    ----------
    path : Path
    n : int
        Number of rows.
    shape : tuple of int
        Of a row.
    dtype : str
        ``u1`` for pixels, ``f4`` for features.
    """

    path: Path
    n: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return int(np.prod(self.shape))

    def block(self, start: int, stop: int) -> Array:
        """Rows from start up to, but without, stop."""
        count = max(0, min(stop, self.n) - start) * self.width
        offset = start * self.width * np.dtype(self.dtype).itemsize
        return np.fromfile(self.path, self.dtype, count, offset=offset).reshape(-1, *self.shape)

    def blocks(self, size: int, needed: npt.NDArray[np.bool_] | None = None) -> Iterator[tuple[int, Array]]:
        """Each block of at most ``size`` rows with its first row; only those with a needed row."""
        for start in range(0, self.n, size):
            if needed is None or needed[start : start + size].any():
                yield start, self.block(start, start + size)

    def take(self, places: Ints) -> Array:
        """Rows at some places, copied."""
        if not self.n:
            return np.empty((0, *self.shape), self.dtype)
        return np.array(np.memmap(self.path, self.dtype, "r", shape=(self.n, *self.shape))[places])


@dataclass(frozen=True)
class Sets:
    """Candidates and references one after the other, as rows.

    Parameters
    ----------
    ids : tuple of str
        Of all rows, each once in its set.
    references : tuple of str
        Name of the set that each part of the rows is of; the first is empty: the candidates.
    starts : tuple of int
        First row of each part, and the number of all rows.
    rows : mapping of str to Rows
        By kind: pixels, or the name of a model.
    """

    ids: tuple[str, ...]
    references: tuple[str, ...]
    starts: tuple[int, ...]
    rows: Mapping[str, Rows]

    @property
    def n(self) -> int:
        """Number of all rows."""
        return self.starts[-1]

    @property
    def candidates(self) -> int:
        """Number of candidates: the first rows."""
        return self.starts[1]

    def places(self) -> Ints:
        """Place of each row in the order of reference and id, shape (n,)."""
        found = np.empty(self.n, np.int64)
        for start, stop in zip(self.starts, self.starts[1:], strict=False):
            names = self.ids[start:stop]
            found[sorted(range(start, stop), key=lambda row: self.ids[row])] = np.arange(start, start + len(names))
        return found


def write_rows(
    candidates: Pictures, references: Mapping[str, Pictures], features: Mapping[str, Features], folder: Path, tell: Tell
) -> Sets:
    """Read all pictures once and write their pixels and features to files.

    Parameters
    ----------
    candidates : Pictures
    references : mapping of str to Pictures
        By name.
    features : mapping of str to callable
        By model: makes the features of some pictures, float32, shape (n, d).
    folder : Path
        For the files.
    tell : callable
        Told the progress in words.

    Raises
    ------
    InputError
        If a reference has no name, a picture cannot be read, or its features are not finite.
    OutputError
        If the files cannot be written.
    """
    if "" in references:
        raise InputError("a reference set without a name", where="references", fix="Name it.")
    named = {"": candidates, **{name: references[name] for name in sorted(references)}}
    ids: list[str] = []
    starts = [0]
    shapes: dict[str, tuple[int, ...]] = {PIXELS: (SIDE, SIDE, 3)}
    paths = {kind: folder / f"{number}.rows" for number, kind in enumerate((PIXELS, *features))}
    try:
        files = {kind: path.open("wb") for kind, path in paths.items()}
        try:
            for name, pictures in named.items():
                for kept, kinds in _blocks(pictures, features, name or "candidates", tell):
                    ids += kept
                    for kind, values in kinds.items():
                        shapes[kind] = values.shape[1:]
                        files[kind].write(np.ascontiguousarray(values).data)
                starts.append(len(ids))
        finally:
            for file in files.values():
                file.close()
    except OSError as error:
        fix = "Free some space, or name another folder for temporary files in TMPDIR."
        raise OutputError(f"cannot be written: {error.strerror or error}", where=folder, fix=fix) from error
    dtypes = {kind: "u1" if kind == PIXELS else "f4" for kind in paths}
    rows = {kind: Rows(paths[kind], len(ids), shapes.get(kind, (0,)), dtypes[kind]) for kind in paths}
    return Sets(tuple(ids), tuple(named), tuple(starts), rows)


def _blocks(
    pictures: Pictures, features: Mapping[str, Features], name: str, tell: Tell
) -> Iterator[tuple[list[str], dict[str, Array]]]:
    seen: set[str] = set()
    n = len(pictures)
    for start in range(0, n, READ):
        stop = min(start + READ, n)
        images = pictures.read(start, stop)
        fresh = []
        for place, image_id in enumerate(pictures.ids[start:stop]):
            if image_id not in seen:
                seen.add(image_id)
                fresh.append(place)
        kept = [pictures.ids[start + place] for place in fresh]
        if kept:
            chosen = [images[place] for place in fresh]
            made: dict[str, Array] = {PIXELS: np.stack([small(image) for image in chosen])}
            for model, make in features.items():
                made[model] = _finite(make(chosen), kept, model)
            yield kept, made
        tell(f"Reading {name}: {stop:,} of {n:,}")


def small(image: Any) -> npt.NDArray[np.uint8]:
    """A picture in 32 × 32 pixels RGB, whatever its sides were; one of that size stays as it is.

    Parameters
    ----------
    image : PIL.Image.Image

    Returns
    -------
    ndarray of uint8, shape (32, 32, 3)
    """
    from PIL.Image import Resampling

    image = image if image.mode == "RGB" else image.convert("RGB")
    sized = image if image.size == (SIDE, SIDE) else image.resize((SIDE, SIDE), Resampling.BILINEAR)
    return np.asarray(sized, np.uint8)


def _finite(values: npt.NDArray[np.float32], ids: Sequence[str], model: str) -> npt.NDArray[np.float32]:
    lost = ~np.isfinite(values).all(axis=1)
    if lost.any():
        what = f"features of the image {ids[int(np.flatnonzero(lost)[0])]} are not finite"
        raise InputError(what, where=model, fix="Use another model, or leave the image out.")
    return values
