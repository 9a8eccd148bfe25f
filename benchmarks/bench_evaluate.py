"""Asking models: the whole run against decoding alone and the bare model, and Ray against one process."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from measure import shared_data

from resit import Benchmark, ModelId, evaluate, load_benchmark, load_model
from resit.evaluate.decoding import prepared
from resit.evaluate.settings import EvaluateSettings
from resit.models.spaces import numbered

TESTS = Path(__file__).parents[1] / "tests"
TIMES, BATCH, MODELS = 4, 32, 20


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
    yield from _ray(data)


def _against_its_parts(data: Path) -> Iterator[tuple[str, str, str | None]]:
    import efficientnet

    exam = load_benchmark(data / "imagenet-sample", classes="imagenet-1k")
    exam = replace(exam, labels=np.tile(exam.labels, (TIMES, 1)), ids=None, groups={}, images=Repeated(exam.images, TIMES))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for spec in (f"onnx:{efficientnet.onnx_file(0, place)}", f"timm:local-dir:{efficientnet.local_dir(0, place)}"):
            model = load_model(spec)
            ready = _inputs(exam, model)
            model.scores(ready[0])
            decoding = exam.n / seconds(lambda model=model: _inputs(exam, model))
            bare = exam.n / seconds(lambda model=model, ready=ready: [model.scores(batch) for batch in ready])
            del ready
            whole = exam.n / seconds(lambda model=model, spec=spec: evaluate([model], [exam], place / spec.partition(":")[0]))
            serial = 1 / (1 / decoding + 1 / bare)
            what = f"efficientnet-lite0 by {spec.partition(':')[0]}, {exam.n:,} images"
            told = f"{whole / serial:.2f} × ({whole:.0f}/s; decoding {decoding:.0f}/s, model {bare:.0f}/s)"
            yield f"{what}: whole run against decoding + model one after the other", told, "0.9 ×"


def _inputs(exam: Benchmark, model: Any) -> list[Any]:
    batches = (range(start, min(start + BATCH, exam.n)) for start in range(0, exam.n, BATCH))
    stream = prepared(exam.images, batches, [model.transform], orientation="apply", threads=EvaluateSettings().threads)
    return [batch.inputs[0] for batch in stream]


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
    yield what, f"{there / here:.2f} × ({there:.1f} s, {here:.1f} s)", "1.3 ×"
