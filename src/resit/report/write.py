"""A report is written whole or not at all: into a hidden folder of its directory first, then renamed into place."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from resit.errors import OutputError

PAGE = "index.html"
STAGE = ".resit-"
MANIFEST = ".resit-files.json"  # the files of the report, so that nothing else is ever replaced or removed
FOLDERS = ("figures", "tables")


def write(directory: Path, files: Callable[[], Mapping[str, bytes]]) -> Path:
    """Put the files of a report into a directory, in place of an earlier report's.

    Parameters
    ----------
    directory : Path
        A new or empty directory, or an earlier report. Files in it that are not the report's stay.
    files : callable
        Returns contents by relative path; called only once the directory is known to be ours to write.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    OutputError
        If the directory is neither, or cannot be written. What was there before is intact.
    """
    try:
        check_directory(directory)
        with _made(directory), _alone(directory):
            _replace(directory, files)
    except OSError as error:
        raise OutputError(
            f"the report could not be written ({error.strerror or error})",
            where=directory,
            fix="What was there before is intact; make room, or give a directory that you can write to",
        ) from error
    return directory / PAGE


@contextlib.contextmanager
def _made(directory: Path) -> Iterator[None]:
    """The directory exists; those that had to be made for it are gone again if writing fails."""
    made = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


@contextlib.contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """No other process writes a report into the directory meanwhile, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise OutputError(
            "another process is writing a report here", where=directory, fix="Wait for it, or give another directory"
        ) from error
    finally:
        os.close(handle)


def check_directory(directory: Path) -> None:
    """Refuse a directory that holds something else than an earlier report.

    Parameters
    ----------
    directory : Path
        Where a report should go.

    Raises
    ------
    OutputError
        If it is a file, or holds other files and no report.
    """
    fix = "Give a new or empty directory, or one that holds an earlier report"
    if not directory.exists():
        return
    if not directory.is_dir():
        raise OutputError("there is a file where the report should go", where=directory, fix=fix)
    others = [path for path in directory.iterdir() if not path.name.startswith(".")]
    if others and not _written(directory):
        raise OutputError("the directory holds other files and no report", where=directory, fix=fix)


def _written(directory: Path) -> list[str]:
    """The files that an earlier report put there, as far as they are still there."""
    try:
        listed = json.loads((directory / MANIFEST).read_bytes())
    except (FileNotFoundError, ValueError):
        return []
    names = [Path(name) for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    inside = [name for name in names if not name.is_absolute() and ".." not in name.parts]
    return [name.as_posix() for name in inside if (directory / name).is_file()]


def _replace(directory: Path, files: Callable[[], Mapping[str, bytes]]) -> None:
    for left in directory.glob(f"{STAGE}*"):  # of a run that was killed
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=STAGE, dir=directory, ignore_cleanup_errors=True) as name:
        stage = Path(name)
        new, old = files(), _written(directory)
        if theirs := sorted(relative for relative in new if relative not in old and (directory / relative).exists()):
            raise OutputError(
                f"{theirs[0]} is there already and not of a report", where=directory, fix="Move it, or give another directory"
            )
        for relative, content in new.items():
            target = stage / "new" / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        for relative in old:
            _keep(directory / relative, stage / "old" / relative)
        _list(directory, stage, {*old, *new})
        try:
            _swap(directory, stage, old, sorted(new, key=lambda relative: (relative == PAGE, "/" not in relative, relative)))
        except BaseException:
            _list(directory, stage, old)
            raise
        _list(directory, stage, new)


def _list(directory: Path, stage: Path, files: Iterable[str]) -> None:
    """Write the manifest; there is none where there are no files."""
    if not (names := sorted(files)):
        (directory / MANIFEST).unlink(missing_ok=True)
        return
    (stage / "manifest").write_text(json.dumps(names, indent=1) + "\n")
    (stage / "manifest").replace(directory / MANIFEST)


def _keep(source: Path, copy: Path) -> None:
    """A second name for a file, or a copy where the file system has no such names."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    try:
        copy.hardlink_to(source)
    except OSError:
        shutil.copy2(source, copy)


def _swap(directory: Path, stage: Path, old: list[str], new: list[str]) -> None:
    """Put the new files in place of the old, the page last; if one fails, all is as it was.

    Each step is one rename, so that every file is whole, old or new, even if the process is killed in between.
    """
    folders = [directory / name for name in FOLDERS if not (directory / name).exists()]
    try:
        for relative in new:
            (directory / relative).parent.mkdir(exist_ok=True)
            (stage / "new" / relative).replace(directory / relative)
        for relative in set(old) - set(new):
            (directory / relative).unlink()
    except BaseException:
        for relative in new:
            if relative not in old and not (stage / "new" / relative).exists():
                (directory / relative).unlink(missing_ok=True)
        for relative in old:
            (stage / "old" / relative).replace(directory / relative)
        for folder in folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    for name in FOLDERS:
        with contextlib.suppress(OSError):
            (directory / name).rmdir()  # empty: the new report has none
