"""All that is known of a build in one file."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import exam_made
import steps_made as made
from extras import needs

needs("sqlalchemy")

TABLES = {
    "images",
    "tasks",
    "votes",
    "assignments",
    "counts",
    "pairs",
    "verdicts",
    "selected",
    "excluded",
    "pages",
    "exam-answers",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return exam_made.selected(tmp_path)


def packed(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        names = file.namelist()
        assert len(names) == len(set(names))
        return {name: file.read(name) for name in names}


def rows(files: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return pq.read_table(io.BytesIO(files[f"{name}.parquet"])).to_pylist()


def test_each_table_is_what_the_store_gives(folder: Path, tmp_path: Path):
    from resit.build.steps.export import export_everything
    from resit.build.steps.opened import open_build

    with open_build(folder) as build:
        done = export_everything(build, tmp_path / "out" / "all.zip")
        files = packed(done.path)
        assert set(files) == {f"{name}.parquet" for name in TABLES} | {"build.yaml", "notes.json"}
        for name in ("images", "tasks", "assignments", "counts", "pairs", "verdicts"):
            assert rows(files, name) == getattr(build.store, name)().to_pylist(), name
        assert rows(files, "votes") == build.store.votes(accepted=False).to_pylist()
        selection = build.store.selection()
        assert rows(files, "selected") == [{"revision": 1, **row} for row in selection.selected.to_pylist()]
        assert [note["step"] for note in json.loads(files["notes.json"])["steps"]] == [
            note.step for note in build.store.notes()
        ]
    assert done.rows == {name: len(rows(files, name)) for name in TABLES}
    assert f"images: {done.rows['images']:,} rows" in str(done)


def test_a_build_that_has_nothing_yet_and_a_second_export(tmp_path: Path):
    from resit.build.steps.export import export_everything
    from resit.build.steps.opened import open_build

    made.begin(tmp_path)
    path = tmp_path / "all.zip"
    path.write_bytes(b"something else")
    with open_build(tmp_path / "new") as build:
        for _ in range(2):
            export_everything(build, path)
            assert rows(packed(path), "votes") == []
    assert sorted(one.name for one in tmp_path.iterdir() if "all.zip" in one.name) == ["all.zip"]


def test_what_was_there_stays_where_it_cannot_be_written(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from resit.build.steps import export
    from resit.build.steps.opened import open_build
    from resit.errors import OutputError

    path = tmp_path / "all.zip"
    path.write_bytes(b"earlier")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "write_table", full)
    with open_build(folder) as build, pytest.raises(OutputError, match="No space left"):
        export.export_everything(build, path)
    assert path.read_bytes() == b"earlier"
    assert [one.name for one in tmp_path.iterdir() if "all.zip" in one.name] == ["all.zip"]


def test_the_address_of_a_database_is_left_out(tmp_path: Path, postgresql: str):
    from databases import schema_of_its_own
    from resit.build.steps.export import export_everything
    from resit.build.steps.opened import open_build

    made.begin(tmp_path, database=schema_of_its_own(postgresql))
    with open_build(tmp_path / "new") as build:
        done = export_everything(build, tmp_path / "all.zip")
    assert b"postgresql+psycopg" not in packed(done.path)["build.yaml"].replace(b"postgresql+psycopg://USER", b"")


def test_from_the_command_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from resit.cli.app import run

    assert run(["build", "export", str(folder), "-o", str(tmp_path / "all.zip")]) == 0
    assert "votes:" in capsys.readouterr().out
    assert zipfile.is_zipfile(tmp_path / "all.zip")


def test_what_a_killed_export_left_is_taken_away_and_one_that_may_run_is_not(folder: Path, tmp_path: Path):
    from resit.build.steps.export import export_everything
    from resit.build.steps.opened import open_build

    old, young = (tmp_path / f".all.zip.{name}" for name in ("old", "young"))
    for left in (old, young):
        left.mkdir()
        (left / "table").write_text("names")
    os.utime(old, (0, 0))
    with open_build(folder) as build:
        export_everything(build, tmp_path / "all.zip")
    assert not old.exists()
    assert young.exists()
