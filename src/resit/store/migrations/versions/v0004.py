"""Exams that people sit: their questions, the answers, and who handed them in."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

BYTES = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables."""
    name = sa.Column("name", BYTES, nullable=False, unique=True)
    op.create_table("exam", _number("id", key=True), name, _text("record"), _text("time"))
    position, image = _number("position", key=True), _to("image_id", "image_name.id")
    whole = (_to("exam_id", "exam.id", key=True), position, image, _text("class_ids"), _text("origin"))
    op.create_table("exam_question", *whole, sqlite_with_rowid=False)
    whose = (_to("account_id", "account.id"), _to("exam_id", "exam.id"), _number("position"))
    op.create_table("exam_answer", _number("id", key=True), *whose, _text("class_id"), _text("event"), _text("time"))
    op.create_index("exam_answer_once", "exam_answer", ["account_id", "event"], unique=True)
    op.create_index("exam_answer_of", "exam_answer", ["exam_id", "account_id", "id"])
    keys = (_to("account_id", "account.id", key=True), _to("exam_id", "exam.id", key=True))
    op.create_table("exam_handed_in", *keys, _text("time"), sqlite_with_rowid=False)


def downgrade() -> None:
    """Refuse: going back would lose what was stored."""
    raise NotImplementedError("what people did would be lost")


def _number(name: str, *, key: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=False, primary_key=key, autoincrement=False)


def _to(name: str, target: str, *, key: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), sa.ForeignKey(target), nullable=False, primary_key=key, autoincrement=False)


def _text(name: str) -> sa.Column[Any]:
    return sa.Column(name, BYTES, nullable=False)
