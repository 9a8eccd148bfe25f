"""Which images are held out, and the tables of a build without anything of them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from resit.build.release.pseudonyms import keyed
from resit.build.release.record import Material
from resit.build.review import current

if TYPE_CHECKING:
    import pyarrow as pa

ALIKE = ("same", "near")
DIGEST = re.compile(r"[0-9a-f]{64}")


def held_out(selected: pa.Table, share: float, seed: int, salt: str) -> list[str]:
    """The images of a selection that are held out: of each class the same share, rounded down.

    They are the first in the order of a keyed hash of image and seed, so that the seed alone tells nothing.

    Parameters
    ----------
    selected : pyarrow.Table
        SELECTED.
    share : float
        From 0 to below 1.
    seed : int
    salt : str
        Secret of the build.

    Returns
    -------
    list of str
        Ids, sorted.
    """
    by_class: dict[str, list[str]] = defaultdict(list)
    for image, key in zip(selected["image"].to_pylist(), selected["class_id"].to_pylist(), strict=True):
        by_class[key].append(image)
    found: list[str] = []
    for images in by_class.values():
        images.sort(key=lambda image: keyed(salt, "hold-out", str(seed), image))
        found += images[: int(share * len(images) + 1e-9)]
    return sorted(found)


def withheld(held: list[str], selected: pa.Table, verdicts: pa.Table) -> list[str]:
    """The images held out, and all others that people judged to show the same or nearly so, also by way of a third.

    Parameters
    ----------
    held : list of str
    selected : pyarrow.Table
        SELECTED. Images that stay in the public selection are not withheld.
    verdicts : pyarrow.Table
        VERDICTS.

    Returns
    -------
    list of str
        Ids, sorted.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    pairs = current(verdicts)
    pairs = pairs.filter(pc.is_in(pairs["verdict"], value_set=pa.array(ALIKE)))
    alike: dict[str, list[str]] = defaultdict(list)
    for image, other in zip(pairs["image"].to_pylist(), pairs["other"].to_pylist(), strict=True):
        alike[image].append(other)
        alike[other].append(image)
    public = set(selected["image"].to_pylist()) - set(held)
    found, new = set(held), list(held)
    while new:
        near = {other for image in new for other in alike[image]} - found - public
        found |= near
        new = list(near)
    return sorted(found)


def public_part(material: Material, hidden: list[str]) -> Material:
    """The tables without any row on hidden images, and the selection's record without their ids.

    Parameters
    ----------
    material : Material
    hidden : list of str
        Ids of images.

    Returns
    -------
    Material
    """
    if not hidden:
        return material
    return replace(
        material,
        images=_without(material.images, hidden),
        selection=replace(
            material.selection,
            record=_told_without(material.selection.record, set(hidden)),
            selected=_without(material.selection.selected, hidden),
            excluded=_without(material.selection.excluded, hidden),
        ),
        counts=_without(material.counts, hidden),
        votes=_without(material.votes, hidden),
        pairs=_without(material.pairs, hidden, "other"),
        verdicts=_without(material.verdicts, hidden, "other"),
    )


def private_part(material: Material, held: list[str]) -> Material:
    """The tables as they are, with those images selected that are held out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    selected = material.selection.selected
    own = selected.filter(pc.is_in(selected["image"], value_set=pa.array(held, pa.string())))
    return replace(material, selection=replace(material.selection, selected=own))


def _without(table: pa.Table, hidden: list[str], *also: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for column in ("image", *also):
        table = table.filter(pc.invert(pc.is_in(table[column], value_set=pa.array(hidden, pa.string()))))
    return table


def _told_without(value: Any, hidden: set[str]) -> Any:
    """A record without what names a hidden image: entries of lists, and keys and values of mappings."""
    if isinstance(value, dict):
        kept = ((key, inner) for key, inner in value.items() if not (_names(key, hidden) or _names(inner, hidden)))
        return {key: _told_without(inner, hidden) for key, inner in kept}
    if isinstance(value, list | tuple):
        return [_told_without(inner, hidden) for inner in value if not _names(inner, hidden)]
    return value


def _names(value: Any, hidden: set[str]) -> bool:
    return isinstance(value, str) and (value in hidden or not hidden.isdisjoint(DIGEST.findall(value)))
