"""Lets the threads of this process write one after the other, in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from resit.store import Store


class Turns:
    """A lock that is handed on in order: Python's own goes to whoever is quickest, and lets others wait long.

    Use it in a ``with``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


class Writer:
    """Transactions that write, one at a time: a database that is asked by many at once lets some wait long.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store, self._turns = store, Turns()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes."""
        with self._turns, self._store.writing() as connection:
            yield connection
