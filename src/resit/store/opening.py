"""Opens a store: finds out what an address means, connects, and brings the database's tables up to date."""

from __future__ import annotations

import importlib
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.errors import InputError, OutputError, UsageError
from resit.store.faults import faults

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

    from resit.store.store import Store

WAIT = 60.0
CACHE = 65_536  # names are looked up all over the file
WRITES = "resit_writes"  # option of a connection that takes the lock for writing when its transaction begins
# A number of its own for the lock that lets one writer in at a time, as SQLite does; one for each schema of the database.
ONE_WRITER = "SELECT pg_advisory_xact_lock(hashtext('resit'), hashtext(current_schema()))"


def open_store(url: str | Path, *, create: bool = False, wait: float = WAIT, cache: int = CACHE) -> Store:
    """Open the store of a build. Use it in a ``with``, or close it.

    One store may be used by several threads, and one database by several processes, also of several machines with PostgreSQL.
    One of them writes at a time; the others wait for it, and read what was there before.

    Parameters
    ----------
    url : str or path
        A SQLite file, or ``postgresql+psycopg://USER@HOST/DATABASE``.
    create : bool
        Make the tables where there are none.
    wait : float
        Seconds to wait for another process that writes.
    cache : int
        KiB of a SQLite file that each connection keeps in memory.

    Returns
    -------
    Store

    Raises
    ------
    InputError
        If there is no store, it was made by a newer resit, or it is another kind of file or database.
    OutputError
        If it cannot be written, or another process writes for too long.
    UsageError
        If the address cannot be understood, or a library is not installed.
    """
    needed("sqlalchemy", "build")
    from resit.store.migrate import bring_up_to_date
    from resit.store.store import Store

    address = parsed(url)
    where = address.database or "" if address.get_backend_name() == "sqlite" else address.set(query={}).render_as_string()
    if address.get_backend_name() == "sqlite":
        _check_file(Path(where), create)
        engine = _sqlite(address, wait, cache)
    else:
        engine = _postgresql(address, wait)
    store = Store(engine, where)
    try:
        bring_up_to_date(store, create=create)
    except BaseException:
        store.close()
        raise
    return store


def needed(module: str, extra: str) -> Any:
    """Import a library that an extra of resit installs.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        fix = f"Install it with `pip install 'resit[{extra}]'`."
        raise UsageError(f"the library {module} is not installed", where=extra, fix=fix) from error


def parsed(url: str | Path) -> URL:
    """The address of a database from what people write.

    Raises
    ------
    UsageError
        If it is no address of SQLite or PostgreSQL.
    """
    from sqlalchemy import URL, make_url
    from sqlalchemy.exc import ArgumentError

    text = str(url)
    if isinstance(url, Path) or "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser()))
    shown = text.split("://")[0] + "://…"
    fix = "Give a SQLite file, or postgresql+psycopg://USER@HOST/DATABASE."
    try:
        address = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise UsageError("not an address of a database", where=shown, fix=fix) from error
    if "@" in (address.host or ""):
        raise UsageError("an address with more than one @", where=shown, fix="Write an @ in a password as %40.")
    if address.drivername in ("postgresql", "postgres"):
        address = address.set(drivername="postgresql+psycopg")
    if address.drivername not in ("sqlite", "postgresql+psycopg") or (address.drivername == "sqlite" and not address.database):
        raise UsageError(f"no database that resit can keep a build in: {address.drivername}", where=shown, fix=fix)
    if address.drivername != "sqlite":
        needed("psycopg", "postgres")
    return address


def is_sqlite(bind: Connection | Engine) -> bool:
    """Whether it is SQLite, and not PostgreSQL."""
    return str(bind.dialect.name) == "sqlite"


def _check_file(path: Path, create: bool) -> None:
    try:
        is_file, is_there, has_folder = path.is_file(), path.exists(), path.parent.is_dir()
    except (OSError, ValueError) as error:
        raise InputError(f"no path that can be read: {error}", where=str(path), fix="Correct it.") from error
    if is_there and not is_file:
        raise InputError("no file", where=path, fix="Name the database's file; in a build's folder it is build.sqlite.")
    if not is_there and not create:
        raise InputError("no such file", where=path, fix="Check the path, or make a build with `resit build init`.")
    if not has_folder:
        raise OutputError("its folder does not exist", where=path, fix="Make the folder first.")


def _sqlite(address: URL, wait: float, cache: int) -> Engine:
    from sqlalchemy import create_engine, event

    engine = create_engine(address)

    def prepare(connection: sqlite3.Connection, _: object) -> None:
        # Python begins transactions by its own rules, in the middle of steps; without them they begin where `begin` says.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = {-cache}")
        # A vote that the page showed as saved must survive a power cut. NORMAL may lose the last commits then, FULL does not;
        # it costs one fsync for each commit, and a commit is a whole page of votes or a whole file.
        connection.execute("PRAGMA synchronous = FULL")

    def begin(connection: Connection) -> None:
        immediate = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", begin)
    return engine


def _postgresql(address: URL, wait: float) -> Engine:
    from sqlalchemy import create_engine, event

    engine = create_engine(address, pool_pre_ping=True)

    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITES):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(wait * 1000)}")
            connection.exec_driver_sql(ONE_WRITER)
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    event.listen(engine, "begin", begin)
    return engine


def write_ahead(engine: Engine, where: str, wait: float = WAIT) -> None:
    """Let readers of a SQLite file go on while another process writes; the file keeps it for good.

    Raises
    ------
    OutputError
        If another process holds the file for too long.
    """
    last = time.monotonic() + wait
    while True:
        with faults(where):
            connection = engine.raw_connection()
            try:
                connection.cursor().execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                # SQLite does not wait here: two processes that make one file meet.
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > last:
                    raise
            else:
                return
            finally:
                connection.close()
        time.sleep(0.02)
