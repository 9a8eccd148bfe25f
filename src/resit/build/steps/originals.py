"""The images of the original test set as rows of a build, and the votes that there are on them already."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from resit.build.collect.images import encoded
from resit.build.folder import ending_of
from resit.build.keys import IMAGE, firsts, keys
from resit.data.benchmark import Benchmark
from resit.data.columns import plain
from resit.data.guard import reading
from resit.data.paths import short_list
from resit.data.tables import read_table
from resit.errors import InputError
from resit.store.schemas import COUNTS, IMAGES, table

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.build.steps.opened import Tell

ROLE = "original"
ROW = "row"  # attribute: place in the test set
EVERY = 1_000  # images between two words of progress
MOST_VOTES = 2**31 - 1  # on one image


def image_bytes(benchmark: Benchmark, row: int) -> bytes:
    """One image of a test set as the bytes of a file.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    if benchmark.images is None:
        raise InputError("no images, only labels", where=benchmark.name, fix="Give the folder or file that has them.")
    try:
        raw = benchmark.images[row]
    except OSError as error:
        what = f"an image cannot be read ({error.strerror or error})"
        raise InputError(what, where=benchmark.images.where(row), fix="Mend the file, or leave it out.") from error
    return raw if isinstance(raw, bytes) else encoded(raw)


def path_in_build(digest: str, data: bytes) -> str:
    """Where an image lies in a build's folder."""
    return f"images/{digest[:2]}/{digest}.{ending_of(data)}"


def original_ids(benchmark: Benchmark, tell: Tell) -> list[str]:
    """Id of each image of the original: the SHA-256 of its bytes, or where there are no images its id in the test set."""
    if benchmark.images is None:
        if benchmark.ids is None:
            fix = "Give files with images, or labels with ids."
            raise InputError("neither images nor ids", where=benchmark.name, fix=fix)
        return [str(name) for name in benchmark.ids]
    found = []
    for row in range(benchmark.n):
        if row % EVERY == 0:
            tell(f"Reading originals: {row:,} of {benchmark.n:,}")
        found.append(hashlib.sha256(image_bytes(benchmark, row)).hexdigest())
    return found


def original_rows(benchmark: Benchmark, ids: list[str]) -> pa.Table:
    """Rows of IMAGES, one for each image and accepted label, the first of those that have the same bytes.

    The attribute ``row`` is the place in the test set, from 0; groups are attributes too, except one that is called so.
    """
    rows, places = np.nonzero(benchmark.labels >= 0)
    labels = benchmark.labels[rows, places]
    keyed = {label: benchmark.class_id(label) for label in np.unique(labels).tolist()}
    groups = {name: column.tolist() for name, column in benchmark.groups.items()}
    attributes = [
        json.dumps({**{name: column[row] for name, column in groups.items()}, ROW: row}, sort_keys=True, ensure_ascii=False)
        for row in range(benchmark.n)
    ]
    where = [""] * benchmark.n if benchmark.images is None else [benchmark.images.where(row) for row in range(benchmark.n)]
    at = rows.tolist()
    found = table(
        IMAGES,
        {
            "image": [ids[row] for row in at],
            "class_id": [keyed[label] for label in labels.tolist()],
            "role": [ROLE] * len(at),
            "path": [where[row] for row in at],
            "source": [benchmark.name] * len(at),
            **{name: [""] * len(at) for name in ("url", "licence", "author")},
            "attributes": [attributes[row] for row in at],
        },
    )
    return found.filter(firsts(found))


def row_of(attributes: str) -> int:
    """Place of an original in its test set, from its attributes."""
    return int(json.loads(attributes)[ROW])


def read_counts(path: str | Path, benchmark: Benchmark, ids: list[str]) -> pa.Table:
    """Votes that there are on the originals already, as COUNTS.

    Parameters
    ----------
    path : path
        An array ``.npy`` of shape (n, classes): how many people chose each class for each image, as CIFAR-10H has it; an image
        counts as shown once for each of its votes. Or a table with columns id, selected and shown, and class_id where an image
        has several labels.
    benchmark : Benchmark
        The original.
    ids : list of str
        Id of each of its images in the build.

    Returns
    -------
    pyarrow.Table
        COUNTS, only of images and their accepted labels. Where several images have the same bytes, their votes are added.

    Raises
    ------
    InputError
        If the file does not fit the test set.
    """
    path = Path(path)
    found = _of_array(path, benchmark, ids) if path.suffix.lower() == ".npy" else _of_table(path, benchmark, ids)
    bad = np.flatnonzero((found["selected"] < 0) | (found["selected"] > found["shown"]))
    if len(bad):
        row = ids.index(found["image"][bad[0]])
        where = f"{path}, image {row if benchmark.ids is None else benchmark.ids[row]}"
        what = f"{len(bad):,} images selected more often than shown, or less often than never"
        raise InputError(what, where=where, fix="Correct it.")
    summed = table(COUNTS, found).group_by(list(IMAGE)).aggregate([("selected", "sum"), ("shown", "sum")])
    return summed.rename_columns([name.removesuffix("_sum") for name in summed.column_names]).select(list(COUNTS))


def _of_array(path: Path, benchmark: Benchmark, ids: list[str]) -> dict[str, Any]:
    with reading(path):
        votes = np.load(path, allow_pickle=False)
    if votes.dtype.kind in "iu" and votes.size and votes.max() > MOST_VOTES:
        raise InputError(f"a count of {votes.max()}, more than {MOST_VOTES:,}", where=path, fix="Correct it.")
    if votes.shape != (benchmark.n, benchmark.n_classes) or votes.dtype.kind not in "iu":
        what = f"an array of {votes.dtype} and shape {votes.shape}, not whole numbers of {(benchmark.n, benchmark.n_classes)}"
        raise InputError(what, where=path, fix="Give a row for each image in the test set's order, a column for each class.")
    rows, places = np.nonzero(benchmark.labels >= 0)
    labels = benchmark.labels[rows, places]
    return {
        "image": [ids[row] for row in rows.tolist()],
        "class_id": [benchmark.class_id(label) for label in labels.tolist()],
        "selected": votes[rows, labels].astype(np.int64),
        "shown": votes[rows].sum(axis=1, dtype=np.int64),
    }


def _of_table(path: Path, benchmark: Benchmark, ids: list[str]) -> dict[str, Any]:
    read = read_table(path)
    named = {plain(name): name for name in read.columns}
    key = next((name for name in ("id", "image") if name in named), None)
    if key is None or not {"selected", "shown"} <= named.keys():
        what = f"no columns id, selected and shown among {', '.join(read.columns)}"
        raise InputError(what, where=path, fix="Or give an array .npy of images and classes.")
    labels = [[benchmark.class_id(label) for label in row if label >= 0] for row in benchmark.labels.tolist()]
    by_id = {image: row for row, image in enumerate(ids)}
    if benchmark.ids is not None:
        by_id |= {name: row for row, name in enumerate(benchmark.ids.tolist())}
    given = read.texts(named[key]).tolist()
    if strange := sorted({name for name in given if name not in by_id}):
        what = f"{len(strange):,} images that the original does not have: {short_list(strange)}"
        raise InputError(what, where=path, fix="Name them as the test set does.")
    rows = [by_id[name] for name in given]
    classes = read.texts(named["class_id"]).tolist() if "class_id" in named else [_only(labels[row], path) for row in rows]
    for line, (key, row, name) in enumerate(zip(classes, rows, given, strict=True), 1):
        if key not in labels[row]:
            fix = "Give the votes for its labels only."
            raise InputError(f"class_id {key!r} is no label of {name}", where=f"{path}, row {line}", fix=fix)
    found = {
        "image": [ids[row] for row in rows],
        "class_id": classes,
        **{name: _whole(read.texts(named[name]).tolist(), name, path) for name in ("selected", "shown")},
    }
    # Images with the same bytes are one in the build, but not in the test set.
    if len({*zip(rows, classes, strict=True)}) < len(rows):
        raise InputError("an image is there twice for one class", where=path, fix="Give each image once.")
    return found


def _only(labels: list[str], path: Path) -> str:
    if len(labels) != 1:
        raise InputError("an image with several labels, and no column class_id", where=path, fix="Add the column.")
    return labels[0]


def _whole(texts: list[str], name: str, path: Path) -> np.ndarray[Any, np.dtype[np.int64]]:
    for line, text in enumerate(texts):
        if not text.isdecimal():
            raise InputError(f"{name} {text!r} is no whole number", where=f"{path}, row {line + 1}", fix="Correct it.")
        if int(text) > MOST_VOTES:
            raise InputError(f"{name} {text} is more than {MOST_VOTES:,}", where=f"{path}, row {line + 1}", fix="Correct it.")
    return np.array(texts, np.int64)


def missing_votes(originals: pa.Table, counts: pa.Table) -> int:
    """How many originals have no votes."""
    import pyarrow.compute as pc

    return int(pc.sum(pc.invert(pc.is_in(keys(originals), value_set=keys(counts).combine_chunks()))).as_py() or 0)
