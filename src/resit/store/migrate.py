"""Brings the tables of a database to the version that this code knows, by Alembic, in one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from resit.errors import InputError
from resit.store.opening import is_sqlite, needed, write_ahead

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

    from resit.store.store import Store

HEAD = "0004"
FOLDER = Path(__file__).parent / "migrations"
VERSION_TABLE = "resit_version"


def bring_up_to_date(store: Store, *, create: bool) -> None:
    """Make or change the tables where they are missing or older than the code.

    Raises
    ------
    InputError
        If there are none and none are to be made, if they are newer than the code, or if the tables are another program's.
    """
    with store.reading() as connection:
        found = version_of(connection)
        if found is None:
            _refuse_others(connection, store.where, create)
    if found == HEAD:
        return
    if is_sqlite(store.engine) and found is None:
        write_ahead(store.engine, store.where)
    with store.writing() as connection:
        found = version_of(connection)
        if found is None:
            _refuse_others(connection, store.where, create)
        _upgrade(connection, found, store.where)


def version_of(connection: Connection) -> str | None:
    """Version of a database's tables, or None where it holds no build."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    return None if found is None else str(found)


def settings() -> Config:
    """What Alembic must know: where the versions lie. They are part of the package."""
    needed("alembic", "build")
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _refuse_others(connection: Connection, where: str, create: bool) -> None:
    if others := inspect(connection).get_table_names():
        raise InputError(
            f"the tables of another program ({', '.join(sorted(others)[:3])})",
            where=where,
            fix="Name the build's database, or give resit a database or a schema of its own.",
        )
    if not create:
        raise InputError("no build in this database", where=where, fix="Check its name, or make one with `resit build init`.")


def _upgrade(connection: Connection, found: str | None, where: str) -> None:
    config = settings()
    from alembic import command
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise InputError(
            f"made by a newer resit (its tables have version {found}, this resit knows up to {HEAD})",
            where=where,
            fix="Install a newer resit: `pip install --upgrade 'resit[build]'`.",
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
