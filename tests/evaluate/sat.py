"""A test set of small made images, and models that see only pixels."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.models import ModelId
from resit.models.protocol import LabelSpace, OutOfMemory

CLASSES = tuple(ClassInfo(f"n{i}", f"class {i}") for i in range(7))


@dataclass(frozen=True)
class Stored:
    """Encoded images in memory; some may be damaged."""

    files: tuple[bytes, ...]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.files[index]

    def where(self, index):
        return f"image-{index}.png"

    @cached_property
    def fingerprint(self):
        return hashlib.sha256(b"".join(self.files)).hexdigest()[:16]


def png(pixels) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return file.getvalue()


def made(n=60, name="seen", seed=0, broken=(), classes=CLASSES, **rest) -> Benchmark:
    """Images whose first pixel's red is their label; a tenth are given another label."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(len(classes), size=n).astype(np.int32)
    pixels = rng.integers(0, 255, (n, 8, 8, 3), np.uint8)
    shown = np.where(rng.random(n) < 0.1, rng.integers(len(classes), size=n), labels)
    pixels[:, 0, 0, 0] = shown
    files = [png(image) for image in pixels]
    for row in broken:
        files[row] = files[row][: len(files[row]) // 2]
    ids = np.array([f"image-{i:05d}" for i in range(n)])
    return Benchmark(name, labels[:, None], ids, classes, f"{len(classes)} listed classes", images=Stored(tuple(files)), **rest)


@dataclass(frozen=True)
class Pixels:
    """The image as it is."""

    fingerprint: str = "pixels"

    def __call__(self, image):
        return np.asarray(image, np.float32)


@dataclass
class Reader:
    """Reads the label off the first pixel, and knows how often it was asked."""

    name: str = "reader"
    classes: tuple[ClassInfo, ...] = CLASSES
    transform: Pixels = field(default_factory=Pixels)
    weights: str = "1"
    shift: int = 0
    most: int = 10**9
    fail_at: int = 10**9
    space: str = "seven"
    score_kind: str | None = None
    asked: int = 0
    sizes: list[int] = field(default_factory=list)

    @property
    def id(self) -> ModelId:
        return ModelId(self.name)

    @property
    def label_space(self) -> LabelSpace:
        return LabelSpace(self.space, self.classes)

    @property
    def provenance(self) -> Mapping[str, str]:
        return {"adapter": "test", "weights": self.weights}

    def scores(self, batch):
        if len(batch) > self.most:
            raise OutOfMemory("too large")
        if self.asked + len(batch) > self.fail_at:
            raise KeyboardInterrupt
        self.asked += len(batch)
        self.sizes.append(len(batch))
        told = (batch[:, 0, 0, 0].astype(int) + self.shift) % len(self.classes)
        scores = batch.reshape(len(batch), -1)[:, 3 : 3 + len(self.classes)] / 1000 + np.arange(len(self.classes)) / 1e5
        scores[np.arange(len(batch)), told] += 10
        return scores


class Slow(Reader):
    """Takes its time."""

    def scores(self, batch):
        time.sleep(0.02)
        return super().scores(batch)


class Short(Reader):
    """Gives too few scores."""

    def scores(self, batch):
        return super().scores(batch)[:, :5]


@dataclass
class Deadly(Reader):
    """Kills its own process once."""

    killed: Path = Path()

    def scores(self, batch):
        if not self.killed.exists():
            self.killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().scores(batch)
