"""Which page somebody gets next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.store.work import finished_since, held, hold, hold_ahead, leases, taken
from resit.web.demand import Keys, seen_elsewhere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from resit.store import Store
    from resit.store.accounts import Account
    from resit.store.work import Lease
    from resit.web.demand import Demand
    from resit.web.turns import Writer

FEW = 8  # pages that are looked up ahead, as others may take the first ones meanwhile


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody is to do.

    Parameters
    ----------
    task_id : int or None
        None where nothing is left for them, or all that is left is in the hands of others.
    left : int
        Pages after this one that still need people and of which they have seen nothing.
    """

    task_id: int | None
    left: int


def give(store: Store, writer: Writer, account: Account, demand: Demand, time: str, ends: str) -> Given:
    """Give somebody a page: the one that they have not finished, else the next.

    A page is given to as many people at once as it still needs. Nobody gets a page with an image that they have seen for its
    class. People stay with a class as long as it has pages; pages that need fewest people come first, so that they are
    done soon. The search is done before it is this thread's turn to write, and what it found is looked at again then: two
    people never take the last place of one page.

    Parameters
    ----------
    store : Store
    writer : Writer
    account : Account
    demand : Demand
    time, ends : str
        Now, and until when the page is theirs.

    Returns
    -------
    Given
    """
    while True:
        with store.reading() as connection:
            mine = leases(connection, account.id)
            room = _room(connection, demand, time)
            free = _free(connection, account, demand, mine, room)
        going_on = [one.task_id for one in mine if _is_open(one, demand, room, time)]
        options = going_on or free[:FEW]
        if not options:
            return Given(None, 0)
        with writer.writing() as connection:
            if leases(connection, account.id) != mine:
                continue
            for task in options:
                if _is_theirs(mine, task, time) or _places(connection, demand, task, time) > 0:
                    hold(connection, account.id, task, time, ends)
                    return Given(task, len(free) + len(going_on) - 1)


def give_ahead(store: Store, writer: Writer, account: Account, demand: Demand, time: str, ends: str) -> int | None:
    """Keep the next page for somebody who is at one, so that its images can be loaded meanwhile.

    Where fewer pages are free than are in people's hands, nothing is kept: the last pages go to whoever is there.

    Parameters
    ----------
    store, writer, account, demand, time, ends
        As :func:`give`.

    Returns
    -------
    int or None
        The task.
    """
    with store.reading() as connection:
        mine = leases(connection, account.id)
        room = _room(connection, demand, time)
        if kept := [one.task_id for one in mine if not one.time and _is_open(one, demand, room, time)]:
            return kept[0]
        if np.count_nonzero(room > 0) <= sum(held(connection, time).values()):
            return None
        options = _free(connection, account, demand, mine, room)[:FEW]
    with writer.writing() as connection:
        if leases(connection, account.id) == mine:
            for task in options:
                if _places(connection, demand, task, time) > 0:
                    hold_ahead(connection, account.id, task, ends)
                    return task
    return None


def _free(connection: Connection, account: Account, demand: Demand, mine: Sequence[Lease], room: Keys) -> list[int]:
    """Pages that can be given to somebody who never had them, the first one first."""
    had = np.array([one.task_id for one in mine], np.int64)
    seen = np.union1d(seen_elsewhere(connection, demand, account.name), demand.shown_on(had))
    free = np.flatnonzero((room > 0) & ~np.isin(demand.tasks, np.concatenate([had, demand.showing(seen)])))
    last = next((demand.class_of.get(one.task_id) for one in mine), None)
    elsewhere = np.ones(len(free), bool) if last is None else demand.classes[free] != last
    found: list[int] = demand.tasks[free[np.lexsort((demand.tasks[free], room[free], elsewhere))]].tolist()
    return found


def _room(connection: Connection, demand: Demand, time: str) -> Keys:
    """How many more people each task that needs some can be given to."""
    room = demand.need.copy()
    for counted in (finished_since(connection, demand.last), held(connection, time)):
        if len(demand.tasks) and counted:
            tasks = np.fromiter(counted, np.int64)
            at = np.minimum(np.searchsorted(demand.tasks, tasks), len(demand.tasks) - 1)
            known = demand.tasks[at] == tasks
            room[at[known]] -= np.fromiter(counted.values(), np.int64)[known]
    return room


def _places(connection: Connection, demand: Demand, task: int, time: str) -> int:
    """How many more people one task can be given to now."""
    return demand.needed(task) - taken(connection, task, demand.last, time)


def _is_theirs(mine: Sequence[Lease], task: int, time: str) -> bool:
    return any(one.task_id == task and one.ends > time for one in mine)


def _is_open(one: Lease, demand: Demand, room: Keys, time: str) -> bool:
    """Whether a lease can be gone on with: it has not ended, or nobody took the place since."""
    if one.finished or one.ends > time:
        return not one.finished
    at = int(np.searchsorted(demand.tasks, one.task_id))
    return at < len(demand.tasks) and demand.tasks[at] == one.task_id and room[at] > 0
