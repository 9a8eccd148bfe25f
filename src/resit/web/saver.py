"""Saves clicks. Those that arrive while others are being written are written together, with one commit."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resit.store.work import Click, add_clicks, keep, leases_of
from resit.web.stop import Stop
from resit.web.times import moment

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

    from resit.store.work import Lease

TOGETHER = 100  # requests in one commit
RENEWED = 0.9  # a lease is made longer once less than this part of it is left


@dataclass(frozen=True)
class Clicks:
    """Clicks of one person on one task, in order."""

    account_id: int
    task_id: int
    clicks: tuple[Click, ...]

    @property
    def key(self) -> tuple[int, int]:
        """Account and task."""
        return self.account_id, self.task_id


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
        self._queue: queue.SimpleQueue[tuple[Clicks, Future[None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="saver", daemon=True)
        self._thread.start()

    def save(self, clicks: Clicks) -> Future[None]:
        """Save clicks.

        Returns
        -------
        Future
            Done when they are on the disk. It raises Stop if the page is not theirs, or they have finished it, and ResitError
            if the database cannot be written.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # clicks of who does not wait for the answer are saved as well
        self._queue.put((clicks, done))
        return done

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

    def _batch(self) -> tuple[list[tuple[Clicks, Future[None]]], bool]:
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

    def _write(self, batch: list[tuple[Clicks, Future[None]]]) -> None:
        try:
            with self._writing() as connection:
                refused = self._saved(connection, [clicks for clicks, _ in batch])
        except Exception as error:  # goes to those who wait for it
            for _, done in batch:
                done.set_exception(error)
            return
        for clicks, done in batch:
            if clicks.key in refused:
                done.set_exception(refused[clicks.key])
            else:
                done.set_result(None)

    def _saved(self, connection: Connection, given: list[Clicks]) -> dict[tuple[int, int], Stop]:
        """Save clicks, but for those of accounts and tasks that are refused, which leave the others as they are."""
        held = leases_of(connection, {one.key for one in given})
        refused = {one.key: stop for one in given if (stop := _refusal(held.get(one.key)))}
        add_clicks(connection, (click for one in given if one.key not in refused for click in one.clicks), moment())
        soon = moment(RENEWED * self._lease)
        keep(connection, (key for key, lease in held.items() if key not in refused and lease.ends < soon), moment(self._lease))
        return refused


def _refusal(lease: Lease | None) -> Stop | None:
    if lease is None or not lease.time:
        return Stop(404, "This page was not given to you.")
    return Stop(409, "You have finished this page.") if lease.finished else None
