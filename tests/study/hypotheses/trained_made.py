"""Sets of small made images, whose differences are known, for the hypotheses that train."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from resit.data.benchmark import Benchmark
from resit.data.image_sources.arrays import ArrayImages
from resit.data.models import ModelId
from resit.data.predictions import Predictions
from resit.models.training.linear import Linear
from resit.models.training.pixels import Pixels
from resit.models.training.protocol import Trainer
from resit.study.hypotheses.interface import Material, Rules

SIDE = 8
CLASSES = 4
PIXELS = Trainer(Pixels(SIDE), Linear(1e-3))
FEW = Rules(resamples=200, folds=4, seeds=2)


@dataclass(frozen=True)
class Kind:
    """How images of a set are made: brighter by ``shift``, classes ``apart`` from each other, in noise of 40 levels."""

    shift: float = 0.0
    apart: float = 12.0
    labels_wrong: float = 0.0


def benchmark(name: str, n: int, seed: int, kind: Kind = Kind(), classes: int = CLASSES) -> Benchmark:
    rng = np.random.default_rng(seed)
    patterns = np.random.default_rng(99).choice([-1.0, 1.0], (classes, SIDE, SIDE, 3))
    labels = rng.permutation(np.arange(n) % classes)
    pixels = 128 + kind.apart * patterns[labels] + kind.shift + rng.normal(0, 40, (n, SIDE, SIDE, 3))
    wrong = rng.random(n) < kind.labels_wrong
    said = np.where(wrong, (labels + 1) % classes, labels)
    images = ArrayImages(np.clip(pixels, 0, 255).astype(np.uint8))
    return Benchmark(name, said[:, None].astype(np.int32), images=images)


def predictions(one: Benchmark, models: int = 1) -> Predictions:
    answers = np.repeat(one.labels[None].astype(np.int16), models, axis=0)
    return Predictions(one, tuple(ModelId(f"m{at}") for at in range(models)), answers)


def material(original: Benchmark, new: Benchmark, *train: Benchmark, trainer: Trainer | None = PIXELS, **more) -> Material:
    return Material(predictions(original), predictions(new), train=train, trainer=trainer, **more)


def part(one: Benchmark, rows: np.ndarray, name: str = "part") -> Benchmark:
    pixels = np.stack([one.images[row] for row in rows.tolist()])
    return Benchmark(name, one.labels[rows], images=ArrayImages(pixels))


def quiet(_: str) -> None:
    pass
