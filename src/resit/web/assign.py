"""Which page somebody gets next."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from resit.store.work import finished_since, held, hold, leases, taken
from resit.web.demand import Keys, seen_elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from resit.store import Store
    from resit.store.accounts import Account
    from resit.store.work import Lease
    from resit.web.demand import Demand
    from resit.web.office import Writer

FEW = 8  # pages that are looked up ahead, as others may take the first ones meanwhile


@dataclass(frozen=True, slots=True)
class Given:
    """What somebody is to do.

    Parameters
    ----------
    task_id : int or None
        None where nothing is left for them, or all that is left is in the hands of others.
    left : int
        Pages after this one that still need people and that they have not had.
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
            options, left = _options(connection, account, demand, mine, time)
        if not options:
            return Given(None, 0)
        with writer.writing() as connection:
            if leases(connection, account.id) != mine:
                continue
            for task in options:
                if _is_theirs(mine, task, time) or _places(connection, demand, task, time) > 0:
                    hold(connection, account.id, task, time, ends)
                    return Given(task, left)


def _options(
    connection: Connection, account: Account, demand: Demand, mine: Sequence[Lease], time: str
) -> tuple[list[int], int]:
    """Pages to give, the first one first, and how many are left after it."""
    room = _room(connection, demand, time)
    had = np.array([one.task_id for one in mine], np.int64)
    free = np.flatnonzero((room > 0) & ~np.isin(demand.tasks, had))
    open_ = next((one.task_id for one in mine if _is_open(one, demand, room, time)), None)
    if open_ is not None:
        return [open_], len(free)
    seen = _seen(connection, demand, account.name, mine)
    last = next((demand.class_of.get(one.task_id) for one in mine), None)
    elsewhere = np.ones(len(free), bool) if last is None else demand.classes[free] != last
    order = free[np.lexsort((demand.tasks[free], room[free], elsewhere))]
    return list(islice(_unseen(demand, demand.tasks[order].tolist(), seen), FEW)), len(free) - 1


def _unseen(demand: Demand, tasks: Sequence[int], seen: Keys) -> Iterator[int]:
    return (task for task in tasks if not np.isin(demand.images[task], seen).any())


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


def _seen(connection: Connection, demand: Demand, person: str, mine: Sequence[Lease]) -> Keys:
    given = [demand.images[one.task_id] for one in mine if one.task_id in demand.images]
    return np.concatenate([seen_elsewhere(connection, demand, person), *given])
