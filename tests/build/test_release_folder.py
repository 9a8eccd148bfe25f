"""The folder of a release: the same bytes again, whole or not at all, never in place of something else."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from release_made import Build, settings

from resit.build.release import make, stage
from resit.build.release.make import release
from resit.build.release.record import Material
from resit.errors import InputError, OutputError, UsageError


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return Build(tmp_path / "build")


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shuffled(material: Material, seed: int) -> Material:
    """The same tables with their rows in another order."""
    rng = np.random.default_rng(seed)

    def mixed(table: pa.Table) -> pa.Table:
        return table.take(pa.array(rng.permutation(len(table))))

    selection = material.selection
    return replace(
        material,
        selection=replace(selection, selected=mixed(selection.selected), excluded=mixed(selection.excluded)),
        **{name: mixed(getattr(material, name)) for name in ("images", "counts", "votes", "pairs", "verdicts")},
    )


def test_the_same_bytes_again_from_rows_in_any_order(build: Build, tmp_path: Path):
    options = settings(imagefolder=True, webdataset=True, hold_out=0.5)
    release(build.material(), options, tmp_path / "a", tmp_path / "a-private")
    release(shuffled(build.material(), 1), options, tmp_path / "b", tmp_path / "b-private")
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert files(tmp_path / "a-private") == files(tmp_path / "b-private")


def test_the_same_bytes_in_another_process(build: Build, tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from release_made import *; from resit.build.release.make import release\n"
        "release(Build(Path(sys.argv[1])).material(), settings(), sys.argv[2])"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    for seed in ("1", "2"):
        command = [sys.executable, "-c", code, str(tmp_path / "build"), str(tmp_path / seed)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path})
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_the_checksums_are_those_of_all_files(build: Build, tmp_path: Path):
    folder = release(build.material(), settings(), tmp_path / "r").folder
    sums = dict(reversed(line.split("  ", 1)) for line in (folder / "SHA256SUMS").read_text().splitlines())
    found = files(folder)
    del found["SHA256SUMS"]
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
    assert list(sums) == sorted(sums)


def test_a_second_time_is_no_error_and_writes_nothing(build: Build, tmp_path: Path):
    assert release(build.material(), settings(), tmp_path / "r").fresh
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "r").rglob("*")}
    again = release(build.material(), settings(), tmp_path / "r")
    assert not again.fresh
    assert "was there already" in str(again)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "r").rglob("*")} == before


@pytest.mark.parametrize("change", ["other", "damaged", "more"])
def test_case_36_what_is_there_is_never_replaced(build: Build, tmp_path: Path, change: str):
    folder = release(build.material(), settings(), tmp_path / "r").folder
    if change == "damaged":
        (folder / "classes.csv").write_text("label,id,name\n")
    if change == "more":
        (folder / "mine.txt").write_text("kept")
    before = files(folder)
    with pytest.raises(OutputError, match="there is something else already"):
        release(build.material(), settings(version="1.1" if change == "other" else "1.0"), folder)
    assert files(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["build", "r"]


def test_an_empty_folder_is_taken_and_a_file_is_not(build: Build, tmp_path: Path):
    (tmp_path / "r").mkdir()
    assert release(build.material(), settings(), tmp_path / "r").fresh
    (tmp_path / "file").write_text("kept")
    with pytest.raises(OutputError, match="there is something else already"):
        release(build.material(), settings(), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("step", ["write_parquet", "croissant", "seal", "put"])
def test_case_36_a_full_disk_leaves_nothing_behind(build: Build, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(make, step, full)
    with pytest.raises(OutputError, match="No space left on device"):
        release(build.material(), settings(hold_out=0.5), tmp_path / "r", tmp_path / "private")
    assert [path.name for path in tmp_path.iterdir()] == ["build"]


def test_what_a_killed_process_left_is_no_part_of_the_release(build: Build, tmp_path: Path):
    left = tmp_path / ".r.part" / "data"
    left.mkdir(parents=True)
    (left / "test.parquet").write_bytes(b"half")
    (tmp_path / ".r.part" / "old.txt").write_text("old")
    folder = release(build.material(), settings(), tmp_path / "r").folder
    assert "old.txt" not in files(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["build", "r"]


@pytest.mark.parametrize("call", [1, 2])
def test_a_process_that_was_killed_is_made_up_for_by_the_next(build: Build, tmp_path: Path, call: int):
    code = (
        "import os, sys; from pathlib import Path; from release_made import *; from resit.build.release import make\n"
        "calls, put = [], make.put\n"
        "def killed(*folders):\n"
        "    calls.append(folders)\n"
        f"    return os.kill(os.getpid(), 9) if len(calls) == {call} else put(*folders)\n"
        "make.put = killed; root = Path(sys.argv[1])\n"
        "make.release(Build(root / 'build').material(), settings(hold_out=0.5), root / 'r', root / 'private')"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env={**os.environ, "PYTHONPATH": path}, check=False)
    assert done.returncode == -9
    assert not (tmp_path / "r").exists()
    assert (tmp_path / "private").exists() == (call == 2)
    for names in (("r", "private"), ("r2", "private2")):
        release(build.material(), settings(hold_out=0.5), *(tmp_path / name for name in names))
    assert files(tmp_path / "r") == files(tmp_path / "r2")
    assert files(tmp_path / "private") == files(tmp_path / "private2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["build", "private", "private2", "r", "r2"]


def test_two_processes_do_not_write_one_release(build: Build, tmp_path: Path):
    with stage.staged(tmp_path / "r"), pytest.raises(OutputError, match="another process is writing"):
        release(build.material(), settings(), tmp_path / "r")


def test_an_image_that_was_changed_is_told_and_nothing_is_released(build: Build, tmp_path: Path):
    image = next(one for one in build.images if one["image"] == build.ids["n02"][1])
    (build.root / image["path"]).write_bytes(b"something else")
    with pytest.raises(InputError, match="not that of its id"):
        release(build.material(), settings(), tmp_path / "r")
    (build.root / image["path"]).unlink()
    with pytest.raises(InputError, match="no such file"):
        release(build.material(), settings(), tmp_path / "r")
    assert [path.name for path in tmp_path.iterdir()] == ["build"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "a/b"}, "a name that cannot be"),
        ({"version": ""}, "no version"),
        ({"salt": "short"}, "a salt of 5 characters"),
        ({"hold_out": 1.0}, "a share of 1.0"),
    ],
)
def test_settings_that_do_not_hold_are_refused(change: dict[str, Any], message: str):
    with pytest.raises(UsageError, match=message):
        settings(**change)
    assert "secret of sixteen" not in repr(settings())
