"""Answers to whole tasks, as Mechanical Turk and Label Studio give them: which of the images on a page were selected."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.build.voting.answers import Given, Ints, lost_rows
from resit.errors import InputError, Notice

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN_TASK = "an unknown task"
OFF_PAGE = "a position that is not on the page"


@dataclass(frozen=True)
class Sheet:
    """One person's answer to one task.

    Parameters
    ----------
    row : int
        From 1, for messages.
    task, person, assignment : str
    selected : tuple of int
        Positions on the page, from 1.
    broken : tuple of int
        Of images that did not load: they were not shown.
    time : str
        ISO 8601, UTC.
    decision : tuple of str or None
        Status, person, reason and time, where somebody accepted or rejected it.
    """

    row: int
    task: str
    person: str
    assignment: str
    selected: tuple[int, ...]
    broken: tuple[int, ...]
    time: str
    decision: tuple[str, str, str, str] | None = None


Lost = list[tuple[int, str, str, str]]  # row, task, person and reason


def given_by(sheets: Sequence[Sheet], lost: Lost, tasks: pa.Table, where: str) -> Given:
    """The answers to each image of some sheets.

    Parameters
    ----------
    sheets : sequence of Sheet
    lost : list of (int, str, str, str)
        Row, task, person and reason of what is no sheet.
    tasks : pyarrow.Table
        TASKS.
    where : str
        The file.

    Returns
    -------
    Given
    """
    pages = _pages(tasks)
    good: list[Sheet] = []
    lost = list(lost)
    for sheet in sheets:
        page = pages.get(sheet.task)
        if page is None:
            lost.append((sheet.row, sheet.task, sheet.person, UNKNOWN_TASK))
        elif any(not 1 <= at <= len(page) for at in (*sheet.selected, *sheet.broken)):
            lost.append((sheet.row, sheet.task, sheet.person, OFF_PAGE))
        else:
            good.append(sheet)
    places, chosen, sizes = [np.zeros(0, np.int64)], [np.zeros(0, bool)], []
    for sheet in good:
        page = pages[sheet.task]
        marked, shown = np.zeros(len(page), bool), np.ones(len(page), bool)
        marked[[at - 1 for at in sheet.selected]] = True
        shown[[at - 1 for at in sheet.broken]] = False
        places.append(page[shown])
        chosen.append(marked[shown])
        sizes.append(int(shown.sum()))
    columns = [_spread([getattr(s, name) for s in good], sizes) for name in ("person", "assignment", "time")]
    broken = sum(len(set(sheet.broken)) for sheet in good)
    message = f"{broken:,} times an image did not load: it counts as not shown there."
    notices = (Notice("broken-images", where, message),) if broken else ()
    decided = {sheet.assignment: sheet.decision for sheet in good if sheet.decision}
    place, selected = np.concatenate(places), np.concatenate(chosen)
    return Given(where, place, columns[0], columns[1], columns[2], selected, lost_rows(sorted(lost)), notices, decided)


def _pages(tasks: pa.Table) -> dict[str, Ints]:
    """Rows of the tasks' table of each task, by position."""
    import pyarrow.compute as pc

    order = pc.sort_indices(tasks, [("task", "ascending"), ("position", "ascending")]).to_numpy().astype(np.int64)
    names = tasks["task"].take(order).to_pylist()
    starts = [at for at, name in enumerate(names) if not at or name != names[at - 1]]
    return {names[a]: order[a:b] for a, b in zip(starts, [*starts[1:], len(names)], strict=True)}


def _spread(texts: list[str], sizes: list[int]) -> tuple[Ints, pa.Array]:
    import pyarrow as pa

    found = pa.array(texts, pa.string()).dictionary_encode()
    return np.repeat(found.indices.to_numpy().astype(np.int64), sizes), found.dictionary


def positions(value: object, where: str) -> tuple[int, ...]:
    """Positions of an answer: a list of numbers, or its JSON, escaped for HTML or not; nothing is an empty list.

    Raises
    ------
    InputError
        If it is something else.
    """
    found = value
    if isinstance(value, str):
        try:
            found = json.loads(html.unescape(value).strip() or "[]")
        except (json.JSONDecodeError, RecursionError):
            found = None
    if isinstance(found, list) and all(isinstance(at, int) and not isinstance(at, bool) for at in found):
        return tuple(found)
    raise InputError(f"no list of positions: {str(value)[:80]!r}", where=where, fix="Take the file as it was downloaded.")
