"""Databases for tests: a PostgreSQL server of their own, and each store test on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = Path("/usr/lib/postgresql")


def _programs() -> Path | None:
    """Folder of the newest server's programs; Debian keeps them outside the PATH."""
    found = sorted(PROGRAMS.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Address of a PostgreSQL server that runs as long as the tests, and that only a socket in its own folder leads to."""
    programs = _programs()
    if programs is None:
        reason = "no PostgreSQL server is installed (Debian's package postgresql)"
        if os.environ.get("RESIT_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="resit-pg-"))
    # The server refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)

    def run(program: str, *words: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *words]
        with (folder / "log").open("ab") as log:
            subprocess.run(command, user=user, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, check=True)

    try:
        run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale", "-N")
        # No durability, which tests don't need; no port, which others may have.
        run("pg_ctl", "-w", "start", "-o", f"-F -c listen_addresses= -k {folder}", "-l", str(folder / "server.log"))
        yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            run("pg_ctl", "-w", "stop", "-m", "immediate")
        shutil.rmtree(folder, ignore_errors=True)


def schema_of_its_own(server: str) -> str:
    """Address of a new, empty schema on a server."""
    import psycopg

    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be made: a SQLite file, or a schema of a PostgreSQL server."""
    if request.param == "sqlite":
        return str(tmp_path / "build.sqlite")
    return schema_of_its_own(request.getfixturevalue("postgresql"))
