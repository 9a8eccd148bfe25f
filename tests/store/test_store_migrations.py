"""An older database is brought up to date without loss, a newer one is refused, and a change that fails changes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from extras import needs
from resit.errors import InputError
from resit.store import open_store
from store_rows import images, rows_of

if TYPE_CHECKING:
    from resit.store import Store

inspect = needs("sqlalchemy", "alembic", "psycopg").inspect
layout, migrate = needs("resit.store.layout"), needs("resit.store.migrate")
compare_metadata = needs("alembic.autogenerate").compare_metadata
MigrationContext = needs("alembic.migration").MigrationContext
ScriptDirectory = needs("alembic.script").ScriptDirectory

NEXT = '''"""A version that does not exist."""
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "later", "0004", None, None


def upgrade():
    """Add a table and a column."""
    op.create_table("later", sa.Column("id", sa.Integer(), primary_key=True))
    op.add_column("image", sa.Column("added", sa.Text(), nullable=False, server_default="x"))
'''


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The code as it may be one version later; gives the file of that version."""
    folder = tmp_path / "later"
    shutil.copytree(migrate.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    version = folder / "versions" / "later.py"
    version.write_text(NEXT)
    monkeypatch.setattr(migrate, "FOLDER", folder)
    monkeypatch.setattr(migrate, "HEAD", "later")
    return version


def version_of(store: Store) -> str | None:
    with store.reading() as connection:
        return migrate.version_of(connection)


def test_the_versions_make_the_tables_that_the_code_uses(store: Store):
    with store.reading() as connection:
        options = {"version_table": migrate.VERSION_TABLE, "compare_type": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), layout.metadata) == []
        for table in layout.metadata.tables.values():
            keys = inspect(connection).get_pk_constraint(table.name)["constrained_columns"]
            assert keys == [column.name for column in table.primary_key], table.name
            found = {
                key["constrained_columns"][0]: key["referred_table"] for key in inspect(connection).get_foreign_keys(table.name)
            }
            wanted = {key.parent.name: key.column.table.name for key in table.foreign_keys}
            assert found == wanted, table.name


def test_the_code_names_the_newest_version():
    assert ScriptDirectory.from_config(migrate.settings()).get_heads() == [migrate.HEAD]


def test_an_older_database_is_brought_up_to_date_with_its_rows(address: str, request: pytest.FixtureRequest):
    with open_store(address, create=True) as store:
        store.add_images(images("a"))
    request.getfixturevalue("next_version")
    with open_store(address) as store:
        assert version_of(store) == "later"
        with store.reading() as connection:
            assert inspect(connection).has_table("later")
        assert rows_of(store.images(), "image") == [("a",)]
        store.add_images(images("b"))


def test_a_newer_database_is_refused_and_left_as_it_is(address: str, monkeypatch: pytest.MonkeyPatch, next_version: Path):
    open_store(address, create=True).close()
    monkeypatch.undo()
    for create in (False, True):
        with pytest.raises(InputError, match=r"made by a newer resit .*version later, this resit knows up to 0004.*upgrade"):
            open_store(address, create=create)


@pytest.mark.parametrize("exists", [True, False])
def test_a_change_that_fails_changes_nothing(address: str, request: pytest.FixtureRequest, exists: bool):
    if exists:
        open_store(address, create=True).close()
    version = request.getfixturevalue("next_version")
    version.write_text(f"{NEXT}    raise RuntimeError('stopped half-way')\n")
    with pytest.raises(RuntimeError, match="stopped half-way"):
        open_store(address, create=True)
    version.write_text(NEXT)
    with open_store(address, create=True) as store:
        assert version_of(store) == "later"
        assert store.images().num_rows == 0
