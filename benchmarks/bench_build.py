"""Commands of a large build on SQLite, as whole processes: `status` and `sample` with 200,000 candidates, 2,000,000 votes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from bench_store import CANDIDATES, VOTES_EACH, images, votes
from measure import whole_process

from resit.build.folder import BuildFolder
from resit.build.steps.init import new_config
from resit.build.steps.opened import INIT
from resit.store.schemas import COUNTS, IMAGES, table

CLASSES, ORIGINALS, PER_CLASS, SELECTED = 1000, 50, 10, 0.7
TIME = "2026-01-31T12:00:00.000Z"


def made(path: Path, n: int) -> None:
    """A build of n candidates with ten votes each, and 50 originals in each of 1,000 classes."""
    config = new_config(name="large", per_class=PER_CLASS, original={"source": "elsewhere"})
    folder = BuildFolder.create(path, config)
    known = ORIGINALS * CLASSES
    columns: dict[str, object] = {name: [""] * known for name in IMAGES}
    columns |= {
        "image": [f"original-{row}" for row in range(known)],
        "class_id": [str(row % CLASSES) for row in range(known)],
        "role": ["original"] * known,
    }
    candidates, originals = images(n), table(IMAGES, columns)
    shown = np.full(known, 20)
    counts = {name: originals[name] for name in ("image", "class_id")}
    selected = np.random.default_rng(1).binomial(shown, SELECTED)
    with folder.store() as store:
        store.add_images(pa.concat_tables([candidates, originals]))
        store.add_votes(votes(candidates))
        store.add_counts(table(COUNTS, {**counts, "selected": selected, "shown": shown}))
        ids = [[str(number), f"class {number}"] for number in range(CLASSES)]
        store.note(INIT, {"name": "old", "n": known, "label_space": "", "classes": ids}, TIME)


def rows() -> Iterator[tuple[str, str, str | None]]:
    """Seconds and peak memory of each command, and how the time grows from a tenth of the candidates."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        made(small, CANDIDATES // 10)
        made(large, CANDIDATES)
        for command in ("status", "sample"):
            few, _ = whole_process("-m", "resit", "build", command, str(small))
            many, memory = whole_process("-m", "resit", "build", command, str(large))
            what = f"`{command}`, {CANDIDATES:,} candidates with {CANDIDATES * VOTES_EACH:,} votes"
            yield what, f"{many:.1f} s, {memory:.2f} GB", "20 s, 2 GB"
            yield f"`{command}`, against a tenth of them", f"{many / few:.1f} ×", "at most 10 ×"
