"""A release is written whole or not at all: into a hidden folder beside it first, then renamed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from resit.errors import OutputError

SUMS = "SHA256SUMS"
CHUNK = 2**20


@contextlib.contextmanager
def staged(target: Path) -> Iterator[Path]:
    """A fresh hidden folder beside the target, which is gone afterwards unless it took the target's place.

    Parameters
    ----------
    target : Path
        Where the release should be.

    Yields
    ------
    Path

    Raises
    ------
    OutputError
        If the folder cannot be written, or another process is writing it.
    """
    stage = target.absolute().parent / f".{target.name}.part"
    with writing(target):
        stage.mkdir(parents=True, exist_ok=True)
        with _alone(stage, target):
            for left in stage.iterdir():  # of a process that was killed
                _remove(left)
            try:
                yield stage
            finally:
                shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turn what the system says of a place that cannot be written into an OutputError.

    Raises
    ------
    OutputError
        If the disk is full, a folder is read-only, and so on.
    """
    try:
        yield
    except OSError as error:
        what = f"it could not be written: {error.strerror or error}"
        fix = "Make room, or choose a folder that you can write to; what was there before is intact."
        raise OutputError(what, where=target, fix=fix) from error


def seal(stage: Path) -> int:
    """Write the checksums of all files, and see that everything is on the disk.

    Returns
    -------
    int
        Number of files, that of checksums among them.
    """
    files = sorted(path.relative_to(stage).as_posix() for path in stage.rglob("*") if path.is_file())
    (stage / SUMS).write_text("".join(f"{file_hash(stage / name)}  {name}\n" for name in files), encoding="utf-8")
    for path in stage.rglob("*"):
        _sync(path)
    return len(files) + 1


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put(stage: Path, target: Path) -> bool:
    """Let a sealed folder take the place of the target.

    Returns
    -------
    bool
        False where the same release is there already.

    Raises
    ------
    OutputError
        If something else is there.
    """
    if is_same(stage, target):
        return False
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(
            "there is something else already",
            where=target,
            fix="A release is never replaced: give another version and folder, or move this one away.",
        )
    with contextlib.suppress(FileNotFoundError):
        target.rmdir()
    stage.rename(target)
    _sync(target.parent)
    return True


def is_same(stage: Path, target: Path) -> bool:
    """Whether a folder holds the release that a sealed folder does, every file intact."""
    try:
        sums = (stage / SUMS).read_text(encoding="utf-8")
        if (target / SUMS).read_text(encoding="utf-8") != sums:
            return False
        listed = {name: digest for digest, name in (line.split("  ", 1) for line in sums.splitlines())}
        found = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()} - {SUMS}
        return found == listed.keys() and all(file_hash(target / name) == digest for name, digest in listed.items())
    except (FileNotFoundError, NotADirectoryError):
        return False


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


@contextlib.contextmanager
def _alone(stage: Path, target: Path) -> Iterator[None]:
    """No other process writes this release meanwhile, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(stage, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not stage.exists() or os.fstat(handle).st_ino != stage.stat().st_ino:
            raise BlockingIOError
        yield
    except BlockingIOError as error:
        raise OutputError("another process is writing this release", where=target, fix="Wait until it is done.") from error
    finally:
        os.close(handle)
