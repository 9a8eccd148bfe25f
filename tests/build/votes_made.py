"""Pools, pages and answers for tests of voting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from resit.build.config import VotesConfig
from resit.build.voting.pages import Pages, make_pages
from resit.store.schemas import VOTES
from store_rows import images, made, tasks

TIME = "2026-01-31T12:00:00Z"
SMALL = VotesConfig(task=8, positive=2, negative=2, people=3)


def pool(**sizes: int) -> pa.Table:
    """Candidates c00, c01, … of each class."""
    tables = [images(*(f"{name}-c{at:03}" for at in range(n)), class_id=name) for name, n in sizes.items()]
    return pa.concat_tables(tables) if tables else images()


def originals(**sizes: int) -> pa.Table:
    rows = [(f"{name}-o{at:03}", name) for name, n in sizes.items() for at in range(n)]
    return pa.table(
        {"image": pa.array([r[0] for r in rows], pa.string()), "class_id": pa.array([r[1] for r in rows], pa.string())}
    )


def one_task(task: str = "t1", names: Iterable[str] = ("a", "b", "c"), class_id: str = "1", **roles: str) -> pa.Table:
    rows = [
        {"task": task, "class_id": class_id, "image": name, "role": roles.get(name, "candidate"), "position": at}
        for at, name in enumerate(names)
    ]
    return tasks(*rows)


def pages_of(table: pa.Table, people: int = 2, texts: Mapping[str, str] | None = None, **more: Any) -> Pages:
    names = set(table["image"].to_pylist())
    urls = more.get("urls", {name: f"https://images.example/{name}.jpg" for name in names})
    classes = set(table["class_id"].to_pylist())
    return make_pages(
        table, urls, texts or {c: f"class {c}" for c in classes}, dict.fromkeys(table["task"].to_pylist(), people)
    )


def chosen(votes: pa.Table) -> dict[tuple[str, str], bool]:
    """What each person said of each image."""
    rows = zip(votes["person"].to_pylist(), votes["image"].to_pylist(), votes["selected"].to_pylist(), strict=True)
    return {(person, image): selected for person, image, selected in rows}


def votes_of(rows: Iterable[tuple[str, str, bool]], **more: Any) -> pa.Table:
    """Votes by person, image and answer."""
    return made(
        VOTES,
        [{"person": p, "assignment": f"t1:{p}", "image": i, "selected": s, "time": TIME, **more} for p, i, s in rows],
    )
