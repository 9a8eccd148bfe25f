"""Keeps what takes long to compute for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

KEPT = 10.0  # times as long as it took
T = TypeVar("T")


class Kept(Generic[T]):
    """Computes something, and keeps it `KEPT` times as long as that took. Safe in threads.

    Parameters
    ----------
    compute : callable
    """

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute = compute
        self._lock = threading.Lock()
        self._last: tuple[T] | None = None
        self._until = 0.0

    def get(self) -> T:
        """What was computed, as good as new where that is quick."""
        with self._lock:
            begun = time.monotonic()
            if self._last is None or begun > self._until:
                self._last = (self._compute(),)
                self._until = time.monotonic() + KEPT * (time.monotonic() - begun)
            return self._last[0]

    def forget(self) -> None:
        """Compute it anew at the next call: something was changed here."""
        with self._lock:
            self._last = None
