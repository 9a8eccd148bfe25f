"""How many people each task still needs, without counting all votes for every page.

Votes are counted once; pages that are finished since are taken off by their number. Only what comes from outside the pages
(imports, decisions on assignments, new tasks) makes it necessary to count again.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import func, select

from resit.build.voting.plan import still_to_ask
from resit.store.bulk import read
from resit.store.images import tasks
from resit.store.layout import ASSIGNMENT, COUNT, FINISH, PERSON_NAME, STATUS, TASK, TASK_NAME, VOTE
from resit.store.votes import counts
from resit.store.work import last_finish

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from resit.store import Store

Keys = npt.NDArray[np.int64]
EVERY = 2.0  # seconds between two looks at whether something came from outside
CLASS_SHIFT = 32


@dataclass(frozen=True)
class Demand:
    """What was needed at one time.

    Parameters
    ----------
    stamp : tuple of int
        Tells whether something came from outside the pages since.
    last : int
        Number of the last page that was finished at that time.
    tasks, need, classes : ndarray of int64
        Numbers of the tasks that needed somebody, ascending; how many more people each needed, and its class.
    class_of : dict of int to int
        The class of each task.
    tasks_of, keys : ndarray of int64
        Of each place on any page its task, ascending, and its class and image in one number.
    by_key : ndarray of int64
        The places in the order of these.
    seen : dict of str to ndarray
        Class and image of what people answered elsewhere, filled when asked for.
    """

    stamp: tuple[int, ...]
    last: int
    tasks: Keys
    need: Keys
    classes: Keys
    class_of: dict[int, int]
    tasks_of: Keys
    keys: Keys
    by_key: Keys
    seen: dict[str, Keys] = field(default_factory=dict)

    def needed(self, task: int) -> int:
        """How many more people a task needed."""
        at = int(np.searchsorted(self.tasks, task))
        return int(self.need[at]) if at < len(self.tasks) and self.tasks[at] == task else 0

    def shown_on(self, tasks: Keys) -> Keys:
        """Class and image of all places of some tasks."""
        return self.keys[_places(self.tasks_of, tasks)]

    def showing(self, keys: Keys) -> Keys:
        """Tasks on which any image of some is, for its class."""
        return self.tasks_of[self.by_key[_places(self.keys[self.by_key], keys)]]


def _places(ordered: Keys, wanted: Keys) -> Keys:
    """Where the wanted values are in an ordered array, all of them."""
    first, end = (np.searchsorted(ordered, wanted, side) for side in ("left", "right"))
    n = end - first
    return np.asarray(np.repeat(end - n.cumsum(), n) + np.arange(n.sum()), np.int64)


class Demands:
    """Keeps the last count, and counts again where needed. Safe in threads.

    Parameters
    ----------
    store : Store
    people : int
        Fewest people who see each candidate.
    """

    def __init__(self, store: Store, people: int) -> None:
        self._store, self._people = store, people
        self._lock = threading.Lock()
        self._last: Demand | None = None
        self._looked = 0.0

    def get(self) -> Demand:
        """What is needed, at most `EVERY` seconds behind what comes from outside."""
        with self._lock:
            if self._last is None or time.monotonic() - self._looked > EVERY:
                with self._store.reading() as connection:
                    stamp = _stamp(connection)
                    if self._last is None or self._last.stamp != stamp:
                        self._last = _counted(connection, stamp, self._people)
                self._looked = time.monotonic()
            return self._last

    def forget(self) -> None:
        """Look again at the next call: something was changed here."""
        self._looked = 0.0


def _stamp(connection: Connection) -> tuple[int, ...]:
    """A page that is finished adds one assignment and one finish; anything else changes one of these numbers."""
    size = [select(func.count()).select_from(table).scalar_subquery() for table in (ASSIGNMENT, FINISH, COUNT)]
    last = [select(func.max(column)).scalar_subquery() for column in (STATUS.c.id, TASK_NAME.c.id)]
    answered, finished, *rest = connection.execute(select(*size, *last)).one()
    return (answered - finished, *(number or 0 for number in rest))


def _counted(connection: Connection, stamp: tuple[int, ...], people: int) -> Demand:
    names = {row.name: row.id for row in connection.execute(select(TASK_NAME.c.id, TASK_NAME.c.name))}
    asked = still_to_ask(tasks(connection), counts(connection, None), people)
    need = np.array(sorted((names[name], number) for name, number in asked.items()), np.int64).reshape(-1, 2)
    columns = ("task_id", "class_id", "image_id")
    found = read(connection, select(*(TASK.c[name] for name in columns)), dict.fromkeys(columns, "int64"))
    rows = np.stack([column.to_numpy() for column in found.columns], 1)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    keys = (rows[:, 1] << CLASS_SHIFT) | rows[:, 2]
    class_of = dict(rows[:, :2].tolist())
    return Demand(
        stamp,
        last_finish(connection),
        need[:, 0],
        need[:, 1],
        np.array([class_of[task] for task in need[:, 0].tolist()], np.int64),
        class_of,
        rows[:, 0].copy(),
        keys,
        np.argsort(keys, kind="stable"),
    )


def seen_elsewhere(connection: Connection, demand: Demand, person: str) -> Keys:
    """Class and image, in one number, of all that a person answered; what they were given here since is not in it."""
    if person not in demand.seen:
        statement = select(VOTE.c.class_id, VOTE.c.image_id).join(ASSIGNMENT, VOTE.c.assignment_id == ASSIGNMENT.c.id)
        statement = statement.join(PERSON_NAME, PERSON_NAME.c.id == ASSIGNMENT.c.person_id).where(PERSON_NAME.c.name == person)
        rows: Any = np.array(connection.execute(statement).all(), np.int64).reshape(-1, 2)
        demand.seen[person] = np.unique((rows[:, 0] << CLASS_SHIFT) | rows[:, 1])
    return demand.seen[person]
