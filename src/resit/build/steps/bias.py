"""What noisy votes do to a revision of a build, once models have answered or fresh votes are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resit.build.bias import bias_report
from resit.build.bias_record import BiasReport
from resit.build.eligibility import voted
from resit.build.keys import IMAGE, among
from resit.build.sampling.registry import STRATEGIES
from resit.build.steps.opened import Build, Tell, silent
from resit.build.steps.pool import Pool, read_pool
from resit.build.steps.sample import rows_of_original
from resit.data.paths import short_list
from resit.data.predictions import Predictions
from resit.data.tables import read_table
from resit.errors import InputError
from resit.store.records import Selection
from resit.store.schemas import COUNTS, table

if TYPE_CHECKING:
    import pyarrow as pa


def measure_bias(
    build: Build,
    *,
    revision: int | None = None,
    original: Predictions | None = None,
    new: Predictions | None = None,
    fresh: pa.Table | None = None,
    votes: int | None = None,
    delete: int = 1,
    resamples: int = 1_000,
    level: float = 0.95,
    seed: int | None = None,
    tell: Tell = silent,
) -> BiasReport:
    """Report how noisy votes bias a revision, for each model.

    Parameters
    ----------
    build : Build
    revision : int, optional
        Default: the last one.
    original, new : Predictions, optional
        Answers of models on the original, whole, and on the new set: at least on all images of the revision, by their ids.
    fresh : pyarrow.Table, optional
        COUNTS, of votes on the images that were given after they were chosen: :func:`read_fresh`.
    votes : int, optional
        Votes that naive and jackknife match on; default: ``sampling.minimum_votes``.
    delete : int, optional
        Votes that the jackknife leaves out.
    resamples : int, optional
        Of images with their votes.
    level : float, optional
        Of the intervals.
    seed : int, optional
        Default: that of the configuration.
    tell : callable, optional
        Told what is being done.

    Returns
    -------
    BiasReport

    Raises
    ------
    InputError
        If there is no such revision, the answers are of other images, or none of the images has fresh votes.
    UsageError
        If the two sets have no model in common, or the votes cannot be matched on.
    """
    tell("Reading the build")
    selection = build.store.selection(revision)
    pool = read_pool(build)
    if fresh is not None and not among(selection.selected, fresh).any():
        fix = f"Its ids are those of the images in r{selection.revision}."
        raise InputError("votes on none of the selected images", where="fresh votes", fix=fix)
    correct_original = None if original is None else correct_on_original(pool, original)
    correct_new = None if new is None else correct_on_new(selection, new)
    tell("Estimating the bias of noisy votes")
    strategy = STRATEGIES.get(str(selection.record.get("strategy")))
    return bias_report(
        voted(pool.images, pool.counts, "original").select(list(COUNTS)),
        selection.selected,
        _drawn_from(pool, selection),
        fresh=fresh,
        correct_original=correct_original,
        correct_new=correct_new,
        chosen_by_votes=strategy is None or strategy.by_votes,
        votes=build.config.sampling.minimum_votes if votes is None else votes,
        delete=delete,
        resamples=resamples,
        level=level,
        seed=build.config.seed if seed is None else seed,
    )


def _drawn_from(pool: Pool, selection: Selection) -> pa.Table:
    """Eligible candidates, and those of the selection that no longer are."""
    import pyarrow as pa

    found = pool.eligible.candidates.select(list(COUNTS))
    gone = selection.selected.filter(pa.array(~among(selection.selected, found))).select(list(COUNTS))
    return pa.concat_tables([found, gone.cast(found.schema)])


def correct_on_original(pool: Pool, predictions: Predictions) -> pa.Table:
    """Whether each model is right on each original: columns image and class_id, and one a model.

    Raises
    ------
    InputError
        If the predictions are not of the original's length, or their labels are not the original's.
    """
    return _with_models(pool.originals.select(list(IMAGE)), predictions, rows_of_original(pool, predictions))


def correct_on_new(selection: Selection, predictions: Predictions) -> pa.Table:
    """Whether each model is right on each image of a revision: columns image and class_id, and one a model.

    Raises
    ------
    InputError
        If the predictions have no ids, an id twice, or lack images of the revision.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    where, ids = predictions.name, predictions.benchmark.ids
    if ids is None or len(set(ids)) < len(ids):
        fix = "Ask the models about the release of this revision: its ids are the images'."
        raise InputError("no ids, or one twice, so no image is known", where=where, fix=fix)
    names = selection.selected["image"]
    known = pa.array([str(one) for one in ids], names.type)
    rows = np.asarray(pc.fill_null(pc.index_in(names, value_set=known), -1), np.int64)
    if (rows < 0).any():
        lack = [names[int(row)].as_py() for row in np.flatnonzero(rows < 0)]
        fix = f"Ask the models about all of r{selection.revision}, or name its revision."
        raise InputError(f"{len(lack):,} images of the revision without answers: {short_list(lack, 3)}", where=where, fix=fix)
    return _with_models(selection.selected.select(list(IMAGE)), predictions, rows)


def _with_models(images: pa.Table, predictions: Predictions, rows: np.ndarray) -> pa.Table:
    import pyarrow as pa

    for name, right in _by_name(predictions):
        images = images.append_column(name, pa.array(right[rows].astype(float)))
    return images


def _by_name(predictions: Predictions) -> Iterator[tuple[str, np.ndarray]]:
    names: Sequence[str] = [str(model) for model in predictions.models]
    yield from zip(names, predictions.correct(), strict=True)


def read_fresh(path: str | Path) -> pa.Table:
    """Read votes on selected images that were given after these were chosen.

    Parameters
    ----------
    path : path
        A table with columns image, class_id, selected and shown, an image a row; without shown, a vote a row, selected 1 or 0.

    Returns
    -------
    pyarrow.Table
        COUNTS.

    Raises
    ------
    InputError
        If a column is missing, or a value is no count.
    """
    found = read_table(Path(path))
    fix = "Give columns image, class_id, selected and shown, or a row a vote without shown."
    if lack := [name for name in (*IMAGE, "selected") if name not in found.data.column_names]:
        raise InputError(f"no column {', '.join(lack)}", where=path, fix=fix)
    columns = {name: found.data[name].to_pylist() for name in found.data.column_names}
    keys = list(zip(*([str(one) for one in columns[name]] for name in IMAGE), strict=True))
    selected = _whole(columns["selected"], path)
    shown = _whole(columns["shown"], path) if "shown" in columns else np.ones(len(selected), np.int64)
    if (selected < 0).any() or (selected > shown).any():
        raise InputError("an image that was selected more often than shown", where=path, fix=fix)
    places = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    at = np.array([places[key] for key in keys], np.int64)
    sums = [np.bincount(at, what, minlength=len(places)).astype(np.int64) for what in (selected, shown)]
    images, class_ids = zip(*places, strict=True)
    return table(COUNTS, {"image": list(images), "class_id": list(class_ids), "selected": sums[0], "shown": sums[1]})


def _whole(values: Sequence[object], path: str | Path) -> np.ndarray:
    try:
        found = np.array([float(str(value)) for value in values])
    except ValueError:
        found = np.array([np.nan])
    if not (found == np.floor(found)).all():
        raise InputError("a value that is no whole number", where=path, fix="Write counts in selected and shown.")
    return found.astype(np.int64)
