"""One server a build: a second one would not know who holds which page, pair and step in the first."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from resit.data.download import writing
from resit.errors import OutputError

LOCK_NAME = "serve.lock"
HELD = (errno.EAGAIN, errno.EACCES)

if sys.platform == "win32":
    import msvcrt

    BEHIND = 1 << 20  # what is locked cannot be read by others, so it is not the address

    def _lock(file: BinaryIO) -> None:
        file.seek(BEHIND)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def one_server(folder: Path, address: str) -> Iterator[None]:
    """Keep a second server out of a build. The operating system ends the lock with the process, however that ends.

    Where a file system knows no locks, nothing keeps one out.

    Parameters
    ----------
    folder : Path
        Of the build.
    address : str
        Of this server: a second one tells it.

    Raises
    ------
    OutputError
        If another server serves the build, or the folder cannot be written.
    """
    path = folder / LOCK_NAME
    with writing(path):
        file = path.open("a+b")
    with file:
        try:
            _lock(file)
        except OSError as error:
            if error.errno in HELD:
                file.seek(0)
                raise _refused(folder, file.read().decode(errors="replace")) from error
        with writing(path):
            file.truncate(0)
            file.write(address.encode())
            file.flush()
        yield


def _refused(folder: Path, address: str) -> OutputError:
    what = f"another server serves this build already{address and f', at {address}'}"
    fix = "Use that one, or end it first. --invite and --revoke work beside it."
    return OutputError(what, where=folder, fix=fix)
