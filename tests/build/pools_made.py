"""Pools of candidates and originals for the tests of sampling, made by hand, by chance or from real votes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from resit.data.benchmark import ClassInfo
from resit.store.schemas import IMAGES, SELECTED, VERDICTS, table


def classes(*ids: str) -> list[ClassInfo]:
    return [ClassInfo(one, f"name of {one}") for one in ids]


def rows(named: Iterable[tuple[str, str, int, int]], attributes: Sequence[Mapping[str, object]] | None = None) -> pa.Table:
    """Image, class, selected and shown, with attributes."""
    listed = list(named)
    columns = [list(column) for column in zip(*listed, strict=True)] or [[], [], [], []]
    kinds = (pa.string(), pa.string(), pa.int64(), pa.int64())
    names = ("image", "class_id", "selected", "shown")
    made = {name: pa.array(column, kind) for name, column, kind in zip(names, columns, kinds, strict=True)}
    texts = ["{}"] * len(listed) if attributes is None else [json.dumps(one) for one in attributes]
    return pa.table({**made, "attributes": pa.array(texts, pa.string())})


def many(class_id: str, prefix: str, counts: Mapping[int, int], shown: int = 10) -> list[tuple[str, str, int, int]]:
    """So many images that were selected so often."""
    return [(f"{prefix}{k}-{i:03}", class_id, k, shown) for k, images in counts.items() for i in range(images)]


def images_of(candidates: Iterable[tuple[str, str]], role: str = "candidate") -> pa.Table:
    listed = list(candidates)
    blank = [""] * len(listed)
    columns: dict[str, object] = dict.fromkeys(IMAGES, blank)
    columns |= {"image": [a for a, _ in listed], "class_id": [b for _, b in listed], "role": [role] * len(listed)}
    return table(IMAGES, columns)


def verdicts_of(*events: tuple[str, str, str, str, str]) -> pa.Table:
    """Kind, image, other, class and verdict, one a second."""
    columns = list(zip(*events, strict=True)) or [()] * 5
    times = [f"2026-01-01T00:00:{second:02}Z" for second in range(len(events))]
    names = ("kind", "image", "other", "class_id", "verdict")
    made: dict[str, object] = {name: list(column) for name, column in zip(names, columns, strict=True)}
    return table(VERDICTS, {**made, "person": ["p"] * len(events), "time": times})


def previous_of(named: Iterable[tuple[str, str]]) -> pa.Table:
    listed = list(named)
    zeros = [0] * len(listed)
    columns = {"selected": zeros, "shown": zeros, "bin": zeros, "fate": ["drawn"] * len(listed)}
    return table(SELECTED, {"image": [a for a, _ in listed], "class_id": [b for _, b in listed], **columns})


def shuffled(rows: pa.Table, seed: int) -> pa.Table:
    return rows.take(pa.array(np.random.default_rng(seed).permutation(len(rows))))


@dataclass(frozen=True)
class RealVotes:
    """Votes of people for the true label of each CIFAR-10 test image, and the share of 30 models that are right on it."""

    labels: np.ndarray
    selected: np.ndarray
    shown: np.ndarray
    correct: np.ndarray

    def drawn(self, votes: int, rng: np.random.Generator) -> np.ndarray:
        """Times selected among some of the votes on each image, drawn without replacement."""
        return rng.hypergeometric(self.selected, self.shown - self.selected, votes)

    def independent(self) -> RealVotes:
        """The same frequencies from so many votes that those drawn are as good as independent."""
        return replace(self, selected=1_000 * self.selected, shown=1_000 * self.shown)

    def table(self, places: np.ndarray, selected: np.ndarray, votes: int) -> pa.Table:
        made = {
            "image": [image_id(i) for i in places.tolist()],
            "class_id": self.labels[places].astype(str).tolist(),
            "selected": selected[places],
            "shown": np.full(len(places), votes),
        }
        return pa.table({**made, "attributes": ["{}"] * len(places)})


def image_id(place: int) -> str:
    """Ids in the order of the rows, as the figures were computed: which images come first moves what the top images are."""
    return f"{place:05}"


def real_votes(shared_data: Path) -> RealVotes:
    counts = np.load(shared_data / "cifar10" / "cifar10h_counts.npy").astype(np.int64)
    labels = np.load(shared_data / "cifar10.1" / "original_labels.npy").astype(np.int64)
    files = sorted((shared_data / "cifar10.1" / "original").iterdir())
    correct = np.mean([np.array(json.loads(file.read_text())) == labels for file in files], axis=0)
    return RealVotes(labels, counts[np.arange(len(labels)), labels], counts.sum(axis=1), correct)
