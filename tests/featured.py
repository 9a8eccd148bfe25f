"""Pictures whose pixels are their features, and a model that takes them as they are: what a new last layer finds is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from resit import Benchmark, ModelId
from resit.data.benchmark import ClassInfo
from resit.models.protocol import LabelSpace

SIDE = 4
FEATURES = 3 * SIDE * SIDE


@dataclass
class Pictures:
    """Pixels in memory; those of ``broken`` cannot be read. ``reads`` counts."""

    pixels: np.ndarray
    broken: frozenset[int] = frozenset()
    reads: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, index: int) -> np.ndarray | bytes:
        self.reads.append(index)
        if index in self.broken:
            return b"no picture"
        return self.pixels[index]

    def where(self, index: int) -> str:
        return f"picture {index}"

    @property
    def fingerprint(self) -> str:
        return f"{self.pixels.sum()} {len(self)}"


class Flat:
    """Pixels as numbers from −1 to 1."""

    fingerprint = "flat"

    def __call__(self, image: Image.Image) -> np.ndarray:
        return (np.asarray(image, np.float32) / 127.5 - 1).reshape(-1)


class PixelModel:
    """Features are the prepared pixels; the head is the given one."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray, classes: tuple[ClassInfo, ...], name: str = "pixels") -> None:
        self.id = ModelId(name)
        self.label_space = LabelSpace("letters", classes)
        self.transform = Flat()
        self.provenance = {"adapter": "test", "weights": f"{weight.sum():.6f}", "precision": "float32"}
        self.weight, self.bias = weight.astype(np.float32), bias.astype(np.float32)
        self.asked = 0

    def features(self, batch: np.ndarray) -> np.ndarray:
        self.asked += len(batch)
        return batch

    def head(self) -> tuple[np.ndarray, np.ndarray]:
        return self.weight, self.bias

    def scores(self, batch: np.ndarray) -> np.ndarray:
        return batch @ self.weight.T + self.bias


def classes(count: int) -> tuple[ClassInfo, ...]:
    return tuple(ClassInfo(f"c{at}", f"class {at}") for at in range(count))


def exam(n: int, count: int, *, seed: int = 0, noise: float = 0.35, broken: frozenset[int] = frozenset(), name: str = "homes"):
    """A set of two regions and the model that left one behind.

    The class shows in its own pixel everywhere. In the region ``south`` the model's own head looks at pixels that say nothing.
    Clusters hold three examples each, of one region.
    """
    rng = np.random.default_rng(seed)
    homes = np.arange(n) // 3
    south = (homes % 2).astype(bool)
    labels = rng.integers(count, size=n)
    values = rng.normal(0, noise, (n, FEATURES))
    values[np.arange(n), labels] += np.where(south, 0, 0.9)
    values[np.arange(n), count + labels] += np.where(south, 0.9, 0)
    pixels = np.clip(np.rint((values + 1) * 127.5), 0, 255).astype(np.uint8).reshape(n, SIDE, SIDE, 3)
    groups = {"region": np.where(south, "south", "north"), "home": np.char.add("h", homes.astype(str))}
    benchmark = Benchmark(
        name,
        labels[:, None].astype(np.int32),
        ids=np.char.add(f"{name}-{seed}-", np.arange(n).astype(str)),
        classes=classes(count),
        label_space="letters",
        groups=groups,
        images=Pictures(pixels, broken),
    )
    weight = np.zeros((count, FEATURES))
    weight[np.arange(count), np.arange(count)] = 1
    return benchmark, PixelModel(weight, np.zeros(count), classes(count))
