"""The secret of a build, from which pseudonyms of people and the images to hold out come."""

from __future__ import annotations

import os
import secrets

from resit.build.folder import BuildFolder
from resit.data.guard import reading
from resit.errors import InputError, OutputError

NAME = "salt"


def make_salt(folder: BuildFolder) -> None:
    """Make the build's salt where there is none; only its owner may read it.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    path = folder.path / NAME
    if path.exists():
        return
    half = path.with_name(f".{NAME}.{secrets.token_hex(4)}.part")
    try:
        handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(16))
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", where=path, fix="Check its permissions.") from error


def read_salt(folder: BuildFolder) -> str:
    """The build's salt.

    Raises
    ------
    InputError
        If it is not there or cannot be read.
    """
    path = folder.path / NAME
    if not path.exists():
        fix = "Put it back from a copy. Begin a new one with `resit build init` only if nothing was released yet."
        raise InputError("the secret of the build is missing", where=path, fix=fix)
    with reading(path):
        return path.read_text(encoding="utf-8").strip()
