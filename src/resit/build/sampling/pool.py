"""Candidates and originals as arrays, class by class."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.keys import IMAGE, Bools, Ints, firsts
from resit.data.paths import short_list
from resit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = "(missing)"
Texts = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Votes:
    """Images with their votes, sorted by class and image.

    Parameters
    ----------
    selected, shown : ndarray of int64, shape (n,)
    starts : ndarray of int64, shape (classes + 1,)
        Where each class starts, and the end.
    values : ndarray of object, shape (n,), or None
        Texts of the attribute that images are told apart by.
    """

    selected: Ints
    shown: Ints
    starts: Ints
    values: Texts | None

    def of_class(self, place: int) -> slice:
        """Rows of a class."""
        return slice(int(self.starts[place]), int(self.starts[place + 1]))


@dataclass(frozen=True, slots=True)
class ClassPool:
    """What a strategy may draw from for one class.

    Parameters
    ----------
    class_id : str
    wanted : int
    selected, shown : ndarray of int64, shape (n,)
        Votes of the eligible candidates, in the order of their ids.
    previous : ndarray of bool, shape (n,)
        Whether the previous revision has the image.
    values : ndarray of object, shape (n,), or None
    originals : Votes
        Of this class alone.
    """

    class_id: str
    wanted: int
    selected: Ints
    shown: Ints
    previous: Bools
    values: Texts | None
    originals: Votes

    @property
    def rows(self) -> Ints:
        """All rows."""
        return np.arange(len(self.selected), dtype=np.int64)


def in_order(images: pa.Table, class_ids: Sequence[str], where: str) -> tuple[pa.Table, Ints]:
    """Images sorted by the order of the classes, then by id, and where each class starts.

    Raises
    ------
    InputError
        If an image is of no class, or is there twice for one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = images
    for name in IMAGE:
        plain = plain.set_column(plain.schema.get_field_index(name), name, plain[name].cast(pa.string()))
    found = pc.index_in(plain["class_id"], value_set=pa.array(class_ids, pa.string()))
    if found.null_count:
        strange = pc.unique(plain["class_id"].filter(pc.is_null(found))).to_pylist()
        what = f"classes that the build does not have: {short_list(sorted(map(str, strange)))}"
        raise InputError(what, where=where, fix="Check the ids of the classes.")
    if not firsts(plain).all():
        raise InputError("an image twice for one class", where=where, fix="Give each image of a class once.")
    places = np.asarray(found, np.int64)
    order = pc.sort_indices(
        pa.table({"place": places, "image": plain["image"]}), [(n, "ascending") for n in ("place", "image")]
    )
    starts = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=len(class_ids)))]).astype(np.int64)
    return plain.take(order), starts


def votes_in(ordered: pa.Table, starts: Ints, attribute: str | None, where: str) -> Votes:
    """Arrays of a table from :func:`in_order`.

    Raises
    ------
    InputError
        If counts are no counts, or attributes are needed and not there.
    """
    selected, shown = (np.asarray(ordered[name], np.int64) for name in ("selected", "shown"))
    if (selected < 0).any() or (selected > shown).any():
        what = "an image selected more often than shown, or less often than never"
        raise InputError(what, where=where, fix="Count the votes again.")
    return Votes(selected, shown, starts, None if attribute is None else _values(ordered, attribute, where))


def pools(candidates: Votes, originals: Votes, previous: Bools, wanted: Sequence[tuple[str, int]]) -> Iterator[ClassPool]:
    """The pool of each class, in order.

    Parameters
    ----------
    candidates, originals : Votes
    previous : ndarray of bool, shape (candidates,)
    wanted : sequence of (str, int)
        Id of each class, and how many images it should have.
    """
    for place, (class_id, count) in enumerate(wanted):
        here, there = candidates.of_class(place), originals.of_class(place)
        own = Votes(
            originals.selected[there],
            originals.shown[there],
            np.array([0, there.stop - there.start], np.int64),
            None if originals.values is None else originals.values[there],
        )
        yield ClassPool(
            class_id,
            count,
            candidates.selected[here],
            candidates.shown[here],
            previous[here],
            None if candidates.values is None else candidates.values[here],
            own,
        )


def refuse_repeated(candidates: pa.Table) -> None:
    """Refuse a pool in which an image is there twice, also for two classes, as a test set holds no image twice.

    Raises
    ------
    InputError
        If there is one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (known := firsts(candidates, IMAGE[:1])).all():
        twice = sorted(pc.unique(candidates["image"].filter(pa.array(~known))).to_pylist())
        what = f"images that are there twice, or for two classes: {short_list(twice, 3)}"
        raise InputError(what, where="candidates", fix="Sample from what `eligible` gives: it keeps each in one class.")


def _values(ordered: pa.Table, attribute: str, where: str) -> Texts:
    """Text of an attribute of each row; a missing one is a value of its own."""
    if "attributes" not in ordered.column_names:
        raise InputError("no attributes", where=where, fix="Give the column attributes: JSON, as in IMAGES.")
    coded = ordered["attributes"].combine_chunks().dictionary_encode()
    texts = np.array([_value(text, attribute, where) for text in coded.dictionary.to_pylist()] + [MISSING], object)
    return np.asarray(texts[np.asarray(coded.indices.fill_null(len(texts) - 1), np.int64)], object)


def _value(text: str, attribute: str, where: str) -> str:
    try:
        found = json.loads(text or "{}")
    except json.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"attributes that are no JSON mapping: {text[:80]}", where=where, fix="Collect them again.")
    value = found.get(attribute)
    if value is None or value == "":
        return MISSING
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
