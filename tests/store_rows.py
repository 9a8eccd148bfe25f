"""Rows of a build for tests, with what a test does not care about filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from resit.store.schemas import COUNTS, EXCLUDED, IMAGES, PAIRS, SELECTED, STATUSES, TASKS, VERDICTS, VOTES, table

TIME = "2026-01-31T12:00:00Z"
USUAL: dict[str, Any] = {
    "class_id": "1",
    "role": "candidate",
    "person": "ann",
    "assignment": "t1:ann",
    "task": "t1",
    "selected": True,
    "time": TIME,
    "status": "rejected",
    "metric": "l2",
    "reference": "train",
    "fate": "drawn",
    "reason": "blacklisted",
    "verdict": "near",
    "kind": "pair",
    "distance": 1.5,
    "rank": 1,
    "bin": 0,
    "shown": 10,
    "position": 0,
}


def made(schema: dict[str, str], rows: Sequence[dict[str, Any]]) -> pa.Table:
    """A table of a schema from rows that name only what matters."""
    return table(schema, {name: [row.get(name, USUAL.get(name, "")) for row in rows] for name in schema})


def images(*names: str, **more: Any) -> pa.Table:
    return made(IMAGES, [{"image": name, **more} for name in names])


def votes(*rows: dict[str, Any]) -> pa.Table:
    return made(VOTES, rows)


def page(task: str, person: str, chosen: dict[str, bool], **more: Any) -> pa.Table:
    """One person's answers to one task."""
    same = {"assignment": f"{task}:{person}", "person": person, **more}
    return made(VOTES, [{**same, "image": image, "selected": selected} for image, selected in chosen.items()])


def tasks(*rows: dict[str, Any]) -> pa.Table:
    return made(TASKS, rows)


def statuses(*rows: dict[str, Any]) -> pa.Table:
    return made(STATUSES, rows)


def counts(*rows: dict[str, Any]) -> pa.Table:
    return made(COUNTS, rows)


def pairs(*rows: dict[str, Any]) -> pa.Table:
    return made(PAIRS, rows)


def verdicts(*rows: dict[str, Any]) -> pa.Table:
    return made(VERDICTS, rows)


def selected(*rows: dict[str, Any]) -> pa.Table:
    return made(SELECTED, [{"selected": 7, **row} for row in rows])


def excluded(*rows: dict[str, Any]) -> pa.Table:
    return made(EXCLUDED, rows)


def rows_of(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of some columns, in their order."""
    return list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))
