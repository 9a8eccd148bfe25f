"""What can be wrong with a database is told in words, and leaves what was stored as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from databases import schema_of_its_own
from extras import needs
from resit.errors import InputError, OutputError, ResitError, UsageError
from resit.store import open_store
from resit.store.faults import told
from resit.store.opening import parsed
from store_rows import excluded, images, page, selected

if TYPE_CHECKING:
    from resit.store import Store

text = needs("sqlalchemy", "alembic", "psycopg").text


def test_a_store_is_made_opened_again_and_made_again_without_loss(address: str):
    with open_store(address, create=True) as store:
        store.add_images(images("a"))
    with open_store(address) as store:
        assert store.images().num_rows == 1
    with open_store(address, create=True) as store:
        assert store.images().num_rows == 1


def test_without_create_nothing_is_made(address: str, tmp_path: Path):
    for _ in range(2):
        with pytest.raises(InputError, match=r"(no such file|no build in this database).*resit build init"):
            open_store(address)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_no_build_until_one_is_made_in_it(tmp_path: Path):
    path = tmp_path / "build.sqlite"
    path.touch()
    with pytest.raises(InputError, match="no build in this database"):
        open_store(path)
    with open_store(path, create=True) as store:
        assert store.images().num_rows == 0


def test_paths_of_all_kinds_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for url in ("a b%20é?.sqlite", Path("c#.sqlite"), f"sqlite:///{tmp_path}/d.sqlite"):
        with open_store(url, create=True) as store:
            store.add_images(images("a"))
    files = {path.name for path in tmp_path.iterdir() if path.suffix == ".sqlite"}
    assert files == {"a b%20é?.sqlite", "c#.sqlite", "d.sqlite"}


def test_a_sqlite_store_lets_readers_read_while_one_writes_and_survives_a_power_cut(tmp_path: Path):
    with open_store(tmp_path / "build.sqlite", create=True) as store, store.reading() as connection:
        modes = [
            connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert modes == ["wal", 2, 1]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://u:secret@host/db", "no database that resit can keep a build in: mysql"),
        ("postgresql+psycopg2://u:secret@host/db", "keep a build in: postgresql.psycopg2"),
        ("sqlite://", "keep a build in: sqlite"),
        ("postgresql+psycopg://u:secret@host:port/db", "not an address of a database"),
    ],
)
def test_an_address_of_another_kind_is_refused_without_its_password(url: str, message: str):
    with pytest.raises(UsageError, match=message) as caught:
        open_store(url, create=True)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"not a database, but long enough to look like one. " * 100)
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(InputError, match="not a SQLite database"):
            open_store(path, create=create)
    assert path.read_bytes() == before


def test_a_folder_and_a_missing_folder_are_told(tmp_path: Path):
    with pytest.raises(InputError, match="no file"):
        open_store(tmp_path, create=True)
    with pytest.raises(OutputError, match="its folder does not exist"):
        open_store(tmp_path / "missing" / "build.sqlite", create=True)


def test_the_tables_of_another_program_are_not_touched(address: str):
    from sqlalchemy import create_engine, inspect

    engine = create_engine(parsed(address))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE vote (theirs TEXT)"))
    for create in (False, True):
        with pytest.raises(InputError, match=r"the tables of another program .vote"):
            open_store(address, create=create)
    assert inspect(engine).get_table_names() == ["vote"]
    engine.dispose()


def test_a_damaged_file_is_told(tmp_path: Path):
    path = tmp_path / "build.sqlite"
    with open_store(path, create=True) as store:
        store.add_images(images(*(f"image {n}" for n in range(2000))))
    data = bytearray(path.read_bytes())
    data[4096 * 3 :] = os.urandom(len(data) - 4096 * 3)
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged SQLite database"), open_store(path) as store:
        store.add_images(images("one more"))


def test_names_that_another_program_took_away_are_missed(address: str):
    with open_store(address, create=True) as store:
        store.add_images(images("a", "b"))
        store.add_votes(page("t1", "ann", {"a": True, "b": True}))
        with store.writing() as connection:
            connection.execute(text("UPDATE vote SET image_id = 77 WHERE image_id = 1"))
        for read in (store.votes, store.counts):
            with pytest.raises(InputError, match=r"table image_name: rows that refer to names that are not there"):
                read()


def test_a_writer_that_takes_too_long_is_told_and_readers_are_not_stopped(address: str):
    with open_store(address, create=True) as first, open_store(address, wait=0.2) as second:
        first.add_images(images("a"))
        with (
            first.writing(),
            pytest.raises(OutputError, match=r"another process was writing for too long.*nothing of this step"),
        ):
            second.add_images(images("b"))
        with first.writing():
            assert second.images().num_rows == 1
        second.add_images(images("b"))
        assert first.images().num_rows == 2


def test_what_one_reads_does_not_change_while_another_writes(address: str):
    with open_store(address, create=True) as first, open_store(address) as second:
        first.add_images(images("a"))
        with first.reading() as connection:
            count = text("SELECT count(*) FROM image")
            before = connection.execute(count).scalar()
            second.add_images(images("b"))
            assert connection.execute(count).scalar() == before == 1
        assert first.images().num_rows == 2


def test_case_36_a_full_disk_leaves_what_was_stored(tmp_path: Path):
    with open_store(tmp_path / "build.sqlite", create=True) as store:
        store.add_images(images("a", "b"))
        store.add_votes(page("t1", "ann", {"a": True}))
        with store.reading() as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar()
            connection.execute(text(f"PRAGMA max_page_count = {pages + 2}"))
        with pytest.raises(OutputError, match=r"the disk is full.*Make space"):
            store.add_images(images(*(f"{n:0500d}" for n in range(200))))
        with pytest.raises(OutputError, match="the disk is full"):
            store.add_selection({"long": "x" * 100_000}, selected(), excluded(), parent=None)
        assert store.images().num_rows == 2
        assert store.votes().num_rows == 1
        assert store.revisions() == []
        with store.reading() as connection:
            connection.execute(text("PRAGMA max_page_count = 1000000"))
        assert store.add_images(images(*(f"{n:0500d}" for n in range(200)))).new == 200


# Root may write everywhere, so it becomes nobody once all that loads late is loaded.
AS_NOBODY = """
import os, sys
from resit.store import open_store
from store_rows import images
open_store(sys.argv[1], create=True).close()
if os.geteuid() == 0:
    os.seteuid(65534)
for create in (False, True):
    try:
        with open_store(sys.argv[2], create=create) as store:
            store.add_images(images("b"))
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that all users may enter; pytest's own are closed."""
    folder = Path(tempfile.mkdtemp(prefix="resit-test-"))
    folder.chmod(0o755)
    yield folder
    (folder / "build").chmod(0o755)
    shutil.rmtree(folder)


def test_case_36_a_folder_that_cannot_be_written(public_folder: Path, tmp_path: Path):
    path = public_folder / "build" / "build.sqlite"
    path.parent.mkdir()
    with open_store(path, create=True) as store:
        store.add_images(images("a"))
    before = path.read_bytes()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])

    def complaints(target: Path) -> list[str]:
        command = [sys.executable, "-c", AS_NOBODY, tmp_path / "warm.sqlite", target]
        environment = {**os.environ, "PYTHONPATH": paths}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()

    for said in complaints(path):
        assert said.startswith(f"OutputError {path}: cannot be ")
        assert "Check the permissions of the file and of its folder" in said
    missing, refused = complaints(path.with_name("new.sqlite"))
    assert missing.startswith("InputError")
    assert refused.startswith("OutputError")
    assert [file.name for file in path.parent.iterdir()] == ["build.sqlite"]
    assert path.read_bytes() == before


def test_a_server_that_cannot_be_reached_is_told_without_the_password(tmp_path: Path):
    url = f"postgresql+psycopg://ann:secret@/db?host={tmp_path}&password=secret"
    with pytest.raises(InputError, match="the database cannot be reached") as caught:
        open_store(url, create=True)
    assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there_on_the_server_is_told(postgresql: str):
    with pytest.raises(InputError, match=r'cannot be reached .*database "missing" does not exist.*Check its address, its name'):
        open_store(postgresql.replace("/postgres?", "/missing?"), create=True)


def test_a_short_form_of_the_address_is_understood(postgresql: str):
    with pytest.raises(InputError, match="no build in this database"):
        open_store(postgresql.replace("postgresql+psycopg", "postgres"))


def test_a_server_that_ends_the_connection_is_told_and_the_store_goes_on(postgresql: str):
    end = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    def write_half(store: Store) -> None:
        with store.writing() as connection:
            connection.execute(text("INSERT INTO class_name VALUES (7, 'seven')"))
            with store.reading() as other:
                other.execute(end)
            connection.execute(text("SELECT 1"))

    with open_store(schema_of_its_own(postgresql), create=True) as store:
        with pytest.raises(InputError, match="the database"):
            write_half(store)
        assert store.add_images(images("a")).new == 1


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("DiskFull", OutputError, "the disk is full"),
        ("LockNotAvailable", OutputError, "another process was writing for too long"),
        ("InsufficientPrivilege", OutputError, "may not write"),
        ("ReadOnlySqlTransaction", OutputError, "read-only"),
        ("TooManyConnections", OutputError, "no connection left"),
        ("OutOfMemory", OutputError, "no resources left"),
        ("AdminShutdown", InputError, "server was stopped"),
        ("ConnectionFailure", InputError, "was lost"),
    ],
)
def test_what_postgresql_raises_is_told(name: str, kind: type[ResitError], words: str):
    import psycopg.errors

    error = told(getattr(psycopg.errors, name)("as the server says it.\nmore"), "db")
    assert type(error) is kind
    assert words in str(error)
    assert "(as the server says it)" in str(error)


def test_a_fault_of_the_code_is_not_hidden():
    import psycopg.errors

    assert told(psycopg.errors.UndefinedTable("x"), "db") is None
    assert told(sqlite3.OperationalError("no such table: x"), "db") is None


def test_importing_the_room_loads_nothing_heavy():
    code = "import sys, resit.store; dir(resit.store); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"sqlalchemy", "alembic", "psycopg", "pyarrow", "numpy", "sqlite3"}


def test_a_name_that_the_room_does_not_have():
    import resit.store

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = resit.store.nothing


@pytest.mark.parametrize(
    ("missing", "extra", "url"), [("sqlalchemy", "build", "x"), ("psycopg", "postgres", "postgresql://h/d")]
)
def test_a_library_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, missing: str, extra: str, url: str):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UsageError, match=rf"{missing} is not installed. Install it with `pip install 'resit\[{extra}\]'`"):
        open_store(url, create=True)
