"""What noisy votes do to a selection: observed and true frequencies, and the accuracy of the new set without that noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.build.bias_figures import NO_IMAGES, NO_MODELS, accuracies, figure_of, fitted, over_images, shape
from resit.build.bias_record import BiasReport, Figure, Frequencies
from resit.build.keys import IMAGE, Ints, firsts, rows_in, votes_of
from resit.data.paths import short_list
from resit.errors import InputError, UsageError
from resit.stats.beta_binomial import Patterns, patterns
from resit.stats.frequency_matching import ByVotes, by_votes, check_leaving
from resit.stats.frequency_mixtures import ByMixtures, by_mixtures

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]
WHERE = "bias report"
CHOSEN_BY_THEM = "the votes chose these images, so they cannot measure them: get fresh votes on the selected images"
NO_FRESH = "no fresh votes were given"
NO_VOTES = "no original image has votes"


@dataclass(frozen=True)
class _Side:
    """Images with votes, and whether each model is right on each where that is given, shape (M, n)."""

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
        return _Side(self.selected[enough], self.shown[enough], None if self.correct is None else self.correct[:, enough])


@dataclass(frozen=True)
class _Rules:
    """How the estimates are made."""

    votes: int
    delete: int
    resamples: int
    level: float
    seed: int

    @property
    def redraws(self) -> dict[str, Any]:
        return {"resamples": self.resamples, "level": self.level, "seed": self.seed}


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
    level: float = 0.95,
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
        Columns image and class_id, and a column for each model: whether it is right on the image, or one column with the share
        of models that are. For all original images with votes, and for all selected ones. Given both, models of one only are
        counted.
    chosen_by_votes : bool, optional
        Whether the votes in SELECTED chose the images; :attr:`Strategy.by_votes` says so.
    votes : int, optional
        Votes that naive and jackknife match on; images with fewer are left out of these two and counted.
    delete : int, optional
        Votes that the jackknife leaves out.
    resamples : int, optional
        Of images with their votes, for the standard errors.
    level : float, optional
        Of the intervals.
    seed : int, optional

    Returns
    -------
    BiasReport

    Raises
    ------
    InputError
        If an image is there twice, a selected image is not in the pool, or lacks correctness where it is given.
    UsageError
        If counts are no counts, too few votes are matched on or left, or the two sets have no model in common.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML.
    """
    # Without fresh votes there is no jackknife, and one vote may do.
    check_leaving(max(votes, 2), delete)
    rules = _Rules(votes, delete, resamples, level, seed)
    # Sums in another order differ in their last digits.
    by_name = [(name, "ascending") for name in reversed(IMAGE)]
    originals, selected, pool = (rows.sort_by(by_name) for rows in (originals, selected, pool))
    names, lone = _models(correct_original, correct_new)
    old = _side(originals, correct_original, names, "originals").having(1)
    new = _side(selected, correct_new, names, "selected")
    if (rows_in(selected, pool) < 0).any():
        fix = "Give the candidates that they were drawn from."
        raise InputError("selected images that are not in the pool", where=f"{WHERE}, pool", fix=fix)
    again = None if fresh is None else _fresh(new, selected, fresh)
    reason = NO_IMAGES if not len(new.shown) else NO_VOTES if not len(old.shown) else ""
    candidates = _side(pool, None, (), "pool").having(1)
    voted = new if again is None else new.plus(again)
    mixed = None if reason else _mixed(old, candidates.patterns(), voted, rules)
    measured = new if again is None and not chosen_by_votes else again
    refused = reason or (CHOSEN_BY_THEM if measured is None else NO_MODELS if new.correct is None else "")
    left_out = {"originals without votes": len(originals) - len(old.shown)} | lone
    matched: ByVotes | str = refused
    if measured is not None and not refused:
        left_out |= {"originals with few votes": _fewer(old, votes), "new images with few votes": _fewer(measured, votes)}
        matched = _matched(old.having(votes), measured.having(votes), rules)
    mean, *models = accuracies(names, old.correct, new.correct, mixed or reason, matched, level)
    return BiasReport(
        original=Frequencies(len(old.shown), _observed(old, NO_VOTES, level), _of(mixed, "original_frequency", reason)),
        new=Frequencies(len(new.shown), _observed(new, NO_IMAGES, level), _of(mixed, "new_frequency", reason)),
        fresh_frequency=_observed(again.having(1), NO_FRESH, level) if again else Figure(None, None, NO_FRESH),
        frequency_shift=_of(mixed, "frequency_shift", reason),
        accuracy_shift=_of(mixed, "accuracy_shift", reason),
        mean=mean,
        models=tuple(models) if len(names) > 1 else (),
        votes=votes,
        deleted=delete,
        uncovered=matched.uncovered if isinstance(matched, ByVotes) else None,
        left_over=matched.left_over if isinstance(matched, ByVotes) else None,
        mixtures={} if mixed is None else {"original": fitted(mixed.original), "pool": fitted(mixed.pool)},
        shape=None if mixed is None else shape(mixed, voted.patterns()),
        left_out=left_out,
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _models(original: pa.Table | None, new: pa.Table | None) -> tuple[tuple[str, ...], dict[str, int]]:
    """Names of the models that are asked about, and how many answered one set only."""
    own = [[name for name in one.column_names if name not in IMAGE] for one in (original, new) if one is not None]
    if not own:
        return (), {}
    common = [name for name in own[-1] if name in own[0]]
    if not common:
        fix = "Give answers of the same models on both sets."
        raise UsageError("no model in common", where=f"{WHERE}, correctness", fix=fix)
    lone = len({*own[0], *own[-1]}) - len(common)
    return tuple(common), {"models that answered one set only": lone} if lone else {}


def _side(counts: pa.Table, correct: pa.Table | None, names: Sequence[str], what: str) -> _Side:
    """In the order of the table."""
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
        images = [counts["image"][int(row)].as_py() for row in np.flatnonzero(lack)]
        fault = f"{len(images):,} images without correctness: {short_list(images, 3)}"
        raise InputError(fault, where=f"{WHERE}, {what}", fix="Ask the models about all images with votes.")
    return _Side(
        selected, shown, np.array([np.append(np.asarray(correct[name], np.float64), np.nan)[places] for name in names])
    )


def _fresh(new: _Side, selected: pa.Table, fresh: pa.Table) -> _Side:
    """Fresh votes on the selected images, row by row; 0 where there are none."""
    if not firsts(fresh).all():
        raise InputError("an image twice for one class", where=f"{WHERE}, fresh votes", fix="Give each image of a class once.")
    found = votes_of(selected, fresh)
    return _Side(found["selected"], found["shown"], new.correct)


def _mixed(old: _Side, pool: Patterns, new: _Side, rules: _Rules) -> ByMixtures:
    return by_mixtures(
        old.patterns(), pool, new.patterns(), correct_new=new.correct, correct_original=old.correct, **rules.redraws
    )


def _matched(old: _Side, new: _Side, rules: _Rules) -> ByVotes | str:
    if not len(old.shown) or not len(new.shown) or new.correct is None:
        return f"no original or no new image has {rules.votes:,} votes"
    return by_votes(
        old.patterns(),
        new.patterns(),
        new.correct,
        rules.votes,
        correct_original=old.correct,
        delete=rules.delete,
        **rules.redraws,
    )


def _fewer(side: _Side, votes: int) -> int:
    return int((side.shown < votes).sum())


def _of(found: ByMixtures | None, name: str, reason: str) -> Figure:
    """One estimate of a record, or why there is none."""
    return Figure(None, None, reason) if found is None else figure_of(getattr(found, name))


def _observed(side: _Side, reason: str, level: float) -> Figure:
    return over_images(side.selected / np.maximum(side.shown, 1), reason, level)
