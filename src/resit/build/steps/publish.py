"""Release a build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resit.build.release.make import release
from resit.build.release.record import Material, Released, ReleaseSettings
from resit.build.steps.opened import Build
from resit.build.steps.salt import read_salt
from resit.data.guard import reading, refuse_unfit
from resit.data.label_spaces import UNNAMED
from resit.data.read_card import parse_yaml
from resit.errors import InputError, UsageError


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
        As :func:`resit.build.release.make.release`; also where nothing was sampled yet.
    """
    store, config = build.store, build.config
    if not store.revisions():
        raise UsageError("no selection to release", where=build.path, fix="Sample first: `resit build sample`.")
    material = Material(
        images=store.images(),
        selection=store.selection(revision),
        counts=store.counts(),
        votes=store.votes(),
        pairs=store.pairs(),
        verdicts=store.verdicts(),
        classes=build.classes,
        root=build.path,
        time=store.last_time() or "",
    )
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
    return release(material, ReleaseSettings(**{**known, **settings}), folder, private)
