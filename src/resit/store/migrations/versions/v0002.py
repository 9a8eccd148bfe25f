"""Tables of the web pages: accounts, invites, sessions, leases of tasks, clicks and finished pages."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BYTES = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables, and an index of each person's assignments."""
    op.create_index("assignment_of", "assignment", ["person_id", "id"])
    name = sa.Column("name", BYTES, nullable=False, unique=True)
    op.create_table("account", _key("id"), name, _text("role"), _text("time"))
    secret = sa.Column("secret", BYTES, nullable=False, unique=True)
    op.create_table("invite", _key("id"), _to("account_id", "account.id"), secret, _text("time"), _text("revoked"))
    secret = sa.Column("secret", BYTES, primary_key=True)
    op.create_table("session", secret, _to("invite_id", "invite.id"), _text("time"), _text("ends"))
    keys = (_to("account_id", "account.id", key=True), _to("task_id", "task_name.id", key=True))
    op.create_table("lease", *keys, _text("time"), _text("ends"), sqlite_with_rowid=False)
    op.create_index("lease_ends", "lease", ["ends"])
    whose = (_to("account_id", "account.id"), _to("task_id", "task_name.id"))
    position = sa.Column("position", sa.Integer(), nullable=False)
    selected = sa.Column("selected", sa.SmallInteger(), nullable=False)
    op.create_table("click", _key("id"), *whose, position, selected, _text("event"), _text("time"))
    op.create_index("click_once", "click", ["account_id", "event"], unique=True)
    op.create_index("click_of", "click", ["account_id", "task_id", "id"])
    whose = (_to("account_id", "account.id"), _to("task_id", "task_name.id"))
    op.create_table("finish", _key("id"), *whose, _text("begun"), _text("time"))
    op.create_index("finish_once", "finish", ["account_id", "task_id"], unique=True)


def downgrade() -> None:
    """Refuse: going back would lose what was stored."""
    raise NotImplementedError("what people did would be lost")


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), primary_key=True, autoincrement=False)


def _to(name: str, target: str, *, key: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), sa.ForeignKey(target), nullable=False, primary_key=key, autoincrement=False)


def _text(name: str) -> sa.Column[Any]:
    return sa.Column(name, BYTES, nullable=False)
