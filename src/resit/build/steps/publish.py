"""Release a build."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.build.eligibility import BLACKLISTED, NEAR_DUPLICATE
from resit.build.keys import among
from resit.build.release.check import by_class
from resit.build.release.make import release
from resit.build.release.record import Material, Released, ReleaseSettings
from resit.build.review import AGAIN
from resit.build.steps.opened import Build
from resit.build.steps.pool import Pool, read_pool
from resit.build.steps.salt import read_salt
from resit.data.guard import reading, refuse_unfit
from resit.data.label_spaces import UNNAMED
from resit.data.paths import counted
from resit.data.read_card import parse_yaml
from resit.errors import InputError, Notice, UsageError
from resit.store.records import Selection

if TYPE_CHECKING:
    import pyarrow as pa


def read_answers(path: str | Path) -> dict[str, str]:
    """Answers to questions of the datasheet: a YAML file of texts by the question's key.

    Raises
    ------
    InputError
        If it is no such file.
    """
    path = Path(path)
    refuse_unfit(path)
    with reading(path):
        text = path.read_text(encoding="utf-8")
    found = parse_yaml(text, path)
    if not isinstance(found, dict) or not all(isinstance(part, str) for item in found.items() for part in item):
        raise InputError("no mapping of keys to texts", where=path, fix="Write `funding: …`, a line for each answer.")
    return found


def release_build(
    build: Build,
    folder: str | Path,
    *,
    private: str | Path | None = None,
    revision: int | None = None,
    **settings: Any,
) -> Released:
    """Write a revision of a build as a test set that others can use.

    Parameters
    ----------
    build : Build
    folder : path
        Where the release should be: new or empty.
    private : path, optional
        Where the images that are held out should be.
    revision : int, optional
        Default: the last one.
    **settings
        Of :class:`resit.build.release.record.ReleaseSettings`; those that the build knows need not be given.

    Returns
    -------
    Released

    Raises
    ------
    InputError, OutputError, UsageError
        As :func:`resit.build.release.make.release`; also where nothing was sampled yet, or an image of
        the revision is known to be a near-duplicate by now.
    """
    store, config = build.store, build.config
    if not store.revisions():
        raise UsageError("no selection to release", where=build.path, fix="Sample first: `resit build sample`.")
    pool, selection = read_pool(build), store.selection(revision)
    notices = _outdated(pool, selection)
    material = Material(
        images=pool.images,
        selection=selection,
        counts=pool.counts,
        votes=store.votes(),
        pairs=store.pairs(),
        verdicts=pool.verdicts,
        classes=build.classes,
        root=build.path,
        time=store.last_time() or "",
    )
    _refuse_unknown(settings.get("leave_out", ()), material.images)
    known: Mapping[str, Any] = {
        "name": config.name,
        "version": config.version,
        "per_class": config.per_class,
        "salt": read_salt(build.folder),
        "label_space": build.original["label_space"] or UNNAMED,
        "original": build.original["name"],
        "config": config.model_dump(mode="json"),
        "minimum_votes": config.sampling.minimum_votes,
        "seed": config.seed,
    }
    done = release(material, ReleaseSettings(**{**known, **settings}), folder, private)
    return replace(done, notices=(*done.notices, *notices))


def _outdated(pool: Pool, selection: Selection) -> list[Notice]:
    """Refuse near-duplicates that were found since, and tell of other images that may no longer be chosen."""
    import pyarrow.compute as pc

    where = f"revision {selection.revision}"
    excluded = pool.eligible.excluded
    rows = excluded.filter(among(excluded, selection.selected))
    reasons = Counter(rows["reason"].to_pylist())
    if n := reasons.pop(NEAR_DUPLICATE, 0):
        near = rows.filter(pc.equal(rows["reason"], NEAR_DUPLICATE))
        what = f"{counted(n, 'selected image is a near-duplicate', 'selected images are near-duplicates')}: {by_class(near)}"
        raise InputError(what, where=where, fix=f"{AGAIN}: they are then left out.")
    # Release itself refuses these.
    reasons.pop(BLACKLISTED, 0)
    told = ", ".join(f"{n:,} {reason}" for reason, n in sorted(reasons.items()))
    return [Notice("outdated", where, f"Selected images that may no longer be chosen: {told}.")] if told else []


def _refuse_unknown(attributes: Iterable[str], images: pa.Table) -> None:
    """Refuse to leave out what no candidate has: a name that is misspelt would release what was to be kept back."""
    import pyarrow.compute as pc

    texts = pc.unique(images["attributes"].filter(pc.equal(images["role"], "candidate"))).to_pylist()
    there = {name for text in texts if text for name in json.loads(text)}
    if strange := sorted(set(attributes) - there):
        known = f"There are {', '.join(sorted(there))}." if there else "There are none."
        raise UsageError(f"no candidate has the attribute {', '.join(strange)}", where="leave_out", fix=known)
