"""Two sets with known answers for the hypotheses, votes on them, their images, and builds with revisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats

from resit import Benchmark, ModelId, Predictions
from resit.build.folder import BuildFolder
from resit.build.steps.init import new_config
from resit.build.steps.opened import open_build
from resit.store.schemas import COUNTS, EXCLUDED, IMAGES, PAIRS, SELECTED, VERDICTS, table
from resit.study.explain_result import Figure, Gathered
from resit.study.hypotheses.interface import Material, Rules
from resit.study.hypotheses.registry import hypotheses

RULES = Rules(resamples=400)
ABILITIES = np.linspace(0.5, 2.5, 15)
TIME = "2026-01-01T00:00:00Z"


class Pictures:
    """Images in memory; None is one that cannot be read."""

    def __init__(self, pixels: Sequence[np.ndarray | None]) -> None:
        self.pixels = list(pixels)

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, index: int) -> np.ndarray:
        found = self.pixels[index]
        if found is None:
            raise OSError("gone")
        return found

    def where(self, index: int) -> str:
        return f"picture {index}"

    @property
    def fingerprint(self) -> str:
        return "made"


def asked(name: str, material: Material, rules: Rules = RULES) -> Gathered:
    """What a hypothesis finds in material that it does not lack."""
    hypothesis = hypotheses((name,))[0]
    assert not hypothesis.lacks(material)
    assert hypothesis.seconds(material, rules) > 0
    return hypothesis.run(material, rules, lambda _: None)


def lacking(name: str, material: Material) -> str:
    """What it lacks, in one text."""
    found = hypotheses((name,))[0].lacks(material)
    assert found
    return "; ".join(found)


def figure(found: Gathered, start: str) -> Figure:
    return next(one for one in found.figures if one.name.startswith(start))


def value(found: Gathered, start: str) -> float:
    told = figure(found, start).value.estimate
    assert told is not None
    return told


def codes(found: Gathered) -> set[str]:
    return {one.code for one in found.warnings}


def answers(name: str, right: np.ndarray, labels: np.ndarray | None = None, classes: int = 10, **more: Any) -> Predictions:
    """Predictions of models that are right where told; the others say the class after."""
    labels = np.arange(right.shape[1]) % classes if labels is None else labels
    chosen = np.where(right, labels, (labels + 1) % classes)[:, :, None].astype(np.int16)
    models = tuple(ModelId(f"m{at}") for at in range(len(right)))
    return Predictions(Benchmark(name, labels[:, None].astype(np.int32), **more), models, chosen)


def eases(n: int, seed: int, harder: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(-harder, 1, n)


def given_ease(ease: np.ndarray, seed: int, abilities: np.ndarray = ABILITIES) -> np.ndarray:
    """Right or wrong, more often the abler the model and the easier the image."""
    chance = stats.norm.cdf(abilities[:, None] + ease)
    return np.random.default_rng(seed).random(chance.shape) < chance


def halves(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a set cut at random into two parts of n each."""
    order = np.random.default_rng(seed).permutation(2 * n)
    return order[:n], order[n:]


def votes_of(one: Predictions, selected: np.ndarray, shown: int | np.ndarray = 10) -> pa.Table:
    """COUNTS on the labels of a set, by its ids or positions."""
    ids = range(one.n) if one.benchmark.ids is None else one.benchmark.ids
    columns = {
        "image": [str(name) for name in ids],
        "class_id": [one.benchmark.class_id(int(label)) for label in one.benchmark.labels[:, 0]],
        "selected": np.asarray(selected, np.int64),
        "shown": np.broadcast_to(np.asarray(shown, np.int64), one.n),
    }
    return table(COUNTS, columns)


def counts_of(rows: Mapping[str, tuple[str, int, int]]) -> pa.Table:
    """COUNTS by image: class, selected, shown."""
    listed = list(rows.values())
    return table(
        COUNTS, {"image": list(rows), **{name: [row[at] for row in listed] for at, name in enumerate(list(COUNTS)[1:])}}
    )


def pairs_of(pairs: Sequence[tuple[str, str, str]], verdicts: Sequence[str] | None = None) -> pa.Table:
    """PAIRS: image, other, and the reference set of the other."""
    n = len(pairs)
    columns = dict(zip(("image", "other", "reference"), ([row[at] for row in pairs] for at in range(3)), strict=True))
    made = table(PAIRS, {"metric": ["l2"] * n, "distance": [1.0] * n, "rank": [1] * n, **columns})
    return made if verdicts is None else made.append_column("verdict", pa.array(verdicts, pa.string()))


def verdicts_of(pairs: Sequence[tuple[str, str, str]]) -> pa.Table:
    """VERDICTS on pairs: image, other, what was said; one a second."""
    n = len(pairs)
    columns = dict(zip(("image", "other", "verdict"), ([row[at] for row in pairs] for at in range(3)), strict=True))
    times = [f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z" for at in range(n)]
    return table(VERDICTS, {"kind": ["pair"] * n, "class_id": [""] * n, "person": ["p"] * n, "time": times, **columns})


def build_of(
    folder: Path,
    counts: pa.Table,
    revisions: Sequence[tuple[str, Sequence[str]]] = (),
    excluded: Mapping[str, str] | None = None,
    verdicts: pa.Table | None = None,
) -> Path:
    """A build whose candidates have these counts, with revisions: strategy and images; excluded images with their reason."""
    BuildFolder.create(folder, new_config(name="made", per_class=3, original={"source": "elsewhere"}))
    images, classes = counts["image"].to_pylist(), counts["class_id"].to_pylist()
    place = {name: at for at, name in enumerate(images)}
    blank = dict.fromkeys(IMAGES, [""] * len(images))
    gone = excluded or {}
    with open_build(folder) as build:
        build.store.note("init", {"name": "elsewhere", "fingerprint": "", "classes": []}, TIME)
        build.store.add_images(
            table(IMAGES, {**blank, "image": images, "class_id": classes, "role": ["candidate"] * len(images)})
        )
        build.store.add_counts(counts)
        before: set[str] = set()
        for number, (strategy, chosen) in enumerate(revisions):
            rows = counts.take(pa.array([place[name] for name in chosen], pa.int64()))
            fates = ["kept" if name in before else "drawn" for name in chosen]
            selected = table(SELECTED, {**{name: rows[name] for name in COUNTS}, "bin": [4] * len(chosen), "fate": fates})
            left = {name: [*gone] for name in ("image",)} | {"class_id": [classes[place[name]] for name in gone]}
            out = table(EXCLUDED, {**left, "reason": [*gone.values()]})
            record = {"strategy": strategy, "time": TIME}
            build.store.add_selection(record, selected, out, parent=number or None)
            before = set(chosen)
        if verdicts is not None:
            build.store.add_verdicts(verdicts)
    return folder
