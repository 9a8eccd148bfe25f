"""What models said of a build's images, where there are runs: shown to reviewers on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resit.build.steps.originals import row_of
from resit.data.load import load_predictions
from resit.data.paths import counted
from resit.errors import InputError

if TYPE_CHECKING:
    from resit.build.keys import Bools
    from resit.build.steps.opened import Build
    from resit.data.predictions import Predictions

NAMED = 3  # classes that are named where models disagree


@dataclass(frozen=True)
class Run:
    """Answers of some models.

    Parameters
    ----------
    predictions : Predictions
    right : ndarray of bool, shape (models, examples)
    rows : mapping of str to int
        Place of each image of the build in it.
    """

    predictions: Predictions
    right: Bools
    rows: Mapping[str, int]


@dataclass(frozen=True)
class Runs:
    """All runs that the server was given.

    Parameters
    ----------
    runs : tuple of Run
    """

    runs: tuple[Run, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.runs)

    def told(self, image: str) -> str:
        """What the models said of an image, in words; empty where no run has it."""
        right = asked = 0
        said: Counter[str] = Counter()
        for run in self.runs:
            row = run.rows.get(image)
            if row is None:
                continue
            right += int(run.right[:, row].sum())
            asked += len(run.right)
            if not run.predictions.is_correctness:
                tops = run.predictions.answers[:, row, 0].tolist()
                said.update(run.predictions.benchmark.class_name(top) for top in tops if top >= 0)
        if not asked:
            return ""
        words = f"{right} of {asked} model{'' if asked == 1 else 's'} right"
        return f"{words}; {_most(said, asked)}" if said else words


def _most(said: Counter[str], asked: int) -> str:
    """What models say: the class that more than half of them name, or the first of the others with their numbers."""
    ordered = sorted(said.items(), key=lambda one: (-one[1], one[0]))
    name, often = ordered[0]
    if 2 * often > asked:
        return f"{'all' if often == asked else 'most'} say {name}"
    rest = len(ordered) - NAMED
    more = f" and {counted(rest, 'other class', 'other classes')}" if rest > 0 else ""
    return f"they say {', '.join(f'{name} ({count:,})' for name, count in ordered[:NAMED])}{more}"


def read_runs(build: Build, folders: Sequence[str | Path]) -> tuple[Runs, list[str]]:
    """Read answers of models on images of a build: on a release of it, or on the original.

    Parameters
    ----------
    build : Build
    folders : sequence of path
        As :func:`resit.load_predictions` takes them.

    Returns
    -------
    runs : Runs
    lines : list of str
        What was found in each folder.

    Raises
    ------
    InputError
        If one cannot be read, or none of its examples is an image of the build.
    """
    if not folders:
        return Runs(), []
    images = build.store.images()
    ids = set(images["image"].to_pylist())
    found, lines = [], []
    for folder in folders:
        predictions = load_predictions(folder)
        rows = _rows(build, predictions, ids)
        if not rows:
            what = f"none of its {predictions.n:,} examples is an image of this build"
            fix = "Give answers on a release of the build, or on its original, as `resit evaluate` writes them."
            raise InputError(what, where=folder, fix=fix)
        found.append(Run(predictions, predictions.correct(), rows))
        lines.append(f"{folder}: {len(predictions.models):,} models on {len(rows):,} images of the build")
    return Runs(tuple(found)), lines


def _rows(build: Build, predictions: Predictions, ids: set[str]) -> dict[str, int]:
    """Place of each image: by its id, or in the original by its row there."""
    benchmark = predictions.benchmark
    if benchmark.content_fingerprint == build.original["fingerprint"]:
        originals = build.store.images("original")
        rows = map(row_of, originals["attributes"].to_pylist())
        return dict(zip(originals["image"].to_pylist(), rows, strict=True))
    names = [] if benchmark.ids is None else benchmark.ids.tolist()
    return {name: row for row, name in enumerate(names) if name in ids}
