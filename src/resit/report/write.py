"""A report is written whole or not at all: into a hidden folder of its directory first, then renamed into place."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from resit.errors import OutputError
from resit.study.groups_result import SCHEMA as GROUPS
from resit.study.progress_result import SCHEMA as PROGRESS
from resit.study.result import SCHEMA as COMPARE

PAGE = "index.html"
STAGE = ".resit-"
FOLDERS = ("figures", "tables")
SCHEMAS = (COMPARE, PROGRESS, GROUPS)
OURS = re.compile(
    r"index\.html|result\.json|figures/(scatter|drop|ranks|progress|rates|groups|disparity|trend)-.*\.(svg|png|pdf)"
    r"|tables/(?:(?:models|fits|classes|confusions)-.*|progress|groups|disparity|trends)\.(csv|md|tex)"
)


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
        _check(directory)
        with _made(directory):
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


def _check(directory: Path) -> None:
    """Refuse a directory that holds something else than an earlier report."""
    fix = "Give a new or empty directory, or one that holds an earlier report"
    if not directory.exists():
        return
    if not directory.is_dir():
        raise OutputError("there is a file where the report should go", where=directory, fix=fix)
    others = [path for path in directory.iterdir() if not path.name.startswith(".")]
    if others and not _is_report(directory / "result.json"):
        raise OutputError("the directory holds other files and no report", where=directory, fix=fix)


def _is_report(result: Path) -> bool:
    try:
        found = json.loads(result.read_bytes())
    except (FileNotFoundError, ValueError):
        return False
    return isinstance(found, dict) and found.get("schema") in SCHEMAS


def _replace(directory: Path, files: Callable[[], Mapping[str, bytes]]) -> None:
    for left in directory.glob(f"{STAGE}*"):  # of a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=STAGE, dir=directory, ignore_cleanup_errors=True) as name:
        stage = Path(name)
        new = files()
        for relative, content in new.items():
            target = stage / "new" / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        found = [path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()]
        old = [relative for relative in found if OURS.fullmatch(relative)]
        for relative in old:
            _keep(directory / relative, stage / "old" / relative)
        _swap(directory, stage, old, sorted(new, key=lambda relative: (relative == PAGE, "/" not in relative, relative)))


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
