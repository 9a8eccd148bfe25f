"""Bounds how often somebody may try links that are none."""

from __future__ import annotations

import threading
import time
from collections import deque

MOST, WITHIN = 10, 60.0  # failed tries of one address, seconds
EVERYBODY = 200  # failed tries of all addresses together
KEPT = 10_000  # addresses


class Tries:
    """Counts failed tries by address, in memory. Safe in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: dict[str, deque[float]] = {}
        self._all: deque[float] = deque()

    def wait(self, address: str) -> int:
        """Seconds until an address may try again; 0 where it may now."""
        now = time.monotonic()
        with self._lock:
            own = self._recent(self._failed.get(address, deque()), now)
            everybody = self._recent(self._all, now)
            waits = [times[0] + WITHIN - now for times, most in ((own, MOST), (everybody, EVERYBODY)) if len(times) >= most]
        return int(max(waits, default=-1.0)) + 1

    def failed(self, address: str) -> None:
        """Count a failed try."""
        now = time.monotonic()
        with self._lock:
            if len(self._failed) >= KEPT:
                self._failed = {key: times for key, times in self._failed.items() if self._recent(times, now)}
            self._failed.setdefault(address, deque()).append(now)
            self._all.append(now)

    @staticmethod
    def _recent(times: deque[float], now: float) -> deque[float]:
        while times and times[0] <= now - WITHIN:
            times.popleft()
        return times
