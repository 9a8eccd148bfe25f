"""Which classes are similar, for the negative controls of a build."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from resit.build.clock import now
from resit.build.steps.opened import Build, Tell, silent
from resit.build.steps.originals import image_bytes
from resit.build.voting.similar import Similar, similar_by_features, similar_by_table
from resit.data.decode import decode
from resit.errors import InputError

SIMILAR = "similar"
SIDE = 32
MOST = 50  # originals of a class that its mean picture is made of


def similar_classes(build: Build, path: str | Path | None = None, *, tell: Tell = silent) -> Similar:
    """Similar classes of each: as a table says, else by the mean pictures of the originals, at 32 × 32.

    They are computed once and noted, so that later tasks have the same negative controls.

    Parameters
    ----------
    build : Build
    path : path, optional
        A table, as :func:`resit.build.voting.similar.similar_by_table` reads it.
    tell : callable, optional
        Told what is being done.

    Raises
    ------
    InputError
        If the table names a class that is none, or an original cannot be read.
    """
    if path is not None:
        found = similar_by_table(Path(path))
        known = {info.id for info in build.classes}
        strange = sorted({*found, *(other for others in found.values() for other in others)} - known)
        if strange:
            raise InputError(f"ids of no class: {', '.join(strange[:5])}", where=path, fix="Write them as in the class list.")
        return found
    if note := build.last(SIMILAR):
        return {key: tuple(others) for key, others in note.record["classes"].items()}
    tell("Comparing the classes of the original")
    found = _by_pictures(build)
    build.store.note(SIMILAR, {"classes": {key: list(others) for key, others in found.items()}}, now())
    return found


def _by_pictures(build: Build) -> Similar:
    benchmark = build.load_original()
    pictures, classes = [], []
    for label in np.unique(benchmark.labels[benchmark.labels >= 0]).tolist():
        for row in np.flatnonzero((benchmark.labels == label).any(axis=1))[:MOST].tolist():
            small = decode(image_bytes(benchmark, row)).image.resize((SIDE, SIDE))
            pictures.append(np.asarray(small, np.float32).ravel() / 255)
            classes.append(benchmark.class_id(label))
    return similar_by_features(np.stack(pictures), classes)
