"""Two processes at one build at once, and a disk that is full."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from databases import schema_of_its_own
from extras import needs
from steps_made import begin, photos, set_target, votes

needs("sqlalchemy", "alembic", "httpx", "psycopg")
from resit.build.steps.dedupe import find_duplicates  # noqa: E402
from resit.build.steps.gather import gather  # noqa: E402
from resit.build.steps.label import import_votes  # noqa: E402
from resit.build.steps.opened import Build, open_build  # noqa: E402
from resit.build.steps.publish import release_build  # noqa: E402
from resit.build.steps.sample import draw_revision  # noqa: E402
from resit.errors import OutputError  # noqa: E402

# Says that it is ready, waits for the word to begin, and runs a command.
WAITING = """
import sys
import resit.build.steps.sample, resit.build.steps.gather, resit.build.steps.label, resit.build.steps.dedupe
from resit.cli import run
print("ready", flush=True)
sys.stdin.readline()
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A build that has nothing but its originals."""
    database = None if request.param == "sqlite" else schema_of_its_own(request.getfixturevalue("postgresql"))
    begin(tmp_path, database=database)
    set_target(tmp_path / "new", 0.3)
    return tmp_path / "new"


def at_once(*commands: tuple[object, ...]) -> list[tuple[int, str, str]]:
    """Run commands at the same time: how each ended, and what it said."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", WAITING, "build", *map(str, words)],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            text=True,
            env=environment,
        )
        for words in commands
    ]
    for job in jobs:
        assert job.stdout is not None
        assert job.stdout.readline() == "ready\n"
    for job in jobs:
        assert job.stdin is not None
        job.stdin.write("go\n")
        job.stdin.flush()
    ended = []
    for job in jobs:
        out, err = job.communicate(timeout=50)
        ended.append((job.returncode, out, err))
    return ended


def selected(build: Build, revision: int) -> list[tuple[str, str]]:
    rows = build.store.selection(revision).selected.to_pylist()
    return sorted((row["class_id"], row["image"]) for row in rows)


def test_two_who_sample_at_once_make_two_whole_revisions(folder: Path, tmp_path: Path):
    with open_build(folder) as build:
        gather(build, photos(tmp_path))
        import_votes(build, votes(build, tmp_path))
        find_duplicates(build)
        draw_revision(build)
    ended = at_once(("sample", folder), ("sample", folder, "--seed", "7"), ("sample", folder, "--afresh"))
    assert [code for code, _, _ in ended] == [0, 0, 0], ended
    assert {out.split()[1].rstrip(",") for _, out, _ in ended} == {"r2", "r3", "r4"}
    with open_build(folder) as build:
        revisions = build.store.revisions()
        assert [one.revision for one in revisions] == [1, 2, 3, 4]
        assert sorted(one.record["seed"] for one in revisions) == [0, 0, 0, 7]
        assert sum(one.parent is None for one in revisions) == 2
        for one in revisions:
            assert one.parent is None or one.parent < one.revision
            assert selected(build, one.revision) == selected(build, 1)
            assert one.record["parent"] == one.parent


def test_two_who_collect_and_vote_at_once_store_everything_once(folder: Path, tmp_path: Path):
    source = photos(tmp_path)
    ended = at_once(("collect", folder, "--from", source), ("collect", folder, "--from", source))
    # One waits for nobody; the other may come when it is done, or is told to wait.
    assert {code for code, _, _ in ended} in ({0}, {0, 4}), ended
    busy = f"resit: error: {folder / 'parts'}: another call is collecting into it. Wait until it is done.\n"
    assert all(err == busy for code, _, err in ended if code)
    with open_build(folder) as build:
        assert len(build.store.images("candidate")) == 8
        file = votes(build, tmp_path)
    words = ("label", folder, "import", file)
    ended = at_once(words, words, ("dedupe", folder))
    assert [code for code, _, _ in ended] == [0, 0, 0], ended
    assert sorted("960 votes are new, 0 were known" in out for _, out, _ in ended[:2]) == [False, True]
    assert sorted("0 votes are new, 960 were known" in out for _, out, _ in ended[:2]) == [False, True]
    with open_build(folder) as build:
        assert len(build.store.votes()) == 960
        before = build.store.pairs()
        find_duplicates(build)
        assert build.store.pairs() == before


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Files of this process end at a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def stored(build: Build) -> list[Any]:
    store = build.store
    return [one.to_pylist() for one in (store.images(), store.votes(), store.pairs())] + [store.revisions()]


def test_case_36_on_a_full_disk_each_step_says_so_leaves_what_was_there_and_can_be_repeated(tmp_path: Path):
    begin(tmp_path)
    set_target(tmp_path / "new", 0.3)
    with open_build(tmp_path / "new") as build:
        source = photos(tmp_path)
        file = tmp_path / "votes.csv"

        def ask() -> None:
            votes(build, tmp_path)

        steps: list[Callable[[], object]] = [
            lambda: gather(build, source),
            lambda: import_votes(build, file),
            lambda: find_duplicates(build),
            lambda: draw_revision(build),
            lambda: release_build(build, tmp_path / "out"),
        ]
        for step in steps:
            before = stored(build)
            with no_file_above(512), pytest.raises(OutputError) as caught:
                step()
            assert caught.value.fix
            assert stored(build) == before
            assert not (tmp_path / "out").exists()
            step()
            if step is steps[0]:
                ask()
        assert len(build.store.votes()) == 960
        assert (tmp_path / "out" / "benchmark.yaml").exists()
        assert list((tmp_path / "new").rglob("*.part")) == []
