"""The store of a large build on SQLite: 2,000,000 votes put in, counted and read, with memory, and against a tenth of them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from measure import whole_process

from resit.store import Store, open_store
from resit.store.schemas import IMAGES, VOTES, table

CANDIDATES, VOTES_EACH, PAGE = 200_000, 10, 48
TIME = "2026-01-31T12:00:00.000Z"
PAGES = 200
MEMORY = "import sys; sys.path.insert(0, sys.argv[1]); import bench_store; bench_store.fill(200_000)"


def images(n: int) -> pa.Table:
    """Candidates under names as long as digests, in 1,000 classes."""
    names = [f"{row:064x}" for row in range(n)]
    columns: dict[str, Any] = {name: [""] * n for name in IMAGES}
    return table(
        IMAGES, {**columns, "image": names, "class_id": [str(row % 1000) for row in range(n)], "role": ["candidate"] * n}
    )


def votes(candidates: pa.Table) -> pa.Table:
    """Ten votes on each candidate, round after round, on pages of 48."""
    rows = np.tile(np.arange(candidates.num_rows), VOTES_EACH)
    pages = pa.array(np.arange(len(rows)) // PAGE)
    names = pa.array([f"task-{page}:person-{page % 997}" for page in range(len(rows) // PAGE + 1)])
    people = pa.array([f"person-{page % 997}" for page in range(len(rows) // PAGE + 1)])
    columns = {
        "image": candidates.column("image").take(pa.array(rows)),
        "class_id": candidates.column("class_id").take(pa.array(rows)),
        "person": people.take(pages),
        "assignment": names.take(pages),
        "role": pa.array(["candidate"] * len(rows)),
        "selected": pa.array(np.random.default_rng(0).random(len(rows)) < 0.7),
        "time": pa.array([TIME] * len(rows)),
    }
    return table(VOTES, columns)


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def fill(n: int) -> dict[str, float]:
    """Seconds of each step with n candidates."""
    candidates = images(n)
    cast = votes(candidates)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "build.sqlite", create=True) as store:
        store.add_images(candidates)
        return {
            "put": seconds(lambda: store.add_votes(cast)),
            "again": seconds(lambda: store.add_votes(cast)),
            "count": seconds(store.counts),
            "read": seconds(store.votes),
            "pages": seconds(lambda: submit(store, cast.slice(0, PAGE))),
        }


def submit(store: Store, page: pa.Table) -> None:
    """Pages of 48 votes, one after the other, each saved for good before the next."""
    for number in range(PAGES):
        names = pa.array([f"page-{number}"] * PAGE)
        store.add_votes(page.set_column(3, "assignment", names).set_column(2, "person", names))


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Rates of the steps, how they grow, and the peak memory of a process that does them all."""
    n = CANDIDATES * VOTES_EACH
    small, large = fill(CANDIDATES // 10), fill(CANDIDATES)
    yield f"{n:,} votes into SQLite", f"{n / large['put']:,.0f}/s", "at least 200,000/s"
    yield "the same again, all known", f"{n / large['again']:,.0f}/s", "at least 80,000/s"
    yield "counted by image", f"{large['count']:.1f} s", "5 s"
    yield "read back in order", f"{large['read']:.1f} s", "20 s"
    growth = sum(large[name] for name in ("put", "again", "count", "read")) / sum(
        small[name] for name in ("put", "again", "count", "read")
    )
    yield "all of these, against a tenth of the votes", f"{growth:.1f} ×", "at most 13 ×"
    yield "pages of 48 votes, one after the other", f"{PAGES / large['pages']:,.0f}/s", None
    _, memory = whole_process("-c", MEMORY, str(Path(__file__).parent))
    yield "peak memory, with the votes as a table", f"{memory:.2f} GB", "2 GB"
