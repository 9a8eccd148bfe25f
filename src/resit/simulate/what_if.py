"""How many votes and which bins to choose, before money is spent: what noisy votes do to the accuracy on a matched test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.run import sample
from resit.data.benchmark import ClassInfo
from resit.errors import UsageError
from resit.simulate.clarity import CIFAR_10H
from resit.simulate.people import Crowd
from resit.stats.resample import generator
from resit.store.schemas import table

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[np.float64]
# Mean accuracy of the 30 classifiers of the CIFAR-10.1 release on CIFAR-10's test images by the true label's frequency in
# CIFAR-10H: in [.2, .4), [.4, .6), [.6, .8), [.8, .9), [.9, 1), and at 1, each at its middle.
FREQUENCIES = (0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
ACCURACIES = (0.587, 0.686, 0.777, 0.823, 0.935, 0.969)
# A pool of search results: less clear than a test set, with a mean of 0.8.
FOUND = (2.0, 0.5)
EDGES = ((), (4,), (2, 4), (1, 2, 3, 4))
WHAT_IF = {
    "votes": "int64",  # on each image, originals too
    "edges": "string",  # of the bins, in fifths
    "bins": "int64",
    "shift": "double",  # expected accuracy on the new test set less that on the original, mean over repeats
    "sd": "double",  # of one repeat's shift
    "upward": "double",  # share of the selected images that were drawn upward
    "short": "double",  # share of the wanted images that could not be found
}


@dataclass(frozen=True)
class Sizes:
    """How large a build is.

    Parameters
    ----------
    classes : int
    originals, candidates, per_class : int
        Of each class: images of the original, candidates, and wanted images.

    Raises
    ------
    UsageError
        If one is not above 0.
    """

    classes: int = 10
    originals: int = 100
    candidates: int = 200
    per_class: int = 20

    def __post_init__(self) -> None:
        if min(self.classes, self.originals, self.candidates, self.per_class) < 1:
            raise UsageError(f"sizes that cannot be: {self}", where="what if", fix="Give numbers above 0.")


def what_if(
    votes: Sequence[int] = (5, 10, 20, 40),
    edges: Sequence[tuple[int, ...]] = EDGES,
    *,
    crowd: Crowd | None = None,
    sizes: Sizes | None = None,
    original: tuple[float, float] = CIFAR_10H,
    pool: tuple[float, float] = FOUND,
    repeats: int = 10,
    seed: int = 0,
) -> pa.Table:
    """What numbers of votes and bins do to the accuracy on a test set that is matched by observed selection frequency.

    Images are only numbers here: each has a clarity, from a beta distribution of its set, by which models are right on it as
    they are on CIFAR-10. People vote on originals and candidates, and matched-frequency sampling draws. Were votes without
    noise and bins narrow, accuracy would be the same on both sets. With few votes, images of a pool that is less clear than the
    original are chosen for luck, so that the new set is harder.

    Parameters
    ----------
    votes : sequence of int, optional
        Numbers of votes on each image to try.
    edges : sequence of tuple of int, optional
        Edges of bins to try, in fifths, as `MatchedFrequency` takes them; none is one bin, which leaves votes out.
    crowd : Crowd, optional
        Each vote is by anybody of it.
    sizes : Sizes, optional
    original, pool : (float, float), optional
        Shapes of the beta distributions of clarity. Default: as CIFAR-10's test images for CIFAR-10H's people, and a pool of
        mean 0.8.
    repeats : int, optional
        Builds that are simulated for each setting, at least 2, with the same images for all settings.
    seed : int, optional

    Returns
    -------
    pyarrow.Table
        WHAT_IF, in the order of votes, then edges.

    Raises
    ------
    UsageError
        If a number cannot be meant.

    References
    ----------
    Engstrom, L., et al. (2020). Identifying statistical bias in dataset replication. ICML, section 3.
    """
    if min([repeats - 1, *votes]) < 1 or min(*original, *pool) <= 0:
        what = f"votes {tuple(votes)}, {repeats} repeats, shapes {original} and {pool}"
        raise UsageError(what, where="what if", fix="Give numbers above 0, and 2 repeats or more.")
    crowd, sizes = crowd or Crowd(), sizes or Sizes()
    rows = []
    for count in votes:
        builds = [_voted(sizes, (original, pool), crowd, count, seed, turn) for turn in range(repeats)]
        for some in edges:
            found = np.array([_drawn(one, sizes, some, seed) for one in builds])
            shift, upward, short = found.mean(axis=0)
            rows.append((count, " ".join(map(str, some)), len(some) + 1, shift, found[:, 0].std(ddof=1), upward, short))
    columns = list(zip(*rows, strict=True)) or [()] * len(WHAT_IF)
    return table(WHAT_IF, dict(zip(WHAT_IF, map(list, columns), strict=True)))


def expected_accuracy(clear: npt.ArrayLike) -> Array:
    """Accuracy of models on images of some clarity, as on CIFAR-10: a line through the means of `ACCURACIES`."""
    return np.asarray(np.interp(np.asarray(clear, float), FREQUENCIES, ACCURACIES), float)


@dataclass(frozen=True)
class _Voted:
    """Originals and candidates with their votes, and the accuracy that is expected on each candidate and on all originals."""

    originals: pa.Table
    candidates: pa.Table
    right: Array
    target: float


def _voted(sizes: Sizes, shapes: tuple[tuple[float, float], ...], crowd: Crowd, votes: int, seed: int, turn: int) -> _Voted:
    numbers = [sizes.classes * each for each in (sizes.originals, sizes.candidates)]
    rng = generator(seed, 0, turn)
    clear = [rng.beta(*shape, number) for shape, number in zip(shapes, numbers, strict=True)]
    luck = generator(seed, 1, turn, votes)
    right, wrong = (float(chance.mean()) for chance in crowd.chances(seed))
    tables = [_table(sizes, luck.binomial(votes, right * some + wrong * (1 - some)), votes) for some in clear]
    return _Voted(tables[0], tables[1], expected_accuracy(clear[1]), float(expected_accuracy(clear[0]).mean()))


def _table(sizes: Sizes, selected: npt.NDArray[np.int64], votes: int) -> pa.Table:
    import pyarrow as pa

    names = [f"{row:09}" for row in range(len(selected))]
    classes = np.repeat([info.id for info in _classes(sizes)], len(selected) // sizes.classes).tolist()
    shown = np.full(len(selected), votes)
    return pa.table({"image": names, "class_id": classes, "selected": selected, "shown": shown})


def _classes(sizes: Sizes) -> list[ClassInfo]:
    return [ClassInfo(f"class-{number}", f"class {number}") for number in range(sizes.classes)]


def _drawn(build: _Voted, sizes: Sizes, edges: tuple[int, ...], seed: int) -> tuple[float, float, float]:
    """Shift of accuracy, and the shares of images that were drawn upward and that are missing; NaN where none was drawn."""
    strategy = MatchedFrequency(edges=edges, minimum_votes=1, minimum_originals=1)
    drawn = sample(strategy, build.candidates, build.originals, None, _classes(sizes), sizes.per_class, seed=seed)
    chosen = [int(name) for name in drawn.selected["image"].to_pylist()]
    missing = 1 - len(chosen) / (sizes.classes * sizes.per_class)
    if not chosen:
        return float("nan"), float("nan"), missing
    return float(build.right[chosen].mean()) - build.target, drawn.upward / len(chosen), missing
