"""Tasks as they are stored. They never change, so the last ones that were asked for are kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resit.store.work import Shown, page, task_named, task_numbered
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.store import Store

KEPT = 1_000


@dataclass(frozen=True, slots=True)
class Task:
    """A task.

    Parameters
    ----------
    number : int
        In the database.
    name, class_id : str
    shown : tuple of Shown
        Its images, in order.
    """

    number: int
    name: str
    class_id: str
    shown: tuple[Shown, ...]


class Tasks:
    """Tasks by name and by number. Safe in threads.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._kept: OrderedDict[str | int, Task] = OrderedDict()

    def kept(self, key: str | int) -> Task | None:
        """A task, if it is in memory."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def get(self, key: str | int) -> Task:
        """A task by its name, or by its number.

        Raises
        ------
        Stop
            If there is none.
        """
        if (kept := self.kept(key)) is not None:
            return kept
        with self._store.reading() as connection:
            found = task_named(connection, key) if isinstance(key, str) else task_numbered(connection, key)
            if found is None:
                raise Stop(404, "There is no such page.")
            task = Task(*found, tuple(page(connection, found[0])))
        with self._lock:
            self._kept[key] = task
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return task
