"""How gently others' servers are asked: so many requests at once and a second, and pauses as they ask for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from resit.errors import InputError, UsageError

MIB = 2**20


@dataclass(frozen=True)
class Manners:
    """Bounds of a download.

    Parameters
    ----------
    per_host : int
        Requests at once to one host.
    rate : float
        Requests a second to one host.
    timeout : float
        Seconds without a byte after which a try is given up.
    longest : float
        Seconds that one try may last in all.
    attempts : int
        Tries of each address.
    wait : float
        Seconds before the second try, at most; twice as many before each further one. The wait is drawn from 0 up to that,
        which keeps many from coming back at once.
    longest_wait : float
        Seconds of any wait. A host that asks for a longer one is not asked again before that.
    largest : int
        Bytes of an image.
    redirects : int
        Hops that are followed.
    allow_private : bool
        Whether addresses inside one's own network are allowed.
    agent : str
        What the servers are told who asks; a way to reach you is good manners.
    seed : int
        Of the waits.

    Raises
    ------
    UsageError
        If a number is too small.
    """

    per_host: int = 4
    rate: float = 5.0
    timeout: float = 30.0
    longest: float = 120.0
    attempts: int = 4
    wait: float = 1.0
    longest_wait: float = 120.0
    largest: int = 32 * MIB
    redirects: int = 5
    allow_private: bool = False
    agent: str = "resit (collects candidates for a test set)"
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"per_host": 1, "attempts": 1, "largest": 1, "redirects": 0}
        above = ("rate", "timeout", "longest")
        for name in (*least, *above, "wait", "longest_wait"):
            value = getattr(self, name)
            if value < least.get(name, 0) or (name in above and not value):
                raise UsageError(f"{name} is {value}", where="manners", fix="It needs to be larger.")


@dataclass
class _Lane:
    """What is known of one host."""

    slots: threading.BoundedSemaphore
    free_at: float = 0.0
    closed_until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class HostGate:
    """Lets requests through to each host at its pace. Safe in threads.

    Parameters
    ----------
    manners : Manners
    clock, sleep : callable, optional
        Seconds now, and a pause of some seconds.
    """

    def __init__(
        self,
        manners: Manners,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._manners, self._clock, self._sleep = manners, clock, sleep
        self._lanes: dict[str, _Lane] = {}
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, host: str, rate: float | None = None) -> Iterator[None]:
        """Wait until the host may be asked, and hold one of its places.

        Parameters
        ----------
        host : str
        rate : float, optional
            Requests a second. Default: as the manners say.

        Raises
        ------
        InputError
            If the host has asked to wait longer than the longest wait.
        """
        lane = self._lane(host)
        with lane.slots:
            while wait := self._start(host, lane, rate or self._manners.rate):
                self._sleep(wait)
            yield

    def pause(self, host: str, seconds: float) -> None:
        """Ask the host nothing for some time, as it asked for."""
        lane = self._lane(host)
        with lane.lock:
            lane.closed_until = max(lane.closed_until, self._clock() + seconds)

    def _lane(self, host: str) -> _Lane:
        with self._lock:
            if host not in self._lanes:
                self._lanes[host] = _Lane(threading.BoundedSemaphore(self._manners.per_host))
            return self._lanes[host]

    def _start(self, host: str, lane: _Lane, rate: float) -> float:
        """Seconds to wait; 0 where the request may start, whose place in time is then taken."""
        with lane.lock:
            now = self._clock()
            if lane.closed_until - now > self._manners.longest_wait:
                raise InputError(f"{host} asks to wait {lane.closed_until - now:,.0f} seconds", fix="Repeat it later.")
            start = max(lane.free_at, lane.closed_until)
            if start > now:
                return start - now
            lane.free_at = now + 1 / rate
            return 0.0
