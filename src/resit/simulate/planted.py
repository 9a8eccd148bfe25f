"""Faults that are planted among candidates so that it can be seen whether a build finds them: wrong labels, near-duplicates."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resit.data.decode import decode
from resit.errors import UsageError
from resit.simulate.labelled import Ints, Labelled
from resit.stats.resample import generator

CHANGES = ("reencoded", "shifted", "brightened")
QUALITY = 90
BRIGHTER = 12
_LABELS, _COPIES = range(2)


@dataclass(frozen=True)
class Plants:
    """How many faults to plant.

    Parameters
    ----------
    wrong : float
        Share of the candidates that get the label of another class.
    tempting : float
        Share of these that people take for the class that is wrong, as often as they would for the right one. Votes find the
        others; these only a reviewer who looks well.
    duplicates : float
        Near-duplicates that are added, as a share of the candidates: in turn of references, of originals, and of candidates.

    Raises
    ------
    UsageError
        If a share is not from 0 to 1.
    """

    wrong: float = 0.05
    tempting: float = 0.5
    duplicates: float = 0.05

    def __post_init__(self) -> None:
        for name in ("wrong", "tempting", "duplicates"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} {getattr(self, name)} is no share", where="plants", fix="Give one from 0 to 1.")


@dataclass(frozen=True)
class Planted:
    """Candidates with faults.

    Parameters
    ----------
    candidates : Labelled
        With the labels that they are given; near-duplicates last.
    true_labels : ndarray of int64, shape (n,)
    tempting : ndarray of bool, shape (n,)
        Wrong labels that people believe.
    changes : tuple of str, length n
        What was done to make a near-duplicate; empty for others.
    twins : tuple of str, length n
        Id of the image that it is a near-duplicate of; empty for others.
    """

    candidates: Labelled
    true_labels: Ints
    tempting: npt.NDArray[np.bool_]
    changes: tuple[str, ...] = field(repr=False)
    twins: tuple[str, ...] = field(repr=False)

    @property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """Which candidates have a wrong label."""
        return np.asarray(self.candidates.labels != self.true_labels, bool)


def plant(candidates: Labelled, originals: Labelled, references: Labelled, plants: Plants, *, seed: int = 0) -> Planted:
    """Plant wrong labels and near-duplicates.

    Parameters
    ----------
    candidates, originals, references : Labelled
        With their true classes, of one list of classes.
    plants : Plants
    seed : int, optional

    Returns
    -------
    Planted

    Raises
    ------
    UsageError
        If there is but one class and labels should be wrong, or nothing to copy.
    """
    if plants.wrong and len(candidates.classes) < 2:
        raise UsageError("wrong labels of a single class", where="plants", fix="Give two classes, or wrong=0.")
    rng = generator(seed, _LABELS)
    wrong = np.sort(rng.choice(len(candidates), round(plants.wrong * len(candidates)), replace=False))
    given = candidates.labels.copy()
    steps = rng.integers(1, max(len(candidates.classes), 2), len(wrong))
    given[wrong] = (given[wrong] + steps) % len(candidates.classes)
    tempting = np.zeros(len(candidates), bool)
    tempting[rng.choice(wrong, round(plants.tempting * len(wrong)), replace=False)] = True
    honest = candidates.some(np.setdiff1d(np.arange(len(candidates)), wrong))
    wanted = round(plants.duplicates * len(candidates))
    taken = {*candidates.digests, *originals.digests, *references.digests}
    copies, changes, twins = _copies([references, originals, honest], wanted, taken, generator(seed, _COPIES))
    labels = np.concatenate([given, copies.labels])
    return Planted(
        Labelled((*candidates.files, *copies.files), labels, candidates.classes),
        np.concatenate([candidates.labels, copies.labels]),
        np.concatenate([tempting, np.zeros(len(copies), bool)]),
        ("",) * len(candidates) + changes,
        ("",) * len(candidates) + twins,
    )


def _copies(
    sources: Sequence[Labelled], wanted: int, taken: set[str], rng: np.random.Generator
) -> tuple[Labelled, tuple[str, ...], tuple[str, ...]]:
    """Near-duplicates of images of each source in turn, no image twice, and none with the bytes of another image."""
    orders = [rng.permutation(len(source)).tolist() for source in sources]
    files: list[bytes] = []
    labels: list[int] = []
    changes: list[str] = []
    twins: list[str] = []
    for turn in range(sum(map(len, sources)) if wanted else 0):
        source, order = sources[turn % len(sources)], orders[turn % len(sources)]
        if not order or len(files) == wanted:
            continue
        twin = source.some([order.pop()])
        change = CHANGES[len(files) // len(sources) % len(CHANGES)]
        copy = Labelled((changed(twin.files[0], change),), twin.labels, twin.classes)
        if copy.digests[0] in taken:
            continue
        taken.add(copy.digests[0])
        files += copy.files
        labels += copy.labels.tolist()
        changes.append(change)
        twins += twin.digests
    if len(files) < wanted:
        what = f"{len(files):,} images to copy, while {wanted:,} near-duplicates are wanted"
        raise UsageError(what, where="plants", fix="Give more references or originals, or a smaller share.")
    return Labelled(tuple(files), np.array(labels, np.int64), sources[0].classes), tuple(changes), tuple(twins)


def changed(data: bytes, change: str) -> bytes:
    """A near-duplicate of an image.

    Parameters
    ----------
    data : bytes
    change : {'reencoded', 'shifted', 'brightened'}
        JPEG of quality 90; moved to the right by one pixel; brighter by 12 of 255.

    Returns
    -------
    bytes
        A JPEG file, or else a PNG file.

    Raises
    ------
    UsageError
        If there is no such change.
    """
    from PIL import Image

    if change not in CHANGES:
        raise UsageError(f"no change {change!r}", where="plants", fix=f"There are {', '.join(CHANGES)}.")
    image = decode(data).image
    file = io.BytesIO()
    if change == "reencoded":
        image.save(file, "JPEG", quality=QUALITY)
        return file.getvalue()
    pixels = np.asarray(image)
    if change == "shifted":
        pixels = np.concatenate([pixels[:, :1], pixels[:, :-1]], axis=1)
    else:
        pixels = np.minimum(pixels.astype(np.int64) + BRIGHTER, 255).astype(np.uint8)
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()
