"""What databases raise, as errors that say what happened and what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from resit.errors import InputError, OutputError, ResitError

INTACT = "What was stored before is intact; nothing of this step was."
LOCKED = "another process was writing for too long"
FULL = "the disk is full"
UNWRITABLE = "cannot be written"
LOCKED_FIX = f"Wait until it is done, or end it, then repeat. {INTACT}"
FULL_FIX = f"Make space, then repeat. {INTACT}"
UNWRITABLE_FIX = "Check the permissions of the file and of its folder, in which SQLite writes too."
# Names of SQLite's result codes, and PostgreSQL's error states or their first two characters; failed connections have none.
OF_SQLITE: dict[str, tuple[type[ResitError], str, str]] = {
    "SQLITE_NOTADB": (InputError, "not a SQLite database", "Name the build's folder or database."),
    "SQLITE_CORRUPT": (InputError, "a damaged SQLite database", "Put back a copy, or save what `sqlite3 FILE .recover` finds."),
    "SQLITE_BUSY": (OutputError, LOCKED, LOCKED_FIX),
    "SQLITE_LOCKED": (OutputError, LOCKED, LOCKED_FIX),
    "SQLITE_FULL": (OutputError, FULL, FULL_FIX),
    "SQLITE_IOERR": (OutputError, "the disk failed", f"Check the free space and the disk, then repeat. {INTACT}"),
    "SQLITE_READONLY": (OutputError, UNWRITABLE, UNWRITABLE_FIX),
    "SQLITE_CANTOPEN": (OutputError, "cannot be opened for writing", UNWRITABLE_FIX),
    "SQLITE_PERM": (OutputError, UNWRITABLE, UNWRITABLE_FIX),
}
OF_POSTGRESQL: dict[str, tuple[type[ResitError], str, str]] = {
    "": (InputError, "the database cannot be reached", "Check its address, its name, the user, and that the server runs."),
    "08": (InputError, "the connection to the database was lost", f"Repeat the step. {INTACT}"),
    "57": (InputError, "the database server was stopped", f"Start it, then repeat. {INTACT}"),
    "53": (OutputError, "the database server has no resources left", f"Check its disk and its connections. {INTACT}"),
    "53100": (OutputError, FULL, FULL_FIX),
    "53300": (OutputError, "the database server has no connection left", f"Close others, then repeat. {INTACT}"),
    "55P03": (OutputError, LOCKED, LOCKED_FIX),
    "57014": (OutputError, "the database server cancelled the step", f"Repeat it. {INTACT}"),
    "25006": (OutputError, "the database is read-only", "Name the server that takes writes."),
    "42501": (OutputError, "this user may not write to the database", "Grant it the right to, and to create tables."),
}


@contextmanager
def faults(where: str) -> Iterator[None]:
    """Turn what a database raises into an error of resit, where its cause is outside the code.

    Parameters
    ----------
    where : str
        The file, or the address without password.

    Raises
    ------
    InputError
        If it is no database, is damaged, or cannot be reached.
    OutputError
        If it is locked, full, or may not be written.
    """
    from sqlalchemy.exc import DBAPIError

    try:
        yield
    except DBAPIError as error:
        raise told(error.orig, where) or error from error
    except sqlite3.Error as error:
        raise told(error, where) or error from error
    except Exception as error:
        if not hasattr(error, "sqlstate"):
            raise
        raise told(error, where) or error from error


def told(error: Any, where: str) -> ResitError | None:
    """The error of resit for one of a database, or None where its cause is not known."""
    if isinstance(error, sqlite3.Error):
        found = OF_SQLITE.get("_".join((getattr(error, "sqlite_errorname", None) or "").split("_")[:2]))
    else:
        state = getattr(error, "sqlstate", None) or ""
        is_connection = type(error).__name__ == "OperationalError" or state
        found = (OF_POSTGRESQL.get(state) or OF_POSTGRESQL.get(state[:2])) if is_connection else None
    if found is None:
        return None
    kind, what, fix = found
    return kind(f"{what} ({_first_line(error)})", where=where, fix=fix)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
