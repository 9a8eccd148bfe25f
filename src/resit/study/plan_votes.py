"""How many votes an image needs until matching on them leaves little bias."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from resit.errors import UsageError
from resit.stats.matched_bias import BINS, MatchedBias, matched_bias, matched_bias_limit
from resit.stats.power import smallest
from resit.study.plan import check_shares
from resit.study.plan_pools import CIFAR, CIFAR_SOURCE, Betas, Curve, curve_of_build, mixture, pools_of
from resit.study.plan_result import VotesPlan, VotesRow
from resit.study.settings import Data

VOTES = (5, 10, 20, 40, 80, 160)
MOST = 500


def plan_votes(
    *,
    bias: float = 0.01,
    original_beta: Betas | None = None,
    candidates_beta: Betas | None = None,
    build: str | os.PathLike[str] | None = None,
    runs: Data | None = None,
    curve: Sequence[tuple[float, float]] | None = None,
    votes: Sequence[int] = VOTES,
) -> VotesPlan:
    """Plan the votes an image.

    A set that is matched to the original on noisy frequencies is drawn towards the mean of its candidates (Engstrom et al.
    2020). What that does to frequency and accuracy is computed from both pools' true frequencies, with both pools having the
    same number of votes.

    Parameters
    ----------
    bias : float, optional
        Shift of accuracy that may be left.
    original_beta, candidates_beta : sequence of (a, b) or (a, b, weight), optional
        True frequency of the original images and of the candidates. Default: fitted to the votes of ``build``; without one,
        what plans assume, which is told.
    build : path, optional
        Folder of a build with votes.
    runs : Predictions, optional
        Answers of models on the original of the build, for the accuracy by frequency.
    curve : sequence of (frequency, accuracy), optional
        Accuracy by true frequency, frequencies rising, straight lines between. Default: from ``runs``; without them, that of
        30 models on CIFAR-10.
    votes : sequence of int, optional
        Numbers of votes to tell about.

    Returns
    -------
    VotesPlan

    Raises
    ------
    UsageError
        If values are out of range, or answers are given without a build.
    """
    check_shares(bias=bias)
    if not votes or min(votes) < 1:
        raise UsageError("votes are whole numbers from 1 on", where="--votes", fix="Write --votes 10 --votes 20")
    pools = pools_of(original_beta, candidates_beta, build)
    points, source = CIFAR, CIFAR_SOURCE
    if curve is not None:
        points, source = _checked(curve), "given"
    elif runs is not None:
        if build is None:
            what = "answers tell accuracy by frequency only with the votes of a build"
            raise UsageError(what, where="--from", fix="Give --build too, or --curve.")
        points, source = curve_of_build(build, runs, pools)
    old, new = mixture(pools.original), mixture(pools.candidates)
    line = tuple(np.array(points, float).T)

    def left(number: int) -> MatchedBias:
        return matched_bias(old, new, number, (line[0], line[1]))

    steps = [BINS * step for step in range(1, MOST // BINS + 1)]
    # From the far end: the shift need not fall evenly, and all larger numbers are to be within it too.
    shifts = [abs(left(number).accuracy_shift) for number in steps]
    needed = smallest(lambda place: max(shifts[place:]) <= bias, 0, len(steps) - 1)
    rows = tuple(_row(number, left(number)) for number in sorted(set(votes)))
    limit = matched_bias_limit(old, new, (line[0], line[1]))
    return VotesPlan(
        votes=None if needed is None else steps[needed],
        bias=bias,
        most=MOST,
        original_frequency=limit.original_frequency,
        original_accuracy=limit.original_accuracy,
        rows=rows,
        limit=_row(None, limit),
        pools=pools,
        curve=points,
        curve_source=source,
    )


def _row(votes: int | None, found: MatchedBias) -> VotesRow:
    return VotesRow(votes, found.new_frequency, found.frequency_shift, found.new_accuracy, found.accuracy_shift)


def _checked(curve: Sequence[tuple[float, float]]) -> Curve:
    points = tuple((float(frequency), float(accuracy)) for frequency, accuracy in curve)
    inside = all(0 <= value <= 1 for point in points for value in point)
    if len(points) < 2 or not inside or any(a[0] >= b[0] for a, b in pairwise(points)):
        what = "a curve has two points or more, frequencies rising, all between 0 and 1"
        raise UsageError(what, where="--curve", fix="Write --curve 0.3=0.6,0.7=0.8,1=0.97")
    return points
