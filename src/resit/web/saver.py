"""Saves clicks. Those that arrive while others are being written are written together, with one commit."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resit.store.work import Click, add_clicks, keep, lease
from resit.web.stop import Stop
from resit.web.times import moment

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

TOGETHER = 100  # requests in one commit


@dataclass(frozen=True)
class Clicks:
    """Clicks of one person on one task, in order."""

    account_id: int
    task_id: int
    clicks: tuple[Click, ...]


class Saver:
    """A thread that writes clicks.

    Parameters
    ----------
    writing : callable
        Gives a transaction that writes.
    lease : float
        Seconds for which somebody who clicks keeps the page.
    """

    def __init__(self, writing: Callable[[], AbstractContextManager[Any]], lease: float) -> None:
        self._writing, self._lease = writing, lease
        self._queue: queue.SimpleQueue[tuple[Clicks, Future[int]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="saver", daemon=True)
        self._thread.start()

    def save(self, clicks: Clicks) -> int:
        """Save clicks; when this returns they are on the disk.

        Returns
        -------
        int
            How many are new.

        Raises
        ------
        Stop
            If the page is not theirs, or they have finished it and some clicks are new.
        ResitError
            If the database cannot be written.
        """
        done: Future[int] = Future()
        self._queue.put((clicks, done))
        return done.result()

    def close(self) -> None:
        """Write what waits, then end."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            batch, more = self._batch()
            if batch:
                self._write(batch)
            if not more:
                return

    def _batch(self) -> tuple[list[tuple[Clicks, Future[int]]], bool]:
        """What waits, and whether to go on after it."""
        batch = []
        item = self._queue.get()
        while item is not None:
            batch.append(item)
            if len(batch) == TOGETHER:
                return batch, True
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _write(self, batch: list[tuple[Clicks, Future[int]]]) -> None:
        time, ends = moment(), moment(self._lease)
        try:
            with self._writing() as connection:
                results = [_saved(connection, clicks, time, ends) for clicks, _ in batch]
        except Exception as error:  # goes to those who wait for it
            for _, done in batch:
                done.set_exception(error)
            return
        for (_, done), result in zip(batch, results, strict=True):
            if isinstance(result, Stop):
                done.set_exception(result)
            else:
                done.set_result(result)


def _saved(connection: Connection, clicks: Clicks, time: str, ends: str) -> int | Stop:
    """Save the clicks of one request; what is refused leaves those of others as they are."""
    held = lease(connection, clicks.account_id, clicks.task_id)
    if held is None:
        return Stop(404, "This page was not given to you.")
    if held.finished:
        return Stop(409, "You have finished this page.")
    keep(connection, clicks.account_id, clicks.task_id, ends)
    return add_clicks(connection, clicks.account_id, clicks.task_id, clicks.clicks, time)
