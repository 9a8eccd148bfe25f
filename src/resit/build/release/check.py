"""Whether a selection may be released."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resit.build.keys import firsts, rows_in, votes_of
from resit.build.release.record import Material, ReleaseSettings
from resit.build.review import AGAIN, review
from resit.data.paths import counted, short_list
from resit.errors import InputError, Notice, UsageError

if TYPE_CHECKING:
    import pyarrow as pa


def check(material: Material, settings: ReleaseSettings) -> list[Notice]:
    """Refuse what may not be released, and tell what the readers of a release must know.

    Parameters
    ----------
    material : Material
    settings : ReleaseSettings

    Returns
    -------
    list of Notice
        Of images that nobody has looked at, and of votes that came after the selection.

    Raises
    ------
    InputError
        If the selection is empty, or has an image twice, one that is no candidate or of no class, or one that was judged wrong.
    UsageError
        If it lacks images or says itself that it is not valid, and ``allow_short`` is not set.
    """
    selection, where = material.selection, f"revision {material.selection.revision}"
    if not len(selection.selected):
        raise InputError("a selection without images", where=where, fix="Sample first.")
    _refuse_strangers(material, where)
    short = [
        f"{info.id} has {count} of {settings.per_class}"
        for info, count in zip(material.classes, class_counts(material), strict=True)
        if count < settings.per_class
    ]
    if not settings.allow_short and (short or selection.record.get("valid") is False):
        told = f": {len(short):,} classes are short: {short_list(short)}" if short else ""
        fix = "`resit build status` tells what is missing; allow_short=True (--allow-short) releases it as it is."
        raise UsageError(f"an invalid selection{told}", where=where, fix=fix)
    return [*_reviewed(material, where), *_newer_votes(material, where)]


def class_counts(material: Material) -> list[int]:
    """How many images each class has, in the order of the classes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pa.array([info.id for info in material.classes], pa.string())
    places = pc.index_in(material.selection.selected["class_id"], value_set=ids)
    return [int(n) for n in np.bincount(np.asarray(places, np.int64), minlength=len(ids))]


def _refuse_strangers(material: Material, where: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    selected = material.selection.selected
    unknown = set(pc.unique(selected["class_id"]).to_pylist()) - {info.id for info in material.classes}
    if unknown:
        what = f"classes that are not in the class list: {short_list(sorted(unknown))}"
        raise InputError(what, where=where, fix="Is it the selection of another build?")
    twice = selected.filter(pa.array(~firsts(selected, ("image",))))
    if len(twice):
        fix = "Say for which class each is wrong, and sample again: a test set has one label an image."
        raise InputError(f"{len(twice):,} images are selected twice: {_first(twice)}", where=where, fix=fix)
    candidates = material.images.filter(pc.equal(material.images["role"], "candidate"))
    strange = selected.filter(pa.array(rows_in(selected, candidates) < 0))
    if len(strange):
        what = f"{len(strange):,} selected images are no candidates of their class: {_first(strange)}"
        raise InputError(what, where=where, fix="Is it the selection of another build?")


def _reviewed(material: Material, where: str) -> list[Notice]:
    selected = material.selection.selected
    found = review(selected, None, material.verdicts, material.pairs.slice(0, 0))
    if found.wrong.num_rows:
        what = counted(found.wrong.num_rows, "selected image was", "selected images were")
        raise InputError(f"{what} judged wrong: {by_class(found.wrong)}", where=where, fix=f"{AGAIN}: they are then left out.")
    if not found.images.num_rows:
        return []
    message = f"Nobody has looked at {found.images.num_rows:,} of {len(selected):,} selected images."
    return [Notice("not-reviewed", where, message)]


def _newer_votes(material: Material, where: str) -> list[Notice]:
    selected = material.selection.selected
    now = votes_of(selected, material.counts)
    differ = int(np.any([now[name] != np.asarray(selected[name], np.int64) for name in now], axis=0).sum())
    if not differ:
        return []
    message = (
        f"Votes on {differ:,} images changed since the selection was made. Its counts are in the table of images, the newer "
        "ones in that of candidates."
    )
    return [Notice("newer-votes", where, message)]


def by_class(images: pa.Table) -> str:
    """Where some images are: how many in each class, and the first of each.

    Parameters
    ----------
    images : pyarrow.Table
        Columns image and class_id.
    """
    found: dict[str, list[str]] = {}
    for row in images.select(["class_id", "image"]).to_pylist():
        found.setdefault(row["class_id"], []).append(row["image"])
    return short_list((f"{len(own):,} of {key} ({short_list(sorted(own), 1)})" for key, own in sorted(found.items())), 3)


def _first(table: pa.Table) -> str:
    return short_list(sorted(set(table["image"].to_pylist())), 3)
