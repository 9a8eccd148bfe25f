"""How many images a class needs, and how many candidates these take."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from resit.errors import UsageError
from resit.stats.bin_filling import candidates_needed
from resit.stats.matched_bias import bin_chances
from resit.stats.power import expected_width, smallest
from resit.study.plan import check_shares
from resit.study.plan_pools import Betas, mixture, pools_of
from resit.study.plan_result import ImagesPlan, ImagesRow
from resit.study.plan_runs import mean_accuracy
from resit.study.settings import Data

PER_CLASS = (10, 20, 50, 100, 200)
MOST = 100_000
CLASSES = 20_000


def plan_images(
    accuracy: float | None = None,
    *,
    width: float = 0.1,
    runs: Data | None = None,
    per_class: Sequence[int] = PER_CLASS,
    votes: int = 10,
    originals: int = 50,
    sure: float = 0.95,
    original_beta: Betas | None = None,
    candidates_beta: Betas | None = None,
    build: str | os.PathLike[str] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ImagesPlan:
    """Plan the images a class.

    Two things limit them: the accuracy of a class has a wide interval with few images, and with matched frequencies many
    images of low frequency need many candidates. Targets of the bins are drawn as they would be for classes with so many
    original images, and scaled by largest remainder.

    Parameters
    ----------
    accuracy : float, optional
        Of a model on a class. Default: the mean over ``runs``.
    width : float, optional
        Wanted width of the exact interval of a class's accuracy.
    runs : Predictions or Accuracies, optional
    per_class : sequence of int, optional
        Numbers of images to tell about.
    votes : int, optional
        Votes an image, originals and candidates.
    originals : int, optional
        Original images of a class with votes.
    sure : float, optional
        Share of classes whose bins should all be filled without drawing from higher ones.
    original_beta, candidates_beta, build : optional
        As in :func:`resit.plan_votes`.
    level : float, optional
    seed : int, optional

    Returns
    -------
    ImagesPlan

    Raises
    ------
    UsageError
        If values are out of range, or there is neither an accuracy nor runs.
    """
    source = "given"
    if accuracy is None:
        if runs is None:
            raise UsageError("no accuracy", where="--accuracy", fix="Give --accuracy 0.76, or --from RUNS")
        accuracy, source = mean_accuracy(runs)
    shown = accuracy
    check_shares(accuracy=accuracy, width=width, sure=sure, level=level)
    _check(per_class, votes, originals, seed)
    pools = pools_of(original_beta, candidates_beta, build)
    shares = [bin_chances(mixture(betas), votes) for betas in (pools.original, pools.candidates)]

    def row(images: int) -> ImagesRow:
        needed = candidates_needed(shares[0], shares[1], images, originals, classes=CLASSES, seed=seed)
        half, most = (np.quantile(needed, share, method="higher") for share in (0.5, sure))
        return ImagesRow(images, expected_width(shown, images, level), _whole(half), _whole(most))

    wanted = smallest(lambda images: expected_width(shown, images, level) <= width, 1, MOST)
    if wanted is None:
        what = f"more than {MOST:,} images a class for a width of {width:g}"
        raise UsageError(what, where="--width", fix="Plan for a wider interval.")
    return ImagesPlan(
        per_class=wanted,
        width=width,
        level=level,
        accuracy=accuracy,
        accuracy_source=source,
        candidates=row(wanted),
        rows=tuple(row(images) for images in sorted(set(per_class))),
        votes=votes,
        originals=originals,
        sure=sure,
        classes_simulated=CLASSES,
        seed=seed,
        pools=pools,
    )


def _whole(count: float) -> int | None:
    return int(count) if np.isfinite(count) else None


def _check(per_class: Sequence[int], votes: int, originals: int, seed: int) -> None:
    if not per_class or min(per_class) < 1:
        raise UsageError("images a class are whole numbers from 1 on", where="--per-class", fix="Write --per-class 10")
    for option, value in {"--votes": votes, "--originals": originals}.items():
        if value < 1:
            raise UsageError(f"{value} is no number from 1 on", where=option, fix="Give a larger one.")
    if seed < 0:
        raise UsageError(f"a seed is not negative, but this is {seed}", where="--seed")
