"""Accuracy that a new set would have if its images' true frequencies were those of the original: by observed frequency."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.stats.beta_binomial import Patterns
from resit.stats.corrected import Corrected, check_redraws, corrected
from resit.stats.image_draws import Sums, answers, as_they_are, drawn
from resit.stats.jackknife_bias import Leaving, left_over
from resit.stats.resample import generator

Array = npt.NDArray[np.float64]
LEVEL_SEEN = 1e-9


@dataclass(frozen=True, slots=True)
class ByVotes:
    """Estimates that match on observed frequencies.

    Parameters
    ----------
    naive : Corrected
        Biased where frequencies are noisy; its interval does not allow for that.
    jackknife : Corrected
        With the leading part of this bias taken out; its interval allows for the rest.
    votes, deleted : int
        Votes n that were matched on, and how many of them, d, the jackknife leaves out.
    uncovered : float
        Share of original images at a frequency that no new image has. They are taken to be answered like new images of the
        nearest frequency.
    left_over : float
        Bias that the jackknife is expected to leave, truth minus jackknife, mean of the models.
    """

    naive: Corrected
    jackknife: Corrected
    votes: int
    deleted: int
    uncovered: float
    left_over: float


class _Levels(NamedTuple):
    """Sums over redrawn images at each number of n votes, then of n - d; B redraws, R rows of answers, L levels."""

    old: Array  # (B, L)
    weight: Array  # (B, L)
    right: Array  # (B, R, L)
    accuracy: Array  # on the original, (B, R)


def levels(counts: Patterns, votes: int) -> Array:
    """Probability of each number selected among ``votes`` votes drawn from those that each image has.

    Parameters
    ----------
    counts : Patterns
        Of U patterns.
    votes : int

    Returns
    -------
    ndarray of float, shape (U, votes + 1)
        Hypergeometric; 0 and 1 where an image has just that many votes.

    Raises
    ------
    UsageError
        If an image has fewer votes.
    """
    from scipy.special import gammaln

    if votes < 1 or votes > counts.shown.min():
        what = f"{votes:,} votes of images that have {int(counts.shown.min()):,} and more"
        raise UsageError(what, where="frequencies", fix="Match on fewer votes, or leave images with fewer out.")
    k, n, j = counts.selected[:, None], counts.shown[:, None], np.arange(votes + 1)
    possible = (j <= k) & (votes - j <= n - k)

    def ways(whole: npt.NDArray[np.int64], part: npt.NDArray[np.int64]) -> Array:
        inside = np.clip(part, 0, whole)
        return np.asarray(gammaln(whole + 1) - gammaln(inside + 1) - gammaln(whole - inside + 1), float)

    found = np.where(possible, np.exp(ways(k, j) + ways(n - k, votes - j) - ways(n, np.full_like(n, votes))), 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True), float)


def by_votes(
    original: Patterns,
    new: Patterns,
    correct: npt.ArrayLike,
    votes: int,
    *,
    correct_original: npt.ArrayLike | None = None,
    delete: int = 1,
    panel: float | None = None,
    resamples: int = 1_000,
    level: float = 0.95,
    seed: int = 0,
) -> ByVotes:
    """Estimate by observed frequency: naive, and by the delete-d jackknife.

    With A_n the sum over k of p_original(k) times the mean correctness of new images with k of n votes, the naive estimate is
    A_n and the jackknife (n A_n - (n - d) A_{n-d}) / d. Where images have more than n votes, and for A_{n-d}, frequencies are
    averaged over all ways to choose the votes, so nothing is drawn. Where no new image has k votes, those with the nearest
    number stand in: leaving these originals out would lift A_n over A_{n-d}, and the jackknife by n/d as much.

    The jackknife takes bias to fall as 1/n. Where many images are selected nearly always it falls more slowly, and some is
    left. How much, is computed from mixtures of betas and the curve of correctness that are fitted to the same votes: what they
    give at the originals' true frequencies, minus the jackknife of what they give on n and n - d votes. The interval spans
    that of the jackknife and that of the jackknife plus what is left, each with its own error.

    Parameters
    ----------
    original, new : Patterns
        Votes on both sets. Those on the new images must not have selected them.
    correct : array_like of float, shape (M, n) or (n,)
        Whether each model is right on each new image, or the share of models that are.
    votes : int
        Votes n to match on; no image has fewer.
    correct_original : array_like of float, shape (M, n) or (n,), optional
        The same of the original images, for drops.
    delete : int, optional
        Votes d to leave out.
    panel : float, optional
        Votes N of each image that the n were drawn from without replacement, where the frequency among these N is meant and
        not that among all people. The variance of a frequency, and with it the bias, then falls as 1/n - 1/N, and the jackknife
        adds (1 - n/N) of what it would otherwise. Where images have different numbers, their harmonic mean. The interval still
        reaches to the frequency among all people, as few votes do not tell how far short of it the panel is.
    resamples : int, optional
        Of images with their votes, for the standard errors. Images of both sets are redrawn independently; where new images
        were matched to the originals, the error of the naive estimate is therefore about a fifth too small in simulations.
    level : float, optional
        Of the intervals.
    seed : int, optional

    Returns
    -------
    ByVotes

    Raises
    ------
    UsageError
        If an image has too few votes, no vote would be left, the panel is smaller than what was drawn from it, the sets were
        answered by different numbers of models, or there are no such intervals.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, sections 3 and 4.1.
    """
    check_redraws(resamples, level)
    check_leaving(votes, delete, panel)
    leaving = Leaving(votes, delete, panel)
    rows = answers(correct, new)
    old_rows = None if correct_original is None else answers(correct_original, original)
    check_models(rows, old_rows)
    tables = [np.hstack([levels(counts, votes), levels(counts, leaving.kept)]) for counts in (original, new)]
    drawn_old = list(drawn(generator(seed, 0), original, old_rows, resamples))
    drawn_new = list(drawn(generator(seed, 1), new, rows, resamples))
    first = as_they_are(original, old_rows), as_they_are(new, rows)
    here, again = _at_levels([first[0]], [first[1]], tables), _at_levels(drawn_old, drawn_new, tables)
    value, replicates = _matched(here, leaving), _matched(again, leaving)
    lean = left_over(original, new, (first[0], *drawn_old), (first[1], *drawn_new), leaving, seed)
    accuracy = None if old_rows is None else (here.accuracy[0], again.accuracy)
    naive = corrected(value[0][0], replicates[0], accuracy, level)
    jackknife = corrected(value[1][0], replicates[1], accuracy, level, lean)
    return ByVotes(naive, jackknife, votes, delete, float(value[2][0]), float(lean.value[0]))


def check_leaving(votes: int, delete: int, panel: float | None = None) -> None:
    """Refuse numbers of votes that a jackknife cannot have.

    Raises
    ------
    UsageError
    """
    if not 1 <= delete < votes:
        raise UsageError(f"{delete} of {votes} votes to leave out", where="jackknife", fix="Leave at least one, and keep one.")
    if panel is not None and not (isinstance(panel, Real) and votes <= panel < np.inf):
        raise UsageError(f"{votes} votes drawn from {panel}", where="panel", fix="Give the votes that there are of an image.")


def check_models(rows: Array, others: Array | None) -> None:
    """Refuse answers of different numbers of models.

    Raises
    ------
    UsageError
    """
    if others is not None and len(rows) != len(others):
        what = f"{len(others) - 1} models on the original and {len(rows) - 1} on the new set"
        raise UsageError(what, where="frequencies", fix="Give the same models, in one order.")


def _at_levels(old: list[Sums], new: list[Sums], tables: list[Array]) -> _Levels:
    images = old[0].images[0].sum()
    return _Levels(
        np.concatenate([one.images @ tables[0] for one in old]),
        np.concatenate([one.images @ tables[1] for one in new]),
        np.concatenate([one.right @ tables[1] for one in new]),
        np.concatenate([one.right.sum(axis=-1) / images for one in old]),
    )


def _matched(sums: _Levels, leaving: Leaving) -> tuple[Array, Array, Array]:
    """Naive and jackknife, shape (B, R), and the uncovered share, (B,)."""
    parts, uncovered = [], []
    for part in (slice(0, leaving.votes + 1), slice(leaving.votes + 1, None)):
        old, weight = sums.old[:, part], sums.weight[:, part]
        seen = weight > LEVEL_SEEN
        share = old / old.sum(axis=1, keepdims=True)
        uncovered.append((share * ~seen).sum(axis=1))
        # The share of originals goes to the level that stands in for theirs.
        moved = np.zeros_like(share)
        np.add.at(moved, (np.arange(len(share))[:, None], _nearest(seen)), share)
        parts.append(np.einsum("bl,brl->br", moved / np.where(seen, weight, 1), sums.right[..., part]))
    return parts[0], leaving.jackknife(*parts), uncovered[0]


def _nearest(seen: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """For each level the nearest that is seen, of two the lower; at least one is."""
    here = np.arange(seen.shape[-1])
    below = np.maximum.accumulate(np.where(seen, here, -len(here)), axis=-1)
    above = np.flip(np.minimum.accumulate(np.flip(np.where(seen, here, 2 * len(here)), axis=-1), axis=-1), axis=-1)
    return np.where(here - below <= above - here, below, above).astype(np.intp)
