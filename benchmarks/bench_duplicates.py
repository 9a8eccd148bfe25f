"""Near-duplicates: exact neighbours against the bare matrix product, with memory, and SSIM."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from measure import whole_process

from resit.build.duplicates.find import MOST_CHUNK
from resit.build.duplicates.lists import nearest
from resit.build.duplicates.metrics import metric_named
from resit.build.duplicates.rows import SIDE, Rows
from resit.build.duplicates.search import block_size, numbered, score, screen
from resit.build.duplicates.ssim import dssim

CANDIDATES, ROWS, NEIGHBOURS, MEMORY = 10_000, 60_000, 10, 2 << 30
BLOCK = 4096
SHAPE = (SIDE, SIDE, 3)
ALONE = "import sys; sys.path.insert(0, sys.argv[1]); import bench_duplicates; bench_duplicates.whole('l2')"


def pictures(n: int, seed: int) -> np.ndarray:
    """Smooth random pictures, whose distances differ as those of photos do."""
    coarse = np.random.default_rng(seed).integers(0, 256, (n, 8, 8, 3), np.uint8)
    return coarse.repeat(4, axis=1).repeat(4, axis=2)


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def product() -> None:
    """The bare float32 matrix product of that size, a block of rows at a time, so that it fits into memory."""
    one = np.random.default_rng(0).random((CANDIDATES, 3072), np.float32)
    two = np.random.default_rng(1).random((BLOCK, 3072), np.float32)
    for start in range(0, ROWS, BLOCK):
        one @ two[: ROWS - start].T


def search(metric: str, folder: Path) -> None:
    """The nearest of all candidates, exact."""
    chosen, rows = metric_named(metric), Rows(folder / "rows", ROWS, SHAPE, "u1")
    queries = Rows(folder / "queries", CANDIDATES, SHAPE, "u1")
    size, places = block_size(rows.width, MEMORY), np.arange(ROWS)
    for _, part in queries.blocks(MOST_CHUNK):
        hits = screen(chosen, part, numbered(rows.blocks(size)), NEIGHBOURS).hits
        nearest(score(chosen, part, rows, hits, size), places, NEIGHBOURS)


def whole(metric: str) -> float:
    """Seconds of a search, with the pictures in files as the search of near-duplicates has them."""
    with tempfile.TemporaryDirectory() as folder:
        pictures(CANDIDATES, 0).tofile(Path(folder) / "queries")
        with (Path(folder) / "rows").open("wb") as file:
            for seed in range(ROWS // CANDIDATES):
                pictures(CANDIDATES, seed + 1).tofile(file)
        return seconds(lambda: search(metric, Path(folder)))


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Ratios to the bare product, memory, and the rate of SSIM."""
    bare = min(seconds(product) for _ in range(2))
    yield "float32 product, 10,000 × 60,000 × 3,072", f"{bare:.1f} s", None
    for metric, limit in (("l2", "at most 1.2 ×"), ("correlation", "at most 1.2 ×"), ("shifted", None)):
        taken = whole(metric)
        yield f"exact 10 nearest of that size, {metric}", f"{taken:.1f} s, {taken / bare:.2f} ×", limit
    _, memory = whole_process("-c", ALONE, str(Path(__file__).parent))
    yield "peak memory of a process that searches by l2", f"{memory:.2f} GB", "2 GB"
    one, two = pictures(4000, 0), pictures(4000, 1)
    taken = seconds(lambda: [dssim(one[at : at + 1000], two[at : at + 1000]) for at in range(0, 4000, 1000)])
    yield "SSIM of pairs of 32 × 32 pixels, RGB", f"{4000 / taken:,.0f}/s", None
