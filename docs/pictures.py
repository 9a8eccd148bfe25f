"""Draw the picture of each hypothesis that its page shows, of a study that is made up, with effects of known size.

In it new images are harder and people select them less often, bad ones go in review, models are surer of themselves than right,
and new images are brighter. Run as ``make pictures``.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

import resit
from resit import Benchmark, ModelId, Predictions
from resit.build.folder import BuildFolder
from resit.build.steps.init import new_config
from resit.build.steps.opened import open_build
from resit.data.image_sources.arrays import ArrayImages
from resit.store.schemas import COUNTS, EXCLUDED, IMAGES, SELECTED, table
from resit.study.human_result import HumanAccuracy, Marks, ModelMarks, ModelsBeside, PersonRow, Pooled
from resit.study.hypotheses.registry import hypotheses

HERE = Path(__file__).resolve().parent
OUT = HERE / "_static" / "explain"
SEED, CLASSES, MODELS, SIDE, PEOPLE = 3, 10, 16, 16, 20
OLD, POOL, NEW, BAD = 2_000, 3_000, 1_000, 40
TIME = "2026-01-01T00:00:00.000Z"
ABILITIES = np.linspace(0.2, 2.0, MODELS)

Array = npt.NDArray[np.float64]


class Study:
    """Sets of images of a known ease, what models answer, and how often people select them."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(SEED)
        self.looks = self.rng.normal(120, 8, (CLASSES, SIDE, SIDE, 3))

    def images(self, labels: npt.NDArray[np.int32], *, brighter: float = 0.0) -> ArrayImages:
        """Pictures with the look of their class, in much noise, some brighter than others."""
        light = self.rng.normal(brighter, 12, (len(labels), 1, 1, 1))
        noise = self.rng.normal(0, 60, (len(labels), SIDE, SIDE, 3))
        return ArrayImages(np.clip(self.looks[labels] + light + noise, 0, 255).astype(np.uint8))

    def answers(self, name: str, ease: Array, *, brighter: float = 0.0) -> Predictions:
        """Models are right more often the abler they are and the easier the image is; all are too sure."""
        n = len(ease)
        labels = (np.arange(n) % CLASSES).astype(np.int32)
        ids = np.array([f"{name}-{at:04}" for at in range(n)])
        right = self.rng.random((MODELS, n)) < stats.norm.cdf(ABILITIES[:, None] + ease)
        chosen = np.where(right, labels, (labels + 1) % CLASSES)[:, :, None].astype(np.int16)
        sure = stats.norm.cdf(ABILITIES[:, None] + 0.6 * ease + self.rng.normal(0.1, 0.3, (MODELS, n))).clip(0.1, 0.999)
        benchmark = Benchmark(name, labels[:, None], ids=ids, images=self.images(labels, brighter=brighter))
        models = tuple(ModelId(f"model {at + 1:02}") for at in range(MODELS))
        return Predictions(benchmark, models, chosen, confidence=sure.astype(np.float32))

    def selected(self, ease: Array) -> npt.NDArray[np.int64]:
        """How many of the people select each image."""
        return np.asarray(self.rng.binomial(PEOPLE, stats.norm.cdf(0.9 + 0.9 * ease)), np.int64)


def part_of(answers: Predictions, name: str, rows: npt.NDArray[np.int64]) -> Predictions:
    """Answers on some of the images."""
    whole = answers.benchmark
    assert whole.ids is not None
    assert whole.images is not None
    assert answers.confidence is not None
    pictures = ArrayImages(np.stack([whole.images[int(row)] for row in rows]))
    own = Benchmark(name, whole.labels[rows], ids=whole.ids[rows], images=pictures)
    return Predictions(own, answers.models, answers.answers[:, rows], confidence=answers.confidence[:, rows])


def votes_file(path: Path, answers: Predictions, selected: npt.NDArray[np.int64]) -> Path:
    """Votes as an array of images and classes: those who did not select an image would have taken the next class."""
    labels = answers.benchmark.labels[:, 0]
    counts = np.zeros((answers.n, CLASSES), np.int64)
    counts[np.arange(answers.n), labels] = selected
    counts[np.arange(answers.n), (labels + 1) % CLASSES] = PEOPLE - selected
    np.save(path, counts)
    return path


def build_of(path: Path, pool: Predictions, selected: npt.NDArray[np.int64], rounds: list[npt.NDArray[np.int64]]) -> Path:
    """A build whose first revision has bad images, which review takes out."""
    BuildFolder.create(path, new_config(name="new", per_class=NEW // CLASSES, original={"source": "original"}))
    assert pool.benchmark.ids is not None
    rows: dict[str, Any] = {
        "image": pool.benchmark.ids.tolist(),
        "class_id": [pool.benchmark.class_id(int(label)) for label in pool.benchmark.labels[:, 0]],
    }
    counts = table(COUNTS, {**rows, "selected": selected, "shown": [PEOPLE] * pool.n})
    with open_build(path) as build:
        build.store.note("init", {"name": "original", "fingerprint": "", "classes": []}, TIME)
        blank = dict.fromkeys(IMAGES, [""] * pool.n)
        build.store.add_images(table(IMAGES, {**blank, **rows, "role": ["candidate"] * pool.n}))
        build.store.add_counts(counts)
        gone = np.setdiff1d(rounds[0], rounds[1])
        for number, chosen in enumerate(rounds):
            drawn = counts.take(chosen)
            fate = ["kept" if number and row in rounds[0] else "drawn" for row in chosen.tolist()]
            columns = {**{name: drawn[name] for name in COUNTS}, "bin": [4] * len(chosen), "fate": fate}
            out = {name: [rows[name][row] for row in gone] for name in ("image", "class_id")}
            excluded = table(EXCLUDED, {**out, "reason": ["blacklisted"] * len(gone)})
            record = {"strategy": "threshold", "time": TIME}
            build.store.add_selection(record, table(SELECTED, columns), excluded, parent=number or None)
    return path


def people_of(old: Predictions, new: Predictions, rng: np.random.Generator) -> HumanAccuracy:
    """Five people who are a little less often right on new images."""
    from resit.study.estimate import Estimate

    n, drawn = 100, []
    for number in range(5):
        right = rng.binomial(n, 0.95), rng.binomial(n, 0.91)
        each = [Marks(hits, n, 0, 0, Estimate(hits / n, hits / n - 0.05, min(1.0, hits / n + 0.04))) for hits in right]
        change = (right[1] - right[0]) / n
        lost = Estimate(change, change - 0.07, change + 0.07, "made up")
        drawn.append(PersonRow(f"person {number + 1}", each[0], each[1], lost))
    ends = [float(np.mean([getattr(row, at).accuracy.estimate for row in drawn])) for at in ("original", "new")]
    pooled = Pooled(
        5,
        n,
        Estimate(ends[0], ends[0] - 0.02, ends[0] + 0.02),
        Estimate(ends[1], ends[1] - 0.03, ends[1] + 0.03),
        Estimate(ends[1] - ends[0], ends[1] - ends[0] - 0.03, ends[1] - ends[0] + 0.03, "made up"),
    )
    accuracy = [one.correct().mean(axis=1).tolist() for one in (old, new)]
    marks = tuple(ModelMarks(str(model), a, b) for model, a, b in zip(old.models, *accuracy, strict=True))
    means = [float(np.mean(one)) for one in accuracy]
    beside = ModelsBeside(means[0], means[1], means[1] - means[0], False, marks)
    return HumanAccuracy(
        schema=HumanAccuracy.SCHEMA,
        exam="exam",
        build="new",
        level=0.95,
        seed=SEED,
        rule="drawn at random",
        n_original=n,
        n_new=n,
        n_classes=CLASSES,
        people=tuple(drawn),
        pooled=pooled,
        models=beside,
        partial=(),
        verdict=(),
        warnings=(),
        settings={},
        versions={},
    )


def explained(folder: Path) -> resit.Explanation:
    """The study, with all that hypotheses ask for."""
    study = Study()
    rng = study.rng
    old_ease, pool_ease = rng.normal(0.3, 1, OLD), rng.normal(0, 1, POOL)
    old_ease[rng.random(OLD) < 0.01] = pool_ease[rng.random(POOL) < 0.03] = -5  # hard for every model
    pool_ease[:BAD] = -6  # what is in the folder of a class and does not show it
    old, pool = study.answers("original", old_ease), study.answers("pool", pool_ease, brighter=6)
    chosen = study.selected(pool_ease)
    fair = np.arange(BAD, POOL)
    last = np.sort(rng.choice(fair, NEW, replace=False))
    first = np.concatenate([np.arange(BAD), last[BAD:]])
    easiest = np.sort(fair[np.argsort(-chosen[BAD:], kind="stable")[:NEW]])
    threshold = np.sort(rng.choice(fair[chosen[BAD:] >= 0.7 * PEOPLE], NEW, replace=False))
    new = part_of(pool, "new", last)
    others = []
    for name, rows in (("threshold", threshold), ("top images", easiest)):
        one = part_of(pool, name, rows)
        others.append((one, votes_file(folder / f"{name}.npy", one, chosen[rows])))
    labels = (np.arange(1_500) % CLASSES).astype(np.int32)
    train = Benchmark("train", labels[:, None], images=study.images(labels))
    near = np.argsort(-old_ease, kind="stable")[: OLD // 25]
    pairs = {"original": [old.benchmark.ids[row] for row in near], "new": []}  # type: ignore[index]
    for name, images in pairs.items():
        said = [f"{image},near" for image in images] or [f"{new.benchmark.ids[0]},different"]  # type: ignore[index]
        (folder / f"{name}-pairs.csv").write_text("\n".join(["image,verdict", *said]) + "\n")
    return resit.explain(
        old,
        new,
        train=[train],
        trainer="pixels",
        build=build_of(folder / "build", pool, chosen, [first, last]),
        candidates=replace(pool, benchmark=replace(pool.benchmark, images=None)),
        original_votes=votes_file(folder / "old.npy", old, study.selected(old_ease)),
        new_votes=votes_file(folder / "new.npy", new, study.selected(pool_ease[last])),
        original_duplicates=folder / "original-pairs.csv",
        new_duplicates=folder / "new-pairs.csv",
        others=others,
        human=people_of(old, new, rng),
        seed=SEED,
        progress=print,
    )


def main() -> int:
    """Draw them all; 1 where a hypothesis has none."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = explained(folder)
        resit.report(result, folder / "report")
        print(result)
        lacking = []
        for one in hypotheses():
            drawn = folder / "report" / "figures" / f"{one.name}-1.svg"
            if drawn.is_file():
                shutil.copyfile(drawn, OUT / drawn.name.replace("-1.svg", ".svg"))
            else:
                lacking.append(one.name)
        shutil.copyfile(folder / "report" / "figures" / "parts.svg", OUT / "parts.svg")
    if lacking:
        print(f"no picture: {', '.join(lacking)}", file=sys.stderr)
    return int(bool(lacking))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
