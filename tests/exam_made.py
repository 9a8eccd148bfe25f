"""A build with a selection that an exam can be made of, and models whose answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import steps_made as made

if TYPE_CHECKING:
    from resit import Predictions
    from resit.build.steps.opened import Build

NEW = tuple(f"{name}/web {number}" for name in made.CLASSES for number in range(8))
RECORD = {
    "strategy": "top-images",
    "time": "2026-01-31T12:00:00Z",
    "valid": True,
    "excluded": {},
    "shortages": [],
}
MODELS = ("bad", "fair", "good")


def selected(root: Path, **more: Any) -> Path:
    """A build whose first revision has eight images of each class."""
    from resit.build.steps.gather import gather
    from resit.build.steps.opened import open_build

    folder = made.begin(root, **more).folder.path
    with open_build(folder) as build:
        gather(build, f"folder:{made.write_images(root / 'web', {name: made.picture(name) for name in NEW})}")
        select(build, [(made.digest(made.picture(name)), name[:3]) for name in NEW])
    return folder


def select(build: Build, rows: list[tuple[str, str]]) -> None:
    """Make the first revision of some images and their classes."""
    from resit.store.schemas import EXCLUDED, SELECTED, table

    n = len(rows)
    columns = {
        "image": [row[0] for row in rows],
        "class_id": [row[1] for row in rows],
        "selected": [1] * n,
        "shown": [1] * n,
        "bin": [0] * n,
        "fate": ["drawn"] * n,
    }
    build.store.add_selection(RECORD | {"candidates": n, "selected": n}, table(SELECTED, columns), table(EXCLUDED), parent=None)


def answers(benchmark: Any, right: np.ndarray) -> Predictions:
    """Predictions of models that are right where they are told to be."""
    from resit import ModelId, Predictions

    labels = benchmark.labels[:, 0]
    given = np.where(right, labels, 1 - labels)[:, :, None].astype(np.int16)
    return Predictions(benchmark, tuple(ModelId(name) for name in MODELS[: len(right)]), given)


def on_original(build: Build, right: np.ndarray) -> Predictions:
    return answers(build.load_original(), right)


def on_new(right: np.ndarray, names: tuple[str, ...] = NEW) -> Predictions:
    from resit import Benchmark
    from resit.data.benchmark import ClassInfo

    ids = np.array([made.digest(made.picture(name)) for name in names])
    labels = np.array([made.CLASSES.index(name[:3]) for name in names], np.int32)[:, None]
    classes = tuple(ClassInfo(name, name) for name in made.CLASSES)
    return answers(Benchmark("pets new", labels, ids=ids, classes=classes), right)
