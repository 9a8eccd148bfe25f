"""What noisy votes do to a selection: observed and true frequencies, and the accuracy of the new set without that noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.bias_record import BiasReport, Figure, Frequencies
from resit.build.keys import Ints, firsts, rows_in, votes_of
from resit.data.paths import short_list
from resit.errors import InputError
from resit.stats.beta_binomial import BetaMixture, Patterns, patterns
from resit.stats.frequency_matching import ByMixtures, ByVotes, Estimate, by_mixtures, by_votes

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]
WHERE = "bias report"
CHOSEN_BY_THEM = "the votes chose these images, so they cannot measure them: get fresh votes on the selected images"
NO_MODELS = "no model's correctness on these images was given"
NO_FRESH = "no fresh votes were given"
NO_VOTES = "no original image has votes"
NO_IMAGES = "no image is selected"


@dataclass(frozen=True)
class _Side:
    """Images with votes, and with the share of models that are right on each where that is given."""

    selected: Ints
    shown: Ints
    correct: Array | None

    def patterns(self) -> Patterns:
        return patterns(self.selected, self.shown)

    def plus(self, more: _Side) -> _Side:
        """With more votes on the same images."""
        return _Side(self.selected + more.selected, self.shown + more.shown, self.correct)

    def having(self, votes: int) -> _Side:
        """Those with enough votes."""
        enough = self.shown >= votes
        return _Side(self.selected[enough], self.shown[enough], None if self.correct is None else self.correct[enough])


def bias_report(
    originals: pa.Table,
    selected: pa.Table,
    pool: pa.Table,
    *,
    fresh: pa.Table | None = None,
    correct_original: pa.Table | None = None,
    correct_new: pa.Table | None = None,
    chosen_by_votes: bool = True,
    votes: int = 10,
    delete: int = 1,
    resamples: int = 100,
    seed: int = 0,
) -> BiasReport:
    """Report how noisy votes bias a selection.

    Images that are matched on observed frequencies regress to the mean of their own pool, so the new set's true frequencies
    differ from the original's. Votes that chose the images cannot measure this: with them the naive estimate and the
    jackknife are not available, unless there are fresh votes. The parametric estimate takes the posterior from the pool.

    Parameters
    ----------
    originals : pyarrow.Table
        COUNTS, of original images.
    selected : pyarrow.Table
        SELECTED.
    pool : pyarrow.Table
        COUNTS, of all eligible candidates that the selection was drawn from; it holds the selected.
    fresh : pyarrow.Table, optional
        COUNTS, of votes on selected images that were given after they were chosen.
    correct_original, correct_new : pyarrow.Table, optional
        Columns image, class_id and correct: the share of models that are right on the image. For all original images with
        votes, and
        for all selected ones.
    chosen_by_votes : bool, optional
        Whether the votes in SELECTED chose the images; :attr:`Strategy.by_votes` says so.
    votes : int, optional
        Votes that naive and jackknife match on; images with fewer are left out of these two and counted.
    delete : int, optional
        Votes that the jackknife leaves out.
    resamples : int, optional
        Of images, for the standard errors.
    seed : int, optional

    Returns
    -------
    BiasReport

    Raises
    ------
    InputError
        If an image is there twice, a selected image is not in the pool, or lacks correctness where it is given.
    UsageError
        If counts are no counts, or too few votes are matched on.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML.
    """
    # Resamples are drawn by place.
    by_name = [("class_id", "ascending"), ("image", "ascending")]
    originals, selected, pool = (rows.sort_by(by_name) for rows in (originals, selected, pool))
    old = _side(originals, correct_original, "originals").having(1)
    new = _side(selected, correct_new, "selected")
    if (rows_in(selected, pool) < 0).any():
        fix = "Give the candidates that they were drawn from."
        raise InputError("selected images that are not in the pool", where=f"{WHERE}, pool", fix=fix)
    again = None if fresh is None else _fresh(new, selected, fresh)
    reason = NO_IMAGES if not len(new.shown) else NO_VOTES if not len(old.shown) else ""
    mixed = None
    if not reason:
        candidates = _side(pool, None, "pool").having(1).patterns()
        mixed = _mixed(old, candidates, new if again is None else new.plus(again), resamples, seed)
    measured = new if again is None and not chosen_by_votes else again
    refused = reason or (CHOSEN_BY_THEM if measured is None else NO_MODELS if new.correct is None else "")
    left_out = {"originals without votes": len(originals) - len(old.shown)}
    matched: ByVotes | str = refused
    if measured is not None and not refused:
        left_out |= {"originals with few votes": _fewer(old, votes), "new images with few votes": _fewer(measured, votes)}
        matched = _matched(old.having(votes), measured.having(votes), votes, delete, resamples, seed)
    return BiasReport(
        original=Frequencies(len(old.shown), _observed(old, NO_VOTES), _of(mixed, "original_frequency", reason)),
        new=Frequencies(len(new.shown), _observed(new, NO_IMAGES), _of(mixed, "new_frequency", reason)),
        fresh_frequency=_observed(again.having(1), NO_FRESH) if again else Figure(None, None, NO_FRESH),
        frequency_shift=_of(mixed, "frequency_shift", reason),
        accuracy_shift=_of(mixed, "accuracy_shift", reason),
        original_accuracy=_mean(old.correct),
        new_accuracy=_mean(new.correct),
        naive=_of(matched, "naive", refused),
        jackknife=_of(matched, "jackknife", refused),
        parametric=_of(mixed, "accuracy", reason),
        votes=votes,
        deleted=delete,
        uncovered=matched.uncovered if isinstance(matched, ByVotes) else None,
        mixtures={} if mixed is None else {"original": _betas(mixed.original), "pool": _betas(mixed.pool)},
        left_out=left_out,
        resamples=resamples,
        seed=seed,
    )


def _side(counts: pa.Table, correct: pa.Table | None, what: str) -> _Side:
    if not firsts(counts).all():
        raise InputError("an image twice for one class", where=f"{WHERE}, {what}", fix="Give each image of a class once.")
    selected, shown = (np.asarray(counts[name], np.int64) for name in ("selected", "shown"))
    if correct is None:
        return _Side(selected, shown, None)
    if not firsts(correct).all():
        raise InputError("correctness on an image twice", where=f"{WHERE}, {what}", fix="Give each image of a class once.")
    places = rows_in(counts, correct)
    lack = (places < 0) & (shown > 0)
    if lack.any():
        names = [counts["image"][int(row)].as_py() for row in np.flatnonzero(lack)]
        fault = f"{len(names):,} images without correctness: {short_list(names, 3)}"
        raise InputError(fault, where=f"{WHERE}, {what}", fix="Ask the models about all images with votes.")
    return _Side(selected, shown, np.append(np.asarray(correct["correct"], np.float64), np.nan)[places])


def _fresh(new: _Side, selected: pa.Table, fresh: pa.Table) -> _Side:
    """Fresh votes on the selected images, row by row; 0 where there are none."""
    if not firsts(fresh).all():
        raise InputError("an image twice for one class", where=f"{WHERE}, fresh votes", fix="Give each image of a class once.")
    found = votes_of(selected, fresh)
    return _Side(found["selected"], found["shown"], new.correct)


def _mixed(old: _Side, pool: Patterns, new: _Side, resamples: int, seed: int) -> ByMixtures:
    return by_mixtures(
        old.patterns(),
        pool,
        new.patterns(),
        correct_new=new.correct,
        correct_original=old.correct,
        resamples=resamples,
        seed=seed,
    )


def _matched(old: _Side, new: _Side, votes: int, delete: int, resamples: int, seed: int) -> ByVotes | str:
    if not len(old.shown) or not len(new.shown) or new.correct is None:
        return f"no original or no new image has {votes:,} votes"
    return by_votes(old.patterns(), new.patterns(), new.correct, votes, delete=delete, resamples=resamples, seed=seed)


def _fewer(side: _Side, votes: int) -> int:
    return int((side.shown < votes).sum())


def _of(found: ByMixtures | ByVotes | str | None, name: str, reason: str) -> Figure:
    """One estimate of a record, or why there is none."""
    if found is None or isinstance(found, str):
        return Figure(None, None, found or reason)
    estimate: Estimate | None = getattr(found, name)
    if estimate is None:
        return Figure(None, None, NO_MODELS)
    return Figure(estimate.value, None if np.isnan(estimate.error) else estimate.error)


def _observed(side: _Side, reason: str) -> Figure:
    return _figure(side.selected / np.maximum(side.shown, 1), reason)


def _mean(correct: Array | None) -> Figure:
    return Figure(None, None, NO_MODELS) if correct is None else _figure(correct, NO_IMAGES)


def _figure(values: Array, reason: str) -> Figure:
    if not len(values):
        return Figure(None, None, reason)
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return Figure(float(values.mean()), error)


def _betas(mixture: BetaMixture) -> tuple[tuple[float, float, float], ...]:
    return tuple(zip(mixture.a.tolist(), mixture.b.tolist(), mixture.weight.tolist(), strict=True))
