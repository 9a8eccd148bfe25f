"""Which class is most similar to which, for negative controls: by a given table or by mean features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.errors import InputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

Similar = Mapping[str, tuple[str, ...]]
COLUMNS = ("class_id", "similar")


def similar_by_table(table: pa.Table | Path) -> Similar:
    """Similar classes as they are given, such as by distances in WordNet.

    Parameters
    ----------
    table : pyarrow.Table or Path
        Columns class_id and similar, and optionally distance. Without distance, rows of a class stand most similar first. A
        path is one of a CSV or Parquet file.

    Returns
    -------
    mapping of str to tuple of str
        By class, the others, most similar first; at one distance by id.

    Raises
    ------
    InputError
        If a column is missing, a distance is no number, or a class is said to be similar to itself or twice to another.
    """
    where = str(table) if isinstance(table, Path) else "similar classes"
    names, columns = _columns(table)
    if missing := [name for name in COLUMNS if name not in names]:
        fix = "It has columns class_id, similar and, optionally, distance."
        raise InputError(f"column {', '.join(missing)} is missing", where=where, fix=fix)
    classes, others = columns["class_id"], columns["similar"]
    distances = _distances(columns["distance"], where) if "distance" in names else None
    found: dict[str, list[tuple[float, str]]] = {}
    for row, (class_id, other) in enumerate(zip(classes, others, strict=True)):
        already = found.setdefault(class_id, [])
        if class_id == other or any(known == other for _, known in already):
            what = "to itself" if class_id == other else f"to {other!r} twice"
            raise InputError(f"class {class_id!r} is similar {what}", where=where, fix="Remove that row.")
        already.append((row if distances is None else distances[row], other))
    return {class_id: tuple(other for _, other in sorted(found[class_id])) for class_id in sorted(found)}


def _columns(table: pa.Table | Path) -> tuple[list[str], dict[str, list[str]]]:
    import pyarrow as pa

    from resit.data.tables import read_table

    data = read_table(table).data if isinstance(table, Path) else table
    return list(data.column_names), {name: data[name].cast(pa.string()).to_pylist() for name in data.column_names}


def _distances(texts: Sequence[str], where: str) -> list[float]:
    try:
        found = [float(text) for text in texts]
    except (TypeError, ValueError) as error:
        raise InputError(f"a distance that is no number ({error})", where=where, fix="Correct it.") from error
    if not np.isfinite(found).all():
        raise InputError("a distance that is not finite", where=where, fix="Leave such rows out.")
    return found


def similar_by_features(
    features: npt.NDArray[np.floating], class_ids: Sequence[str], *, most: int = 10, block: int = 1_000
) -> Similar:
    """Similar classes by Euclidean distance between the mean features of their images.

    Parameters
    ----------
    features : ndarray of float, shape (n, d)
        Of images whose class is known, such as the original test set.
    class_ids : sequence of str, length n
        Class of each.
    most : int, optional
        How many others to keep of each class.
    block : int, optional
        Classes whose distances to all others are computed at once.

    Returns
    -------
    mapping of str to tuple of str
        By class, the others, most similar first; at one distance by id.

    Raises
    ------
    UsageError
        If the shapes do not fit, or features are not finite.
    """
    if features.ndim != 2 or len(features) != len(class_ids) or not np.isfinite(features).all():
        what = f"features of shape {features.shape} for {len(class_ids)} classes of images, or features that are not finite"
        raise UsageError(what, where="similar classes", fix="Give one row of finite features an image.")
    names, codes = np.unique(np.array(class_ids, dtype=object).astype(str), return_inverse=True)
    means = np.zeros((len(names), features.shape[1]))
    np.add.at(means, codes, features)
    means /= np.bincount(codes)[:, None]
    squares = (means**2).sum(axis=1)
    found: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(names), block):
        rows = slice(start, start + block)
        distance = squares[rows, None] - 2 * means[rows] @ means.T + squares
        distance[np.arange(len(distance)), np.arange(start, start + len(distance))] = np.inf
        nearest = np.argsort(distance, axis=1, kind="stable")[:, : min(most, len(names) - 1)]
        found |= {str(names[start + i]): tuple(map(str, names[order])) for i, order in enumerate(nearest)}
    return found
