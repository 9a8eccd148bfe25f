"""Which page somebody gets next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resit.store.work import finished_since, held, hold, leases
from resit.web.demand import Keys, seen_elsewhere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from resit.store.accounts import Account
    from resit.store.work import Lease
    from resit.web.demand import Demand


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


def give(connection: Connection, account: Account, demand: Demand, time: str, ends: str) -> Given:
    """Give somebody a page: the one that they have not finished, else the next.

    A page is given to as many people at once as it still needs. Nobody gets a page with an image that they have seen for its
    class. People stay with a class as long as it has pages; pages that need fewest people come first, so that they are
    done soon.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction that writes: two people never take the last place of one page.
    account : Account
    demand : Demand
    time, ends : str
        Now, and until when the page is theirs.

    Returns
    -------
    Given
    """
    mine = leases(connection, account.id)
    room = _room(connection, demand, time)
    open_ = next((one.task_id for one in mine if _is_open(one, room, time)), None)
    had = {one.task_id for one in mine}
    rest = [task for task, places in room.items() if places > 0 and task not in had]
    if open_ is None:
        seen = _seen(connection, demand, account.name, mine)
        last = next((demand.class_of.get(one.task_id) for one in mine), None)
        order = sorted(rest, key=lambda task: (demand.class_of[task] != last, room[task], task))
        open_ = next((task for task in order if not np.isin(demand.images[task], seen).any()), None)
        if open_ is None:
            return Given(None, 0)
        rest.remove(open_)
    hold(connection, account.id, open_, time, ends)
    return Given(open_, len(rest))


def _room(connection: Connection, demand: Demand, time: str) -> dict[int, int]:
    """How many more people each task can be given to."""
    done, busy = finished_since(connection, demand.last), held(connection, time)
    return {task: need - done.get(task, 0) - busy.get(task, 0) for task, need in demand.need.items()}


def _is_open(one: Lease, room: dict[int, int], time: str) -> bool:
    """Whether a lease can be gone on with: it has not ended, or nobody took the place since."""
    return not one.finished and (one.ends > time or room.get(one.task_id, 0) > 0)


def _seen(connection: Connection, demand: Demand, person: str, mine: Sequence[Lease]) -> Keys:
    given = [demand.images[one.task_id] for one in mine if one.task_id in demand.images]
    return np.concatenate([seen_elsewhere(connection, demand, person), *given])
