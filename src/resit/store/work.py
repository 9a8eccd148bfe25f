"""People at work on tasks: who holds which task until when, their clicks, and the pages that they finished."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, exists, func, insert, select, tuple_, update

from resit.store.bulk import next_number
from resit.store.layout import CLASS_NAME, CLICK, FINISH, IMAGE_NAME, LEASE, REVIEWED, TASK, TASK_NAME, WORD

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Table


@dataclass(frozen=True, slots=True)
class Lease:
    """That somebody was given a task.

    Parameters
    ----------
    task_id : int
    time, ends : str
        When it was given first, empty where it is only kept for later, and until when it is theirs.
    finished : bool
    """

    task_id: int
    time: str
    ends: str
    finished: bool


@dataclass(frozen=True, slots=True)
class Click:
    """One image marked or unmarked.

    Parameters
    ----------
    account_id, task_id : int
        Whose click it is, and on which task.
    event : str
        The page's own name of it.
    position : int
        Of the image in its task, from 0.
    selected : bool
    """

    account_id: int
    task_id: int
    event: str
    position: int
    selected: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """What was clicked last on an image."""

    selected: bool
    time: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An image of a task."""

    position: int
    image: str
    role: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A page that somebody is done with."""

    account_id: int
    task: str
    begun: str
    time: str


def _of(table: Table, account_id: ColumnElement[int], task_id: ColumnElement[int]) -> ColumnElement[bool]:
    return (table.c.account_id == account_id) & (table.c.task_id == task_id)


# Statements that each click or page needs are built once.
WHO, WHICH, WHEN = bindparam("account"), bindparam("task"), bindparam("time")
_OPEN = (LEASE.c.ends > WHEN) & ~exists().where(_of(FINISH, LEASE.c.account_id, LEASE.c.task_id))
_LEASE = select(
    *(LEASE.c[name] for name in ("account_id", "task_id", "time", "ends")),
    exists().where(_of(FINISH, LEASE.c.account_id, LEASE.c.task_id)).label("finished"),
)
_LEASES = _LEASE.where(LEASE.c.account_id == WHO).order_by(LEASE.c.time.desc(), LEASE.c.task_id)
_LEASES_OF = _LEASE.where(tuple_(LEASE.c.account_id, LEASE.c.task_id).in_(bindparam("pairs", expanding=True)))
_ADD_LEASE = insert(LEASE)
_KEEP = update(LEASE).where(_of(LEASE, WHO, WHICH)).values(ends=bindparam("until"))
_BEGIN = update(LEASE).where(_of(LEASE, WHO, WHICH)).values(time=bindparam("begun"), ends=bindparam("until"))
_HELD = select(LEASE.c.task_id, func.count()).where(_OPEN).group_by(LEASE.c.task_id)
_HOLDING = select(func.count()).where((LEASE.c.task_id == WHICH) & _OPEN).scalar_subquery()
_SINCE = select(func.count()).where((FINISH.c.task_id == WHICH) & (FINISH.c.id > bindparam("last"))).scalar_subquery()
_TAKEN = select(_HOLDING + _SINCE)
_CLICK_KEY = (CLICK.c.account_id, CLICK.c.event)
_KNOWN = select(*_CLICK_KEY).where(tuple_(*_CLICK_KEY).in_(bindparam("pairs", expanding=True)))
_ADD_CLICKS = insert(CLICK)
_MARKS = select(CLICK.c.position, CLICK.c.selected, CLICK.c.time).where(_of(CLICK, WHO, WHICH)).order_by(CLICK.c.id)


def _as_lease(row: Any) -> Lease:
    return Lease(row.task_id, row.time, row.ends, bool(row.finished))


def leases(connection: Connection, account_id: int) -> list[Lease]:
    """All tasks that somebody was ever given, the last one first; at the end those that are kept for later."""
    return [_as_lease(row) for row in connection.execute(_LEASES, {"account": account_id})]


def lease(connection: Connection, account_id: int, task_id: int) -> Lease | None:
    """One lease, or None where the task was never given to them."""
    return leases_of(connection, [(account_id, task_id)]).get((account_id, task_id))


def leases_of(connection: Connection, pairs: Collection[tuple[int, int]]) -> dict[tuple[int, int], Lease]:
    """Leases by account and task; what was never given to them is left out."""
    return {(row[0], row[1]): _as_lease(row) for row in connection.execute(_LEASES_OF, {"pairs": list(pairs)})}


def hold(connection: Connection, account_id: int, task_id: int, time: str, ends: str) -> None:
    """Give somebody a task, or let them keep it for longer."""
    known = lease(connection, account_id, task_id)
    key = {"account": account_id, "task": task_id}
    if known is None:
        connection.execute(_ADD_LEASE, {"account_id": account_id, "task_id": task_id, "time": time, "ends": ends})
    elif known.time:
        connection.execute(_KEEP, {**key, "until": ends})
    else:
        connection.execute(_BEGIN, {**key, "begun": time, "until": ends})


def hold_ahead(connection: Connection, account_id: int, task_id: int, ends: str) -> None:
    """Keep a task for somebody who never had it; it is given to them by :func:`hold`."""
    connection.execute(_ADD_LEASE, {"account_id": account_id, "task_id": task_id, "time": "", "ends": ends})


def keep(connection: Connection, pairs: Iterable[tuple[int, int]], ends: str) -> None:
    """Let people keep tasks until another time, by account and task."""
    these = [{"account": account_id, "task": task_id, "until": ends} for account_id, task_id in pairs]
    if these:
        connection.execute(_KEEP, these)


def let_go(connection: Connection, account_id: int, time: str) -> None:
    """End all leases of somebody."""
    connection.execute(update(LEASE).where((LEASE.c.account_id == account_id) & (LEASE.c.ends > time)).values(ends=time))


def held(connection: Connection, time: str) -> dict[int, int]:
    """How many people hold each task that they have not finished."""
    return {row[0]: row[1] for row in connection.execute(_HELD, {"time": time})}


def taken(connection: Connection, task_id: int, last: int, time: str) -> int:
    """How many people hold a task that they have not finished, or finished it after some other finish."""
    return int(connection.execute(_TAKEN, {"task": task_id, "last": last, "time": time}).scalar_one())


def add_clicks(connection: Connection, clicks: Iterable[Click], time: str) -> None:
    """Add clicks in their order; those whose event is known of who made them count once."""
    fresh = {(click.account_id, click.event): click for click in clicks}
    if not fresh:
        return
    for known in connection.execute(_KNOWN, {"pairs": list(fresh)}).all():
        del fresh[known[0], known[1]]
    first = next_number(connection, CLICK.c.id)
    rows = [
        {
            "id": first + at,
            "account_id": click.account_id,
            "task_id": click.task_id,
            "position": click.position,
            "selected": int(click.selected),
            "event": click.event,
            "time": time,
        }
        for at, click in enumerate(fresh.values())
    ]
    if rows:
        connection.execute(_ADD_CLICKS, rows)


def marks(connection: Connection, account_id: int, task_id: int) -> dict[int, Mark]:
    """The last click on each image of a task, by position; images without one are left out."""
    found = connection.execute(_MARKS, {"account": account_id, "task": task_id})
    return {position: Mark(bool(selected), time) for position, selected, time in found}


def task_named(connection: Connection, name: str) -> tuple[int, str, str] | None:
    """Number, name and class of a task by its name, or None."""
    return _task(connection, TASK_NAME.c.name == name)


def task_numbered(connection: Connection, number: int) -> tuple[int, str, str] | None:
    """Number, name and class of a task by its number, or None."""
    return _task(connection, TASK_NAME.c.id == number)


def _task(connection: Connection, which: ColumnElement[bool]) -> tuple[int, str, str] | None:
    statement = select(TASK_NAME.c.id, TASK_NAME.c.name, CLASS_NAME.c.name).join(TASK, TASK.c.task_id == TASK_NAME.c.id)
    statement = statement.join(CLASS_NAME, CLASS_NAME.c.id == TASK.c.class_id).where(which).limit(1)
    row: Any = connection.execute(statement).first()
    return None if row is None else (row[0], row[1], row[2])


def page(connection: Connection, task_id: int) -> list[Shown]:
    """Images of a task, in order."""
    statement = select(TASK.c.position, IMAGE_NAME.c.name, WORD.c.name).join(IMAGE_NAME, IMAGE_NAME.c.id == TASK.c.image_id)
    statement = statement.join(WORD, WORD.c.id == TASK.c.role_id).where(TASK.c.task_id == task_id)
    return [Shown(*row) for row in connection.execute(statement.order_by(TASK.c.position))]


def add_finish(connection: Connection, account_id: int, task_id: int, begun: str, time: str) -> None:
    """Note that somebody is done with a task."""
    values = {"account_id": account_id, "task_id": task_id, "begun": begun, "time": time}
    connection.execute(insert(FINISH), {"id": next_number(connection, FINISH.c.id), **values})


def last_finish(connection: Connection) -> int:
    """Number of the page that was finished last; 0 where there is none."""
    return next_number(connection, FINISH.c.id) - 1


def finished_since(connection: Connection, last: int) -> dict[int, int]:
    """How many people finished each task after some other finish."""
    statement = select(FINISH.c.task_id, func.count()).where(FINISH.c.id > last).group_by(FINISH.c.task_id)
    return {row[0]: row[1] for row in connection.execute(statement)}


def finished(connection: Connection, account_id: int | None = None) -> list[Finished]:
    """Pages that somebody, or everybody, is done with, the first one first."""
    statement = select(FINISH.c.account_id, TASK_NAME.c.name, FINISH.c.begun, FINISH.c.time)
    statement = statement.join(TASK_NAME, TASK_NAME.c.id == FINISH.c.task_id).order_by(FINISH.c.id)
    if account_id is not None:
        statement = statement.where(FINISH.c.account_id == account_id)
    return [Finished(*row) for row in connection.execute(statement)]


def once(connection: Connection, account_id: int, event: str, time: str) -> bool:
    """Note what a reviewer sent; False where the same was noted before, and must not be done again.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In the transaction that does it.
    account_id : int
    event : str
        The page's own name of what was sent.
    time : str
    """
    known = (REVIEWED.c.account_id == account_id) & (REVIEWED.c.event == event)
    if connection.execute(select(REVIEWED.c.event).where(known)).first():
        return False
    connection.execute(insert(REVIEWED), {"account_id": account_id, "event": event, "time": time})
    return True
