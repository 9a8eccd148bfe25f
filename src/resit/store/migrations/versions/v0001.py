"""The first tables. A version never changes: what comes later is a version of its own."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BYTES = sa.Text().with_variant(TEXT(collation="C"), "postgresql")
REFERENCES = {
    "image_id": "image_name.id",
    "other_id": "image_name.id",
    "class_id": "class_name.id",
    "person_id": "person_name.id",
    "task_id": "task_name.id",
    "assignment_id": "assignment.id",
    "role_id": "word.id",
    "metric_id": "word.id",
    "reference_id": "word.id",
    "fate_id": "word.id",
    "reason_id": "word.id",
    "parent": "selection.revision",
}
# Columns of the key, and the others.
TABLES = {
    "image": ("image_id class_id role_id", "path:text source:text url:text licence:text author:text attributes:text"),
    "task": ("task_id position", "image_id class_id role_id"),
    "vote": ("assignment_id class_id image_id", "role_id selected:small time:text"),
    "vote_count": ("image_id class_id", "selected shown"),
    "pair": ("image_id metric_id other_id reference_id", "distance:float rank"),
    "selection_image": ("revision place", "image_id class_id selected shown bin fate_id"),
    "selection_excluded": ("revision place", "image_id class_id reason_id"),
}
UNCHECKED = ("vote", "pair")
NUMBERED = {
    "assignment_status": ("id", "assignment_id status:text person:text reason:text time:text"),
    "verdict": ("id", "kind:text image:text other:text class_id:text verdict:text person:text time:text"),
    "selection": ("revision", "parent:optional record:text time:text"),
    "note": ("id", "step:text record:text time:text"),
}
KINDS: dict[str, Any] = {
    "": sa.Integer(),
    "optional": sa.Integer(),
    "small": sa.SmallInteger(),
    "float": sa.Float(53),
    "text": BYTES,
}


def upgrade() -> None:
    """Make all tables."""
    for name in ("image_name", "class_name", "person_name", "task_name", "word"):
        op.create_table(name, *_names())
    person = sa.Column("person_id", sa.Integer(), sa.ForeignKey("person_name.id"), nullable=False)
    op.create_table("assignment", *_names(), person)
    for name, (keys, rest) in NUMBERED.items():
        op.create_table(name, *_columns(name, keys, rest))
    for name, (keys, rest) in TABLES.items():
        op.create_table(name, *_columns(name, keys, rest), sqlite_with_rowid=False)
    op.create_index("assignment_status_of", "assignment_status", ["assignment_id", "id"])


def downgrade() -> None:
    """Refuse: going back would lose what was stored."""
    raise NotImplementedError("the first version has none before it")


def _names() -> list[sa.Column[Any]]:
    number = sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False)
    return [number, sa.Column("name", BYTES, nullable=False, unique=True)]


def _columns(table: str, keys: str, rest: str) -> list[sa.Column[Any]]:
    columns: list[sa.Column[Any]] = []
    for word in f"{keys} {rest}".split():
        name, _, kind = word.partition(":")
        target = "selection.revision" if name == "revision" and table != "selection" else REFERENCES.get(name)
        references = [sa.ForeignKey(target)] if target and kind != "text" and table not in UNCHECKED else []
        is_key, optional = name in keys.split(), kind == "optional"
        columns.append(sa.Column(name, KINDS[kind], *references, primary_key=is_key, nullable=optional, autoincrement=False))
    return columns
