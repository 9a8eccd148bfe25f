"""A report is written whole or not at all."""

from __future__ import annotations

import errno
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from fake import comparison, result

from resit.errors import OutputError
from resit.report import report
from resit.report import write as writing
from resit.report.write import MANIFEST, write
from resit.study.result import Result

SCHEMA = '{"schema": "resit.compare/1"}'


def files(word: str = "new", **more: str) -> Mapping[str, bytes]:
    texts = {"index.html": word, "result.json": SCHEMA, "figures/drop-v4-top1.svg": word, "tables/fits-v4-top1.csv": word}
    return {name: text.encode() for name, text in (texts | more).items()}


def state(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def litter(folder: Path) -> list[Path]:
    return [path for path in folder.glob(".resit-*") if path.is_dir()]


def listed(folder: Path) -> list[str]:
    return json.loads((folder / MANIFEST).read_text())


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A folder with an earlier report and a file of the reader's own."""
    folder = tmp_path / "report"
    write(folder, lambda: files("old", **{"figures/drop-gone-top1.svg": "old"}))
    (folder / "notes.txt").write_text("mine")
    return folder


def test_a_report_has_all_its_parts(written: Path) -> None:
    names = set(state(written))
    assert {"index.html", "result.json", "figures/ranks-v4-top5.pdf", "tables/models-v6-top1.tex"} <= names
    assert Result.from_json((written / "result.json").read_text()).comparisons[2].new.name == "v6"
    assert [name for name in names if name.startswith(".")] == [MANIFEST]


def test_report_returns_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("resit.report.figures"), "figures", lambda _: {})
    page = report(result(comparison()), str(tmp_path / "a" / "b"))
    assert page == tmp_path / "a" / "b" / "index.html"
    assert page.read_text().startswith("<!doctype html>")


def test_an_earlier_report_is_replaced_as_a_whole(earlier: Path) -> None:
    write(earlier, files)
    assert listed(earlier) == sorted(files())
    assert {name: text for name, text in state(earlier).items() if name != MANIFEST} == {**files(), "notes.txt": b"mine"}


def test_folders_that_the_new_report_does_not_need_go(earlier: Path) -> None:
    write(earlier, lambda: {"index.html": b"new", "result.json": SCHEMA.encode()})
    assert sorted(path.name for path in earlier.iterdir()) == [MANIFEST, "index.html", "notes.txt", "result.json"]


@pytest.mark.parametrize("at", range(4))
def test_a_full_disk_while_writing_leaves_the_earlier_report(earlier: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    before, real, calls = state(earlier), Path.write_bytes, []

    def full(path: Path, data: bytes) -> int:
        calls.append(path)
        if len(calls) > at:
            real(path, data[:1])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match="No space left on device") as caught:
        write(earlier, files)
    assert caught.value.where == str(earlier)
    assert "intact" in caught.value.fix
    assert state(earlier) == before
    assert litter(earlier) == []


@pytest.mark.parametrize("at", range(4))
def test_an_error_while_moving_into_place_is_undone(earlier: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    before, real, calls = state(earlier), Path.replace, []

    def fail(path: Path, target: Path) -> Path:
        calls.append(path)
        if len(calls) == at + 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OutputError):
        write(earlier, lambda: files(**{"tables/fits-v9-top1.md": "new"}))
    assert state(earlier) == before
    assert litter(earlier) == []


def test_an_error_while_drawing_leaves_the_earlier_report(earlier: Path) -> None:
    before = state(earlier)

    def broken() -> Mapping[str, bytes]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(earlier, broken)
    assert state(earlier) == before


def test_folders_made_for_a_report_that_fails_are_gone_again(tmp_path: Path) -> None:
    def broken() -> Mapping[str, bytes]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OutputError):
        write(tmp_path / "a" / "b", broken)
    assert list(tmp_path.iterdir()) == []


def test_without_hard_links_copies_do(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no(self: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(Path, "hardlink_to", no)
    write(earlier, files)
    assert state(earlier)["index.html"] == b"new"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_killed_run_leaves_the_earlier_report_and_the_next_clears_its_litter(earlier: Path) -> None:
    before = state(earlier)
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom resit.report.write import write\n"
        "def files():\n    print('drawing', flush=True)\n    time.sleep(60)\n"
        "write(Path(sys.argv[1]), files)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(earlier)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "drawing\n"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert {name: text for name, text in state(earlier).items() if not name.startswith(".resit-") or name == MANIFEST} == before
    assert litter(earlier)
    write(earlier, files)
    assert litter(earlier) == []


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "report"
    target.write_text("mine")
    with pytest.raises(OutputError, match="there is a file where the report should go") as caught:
        write(target, files)
    assert caught.value.fix
    assert target.read_text() == "mine"


def test_a_file_in_the_way_of_a_parent_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError):
        write(tmp_path / "file" / "report", files)
    assert state(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize("content", ["no json", '{"schema": "other/1"}', "[]"])
def test_a_folder_of_other_files_is_refused_before_anything_is_drawn(tmp_path: Path, content: str) -> None:
    (tmp_path / "result.json").write_text(content)

    def never() -> Mapping[str, bytes]:
        raise AssertionError("drawn")

    with pytest.raises(OutputError, match="other files and no report"):
        write(tmp_path, never)
    assert state(tmp_path) == {"result.json": content.encode()}


def test_a_folder_in_the_place_of_a_file_is_refused_and_all_is_undone(tmp_path: Path) -> None:
    write(tmp_path, lambda: {"result.json": SCHEMA.encode()})
    (tmp_path / "index.html").mkdir()
    before = state(tmp_path)
    with pytest.raises(OutputError):
        write(tmp_path, files)
    assert state(tmp_path) == before


def test_a_refused_permission_is_one_clear_error(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(earlier)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(earlier))

    monkeypatch.setattr(writing.tempfile, "TemporaryDirectory", refused)
    with pytest.raises(OutputError, match="Permission denied"):
        write(earlier, files)
    assert state(earlier) == before


def test_hidden_files_are_no_reason_to_refuse(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").write_text("x")
    write(tmp_path, files)
    assert (tmp_path / "index.html").read_text() == "new"


def test_a_users_own_files_are_never_replaced_or_removed(earlier: Path) -> None:
    """Not even where their names look like ours, beside an earlier report or a result.json of their own."""
    (earlier / "figures" / "scatter-final-for-paper.pdf").write_text("mine")
    write(earlier, files)
    assert (earlier / "figures" / "scatter-final-for-paper.pdf").read_text() == "mine"
    before = state(earlier)
    with pytest.raises(OutputError, match=r"scatter-final-for-paper\.pdf is there already"):
        write(earlier, lambda: files(**{"figures/scatter-final-for-paper.pdf": "new"}))
    assert state(earlier) == before


def test_a_result_json_alone_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(SCHEMA)
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(OutputError, match="other files and no report"):
        write(tmp_path, files)
    assert (tmp_path / "index.html").read_text() == "mine"


def test_a_manifest_that_names_other_places_is_not_believed(earlier: Path) -> None:
    (earlier.parent / "thesis.tex").write_text("mine")
    (earlier / MANIFEST).write_text(json.dumps([*listed(earlier), "../thesis.tex", str(earlier.parent / "thesis.tex")]))
    write(earlier, files)
    assert (earlier.parent / "thesis.tex").read_text() == "mine"


def test_two_at_once_is_refused_and_the_first_finishes(earlier: Path) -> None:
    def meanwhile() -> Mapping[str, bytes]:
        with pytest.raises(OutputError, match="another process is writing a report here"):
            write(earlier, lambda: files("second"))
        return files("first")

    write(earlier, meanwhile)
    assert (earlier / "index.html").read_text() == "first"
    assert litter(earlier) == []


def test_names_with_control_characters_are_drawn(tmp_path: Path) -> None:
    names = ("bad\x01name", "worse\x1b", "worst\ufffe", "fine")
    assert report(result(comparison("v4", "top1", names=names)), tmp_path / "report").exists()
