"""Asking models: the whole run against decoding alone and the bare model, and Ray against one process."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measure import shared_data, whole_process

from resit import Benchmark, ModelId, evaluate, load_benchmark, load_model
from resit.evaluate.decoding import prepared
from resit.evaluate.settings import EvaluateSettings
from resit.models.spaces import numbered

TESTS = Path(__file__).parents[1] / "tests"
TIMES, ROUNDS, BATCH, MODELS = 2, 3, 32, 20


@dataclass(frozen=True)
class Repeated:
    """The same images several times over."""

    images: Any
    times: int

    def __len__(self) -> int:
        return self.times * len(self.images)

    def __getitem__(self, index: int) -> Any:
        return self.images[index % len(self.images)]

    def where(self, index: int) -> str:
        return self.images.where(index % len(self.images))

    @property
    def fingerprint(self) -> str:
        return f"{self.times} × {self.images.fingerprint}"


def repeated(exam: Benchmark, times: int) -> Benchmark:
    """A benchmark with its images several times over."""
    return replace(exam, labels=np.tile(exam.labels, (times, 1)), ids=None, groups={}, images=Repeated(exam.images, times))


@dataclass(frozen=True)
class Pixels:
    """The image as it is."""

    fingerprint: str = "pixels"

    def __call__(self, image: Any) -> Any:
        return np.asarray(image, np.float32)


class Small:
    """Two layers on the pixels of a small image."""

    def __init__(self, seed: int, benchmark: Benchmark) -> None:
        self.transform, self.provenance = Pixels(), {"adapter": "benchmark"}
        rng = np.random.default_rng(seed)
        self.id = ModelId(f"small-{seed}")
        self.label_space = numbered(benchmark.n_classes)
        self.first = rng.normal(size=(3072, 256)).astype(np.float32)
        self.second = rng.normal(size=(256, benchmark.n_classes)).astype(np.float32)

    def scores(self, batch: Any) -> Any:
        return np.maximum(batch.reshape(len(batch), -1) @ self.first, 0) @ self.second


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Images a second, and ratios."""
    data = shared_data()
    if data is None:
        yield "evaluation", "not measured: no real data", None
        return
    sys.path[:0] = [str(TESTS), str(TESTS / "models")]
    yield from _against_its_parts(data)
    yield from _memory(data)
    yield from _ray(data)


def _against_its_parts(data: Path) -> Iterator[tuple[str, str, str | None]]:
    import efficientnet

    exam = repeated(load_benchmark(data / "imagenet-sample", classes="imagenet-1k"), TIMES)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for spec in (f"onnx:{efficientnet.onnx_file(0, place)}", f"timm:local-dir:{efficientnet.local_dir(0, place)}"):
            model = load_model(spec)
            ready = _inputs(exam, model)
            model.scores(ready[0])
            sides: dict[str, Callable[[], object]] = {
                "decoding": lambda model=model: _inputs(exam, model),
                "model": lambda model=model, ready=ready: [model.scores(batch) for batch in ready],
                "whole": lambda model=model: evaluate([model], [exam], tempfile.mkdtemp(dir=place)),
            }
            taken = [{side: seconds(call) for side, call in sides.items()} for _ in range(ROUNDS)]
            decoding, bare, whole = (exam.n / median(one[side] for one in taken) for side in sides)
            del ready
            serial = 1 / (1 / decoding + 1 / bare)
            what = f"efficientnet-lite0 by {spec.partition(':')[0]}, {exam.n:,} images, median of {ROUNDS} rounds"
            told = f"{whole / serial:.2f} × ({whole:.0f}/s; decoding {decoding:.0f}/s, model {bare:.0f}/s)"
            yield f"{what}: whole run against decoding + model one after the other", told, "at least 0.9 ×"


def _inputs(exam: Benchmark, model: Any) -> list[Any]:
    batches = (range(start, min(start + BATCH, exam.n)) for start in range(0, exam.n, BATCH))
    stream = prepared(exam.images, batches, [model.transform], orientation="apply", threads=EvaluateSettings().threads)
    return [batch.inputs[0] for batch in stream]


def _memory(data: Path) -> Iterator[tuple[str, str, str | None]]:
    """Peak memory of the whole process for a set and for one ten times as large."""
    peaks = []
    for times in (1, 10):
        _, peak = whole_process(__file__, str(data / "imagenet-sample"), str(times))
        peaks.append(peak)
    what = "peak memory, 3,000 images against 300 (a model that costs nothing)"
    yield what, f"{peaks[1] / peaks[0]:.2f} × ({peaks[1]:.2f} GB, {peaks[0]:.2f} GB)", "at most 1.2 ×"


def _ask_for_nothing(folder: str, times: int) -> None:
    exam = repeated(load_benchmark(folder, classes="imagenet-1k"), times)
    with tempfile.TemporaryDirectory() as target:
        evaluate(["fake:guess?classes=imagenet-1k"], [exam], target)


def _ray(data: Path) -> Iterator[tuple[str, str, str | None]]:
    import ray

    exam = load_benchmark(data / "cifar10" / "test.parquet")
    models = [Small(seed, exam) for seed in range(MODELS)]
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    ray.init(address="local", include_dashboard=False, log_to_driver=False)
    with tempfile.TemporaryDirectory() as folder:
        small = replace(exam, name="warm-up")
        evaluate(models, [small], f"{folder}/warm", executor="ray", models_at_once=MODELS)
        here = seconds(lambda: evaluate(models, [exam], f"{folder}/here", models_at_once=MODELS))
        there = seconds(lambda: evaluate(models, [exam], f"{folder}/there", executor="ray", models_at_once=MODELS))
    ray.shutdown()
    what = f"{MODELS} models × {exam.n:,} small images: Ray against one process, start-up aside"
    yield what, f"{there / here:.2f} × ({there:.1f} s, {here:.1f} s)", "at most 1.3 ×"


if __name__ == "__main__":
    _ask_for_nothing(sys.argv[1], int(sys.argv[2]))
