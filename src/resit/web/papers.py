"""Exams as they are stored. They never change, so the ones that were asked for are kept in memory."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resit.errors import ResitError
from resit.store.exams import Asked, exams, questions, some_exam
from resit.web.sent import as_number
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.store import Store

EVERY = 2.0  # seconds between two looks at whether there is an exam by now


@dataclass(frozen=True, slots=True)
class Paper:
    """An exam.

    Parameters
    ----------
    number : int
        In the database.
    name : str
    record : dict
        What the step that made it tells of it.
    questions : tuple of Asked
        In its own order.
    """

    number: int
    name: str
    record: dict[str, Any]
    questions: tuple[Asked, ...]


class Papers:
    """Exams by number. Safe in threads.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._kept: dict[int, Paper] = {}
        self._some, self._looked = False, -EVERY

    def get(self, number: str) -> Paper:
        """An exam by its number as it stands in an address.

        Raises
        ------
        Stop
            If there is none.
        """
        key = as_number(number)
        with self._lock:
            if key in self._kept:
                return self._kept[key]
        with self._store.reading() as connection:
            found = next((one for one in exams(connection) if one.id == key), None)
            if found is None:
                raise Stop(404, "There is no such exam.")
            paper = Paper(found.id, found.name, found.record, tuple(questions(connection, found.id)))
        with self._lock:
            self._kept[key] = paper
        return paper

    def some(self) -> bool:
        """Whether the build has an exam, at most `EVERY` seconds behind; as it was known where the database does not answer."""
        with self._lock:
            if self._some or time.monotonic() - self._looked < EVERY:
                return self._some
            self._looked = time.monotonic()
        try:
            with self._store.reading() as connection:
                found = some_exam(connection)
        except ResitError:  # a page that tells of it needs this answer too
            return self._some
        with self._lock:
            self._some = found
        return found
