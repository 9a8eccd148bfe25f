"""Where a simulated build takes its data: digits of scikit-learn, or files that are given, such as those of CIFAR-10."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.load_benchmark import load_benchmark
from resit.errors import InputError, UsageError
from resit.models.library import library
from resit.simulate.labelled import Labelled, read_labelled, write_labelled
from resit.stats.resample import generator

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
GREYS = 16  # of load_digits: from 0 to 16
ZOOM = 4
# References that are read to make copies of: enough for any share of them.
MOST_REFERENCES = 5_000


@dataclass(frozen=True)
class Parts:
    """What a build is made from.

    Parameters
    ----------
    original : Labelled
        The test set that a new one is built after.
    candidates : Labelled
        With their true classes.
    references : Labelled
        Training images, or some of them: no new image may be a near-duplicate of one.
    original_source : str
        Where the original lies, as :func:`resit.load_benchmark` takes it.
    reference_sources : tuple of str
        Where the training images lie.
    class_list : str or None
        Class list to read them with; None where they have their own.
    """

    original: Labelled
    candidates: Labelled
    references: Labelled
    original_source: str
    reference_sources: tuple[str, ...]
    class_list: str | None = None


def digits_parts(folder: str | Path, *, seed: int = 0) -> Parts:
    """The 1,797 handwritten digits that come with scikit-learn, a third each as original, candidates and training images.

    Images of 8 × 8 greys are enlarged to 32 × 32 pixels and kept as PNG. The original and the training images are written to
    ``original.parquet`` and ``train.parquet``.

    Parameters
    ----------
    folder : path
        Where to write.
    seed : int, optional
        Of the split.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    UsageError
        If scikit-learn is missing.
    """
    library("sklearn", "sklearn")
    from sklearn.datasets import load_digits

    bunch = load_digits()
    greys = np.asarray(bunch.images)
    files = tuple(_png(image) for image in np.round(greys * (255 / GREYS)).astype(np.uint8))
    whole = Labelled(files, np.asarray(bunch.target, np.int64), tuple(ClassInfo(name, name) for name in DIGITS))
    order = generator(seed).permutation(len(whole))
    original, candidates, training = (whole.some(np.sort(rows)) for rows in np.array_split(order, 3))
    paths = [Path(folder) / name for name in ("original.parquet", "train.parquet")]
    for part, path in zip((original, training), paths, strict=True):
        write_labelled(part, path)
    return Parts(original, candidates, training, str(paths[0]), (str(paths[1]),))


def given_parts(
    original: str,
    candidates: str,
    references: Sequence[str],
    *,
    classes: str | None = None,
    most: int | None = None,
    seed: int = 0,
) -> Parts:
    """Files that are given, which stay where they are.

    Parameters
    ----------
    original, candidates : str
        Test sets with images, as :func:`resit.load_benchmark` takes them: a path or a glob.
    references : sequence of str
        Training images, at least one set.
    classes : str, optional
        Class list of all of them, such as ``cifar-10``. Default: their own.
    most : int, optional
        Candidates that are taken at most, drawn at random. Default: all.
    seed : int, optional
        Of what is drawn, also of the references that copies may be made of.

    Raises
    ------
    InputError
        If one cannot be read, or their classes differ.
    UsageError
        If there are no references.
    """
    if not references:
        raise UsageError("no references", where="simulate", fix="Give the training images: references=[…].")
    read = [load_benchmark(place, classes=classes) for place in (original, candidates, *references)]
    for benchmark in read[1:]:
        if benchmark.classes != read[0].classes:
            raise InputError(f"classes that are not those of {original}", where=benchmark.name, fix="Give classes=….")
    chosen = _drawn(read[1], most, seed, 0)
    some = [read_labelled(one, _drawn(one, MOST_REFERENCES // len(references), seed, 1, at)) for at, one in enumerate(read[2:])]
    files = tuple(data for part in some for data in part.files)
    training = Labelled(files, np.concatenate([part.labels for part in some]), read[0].classes)
    return Parts(
        read_labelled(read[0]), read_labelled(read[1], chosen), training, str(original), tuple(map(str, references)), classes
    )


def _drawn(benchmark: Benchmark, most: int | None, seed: int, *purpose: int) -> list[int] | None:
    if most is None or most >= benchmark.n:
        return None
    rows: list[int] = np.sort(generator(seed, *purpose).choice(benchmark.n, most, replace=False)).tolist()
    return rows


def _png(greys: np.ndarray) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.kron(greys, np.ones((ZOOM, ZOOM), np.uint8))).save(file, "PNG")
    return file.getvalue()
