"""Long steps that are started from a page and go on in the background, one at a time.

How each ended is logged in the build's notes, so that it can be told after the server was started again.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from resit.build.steps.opened import Tell
from resit.errors import ResitError
from resit.store.selections import add_note
from resit.store.work import once
from resit.web.stop import Stop
from resit.web.times import moment

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

    from resit.store import Store
    from resit.store.accounts import Account

STEP = "web-job"
EVENT = re.compile(r"[0-9A-Za-z_-]{8,64}")
RUNNING, DONE, FAILED, INTERRUPTED = "running", "done", "failed", "interrupted"
ENDED_WITH_SERVER = "The server was ended before this was done. Start it again; what was there before is as it was."
UNEXPECTED = "Something unexpected went wrong; the log of the server tells more. What was there before is as it was."


@dataclass(frozen=True, slots=True)
class Job:
    """One step in the background.

    Parameters
    ----------
    name : str
        Of the step, such as ``sample``.
    by : str
        Who started it.
    state : {'running', 'done', 'failed', 'interrupted'}
    started, finished : str
        Times; the second is empty while it runs.
    message : str
        What is being done now, what came of it, or why it failed.
    revision : int or None
        The revision that it made, if any.
    form : mapping of str to str
        What was filled in on the page, so that it can be shown again.
    """

    name: str
    by: str
    state: str
    started: str
    finished: str = ""
    message: str = ""
    revision: int | None = None
    form: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """What a job returns.

    Parameters
    ----------
    message : str
    revision : int or None
    """

    message: str
    revision: int | None = None


class Jobs:
    """Starts steps, one at a time, and knows the last of each name. Safe in threads.

    Parameters
    ----------
    store : Store
    writing : callable
        Gives a transaction that writes.
    """

    def __init__(self, store: Store, writing: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._where, self._writing = store.where, writing
        self._lock = threading.Lock()
        self._last = _noted(store)

    def all(self) -> dict[str, Job]:
        """The last job of each name."""
        with self._lock:
            return dict(self._last)

    def last(self, name: str) -> Job | None:
        """The last job of a name."""
        return self.all().get(name)

    def running(self) -> Job | None:
        """The job that runs now."""
        return next((job for job in self.all().values() if job.state == RUNNING), None)

    def start(
        self, name: str, account: Account, event: str, work: Callable[[Tell], Ended], form: Mapping[str, str] | None = None
    ) -> None:
        """Start a job. A form that is sent again starts nothing.

        Parameters
        ----------
        name : str
        account : Account
            Who starts it.
        event : str
            The page's own name of the form.
        work : callable
            Is given a function that it tells what it is doing.
        form : mapping of str to str, optional
            What was filled in.

        Raises
        ------
        Stop
            If another one runs, or the form has no name of its own.
        OutputError
            If it cannot be logged; it is not started then.
        """
        if not EVENT.fullmatch(event):
            raise Stop(422, "What was sent does not fit. Reload the page and try again.")
        job = Job(name, account.name, RUNNING, moment(), form=form or {})
        with self._lock:
            with self._writing() as connection:
                if not once(connection, account.id, event, job.started):
                    return
                if any(one.state == RUNNING for one in self._last.values()):
                    raise Stop(409, "Something else is being done now. Wait until it is finished, then try again.")
                self._note(connection, job)
            self._last[name] = job
        threading.Thread(target=self._run, args=(job, work), name=f"job {name}", daemon=True).start()

    def _run(self, job: Job, work: Callable[[Tell], Ended]) -> None:
        def tell(step: str) -> None:
            with self._lock:
                self._last[job.name] = replace(job, message=step)

        try:
            ended = work(tell)
            done = replace(job, state=DONE, message=ended.message, revision=ended.revision)
        except (ResitError, Stop) as error:
            done = replace(job, state=FAILED, message=str(error))
        except Exception:  # a page tells of it, as there is nobody who could catch it
            logging.getLogger("resit.web").exception("%s failed", job.name)
            done = replace(job, state=FAILED, message=UNEXPECTED)
        done = replace(done, finished=moment())
        try:
            with self._writing() as connection:
                self._note(connection, done)
        except ResitError as error:
            logging.getLogger("resit.web").error("%s: its end is not logged: %s", job.name, error)
        with self._lock:
            self._last[job.name] = done

    def _note(self, connection: Connection, job: Job) -> None:
        add_note(connection, STEP, asdict(job), job.finished or job.started, self._where)


def _noted(store: Store) -> dict[str, Job]:
    """The last job of each name by the log; one that never ended did so with the server."""
    found: dict[str, Job] = {}
    for note in store.notes():
        if note.step == STEP:
            record: dict[str, Any] = note.record
            found[record["name"]] = Job(**record)
    return {
        name: replace(job, state=INTERRUPTED, message=ENDED_WITH_SERVER) if job.state == RUNNING else job
        for name, job in found.items()
    }
