"""What one person answered: their assignments, and the votes of one of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, case, func, or_, select

from resit.store.layout import ASSIGNMENT, CLASS_NAME, IMAGE_NAME, PERSON_NAME, VOTE, WORD
from resit.store.votes import DECISIONS, last_status

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Answer:
    """One person's answer to one task.

    Parameters
    ----------
    assignment, class_id : str
    votes, selected : int
        Images that were shown, and those that the person selected.
    right, controls : int
        Controls that were answered right, and all of them.
    time : str
        Of the last vote.
    status : {'accepted', 'rejected'}
    reason : str
    """

    assignment: str
    class_id: str
    votes: int
    selected: int
    right: int
    controls: int
    time: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Given:
    """One vote: the image, its role in the task, and whether it was selected."""

    image: str
    role: str
    selected: bool


_IS_CONTROL = WORD.c.name.in_(("positive", "negative"))
_IS_RIGHT = or_(and_(WORD.c.name == "positive", VOTE.c.selected == 1), and_(WORD.c.name == "negative", VOTE.c.selected == 0))


def answers_of(connection: Connection, person: str) -> list[Answer]:
    """All answers of a person, the newest first; an answer is to one class.

    Parameters
    ----------
    connection : sqlalchemy.Connection
    person : str
    """
    last = last_status().subquery()
    status, reason = func.coalesce(last.c.status, DECISIONS[0]), func.coalesce(last.c.reason, "")
    time = func.max(VOTE.c.time)
    counts = (
        func.count(),
        func.sum(VOTE.c.selected),
        func.sum(case((_IS_RIGHT, 1), else_=0)),
        func.sum(case((_IS_CONTROL, 1), else_=0)),
    )
    statement = (
        select(ASSIGNMENT.c.name, CLASS_NAME.c.name, *counts, time, status, reason)
        .join(PERSON_NAME, PERSON_NAME.c.id == ASSIGNMENT.c.person_id)
        .join(VOTE, VOTE.c.assignment_id == ASSIGNMENT.c.id)
        .join(CLASS_NAME, CLASS_NAME.c.id == VOTE.c.class_id)
        .join(WORD, WORD.c.id == VOTE.c.role_id)
        .outerjoin(last, last.c.assignment_id == ASSIGNMENT.c.id)
        .where(PERSON_NAME.c.name == person)
        .group_by(ASSIGNMENT.c.name, CLASS_NAME.c.name, last.c.status, last.c.reason)
        .order_by(time.desc(), ASSIGNMENT.c.name)
    )
    return [Answer(*row) for row in connection.execute(statement)]


def votes_of(connection: Connection, assignment: str) -> list[Given]:
    """The votes of an assignment, by image.

    Parameters
    ----------
    connection : sqlalchemy.Connection
    assignment : str
    """
    statement = (
        select(IMAGE_NAME.c.name, WORD.c.name, VOTE.c.selected)
        .join(ASSIGNMENT, ASSIGNMENT.c.id == VOTE.c.assignment_id)
        .join(IMAGE_NAME, IMAGE_NAME.c.id == VOTE.c.image_id)
        .join(WORD, WORD.c.id == VOTE.c.role_id)
        .where(ASSIGNMENT.c.name == assignment)
        .order_by(IMAGE_NAME.c.name)
    )
    return [Given(image, role, bool(selected)) for image, role, selected in connection.execute(statement)]


def person_of(connection: Connection, assignment: str) -> str | None:
    """Whose answer an assignment is; None where there is none."""
    whose = select(PERSON_NAME.c.name).join(ASSIGNMENT, ASSIGNMENT.c.person_id == PERSON_NAME.c.id)
    found: str | None = connection.scalar(whose.where(ASSIGNMENT.c.name == assignment))
    return found
