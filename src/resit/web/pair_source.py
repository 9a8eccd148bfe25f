"""Makes the list of pairs in the background and keeps it up to date: anew after a search, else by the verdicts that came."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from resit.build.steps.dedupe import DEDUPE, out_of_date
from resit.build.steps.pool import check_metrics
from resit.errors import ResitError
from resit.store.layout import NOTE, VERDICT
from resit.store.schemas import PAIRS, table
from resit.web.pair_list import PairList, Said
from resit.web.stop import Stop

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from resit.build.steps.opened import Build

EVERY = 2.0  # seconds between two looks at whether there was another search
AGAIN = 30.0  # seconds after which a list that could not be made is tried again
NOT_MADE = "The list of pairs could not be made; the log of the server tells why. It is tried again in a while."
NO_SEARCH = "Near-duplicates were not looked for yet, or not as the build's settings say now. An admin can start that."
NO_TARGET = "The build's settings ask for no pair to be looked at: no measure of nearness has a target."


@dataclass(frozen=True)
class Made:
    """A list as it was made.

    Parameters
    ----------
    pairs : PairList
    stamp : int
        Tells of which search it is.
    lack : str
        Why it may lack pairs; else empty.
    """

    pairs: PairList
    stamp: int
    lack: str


class PairSource:
    """The list of pairs of a build. It is made when it is asked for first.

    Parameters
    ----------
    build : Build
    """

    def __init__(self, build: Build) -> None:
        self._build = build
        self._turn = threading.Condition()
        self._made: Made | None = None
        self._last = 0  # number of the last verdict that is in it
        self._stamp, self._looked = 0, 0.0
        self._making, self._failed = False, 0.0

    @contextmanager
    def opened(self, patience: float = 0.0) -> Iterator[Made | None]:
        """The list as good as new, for one thread at a time; None while it is being made.

        Parameters
        ----------
        patience : float, optional
            Seconds to wait for it.

        Raises
        ------
        Stop
            If it cannot be made.
        """
        with self._turn:
            self._look()
            if self._made is None:
                self._turn.wait_for(lambda: not self._making, patience)
            if self._made is None and not self._making:
                raise Stop(503, NOT_MADE, wait=int(AGAIN))
            yield self._made

    def _look(self) -> None:
        """Take new verdicts in, and have the list made anew where there was another search."""
        now = time.monotonic()
        with self._build.store.reading() as connection:
            if self._made is None or now - self._looked > EVERY:
                self._stamp, self._looked = _stamp(connection), now
            if self._made is not None:
                self._last = _take_in(connection, self._made.pairs, self._last)
        is_old = self._made is None or self._made.stamp != self._stamp
        if is_old and not self._making and (not self._failed or now - self._failed > AGAIN):
            self._making = True
            threading.Thread(target=self._make, name="pairs", daemon=True).start()

    def _make(self) -> None:
        try:
            made = _made(self._build)
            with self._build.store.reading() as connection:
                last = _take_in(connection, made.pairs, 0)
        except Exception as error:  # whoever asks for the list is told, as nobody waits for this thread
            log = logging.getLogger("resit.web")
            if isinstance(error, ResitError):
                log.error("the list of pairs: %s", error)
            else:
                log.exception("the list of pairs")
            with self._turn:
                self._making, self._failed = False, time.monotonic()
                self._turn.notify_all()
            return
        _give_back_memory()
        with self._turn:
            self._made, self._last = made, last
            self._making, self._failed = False, 0.0
            self._turn.notify_all()


def _give_back_memory() -> None:
    """Let Arrow give back what the reading of millions of neighbours took: by itself it keeps that."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _stamp(connection: Connection) -> int:
    """Number of the last search for near-duplicates."""
    return int(connection.execute(select(func.max(NOTE.c.id)).where(NOTE.c.step == DEDUPE)).scalar() or 0)


def _made(build: Build) -> Made:
    """The list as of now, without verdicts, of the pairs that :func:`resit.build.steps.pool.read_pool` reads."""
    import pyarrow as pa

    config = build.config.duplicates
    check_metrics(config)
    targets = {name: metric.target for name, metric in config.metrics.items() if metric.target is not None}
    with build.store.reading() as connection:
        stamp = _stamp(connection)
    near = [build.store.pairs(name, within=target) for name, target in targets.items()]
    pairs = PairList(pa.concat_tables([table(PAIRS), *near]), targets, neighbours=config.neighbours)
    lack = NO_TARGET if not targets else NO_SEARCH if out_of_date(build) else ""
    return Made(pairs, stamp, lack)


def _take_in(connection: Connection, pairs: PairList, last: int) -> int:
    """Tell a list of the verdicts after some other one.

    Returns
    -------
    int
        Number of the last verdict that there is.
    """
    columns = (VERDICT.c[name] for name in Said._fields)
    statement = select(*columns, VERDICT.c.kind).where(VERDICT.c.id > last).order_by(VERDICT.c.id)
    for *said, kind in connection.execute(statement):
        last = said[0]
        if kind == "pair":
            pairs.say(Said(*said))
    return last
