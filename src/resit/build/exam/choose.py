"""Which images an exam asks about. All that is random is a keyed hash of the image's id, so that no order of rows matters."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError

Shares = npt.NDArray[np.float64]


def keyed(seed: int, purpose: str, name: str) -> str:
    """A hash of a name that is another one for each seed and purpose."""
    return hashlib.sha256(f"{seed}\0{purpose}\0{name}".encode()).hexdigest()


def hardest(images: Sequence[str], right: Shares, fraction: float, *, seed: int) -> list[int]:
    """The share of images that most models get wrong.

    Parameters
    ----------
    images : sequence of str, length n
        Ids.
    right : ndarray of float, shape (n,)
        Share of models that are right.
    fraction : float
        How much of the images, above 0 and at most 1; rounded up to whole images.
    seed : int
        Of the order among images that equally many models get right.

    Returns
    -------
    list of int
        Places in ``images``, hardest first.

    Raises
    ------
    UsageError
        If the fraction is no share.
    """
    if not 0 < fraction <= 1:
        raise UsageError(f"a share of {fraction}", where="--hardest", fix="Give one above 0, at most 1, such as 0.05.")
    order = sorted(range(len(images)), key=lambda at: (right[at], keyed(seed, "tie", images[at])))
    # 0.07 of 100 is 7.000000000000001 in floating point.
    return order[: math.ceil(round(fraction * len(images), 9))]


def draw(images: Sequence[str], classes: Sequence[str], n: int, *, seed: int, balanced: bool) -> list[int]:
    """Draw images without replacement, from all alike or as evenly over classes as they allow.

    Parameters
    ----------
    images, classes : sequence of str
        Ids, and the class of each.
    n : int
        How many; all where there are no more.
    seed : int
    balanced : bool
        Whether each class gives as many as the others. Classes that give one more are the same in every set that has
        images enough, as their order depends on class id and seed alone.

    Returns
    -------
    list of int
        Places in ``images``.
    """
    order = sorted(range(len(images)), key=lambda at: keyed(seed, "draw", images[at]))
    if not balanced:
        return order[:n]
    had: dict[str, int] = {}
    turns = []
    for at in order:
        turn = had.get(classes[at], 0)
        had[classes[at]] = turn + 1
        turns.append((turn, keyed(seed, "class", classes[at]), at))
    return [at for *_, at in sorted(turns)[:n]]


def own_order(seed: int, exam: str, person: str, n: int) -> list[int]:
    """The order in which one person sees the images of an exam: positions, another order for everybody.

    Parameters
    ----------
    seed : int
        The exam's.
    exam, person : str
    n : int
        Number of images.
    """
    return sorted(range(n), key=lambda at: keyed(seed, f"order\0{exam}\0{person}", str(at)))
