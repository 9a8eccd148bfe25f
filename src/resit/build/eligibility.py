"""Which candidates may be chosen, and the first reason that holds against each of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.build.keys import IMAGE, PAIR, Bools, among, firsts, keys, votes_of
from resit.build.review import UNSURE, blacklist, current
from resit.data.paths import short_list
from resit.errors import InputError
from resit.store.schemas import EXCLUDED, table

if TYPE_CHECKING:
    import pyarrow as pa

BLACKLISTED = "blacklisted"
TOO_FEW_VOTES = "too-few-votes"
NEAR_DUPLICATE = "near-duplicate"
UNREVIEWED = "unreviewed"
OTHER_CLASS = "other-class"
# In this order; the last one only between rows that nothing else holds against.
REASONS = (BLACKLISTED, TOO_FEW_VOTES, NEAR_DUPLICATE, UNREVIEWED, OTHER_CLASS)
KNOWN_BEFORE = (NEAR_DUPLICATE, UNREVIEWED)
VOTED = ("image", "class_id", "selected", "shown", "attributes")


@dataclass(frozen=True)
class Eligible:
    """Candidates, kept and excluded.

    Parameters
    ----------
    candidates : pyarrow.Table
        Columns image, class_id, selected, shown and attributes, sorted by class and image.
    excluded : pyarrow.Table
        EXCLUDED, one row a candidate that may not be chosen, with the first reason that holds; sorted by class and image.
    waiting : pyarrow.Table
        Columns image and metric, sorted: for each candidate of the pool, the metrics whose pairs were not reviewed beyond their
        target.
    """

    candidates: pa.Table
    excluded: pa.Table
    waiting: pa.Table

    @property
    def counts(self) -> dict[str, int]:
        """How many candidates were excluded for each reason, in the order of the reasons."""
        found = Counter(self.excluded["reason"].to_pylist())
        return {reason: found[reason] for reason in REASONS}

    def __str__(self) -> str:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.counts.items() if count)
        return f"{len(self.candidates):,} candidates eligible, {len(self.excluded):,} not" + (f": {reasons}" if reasons else "")


def voted(images: pa.Table, counts: pa.Table, role: str) -> pa.Table:
    """Images of a role with their votes.

    Parameters
    ----------
    images : pyarrow.Table
        IMAGES.
    counts : pyarrow.Table
        COUNTS; an image and class without a row has no votes.
    role : str
        candidate or original.

    Returns
    -------
    pyarrow.Table
        Columns image, class_id, selected, shown and attributes, sorted by class and image.

    Raises
    ------
    InputError
        If an image is there twice for a class, or its counts are no counts.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = images.filter(pc.equal(images["role"], role))
    if not (known := firsts(rows)).all():
        twice = pc.unique(rows["image"].filter(pa.array(~known))).to_pylist()
        what = f"images that are there twice for a class: {short_list(sorted(twice), 3)}"
        raise InputError(what, where=f"{role} images", fix="Give each image of a class once.")
    found = pa.table({**{name: rows[name] for name in IMAGE}, **votes_of(rows, counts), "attributes": rows["attributes"]})
    wrong = (np.asarray(found["selected"]) < 0) | (np.asarray(found["selected"]) > np.asarray(found["shown"]))
    if wrong.any():
        what = f"selected more often than shown, or less often than never: {short_list(_names(found, wrong), 3)}"
        raise InputError(what, where="counts", fix="Count the votes again.")
    return found.take(pc.sort_indices(found, [("class_id", "ascending"), ("image", "ascending")]))


def eligible(
    images: pa.Table,
    counts: pa.Table,
    verdicts: pa.Table,
    duplicates: pa.Table,
    *,
    minimum_votes: int = 10,
    pairs: pa.Table | None = None,
    targets: Mapping[str, float | None] | None = None,
    neighbours: int = 30,
) -> Eligible:
    """Sort candidates into those that may be chosen and those that may not.

    A candidate is excluded, in this order, as ``blacklisted`` (judged wrong), for ``too-few-votes``, as a ``near-duplicate``,
    or as ``unreviewed``: a metric with a target was not reviewed beyond it. An image that could be chosen for several classes
    stays in the one where its frequency is highest (then the one with more votes, then the first by id), and is excluded from
    the others as ``other-class``: a test set holds no image twice.

    Parameters
    ----------
    images : pyarrow.Table
        IMAGES; only candidates matter.
    counts : pyarrow.Table
        COUNTS, of accepted assignments.
    verdicts : pyarrow.Table
        All events, VERDICTS.
    duplicates : pyarrow.Table
        EXCLUDED, from the step on near-duplicates, with the reasons near-duplicate and unreviewed; an empty class_id stands
        for every class.
    minimum_votes : int, optional
        Fewest votes of an image.
    pairs : pyarrow.Table, optional
        PAIRS. Needed where there are targets.
    targets : mapping of str to float or None, optional
        Distance up to which people review the pairs of each metric; None: they do not.
    neighbours : int, optional
        How many neighbours of an image were looked for.

    Returns
    -------
    Eligible

    Raises
    ------
    InputError
        If a candidate is there twice, its counts are no counts, or duplicates have another reason.

    References
    ----------
    Recht, B., et al. (2019). Do ImageNet classifiers generalize to ImageNet? ICML, appendix C.1.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    pool = voted(images, counts, "candidate")
    _refuse_other_reasons(duplicates)
    waiting = unreviewed(pool, pairs, verdicts, targets or {}, neighbours)
    near, early = (duplicates.filter(pc.equal(duplicates["reason"], reason)) for reason in KNOWN_BEFORE)
    holds = {
        BLACKLISTED: _told(pool, blacklist(verdicts).images),
        TOO_FEW_VOTES: np.asarray(pool["shown"], np.int64) < max(minimum_votes, 1),
        NEAR_DUPLICATE: _told(pool, near),
        UNREVIEWED: _told(pool, early) | among(pool, waiting, ("image",)),
    }
    holds[OTHER_CLASS] = _in_other_class(pool, ~np.any(list(holds.values()), axis=0))
    out = np.any(list(holds.values()), axis=0)
    reason = np.select(list(holds.values()), [np.array(name, object) for name in holds], "")
    excluded = pool.filter(pa.array(out))
    return Eligible(
        candidates=pool.filter(pa.array(~out)),
        excluded=table(EXCLUDED, {**{name: excluded[name] for name in IMAGE}, "reason": pa.array(reason[out], pa.string())}),
        waiting=waiting,
    )


def unreviewed(
    candidates: pa.Table,
    pairs: pa.Table | None,
    verdicts: pa.Table,
    targets: Mapping[str, float | None],
    neighbours: int = 30,
) -> pa.Table:
    """Candidates whose pairs of some metric were not reviewed beyond its target.

    An image was reviewed beyond a target if its neighbours were looked for, no pair within the target that it is in lacks a
    verdict or has one that is unsure, and its list of neighbours goes on beyond the target or holds all there are.

    Parameters
    ----------
    candidates : pyarrow.Table
        With a column image.
    pairs : pyarrow.Table or None
        PAIRS.
    verdicts : pyarrow.Table
        All events, VERDICTS.
    targets : mapping of str to float or None
        By metric; those without a target are not reviewed.
    neighbours : int, optional
        Length of a list that may have left neighbours out.

    Returns
    -------
    pyarrow.Table
        Columns image and metric, sorted.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    images = pc.unique(candidates["image"])
    decided = _decided(verdicts)
    found = []
    for metric, target in sorted(targets.items()):
        if target is None:
            continue
        wait = np.ones(len(images), bool)
        if pairs is not None:
            own = pc.equal(pairs["metric"], metric)
            first = pairs["image"].filter(pc.and_(own, pc.equal(pairs["rank"], 1)))
            within = pairs.filter(pc.and_(own, pc.less_equal(pairs["distance"], target)))
            left = within.filter(pa.array(~among(within, decided, PAIR)))
            cut = within.filter(pc.greater_equal(within["rank"], neighbours))
            stopped = pa.concat_arrays([one.combine_chunks() for one in (left["image"], left["other"], cut["image"])])
            wait = ~_is_in(images, first) | _is_in(images, stopped)
        found.append(pa.table({"image": images.filter(pa.array(wait)), "metric": pa.repeat(metric, int(wait.sum()))}))
    empty = pa.table({"image": pa.array([], pa.string()), "metric": pa.array([], pa.string())})
    return pa.concat_tables([empty, *found]).sort_by([("image", "ascending"), ("metric", "ascending")])


def _decided(verdicts: pa.Table) -> pa.Table:
    """Pairs with a verdict that is not unsure, each in both orders."""
    import pyarrow as pa
    import pyarrow.compute as pc

    held = current(verdicts)
    sure = pc.and_(pc.equal(held["kind"], "pair"), pc.not_equal(held["verdict"], UNSURE))
    pairs = held.filter(sure).select(PAIR)
    return pa.concat_tables([pairs, pairs.select(PAIR[::-1]).rename_columns(list(PAIR))])


def _is_in(values: pa.Array, others: pa.Array) -> Bools:
    import pyarrow.compute as pc

    return np.asarray(pc.is_in(values, value_set=others), bool)


def _refuse_other_reasons(duplicates: pa.Table) -> None:
    import pyarrow.compute as pc

    strange = sorted(set(pc.unique(duplicates["reason"]).to_pylist()) - set(KNOWN_BEFORE))
    if strange:
        what = f"reasons that near-duplicates do not give: {short_list(strange)}"
        raise InputError(what, where="near-duplicates", fix=f"They give {' and '.join(KNOWN_BEFORE)}.")


def _told(pool: pa.Table, named: pa.Table) -> Bools:
    """Which rows are among keys of image and class, or of image and no class."""
    import pyarrow.compute as pc

    whole = named.filter(pc.equal(named["class_id"], ""))
    return among(pool, named) | among(pool, whole, ("image",))


def _in_other_class(pool: pa.Table, free: Bools) -> Bools:
    """Which of the free rows have the same image as a better free one; the pool is sorted by class."""
    codes = keys(pool, ("image",)).combine_chunks().dictionary_encode().indices.to_numpy()[free]
    selected, shown = (np.asarray(pool[name], np.int64)[free] for name in ("selected", "shown"))
    order = np.lexsort((-shown, -selected / np.maximum(shown, 1), codes))
    again = np.zeros(len(codes), bool)
    again[order[1:]] = codes[order[1:]] == codes[order[:-1]]
    found = np.zeros(len(pool), bool)
    found[np.flatnonzero(free)[again]] = True
    return found


def _names(rows: pa.Table, which: Bools) -> list[str]:
    import pyarrow as pa

    named = rows.filter(pa.array(which))
    return [f"{image} for {label}" for image, label in zip(*(named[name].to_pylist() for name in IMAGE), strict=True)]
