"""A thousand models on 50,000 images, top-5, compared without resampling examples; the sets are made in memory."""

from __future__ import annotations

from collections.abc import Iterator

from measure import whole_process

STUDY = """
import sys
import numpy as np
import resit

MODELS, CLASSES = 1_000, 1_000

def make(name, n, ease, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % CLASSES
    answers = np.empty((MODELS, n, 1), np.int16)
    hard = rng.random(n, np.float32)
    for model in range(MODELS):
        right = hard + rng.normal(0, 0.2, n).astype(np.float32) < ease + 0.3 * model / MODELS
        answers[model, :, 0] = np.where(right, labels, rng.integers(CLASSES, size=n))
    benchmark = resit.Benchmark(name, labels[:, None].astype(np.int32))
    return resit.Predictions(benchmark, tuple(resit.ModelId(f"m{at}") for at in range(MODELS)), answers)

sets = make("old", 50_000, 0.5, 0), make("new", 10_000, 0.4, 1)
if sys.argv[1] == "compare":
    resit.compare(*sets, example_resamples=0)
"""


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Wall time of the comparison alone, and peak memory of the process."""
    made, _ = whole_process("-c", STUDY, "make")
    compared, memory = whole_process("-c", STUDY, "compare")
    yield "1,000 models × 50,000 images, compared", f"{compared - made:.1f} s, {memory:.2f} GB", "60 s, 4 GB"
