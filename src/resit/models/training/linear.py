"""A linear head on features or pixels: multinomial logistic regression, its strength chosen on a held-out part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.models.heads import GRID, Examples, Fitted, Head
from resit.models.heads import Trainer as HeadTrainer
from resit.models.library import versions
from resit.models.training.diverged import Diverged
from resit.models.training.protocol import Fitter, Inputs, Labels, Scores, Tell, Trained, digest, spread
from resit.stats.splits import make_folds

HELD_OUT = 5  # one in so many
FEWEST = 50  # examples from which a part is held out
MIDDLE = 1e-3
THREADS = 2


@dataclass(frozen=True)
class Linear:
    """Multinomial logistic regression on standardised inputs.

    Parameters
    ----------
    c : float, optional
        Inverse strength of the L2 penalty; it weighs the sum of the losses. Default: chosen from `GRID` by the accuracy on a
        held-out fifth, from the strongest penalty on until it falls, then fitted again on all. With fewer than 50 examples
        it is 1e-3.
    """

    c: float | None = None

    def __post_init__(self) -> None:
        if self.c is not None and not 0 < self.c < np.inf:
            raise UsageError(f"c is above 0, not {self.c}", where="linear", fix="Leave it out to have it chosen.")

    @property
    def name(self) -> str:
        """For people."""
        return "linear head" if self.c is None else f"linear head (C {self.c:g})"

    @property
    def fingerprint(self) -> str:
        """Digest of kind, settings and versions."""
        return digest("linear 1", self.c, sorted(versions("scikit-learn").items()))

    @property
    def cpus(self) -> int:
        """Threads of a fit."""
        return THREADS

    @property
    def gpus(self) -> int:
        """None is used."""
        return 0

    def seconds(self, rows: int) -> float:
        """Roughly, for 3,072 features."""
        return 1 + rows * (1e-3 if self.c is None else 3e-4)

    def grid(self) -> tuple[tuple[str, Fitter], ...]:
        """All strengths of the penalty."""
        return tuple((f"C {c:g}", Linear(c)) for c in GRID)

    def fit(self, inputs: Inputs, labels: Labels, n_classes: int, *, seed: int, tell: Tell) -> Trained:
        """Fit on examples; see :class:`resit.models.training.protocol.Fitter`."""
        from threadpoolctl import threadpool_limits

        features = flat(inputs)
        every = np.arange(len(labels))
        with threadpool_limits(THREADS):
            c = self.c or _chosen(features, labels, seed, tell)
            found = _head(features, labels, every).fit(c)
        tell(f"linear head: C {c:g}")
        if not (np.isfinite(found.head.weight).all() and np.isfinite(found.head.bias).all()):
            raise Diverged("the weights are not finite", where="linear", fix="Look for values that are not finite.")
        return LinearTrained(found.head, found.classes, n_classes)


@dataclass(frozen=True)
class LinearTrained:
    """A fitted head, with the classes that its rows mean."""

    head: Head
    classes: npt.NDArray[np.int_]
    n_classes: int

    def scores(self, inputs: Inputs) -> Scores:
        """Scores of each class, shape (n, n_classes)."""
        return spread(self.classes, self.head.scores(flat(inputs)), self.n_classes)


def flat(inputs: Inputs) -> npt.NDArray[np.float32]:
    """Inputs as one row of float32 each; pixels from 0 to 1."""
    rows = inputs.reshape(len(inputs), -1)
    return rows.astype(np.float32) / np.float32(255) if inputs.dtype == np.uint8 else rows.astype(np.float32, copy=False)


def _chosen(features: npt.NDArray[np.float32], labels: Labels, seed: int, tell: Tell) -> float:
    if len(labels) < FEWEST:
        return MIDDLE
    folds = make_folds(np.random.default_rng(seed), labels, HELD_OUT)
    kept, held = np.flatnonzero(folds), np.flatnonzero(folds == 0)
    trainer = _head(features, labels, kept)
    best, most = MIDDLE, -1
    for c in GRID:
        right = _right(trainer.fit(c, warm=True), features[held], labels[held])
        tell(f"linear head: C {c:g}, {right / len(held):.1%} of the held-out part right")
        if right < most:
            break
        if right > most:
            best, most = c, right
    return best


def _right(found: Fitted, features: npt.NDArray[np.float32], labels: Labels) -> int:
    return int((found.classes[found.head.scores(features).argmax(axis=1)] == labels).sum())


def _head(features: npt.NDArray[np.float32], labels: Labels, rows: npt.NDArray[np.int_]) -> HeadTrainer:
    return HeadTrainer(features, Examples(rows, labels[rows], None))
