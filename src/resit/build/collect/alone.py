"""One call at a time in a folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resit.data.download import writing
from resit.errors import OutputError


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep a second call, also of another process, out of a folder, which is made; on Windows nothing does.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    OutputError
        If another call is in it, or it cannot be made.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with writing(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            os.close(handle)
            raise OutputError("another call is collecting into it", where=folder, fix="Wait until it is done.") from error
    try:
        yield
    finally:
        os.close(handle)
