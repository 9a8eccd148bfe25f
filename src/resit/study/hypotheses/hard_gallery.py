"""The hardest images of both sets as thumbnails, with what models say of them."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from resit.data.decode import Unreadable
from resit.data.paths import counted
from resit.data.predictions import Predictions
from resit.data.thumbnails import thumbnail
from resit.study.estimate import Caution
from resit.study.explain_result import Tile
from resit.study.hypotheses.interface import Material
from resit.study.hypotheses.statistical_error import sets_of

MOST = 24  # images of each set
ORIGINS: tuple[Literal["original", "new"], ...] = ("original", "new")


def gallery(material: Material, chosen: list[npt.NDArray[np.int64]]) -> tuple[list[Tile], list[Caution]]:
    """Thumbnails of some images of each set whose images are at hand.

    Parameters
    ----------
    material : Material
    chosen : list of ndarray of int, shape (h,)
        Images of the original and of the new set, hardest first; no more than :data:`MOST` of each are drawn.

    Returns
    -------
    tiles : list of Tile
    cautions : list of Caution
        What could not be drawn.
    """
    tiles: list[Tile] = []
    cautions: list[Caution] = []
    for (one, right), rows, origin in zip(sets_of(material), chosen, ORIGINS, strict=True):
        images, failed = one.benchmark.images, 0
        if images is None:
            continue
        for row in rows[:MOST].tolist():
            try:
                drawn = thumbnail(images, row)
            except (OSError, Unreadable):
                failed += 1
            else:
                tiles.append(Tile(drawn, caption(one, row, int(right[:, row].sum())), origin))
        if failed:
            message = (
                f"{counted(failed, 'hard image')} cannot be read, and not shown. `resit doctor` says what is wrong with files."
            )
            cautions.append(Caution("unreadable-images", one.name, message))
    return tiles, cautions


def caption(one: Predictions, row: int, right: int) -> str:
    """What an image is, how many models are right on it, and what most others say.

    Parameters
    ----------
    one : Predictions
    row : int
    right : int
        Models that are right.
    """
    benchmark, count = one.benchmark, len(one.models)
    name = f"image {row}" if benchmark.ids is None else str(benchmark.ids[row])
    said = f"{right:,} of {counted(count, 'model')} right"
    if one.is_correctness:
        return f"{name}: {said}"
    labels = [label for label in benchmark.labels[row].tolist() if label >= 0]
    truth = " or ".join(benchmark.class_name(label) for label in labels)
    first = one.answers[:, row, 0]
    wrong = first[(first >= 0) & ~np.isin(first, labels)]
    if not len(wrong):
        return f"{name}: {truth}; {said}"
    answers, times = np.unique(wrong, return_counts=True)
    at = int(times.argmax())
    return f"{name}: {truth}; {said}, {int(times[at]):,} say {benchmark.class_name(int(answers[at]))}"
