"""Several processes and threads at once, and processes that are killed while they write: all of a step is there, or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from extras import needs
from resit.store import Added, open_store
from store_rows import images, page, rows_of
from store_writer import IMAGES

if TYPE_CHECKING:
    from resit.store import Store

needs("sqlalchemy", "alembic", "psycopg")

TESTS = Path(__file__).parents[1]


def started(address: str, first: int, last: int) -> subprocess.Popen[str]:
    """A process that will write some steps, ready for a word to begin."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
    command = [sys.executable, str(TESTS / "store_writer.py"), address, str(first), str(last)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def steps_said(process: subprocess.Popen[str]) -> list[int]:
    """Steps that a process said it stored, once it has ended."""
    said, _ = process.communicate()
    return [int(word) for word in said.split() if word != "ready"]


def check_whole(store: Store, stored: set[int]) -> None:
    """Each step's rows are there in full or not at all, and in full where the process said so."""
    kinds = {
        "images": Counter(store.images().column("class_id").to_pylist()),
        "tasks": Counter(store.tasks().column("class_id").to_pylist()),
        "votes": Counter(store.votes().column("class_id").to_pylist()),
        "pairs": Counter(name.split("-")[0] for name in store.pairs().column("image").to_pylist()),
        "verdicts": Counter(store.verdicts().column("class_id").to_pylist()),
    }
    for kind, counted in kinds.items():
        assert set(counted.values()) <= {IMAGES}, kind
        assert {str(step) for step in stored} <= set(counted), kind
    revisions = store.revisions()
    assert [one.revision for one in revisions] == list(range(1, len(revisions) + 1))
    for one in revisions:
        chosen = store.selection(one.revision).selected
        assert rows_of(chosen, "class_id", "image") == [
            (str(one.record["step"]), f"{one.record['step']}-{n}") for n in range(IMAGES)
        ]
    assert stored <= {one.record["step"] for one in revisions}


def everything(store: Store) -> list[list[tuple]]:
    """All that repeating a step must not change."""
    tables = (store.images(), store.tasks(), store.votes(), store.counts(), store.pairs(), store.assignments())
    return [rows_of(table, *table.column_names) for table in tables] + [
        sorted(rows_of(store.verdicts(), *store.verdicts().column_names))
    ]


def kill_some(address: str, clean: str, kills: int, longest: float) -> None:
    """Kill writers after random times; what they began, the next ones finish, and the end is that of a writer left in peace."""
    rng = np.random.default_rng(0)
    stored: set[int] = set()
    for delay in rng.uniform(0, longest, kills):
        with started(address, max(stored, default=-1) + 1, 10_000) as process:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            begin(process)
            time.sleep(delay)
            process.kill()
            stored |= set(steps_said(process))
        with open_store(address, create=True) as store:
            check_whole(store, stored)
    last = max(stored, default=0) + 2
    for place in (address, clean):
        with started(place, 0, last) as process:
            begin(process)
            assert steps_said(process) == list(range(last))
            assert process.wait() == 0
    with open_store(address) as store, open_store(clean) as other:
        assert everything(store) == everything(other)


@pytest.fixture
def clean(address: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Another empty place of the same kind."""
    if "://" not in address:
        return str(tmp_path / "clean.sqlite")
    from databases import schema_of_its_own

    return schema_of_its_own(request.getfixturevalue("postgresql"))


def test_processes_that_are_killed_lose_and_halve_nothing(address: str, clean: str):
    kill_some(address, clean, 3, 0.4)


@pytest.mark.slow
def test_processes_that_are_killed_many_times_lose_and_halve_nothing(address: str, clean: str):
    kill_some(address, clean, 30, 0.5)


@pytest.mark.slow
def test_processes_that_are_killed_while_they_open_leave_a_store_that_opens(address: str):
    for delay in np.linspace(0, 1.2, 25):
        with started(address, 0, 0) as process:
            time.sleep(delay)
            process.kill()
    with open_store(address, create=True) as store:
        assert store.images().num_rows == 0


def test_processes_that_make_a_store_and_sample_at_once_get_numbers_of_their_own(address: str):
    ranges = [(n * 10, n * 10 + 4) for n in range(4)]
    processes = [started(address, *some) for some in ranges]
    for process in processes:
        begin(process)
    said = [steps_said(process) for process in processes]
    assert said == [list(range(*some)) for some in ranges]
    with open_store(address) as store:
        check_whole(store, {step for some in said for step in some})
        assert len(store.revisions()) == 16
        assert len(store.notes()) == 16


def test_case_35_a_page_sent_twice_at_once_counts_once(store: Store):
    store.add_images(images("a", "b"))
    given = page("t1", "ann", {"a": True, "b": False})
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda _: store.add_votes(given), range(16)))
    assert Counter(added) == {Added(2, 0): 1, Added(0, 2): 15}
    assert store.votes().num_rows == 2


def test_threads_that_write_at_once_lose_nothing(store: Store):
    store.add_images(images("a", "b"))
    pages = [page(f"t{n % 7}", f"person {n}", {"a": True, "b": n % 2 == 0}) for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(store.add_votes, pages)) == {Added(2, 0)}
    assert rows_of(store.counts(), "image", "selected", "shown") == [("a", 40, 40), ("b", 20, 40)]
    assert store.assignments().num_rows == 40
