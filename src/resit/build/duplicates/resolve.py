"""Groups of near-duplicates by what people judged, and which of each group's candidates may stay."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.eligibility import NEAR_DUPLICATE
from resit.build.keys import IMAGE, among, votes_of
from resit.build.review import blacklist, current
from resit.store.schemas import EXCLUDED, table

if TYPE_CHECKING:
    import pyarrow as pa

TOGETHER = ("same", "near")


@dataclass(frozen=True)
class Group:
    """Images that are near-duplicates of one another.

    Parameters
    ----------
    candidates : tuple of str
        Sorted.
    references : tuple of str
        Sorted. A candidate that has the same bytes as a reference is in both.
    kept : str
        The candidate that may stay; empty where a reference is in the group.
    """

    candidates: tuple[str, ...]
    references: tuple[str, ...]
    kept: str


@dataclass(frozen=True)
class Resolved:
    """What near-duplicates rule out.

    Parameters
    ----------
    excluded : pyarrow.Table
        EXCLUDED, sorted by image, with the reason near-duplicate and an empty class: they are out for every class.
    groups : tuple of Group
        Those with a candidate and at least one other image, by their first candidate.
    """

    excluded: pa.Table
    groups: tuple[Group, ...]

    def __str__(self) -> str:
        known = sum(bool(group.references) for group in self.groups)
        return f"{len(self.groups):,} groups of near-duplicates, {known:,} with a reference; {len(self.excluded):,} images out"


def resolve(
    candidates: pa.Table,
    pairs: pa.Table,
    verdicts: pa.Table,
    counts: pa.Table,
    *,
    minimum_votes: int,
    references: pa.Array | Collection[str],
) -> Resolved:
    """Groups of near-duplicates, and which of their candidates may stay.

    Images belong together where the last verdict on their pair is same or near, and so do those that are together with them.
    The bytes of an image are its id, so that a candidate that is in a reference set needs no verdict. Pictures that are the
    same at the size at which they are compared, but have other bytes, do.

    In a group with a reference all candidates are out. Of another, one candidate stays, in whichever class: rather one that is
    not blacklisted for all its classes, then one with enough votes in a class that it is not blacklisted for, then the first by
    id.

    Parameters
    ----------
    candidates : pyarrow.Table
        With columns image and class_id.
    pairs : pyarrow.Table
        PAIRS; its references count too.
    verdicts : pyarrow.Table
        All events, VERDICTS.
    counts : pyarrow.Table
        COUNTS, of accepted assignments.
    minimum_votes : int
        Fewest votes of an image that may be chosen.
    references : pyarrow.Array or collection of str
        Ids of the images of reference sets.

    Returns
    -------
    Resolved

    Raises
    ------
    InputError
        If a kind, verdict or time of the verdicts is none.
    """
    known = _references(pairs, references)
    standing = _standing(candidates, verdicts, counts, minimum_votes)
    groups = []
    out: list[str] = []
    for images in _together(verdicts, sorted(known & standing.keys())):
        own = tuple(sorted(image for image in images if image in standing))
        theirs = tuple(sorted(image for image in images if image in known))
        if not own or (len(own) == 1 and not theirs):
            continue
        kept = "" if theirs else min(own, key=lambda image: (standing[image], image))
        groups.append(Group(own, theirs, kept))
        out += [image for image in own if image != kept]
    groups.sort(key=lambda group: group.candidates)
    out.sort()
    columns: dict[str, object] = {"image": out, "class_id": [""] * len(out), "reason": [NEAR_DUPLICATE] * len(out)}
    return Resolved(table(EXCLUDED, columns), tuple(groups))


def _references(pairs: pa.Table, references: pa.Array | Collection[str]) -> set[str]:
    import pyarrow as pa
    import pyarrow.compute as pc

    given = references.to_pylist() if isinstance(references, pa.Array | pa.ChunkedArray) else references
    met = pc.unique(pairs["other"].filter(pc.not_equal(pairs["reference"], "")))
    return {*given, *met.to_pylist()}


def _standing(candidates: pa.Table, verdicts: pa.Table, counts: pa.Table, minimum_votes: int) -> dict[str, tuple[bool, bool]]:
    """For each candidate whether it is blacklisted for all its classes, and whether it lacks votes for all the others."""
    import pyarrow.compute as pc

    wrong = blacklist(verdicts).images
    whole = wrong.filter(pc.equal(wrong["class_id"], ""))
    out: npt.NDArray[np.bool_] = among(candidates, wrong) | among(candidates, whole, IMAGE[:1])
    few = out | (votes_of(candidates, counts)["shown"] < minimum_votes)
    found: dict[str, tuple[bool, bool]] = {}
    for image, is_out, has_few in zip(candidates["image"].to_pylist(), out.tolist(), few.tolist(), strict=True):
        before = found.get(image, (True, True))
        found[image] = (before[0] and is_out, before[1] and has_few)
    return found


def _together(verdicts: pa.Table, alone: list[str]) -> list[list[str]]:
    """Images that verdicts put together, and those that are a group by themselves."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    held = current(verdicts)
    joined = pc.is_in(held["verdict"], value_set=pa.array(TOGETHER))
    held = held.filter(pc.and_(pc.equal(held["kind"], "pair"), joined))
    one, two = held["image"].to_pylist(), held["other"].to_pylist()
    ids = sorted({*one, *two, *alone})
    place = {image: number for number, image in enumerate(ids)}
    ends = [place[image] for image in one], [place[image] for image in two]
    graph = coo_array((np.ones(len(one), bool), ends), shape=(len(ids), len(ids)))
    labels = connected_components(graph, directed=False)[1] if ids else np.empty(0, np.int64)
    groups: dict[int, list[str]] = {}
    for image, label in zip(ids, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(image)
    return list(groups.values())
