"""The tables of the database. Names stand once, in tables of their own; rows refer to them by number.

A change here needs a new file in `migrations/versions`, and `migrate.HEAD`; a test compares the two.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, SmallInteger, Table, Text
from sqlalchemy.dialects.postgresql import TEXT

metadata = MetaData()
# Both databases compare text by its bytes.
TEXT_BY_BYTES = Text().with_variant(TEXT(collation="C"), "postgresql")


def _names(name: str, *more: Column[Any]) -> Table:
    number = Column("id", Integer, primary_key=True, autoincrement=False)
    return Table(name, metadata, number, Column("name", TEXT_BY_BYTES, nullable=False, unique=True), *more)


def _to(name: str, table: str, *, key: bool = False) -> Column[int]:
    return Column(name, Integer, ForeignKey(f"{table}.id"), nullable=False, primary_key=key, autoincrement=False)


def _number(name: str, *, key: bool = False, nullable: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=nullable, primary_key=key, autoincrement=False)


def _text(name: str) -> Column[str]:
    return Column(name, TEXT_BY_BYTES, nullable=False)


IMAGE_NAME = _names("image_name")
CLASS_NAME = _names("class_name")
PERSON_NAME = _names("person_name")
TASK_NAME = _names("task_name")
WORD = _names("word")  # roles, metrics, reference sets, fates, reasons
ASSIGNMENT = _names("assignment", _to("person_id", "person_name"))
Index("assignment_of", ASSIGNMENT.c.person_id, ASSIGNMENT.c.id)

IMAGE = Table(
    "image",
    metadata,
    _to("image_id", "image_name", key=True),
    _to("class_id", "class_name", key=True),
    _to("role_id", "word", key=True),
    *(_text(name) for name in ("path", "source", "url", "licence", "author", "attributes")),
    sqlite_with_rowid=False,
)
TASK = Table(
    "task",
    metadata,
    _to("task_id", "task_name", key=True),
    _number("position", key=True),
    _to("image_id", "image_name"),
    _to("class_id", "class_name"),
    _to("role_id", "word"),
    sqlite_with_rowid=False,
)
# Of votes and pairs there are millions. Their numbers are looked up in the transaction that writes them, and names are never
# removed: that the database checks each again would take up to four times as long.
VOTE = Table(
    "vote",
    metadata,
    _number("assignment_id", key=True),
    _number("class_id", key=True),
    _number("image_id", key=True),
    _number("role_id"),
    Column("selected", SmallInteger, nullable=False),
    _text("time"),
    sqlite_with_rowid=False,
)
STATUS = Table(
    "assignment_status",
    metadata,
    _number("id", key=True),
    _to("assignment_id", "assignment"),
    *(_text(name) for name in ("status", "person", "reason", "time")),
    Index("assignment_status_of", "assignment_id", "id"),
)
COUNT = Table(
    "vote_count",
    metadata,
    _to("image_id", "image_name", key=True),
    _to("class_id", "class_name", key=True),
    _number("selected"),
    _number("shown"),
    sqlite_with_rowid=False,
)
PAIR = Table(
    "pair",
    metadata,
    _number("image_id", key=True),
    _number("metric_id", key=True),
    _number("other_id", key=True),
    _number("reference_id", key=True),
    Column("distance", Float(53), nullable=False),
    _number("rank"),
    sqlite_with_rowid=False,
)
VERDICT = Table(
    "verdict",
    metadata,
    _number("id", key=True),
    *(_text(name) for name in ("kind", "image", "other", "class_id", "verdict", "person", "time")),
    Index("verdict_time", "time"),
)
SELECTION = Table(
    "selection",
    metadata,
    _number("revision", key=True),
    Column("parent", Integer, ForeignKey("selection.revision")),
    _text("record"),
    _text("time"),
)
CHOSEN = Table(
    "selection_image",
    metadata,
    Column("revision", Integer, ForeignKey("selection.revision"), primary_key=True, autoincrement=False),
    _number("place", key=True),
    _to("image_id", "image_name"),
    _to("class_id", "class_name"),
    *(_number(name) for name in ("selected", "shown", "bin")),
    _to("fate_id", "word"),
    sqlite_with_rowid=False,
)
LEFT_OUT = Table(
    "selection_excluded",
    metadata,
    Column("revision", Integer, ForeignKey("selection.revision"), primary_key=True, autoincrement=False),
    _number("place", key=True),
    _to("image_id", "image_name"),
    _to("class_id", "class_name"),
    _to("reason_id", "word"),
    sqlite_with_rowid=False,
)
NOTE = Table("note", metadata, _number("id", key=True), _text("step"), _text("record"), _text("time"))

# People at work in the web pages. Secrets are kept as their SHA-256.
ACCOUNT = _names("account", _text("role"), _text("time"))
INVITE = Table(
    "invite",
    metadata,
    _number("id", key=True),
    _to("account_id", "account"),
    Column("secret", TEXT_BY_BYTES, nullable=False, unique=True),
    _text("time"),
    _text("revoked"),  # when; empty where it is good
)
SESSION = Table(
    "session",
    metadata,
    Column("secret", TEXT_BY_BYTES, primary_key=True),
    _to("invite_id", "invite"),
    _text("time"),
    _text("ends"),
)
LEASE = Table(
    "lease",
    metadata,
    _to("account_id", "account", key=True),
    _to("task_id", "task_name", key=True),
    _text("time"),
    _text("ends"),
    Index("lease_ends", "ends"),
    sqlite_with_rowid=False,
)
CLICK = Table(
    "click",
    metadata,
    _number("id", key=True),
    _to("account_id", "account"),
    _to("task_id", "task_name"),
    _number("position"),
    Column("selected", SmallInteger, nullable=False),
    _text("event"),  # the page's own name of it, so that one that is sent again counts once
    _text("time"),
    Index("click_once", "account_id", "event", unique=True),
    Index("click_of", "account_id", "task_id", "id"),
)
FINISH = Table(
    "finish",
    metadata,
    _number("id", key=True),
    _to("account_id", "account"),
    _to("task_id", "task_name"),
    _text("begun"),
    _text("time"),
    Index("finish_once", "account_id", "task_id", unique=True),
)
# What reviewers sent, so that one that is sent again counts once; what it did stands in verdicts and selections.
REVIEWED = Table(
    "reviewed",
    metadata,
    _to("account_id", "account", key=True),
    Column("event", TEXT_BY_BYTES, primary_key=True),
    _text("time"),
    sqlite_with_rowid=False,
)
# Exams that people sit themselves.
EXAM = _names("exam", _text("record"), _text("time"))
EXAM_QUESTION = Table(
    "exam_question",
    metadata,
    _to("exam_id", "exam", key=True),
    _number("position", key=True),
    _to("image_id", "image_name"),
    _text("class_ids"),  # JSON: all that are right
    _text("origin"),
    sqlite_with_rowid=False,
)
EXAM_ANSWER = Table(
    "exam_answer",
    metadata,
    _number("id", key=True),
    _to("account_id", "account"),
    _to("exam_id", "exam"),
    _number("position"),
    _text("class_id"),  # empty: "I do not know"
    _text("event"),
    _text("time"),
    Index("exam_answer_once", "account_id", "event", unique=True),
    Index("exam_answer_of", "exam_id", "account_id", "id"),
)
EXAM_HANDED_IN = Table(
    "exam_handed_in",
    metadata,
    _to("account_id", "account", key=True),
    _to("exam_id", "exam", key=True),
    _text("time"),
    sqlite_with_rowid=False,
)
