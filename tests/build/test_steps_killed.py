"""A build whose steps are killed at random moments and repeated ends like one that was not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from databases import schema_of_its_own
from extras import needs
from steps_made import CATS, DOGS, original, picture, write_images

needs("sqlalchemy", "alembic", "httpx", "psycopg")
from resit.build.steps.opened import open_build  # noqa: E402

STEPS = {"init", "collect", "dedupe", "export", "import", "import more", "sample", "lists", "review", "sample again", "release"}


def prepared(root: Path) -> Path:
    original(root)
    candidates = {name: picture(name) for name in (*CATS, *DOGS)}
    candidates |= {"cat/7": picture("copied", like="train"), "dog/9": picture("twin", like="cat/8"), "dog/8": picture("8")}
    write_images(root / "photos", candidates)
    write_images(root / "known", {"cat/0": picture("train"), "dog/0": picture("far")})
    return root


def job(root: Path, kills: int, seed: int, database: str | None = None) -> Counter[str]:
    """Run the steps, and count how they ended."""
    words = [str(Path(__file__).with_name("steps_job.py")), str(root), str(kills), str(seed), *([database] if database else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Counter(done.stdout.splitlines())


def tables(root: Path) -> dict[str, Any]:
    """All that is stored, and the selection that was drawn last without its number."""
    with open_build(root / "new") as build:
        store = build.store
        last = store.selection()
        assert all(len(store.selection(one.revision).selected) == one.record["selected"] for one in store.revisions())
        return {
            **{name: getattr(store, name)().to_pylist() for name in ("images", "tasks", "assignments", "counts", "pairs")},
            "votes": store.votes(accepted=False).to_pylist(),
            "verdicts": store.verdicts().to_pylist(),
            "selected": {(row["image"], row["class_id"]) for row in last.selected.to_pylist()},
            "excluded": last.excluded.to_pylist(),
            "begun": build.original,
            "salt": (root / "new" / "salt").read_text(),
        }


def files(folder: Path) -> dict[str, bytes]:
    """Whole files; half-written ones may be left behind under hidden names."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that nobody disturbed."""
    root = prepared(tmp_path_factory.mktemp("builds") / "whole")
    job(root, 0, 0)
    return root


def check_kills(whole: Path, tmp_path: Path, kills: int, seed: int, database: str | None = None) -> None:
    killed = prepared(whole.parent / f"killed-{tmp_path.name}")
    ended = job(killed, kills, seed, database)
    assert {name.rpartition(" ")[0] for name in ended} == STEPS
    # Some are done before their moment comes, since they go on from what is there.
    assert sum(count for name, count in ended.items() if name.endswith(" killed")) > ended.total() / 4, ended
    expected, found = tables(whole), tables(killed)
    assert len(expected["selected"]) == 4
    assert {row["reason"] for row in expected["excluded"]} == {"blacklisted", "near-duplicate"}
    assert {row["status"] for row in expected["assignments"] if row["person"] == "liar"} == {"rejected"}
    for one in (expected, found):
        for row in one["images"]:
            row["path"] = row["path"].replace(str(killed), str(whole))
    assert found == expected
    for folder in ("new/images", "review"):
        assert files(killed / folder) == files(whole / folder)
    # What was released is what an undisturbed release of the same build writes.
    from resit.build.steps.publish import release_build

    with open_build(killed / "new") as build:
        assert release_build(build, tmp_path / "out").fresh
    assert files(killed / "out") == files(tmp_path / "out")
    assert [path.name for path in killed.iterdir() if path.name.startswith(".")] == []


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Address of a schema of its own on a server, or None for a file in the build's folder."""
    return None if request.param == "sqlite" else schema_of_its_own(request.getfixturevalue("postgresql"))


def test_case_34_steps_killed_at_random_moments_and_repeated_give_the_same(whole: Path, tmp_path: Path, database: str | None):
    """Nothing is lost, nothing half-written is read, and work goes on."""
    check_kills(whole, tmp_path, 1, 0, database)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_case_34_steps_killed_at_many_moments_and_repeated_give_the_same(
    whole: Path, tmp_path: Path, database: str | None, seed: int
):
    check_kills(whole, tmp_path, 12, seed + 1, database)
