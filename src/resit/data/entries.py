"""Classes as they were written, whatever the file: ids, names, or right and wrong, one row an example."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.guard import reading
from resit.data.tables import Table, refuse_long_texts
from resit.errors import InputError

WHOLE = re.compile(r"[+-]?\d{1,300}(?:\.0*)?")
LARGEST = int(np.iinfo(np.int32).max)
MOST = 2**28
QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"|([^,;|'\"]+)")
NONE_TEXTS = {"", "null", "None"}
TRUTH = {"true": True, "false": False}


@dataclass(frozen=True)
class Entries:
    """Classes of n examples, up to k each.

    Parameters
    ----------
    values : ndarray of int64, str or bool, shape (n, k)
        Class ids (-1: none), class names (``""``: none), or whether the answer was right.
    was_text : bool
        Whether whole numbers were stored as text, so that sorting the text orders them otherwise.
    """

    values: npt.NDArray[Any]
    was_text: bool = False

    @property
    def kind(self) -> str:
        """``ids``, ``names`` or ``correctness``."""
        return {"b": "correctness", "U": "names"}.get(self.values.dtype.kind, "ids")


def from_array(array: npt.NDArray[Any], where: object) -> Entries:
    """Entries of an array of whole numbers (floats too), text, bytes or bool, shape (n,) or (n, k).

    Raises
    ------
    InputError
        If the numbers are not whole or the shape is another.
    """
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not array.size:
        raise InputError(f"an array of shape {array.shape}", where=where, fix="Classes need shape (n,) or (n, k), best first.")
    if array.size > MOST:
        raise InputError(
            f"{array.size:,} classes of one model", where=where, fix=f"At most {MOST:,} are read. Is it such a file?"
        )
    kind = array.dtype.kind
    if kind == "b":
        return Entries(np.asarray(array))
    if kind in "iu":
        return Entries(_in_range(array, where).astype(np.int64))
    if kind == "f":
        return Entries(_whole(array, where))
    if kind == "S":
        with reading(str(where)):
            array = np.char.decode(array, "utf-8")
        return _from_texts(array, where)
    if kind in "UT":
        return _from_texts(np.asarray(array, dtype=str), where)
    raise InputError(f"an array of {array.dtype}", where=where, fix="Store class ids as integers.")


def _whole(array: npt.NDArray[Any], where: object) -> npt.NDArray[np.int64]:
    missing = np.isnan(array)
    filled = np.where(missing, -1, array)
    odd = filled[filled != np.floor(filled)] if np.isfinite(filled).all() else filled[~np.isfinite(filled)]
    if odd.size:
        raise InputError(
            f"class ids that are not whole numbers, such as {odd.flat[0]:g}",
            where=where,
            fix="Class ids are whole; scores need shape (n, number of classes).",
        )
    return _in_range(filled, where).astype(np.int64)


def _in_range(array: npt.NDArray[Any], where: object) -> npt.NDArray[Any]:
    """The same numbers, once it is sure that they are no larger than a class id may be."""
    for largest in map(float, (array.max(), array.min())):
        if not -LARGEST <= largest <= LARGEST:
            raise InputError(f"class id {largest:.0f} is too large", where=where, fix=f"Class ids are at most {LARGEST}.")
    return array


def from_list(items: Sequence[Any], where: object) -> Entries:
    """Entries of a list with one item an example: a number, a text, a bool, None, or a list of these.

    Raises
    ------
    InputError
        If the items are something else or of several kinds.
    """
    nested = any(isinstance(item, (list, tuple, np.ndarray)) for item in items)
    rows = [list(item) if isinstance(item, (list, tuple, np.ndarray)) else [item] for item in items] if nested else None
    flat = list(chain.from_iterable(rows)) if rows is not None else list(items)
    kinds = {_kind(item) for item in flat} - {"none"}
    if len(kinds) > 1 or "other" in kinds:
        raise InputError(
            f"items of several kinds: {', '.join(sorted(kinds))}"
            if len(kinds) > 1
            else "items that are neither numbers nor text",
            where=where,
            fix="Write one class, or one list of classes best first, for each example.",
        )
    kind = kinds.pop() if kinds else "number"
    blank: Any = {"number": -1, "text": "", "truth": False}[kind]
    if kind == "truth" and None in flat:
        raise InputError("right or wrong is missing for some examples", where=where, fix="Write true or false for each.")
    if rows is None:
        return from_array(_packed([blank if item is None else item for item in flat], kind, where), where)
    width = max((len(row) for row in rows), default=1) or 1
    if width * len(rows) > MOST:
        raise InputError(f"lists of up to {width:,} classes for {len(rows):,} examples", where=where, fix="Store the best few.")
    padded = [[blank if item is None else item for item in row] + [blank] * (width - len(row)) for row in rows]
    return from_array(_packed(padded, kind, where).reshape(len(rows), width), where)


def _packed(items: Sequence[Any], kind: str, where: object) -> npt.NDArray[Any]:
    with reading(str(where)):
        if kind != "text":
            return np.asarray(items)
        lengths = [len(item) for row in items for item in ([row] if isinstance(row, str) else row)]
        refuse_long_texts(max(lengths, default=0), len(lengths), where)
        return np.asarray(items, dtype=str)


def _kind(item: object) -> str:
    if item is None:
        return "none"
    if isinstance(item, (bool, np.bool_)):
        return "truth"
    if isinstance(item, (int, float, np.integer, np.floating)):
        return "number"
    return "text" if isinstance(item, str) else "other"


def from_columns(table: Table, names: Sequence[str]) -> Entries:
    """Entries of one or more columns of a table, best first.

    Raises
    ------
    InputError
        If a column holds something else, or the columns are of different kinds.
    """
    parts = [_from_column(table, name) for name in names]
    if len({part.kind for part in parts}) > 1:
        raise InputError(
            f"columns {', '.join(names)} hold different things: {', '.join(part.kind for part in parts)}",
            where=table.source,
            fix="Write class ids in all of them, or names in all of them.",
        )
    return Entries(np.concatenate([part.values for part in parts], axis=1), any(part.was_text for part in parts))


def _from_column(table: Table, name: str) -> Entries:
    import pyarrow as pa
    import pyarrow.compute as pc

    where = f"{table.source} (column {name!r})"
    column = table.column(name)
    kind = column.type
    if pa.types.is_integer(kind):
        return from_array(pc.fill_null(column.cast(pa.int64(), safe=False), -1).to_numpy(), where)
    if pa.types.is_floating(kind):
        return from_array(column.to_numpy(), where)
    if pa.types.is_string(kind):
        distinct, inverse = table.distinct(name)
        return _from_distinct(distinct, inverse[:, None], typed_text=not table.is_plain_text, where=where)
    return from_list(column.to_pylist(), where)


def _from_texts(texts: npt.NDArray[np.str_], where: object) -> Entries:
    distinct, inverse = np.unique(texts, return_inverse=True)
    return _from_distinct(distinct.tolist(), inverse.reshape(texts.shape), typed_text=True, where=where)


def _from_distinct(items: list[str], inverse: npt.NDArray[np.intp], *, typed_text: bool, where: object) -> Entries:
    """Entries of texts: lists of classes, truths, whole numbers, or names. ``items[inverse]`` are the texts."""
    written = [item for item in items if item not in NONE_TEXTS]
    if inverse.shape[1] == 1 and _are_lists(written):
        lists = from_list([_split(item) for item in items], where)
        return Entries(lists.values[inverse.ravel()])
    if written and all(item.lower() in TRUTH for item in items):
        return Entries(np.array([TRUTH[item.lower()] for item in items])[inverse])
    if all(WHOLE.fullmatch(item) for item in written):
        numbers = np.array([int(float(item)) if item not in NONE_TEXTS else -1 for item in items], object)
        return Entries(_in_range(numbers, where).astype(np.int64)[inverse], was_text=typed_text)
    return Entries(np.array(items, str)[inverse])


def _are_lists(written: list[str]) -> bool:
    """Whether texts are lists, or single classes and lists of those that also stand alone."""
    lists = {item for item in written if _is_list(item)}
    if lists and all(item in lists or WHOLE.fullmatch(item) for item in written):
        return True
    joined = [item for item in written if re.search(r"[;|]", item)]
    single = set(written).difference(joined)
    return bool(joined) and all(part.strip() in single for item in joined for part in re.split(r"[;|]", item))


def _is_list(text: str) -> bool:
    return (text.startswith("[") and text.endswith("]")) or (
        any(sep in text for sep in ";|") and all(WHOLE.fullmatch(part.strip()) for part in re.split(r"[;|]", text))
    )


def _split(text: str) -> list[Any]:
    if text in NONE_TEXTS:
        return []
    inside = text.strip("[]").strip()
    if inside[:1] in ("'", '"'):  # names in quotes may hold commas
        parts = ["".join(found).strip() for found in QUOTED.findall(inside)]
    else:
        parts = [part.strip().strip("'\"") for part in re.split(r"[,;|]", inside)]
    parts = [part for part in parts if part]
    return [int(float(part)) for part in parts] if all(WHOLE.fullmatch(part) for part in parts) else parts
