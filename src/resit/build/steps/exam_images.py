"""The images that an exam may ask about, and what models answered on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.exam.record import ModelRight
from resit.build.steps.originals import image_bytes, row_of
from resit.build.steps.sample import refuse_other_labels
from resit.data.paths import short_list
from resit.errors import InputError, Notice

if TYPE_CHECKING:
    from resit.build.steps.opened import Build
    from resit.data.predictions import Predictions

DIGEST = re.compile(r"[0-9a-f]{64}")
Right = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pictured:
    """Images of one origin, sorted by id.

    Parameters
    ----------
    images : list of str, length n
    class_ids : list of tuple of str, length n
        Accepted classes of each.
    rows : list of int, length n
        Where each is in its test set, or in the predictions.
    models : tuple of str, length M
        Models that are on both kinds of images; none where no answers were given.
    right : ndarray of bool, shape (M, n), or None
    """

    images: list[str]
    class_ids: list[tuple[str, ...]]
    rows: list[int]
    models: tuple[str, ...] = ()
    right: Right | None = None

    def without(self, others: set[str]) -> Pictured:
        """Those that are none of some others."""
        at = [place for place, image in enumerate(self.images) if image not in others]
        right = None if self.right is None else self.right[:, at]
        return Pictured(
            [self.images[place] for place in at],
            [self.class_ids[place] for place in at],
            [self.rows[place] for place in at],
            self.models,
            right,
        )


def original_images(build: Build, predictions: Predictions | None, models: Sequence[str] | None) -> Pictured:
    """The originals, with what models answered on them.

    Raises
    ------
    InputError
        If the original has no images, or the predictions are of another test set.
    """
    rows = build.store.images("original").select(["image", "class_id", "attributes"]).to_pylist()
    if any(not DIGEST.fullmatch(row["image"]) for row in rows):
        fix = "Begin the build with files that have images."
        raise InputError("an original test set without images", where=build.config.original.source, fix=fix)
    found: dict[str, tuple[int, list[str]]] = {}
    for row in rows:
        found.setdefault(row["image"], (row_of(row["attributes"]), []))[1].append(row["class_id"])
    if predictions is not None and predictions.n != build.original["n"]:
        what = f"predictions of {predictions.n:,} examples, while the original has {build.original['n']:,}"
        raise InputError(what, where=predictions.name, fix="Give predictions on the original test set, whole.")
    return _with_answers({image: (row, tuple(sorted(classes))) for image, (row, classes) in found.items()}, predictions, models)


def new_images(
    build: Build, predictions: Predictions | None, models: Sequence[str] | None, revision: int | None
) -> tuple[Pictured, list[Notice]]:
    """The images of a revision, with what models answered on them; those that the models were not asked about are left out.

    Raises
    ------
    InputError
        If there is no such revision, the predictions have no ids of images, or are of other images.
    """
    selection = build.store.selection(revision)
    classes: dict[str, list[str]] = {}
    for row in selection.selected.select(["image", "class_id"]).to_pylist():
        classes.setdefault(row["image"], []).append(row["class_id"])
    for image in classes:
        build.folder.find_image(image)
    if predictions is None:
        return _with_answers({image: (0, tuple(sorted(own))) for image, own in classes.items()}, None, None), []
    where = predictions.name
    if predictions.benchmark.ids is None:
        fix = "Ask the models about the release: its ids are the digests of the images."
        raise InputError("predictions without ids of images", where=where, fix=fix)
    # In folders of a class each, an id is the path of the file that is called after its digest.
    ids = [PurePosixPath(name).stem for name in predictions.benchmark.ids.tolist()]
    if strange := sorted(set(ids) - classes.keys()):
        what = f"{len(strange):,} images that are not in revision r{selection.revision}: {short_list(strange, 3)}"
        raise InputError(what, where=where, fix="Name the revision that was released: --revision.")
    found = {image: (row, tuple(sorted(classes[image]))) for row, image in enumerate(ids)}
    notices = []
    if left := len(classes) - len(found):
        told = f"{left:,} images of r{selection.revision} on which the models were not asked are not in the exam."
        notices.append(Notice("images-without-models", where, told))
    return _with_answers(found, predictions, models), notices


def _with_answers(
    found: dict[str, tuple[int, tuple[str, ...]]], predictions: Predictions | None, models: Sequence[str] | None
) -> Pictured:
    images = sorted(found)
    rows, classes = [found[image][0] for image in images], [found[image][1] for image in images]
    if predictions is None or models is None:
        return Pictured(images, classes, rows)
    at = np.array(rows, np.int64)
    refuse_other_labels([own[0] for own in classes], at, predictions)
    place = {str(model): number for number, model in enumerate(predictions.models)}
    right = predictions.correct()[[place[model] for model in models]][:, at]
    return Pictured(images, classes, rows, tuple(models), right)


def models_on(old: Pictured, chosen: Sequence[int], new: Pictured, drawn: Sequence[int]) -> list[ModelRight]:
    """How many of the chosen images each model gets right."""
    if old.right is None or new.right is None:
        return []
    counts = zip(old.right[:, chosen].sum(axis=1).tolist(), new.right[:, drawn].sum(axis=1).tolist(), strict=True)
    return [ModelRight(model, *pair) for model, pair in zip(old.models, counts, strict=True)]


def put_originals(build: Build, images: set[str], old: Pictured) -> None:
    """Copy originals into the build's folder, so that people see them like the others.

    Raises
    ------
    InputError
        If the original test set is not what it was.
    """
    wanted = [(image, row) for image, row in zip(old.images, old.rows, strict=True) if image in images]
    benchmark = build.load_original()
    for image, row in wanted:
        if build.folder.put_image(image_bytes(benchmark, row)) != image:
            fix = "Give back the files that the build was begun with, or begin another build."
            raise InputError(f"original {row} is not the image that it was", where=build.config.original.source, fix=fix)
