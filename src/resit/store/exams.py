"""Exams that people sit themselves: what is asked, each answer as it came, and who handed it in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlalchemy import func, insert, select

from resit.errors import InputError
from resit.store.bulk import next_number
from resit.store.checks import checked_time
from resit.store.layout import ACCOUNT, EXAM, EXAM_ANSWER, EXAM_HANDED_IN, EXAM_QUESTION, IMAGE_NAME
from resit.store.names import number_known

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Table


@dataclass(frozen=True)
class Exam:
    """An exam without its questions.

    Parameters
    ----------
    id : int
    name : str
    record : dict
        What the step that made it tells of it.
    time : str
    """

    id: int
    name: str
    record: dict[str, Any]
    time: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One image of an exam.

    Parameters
    ----------
    position : int
        From 0, in the exam's own order, which no person sees.
    image : str
    class_ids : tuple of str
        All that are right.
    origin : str
    """

    position: int
    image: str
    class_ids: tuple[str, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody says that an image is; an empty class is "I do not know"."""

    event: str
    position: int
    class_id: str


@dataclass(frozen=True, slots=True)
class Sitting:
    """One person in one exam: the last answer by position, and when it was handed in, if it was."""

    account_id: int
    person: str
    answers: dict[int, str]
    handed_in: str | None


def add_exam(connection: Connection, name: str, record: dict[str, Any], questions: Sequence[Asked], time: str) -> int:
    """Add an exam.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction that writes.
    name : str
    record : dict
        Of what JSON holds.
    questions : sequence of Asked
    time : str

    Returns
    -------
    int
        Its number.

    Raises
    ------
    InputError
        If there is one of that name, or an image that was never added.
    """
    if exam_named(connection, name) is not None:
        raise InputError(f"an exam {name} already", where="exam", fix="Give another --name: an exam never changes.")
    number = next_number(connection, EXAM.c.id)
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, sort_keys=True)
    connection.execute(insert(EXAM), {"id": number, "name": name, "record": text, "time": checked_time(time, "exam")})
    images = number_known(connection, pa.chunked_array([pa.array([one.image for one in questions], pa.string())]), "exam")
    rows = [
        {
            "exam_id": number,
            "position": one.position,
            "image_id": int(image),
            "class_ids": json.dumps(one.class_ids, ensure_ascii=False),
            "origin": one.origin,
        }
        for one, image in zip(questions, images, strict=True)
    ]
    connection.execute(insert(EXAM_QUESTION), rows)
    return number


def exams(connection: Connection) -> list[Exam]:
    """All exams, first to last."""
    rows = connection.execute(select(EXAM.c.id, EXAM.c.name, EXAM.c.record, EXAM.c.time).order_by(EXAM.c.id))
    return [Exam(row.id, row.name, json.loads(row.record), row.time) for row in rows]


def exam_named(connection: Connection, name: str) -> Exam | None:
    """One exam, or None."""
    return next((one for one in exams(connection) if one.name == name), None)


def some_exam(connection: Connection) -> bool:
    """Whether there is any."""
    return connection.execute(select(EXAM.c.id).limit(1)).first() is not None


def questions(connection: Connection, exam: int) -> list[Asked]:
    """What an exam asks, in its own order."""
    wanted = (EXAM_QUESTION.c.position, IMAGE_NAME.c.name, EXAM_QUESTION.c.class_ids, EXAM_QUESTION.c.origin)
    statement = select(*wanted).join(IMAGE_NAME, IMAGE_NAME.c.id == EXAM_QUESTION.c.image_id)
    rows = connection.execute(statement.where(EXAM_QUESTION.c.exam_id == exam).order_by(EXAM_QUESTION.c.position))
    return [Asked(position, image, tuple(json.loads(classes)), origin) for position, image, classes, origin in rows]


def _of(table: Table, account_id: int, exam: int) -> ColumnElement[bool]:
    return (table.c.account_id == account_id) & (table.c.exam_id == exam)


def add_answers(connection: Connection, account_id: int, exam: int, answers: Sequence[Answer], time: str) -> int:
    """Add answers in their order; those whose event is known count once.

    Returns
    -------
    int
        How many are new.
    """
    wanted = unknown_events(connection, account_id, [one.event for one in answers])
    fresh: dict[str, Answer] = {}
    for one in answers:
        if one.event in wanted:
            fresh.setdefault(one.event, one)
    first = next_number(connection, EXAM_ANSWER.c.id)
    same = {"account_id": account_id, "exam_id": exam, "time": time}
    rows = [
        {"id": first + at, "position": one.position, "class_id": one.class_id, "event": one.event, **same}
        for at, one in enumerate(fresh.values())
    ]
    if rows:
        connection.execute(insert(EXAM_ANSWER), rows)
    return len(rows)


def unknown_events(connection: Connection, account_id: int, events: Sequence[str]) -> set[str]:
    """Those events of somebody's answers that were not stored yet."""
    known = (EXAM_ANSWER.c.account_id == account_id) & EXAM_ANSWER.c.event.in_(list(events))
    return set(events) - set(connection.execute(select(EXAM_ANSWER.c.event).where(known)).scalars())


def last_answers(connection: Connection, account_id: int, exam: int) -> dict[int, str]:
    """The last answer of somebody to each image, by position; those without one are left out."""
    statement = select(EXAM_ANSWER.c.position, EXAM_ANSWER.c.class_id).where(_of(EXAM_ANSWER, account_id, exam))
    return {row.position: row.class_id for row in connection.execute(statement.order_by(EXAM_ANSWER.c.id))}


def hand_in(connection: Connection, account_id: int, exam: int, time: str) -> bool:
    """Note that somebody is done with an exam; False where that was noted before."""
    if handed_in(connection, account_id, exam) is not None:
        return False
    connection.execute(insert(EXAM_HANDED_IN), {"account_id": account_id, "exam_id": exam, "time": time})
    return True


def handed_in(connection: Connection, account_id: int, exam: int) -> str | None:
    """When somebody handed an exam in, or None."""
    found = connection.execute(select(EXAM_HANDED_IN.c.time).where(_of(EXAM_HANDED_IN, account_id, exam))).scalar()
    return None if found is None else str(found)


def sittings(connection: Connection, exam: int) -> list[Sitting]:
    """Everybody who answered anything or handed an exam in, by name."""
    statement = select(EXAM_ANSWER.c.account_id, EXAM_ANSWER.c.position, EXAM_ANSWER.c.class_id)
    found: dict[int, dict[int, str]] = {}
    for row in connection.execute(statement.where(EXAM_ANSWER.c.exam_id == exam).order_by(EXAM_ANSWER.c.id)):
        found.setdefault(row.account_id, {})[row.position] = row.class_id
    ended = select(EXAM_HANDED_IN.c.account_id, EXAM_HANDED_IN.c.time).where(EXAM_HANDED_IN.c.exam_id == exam)
    done = {row.account_id: row.time for row in connection.execute(ended)}
    names = connection.execute(select(ACCOUNT.c.id, ACCOUNT.c.name).where(ACCOUNT.c.id.in_(sorted({*found, *done}))))
    rows = [Sitting(row.id, row.name, found.get(row.id, {}), done.get(row.id)) for row in names]
    return sorted(rows, key=lambda row: row.person)


def count_sittings(connection: Connection, exam: int) -> tuple[int, int]:
    """How many people answered anything, and how many handed in."""
    begun = select(func.count(func.distinct(EXAM_ANSWER.c.account_id))).where(EXAM_ANSWER.c.exam_id == exam)
    ended = select(func.count()).select_from(EXAM_HANDED_IN).where(EXAM_HANDED_IN.c.exam_id == exam)
    return int(connection.execute(begun).scalar() or 0), int(connection.execute(ended).scalar() or 0)
