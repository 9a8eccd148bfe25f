"""A finished page becomes votes."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from resit.store.schemas import VOTES, table
from resit.store.votes import add_votes, answered
from resit.store.work import add_finish, lease, marks
from resit.web.stop import Stop

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from resit.store.accounts import Account
    from resit.web.tasks import Task


def assignment_of(task: str, person: str) -> str:
    """Name of one person's answer to one task."""
    return f"{task}:{person}"


def finish(
    connection: Connection,
    account: Account,
    task: Task,
    selected: Collection[int],
    *,
    time: str,
    where: str,
) -> bool:
    """Turn the clicks of somebody on a page into votes, once; of images that they answered elsewhere meanwhile, none.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction that writes: the votes and that the page is finished are stored together.
    account : Account
    task : Task
    selected : collection of int
        Positions that the person sees as selected.
    time : str
        Now. An image that was clicked has the time of its last click.
    where : str
        The database, for messages.

    Returns
    -------
    bool
        False where the page was finished before; nothing changes then.

    Raises
    ------
    Stop
        If the page is not theirs, or what they see is not what is stored.
    """
    held = lease(connection, account.id, task.number)
    if held is None or not held.time:
        raise Stop(404, "This page was not given to you.")
    if held.finished:
        return False
    last = marks(connection, account.id, task.number)
    if {position for position, mark in last.items() if mark.selected} != set(selected):
        raise Stop(412, "This page was changed on another device or in another window. Look at it again, then press Done.")
    before = answered(connection, account.name, task.class_id)
    shown = [one for one in task.shown if one.image not in before]
    n = len(shown)
    votes = {
        "image": [one.image for one in shown],
        "class_id": [task.class_id] * n,
        "person": [account.name] * n,
        "assignment": [assignment_of(task.name, account.name)] * n,
        "role": [one.role for one in shown],
        "selected": [one.position in last and last[one.position].selected for one in shown],
        "time": [last[one.position].time if one.position in last else time for one in shown],
    }
    if shown:
        add_votes(connection, table(VOTES, votes), where)
    add_finish(connection, account.id, task.number, held.time, time)
    return True
