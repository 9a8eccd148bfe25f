"""Times from now, written as the store has them."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta


def moment(seconds: float = 0.0) -> str:
    """The time so many seconds from now, in ISO 8601, UTC, to the millisecond."""
    then = datetime.now(UTC) + timedelta(seconds=seconds)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_between(first: str, last: str) -> float:
    """Seconds from one time to another."""
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


class Moments:
    """Times of which no two are the same, each later than the one before: of two verdicts at once the last one holds.

    Parameters
    ----------
    after : str, optional
        A time that all are later than, also where the clock was set back.
    """

    def __init__(self, after: str = "") -> None:
        self._lock = threading.Lock()
        last = datetime.fromisoformat(after) if after else datetime.min
        self._last = last if last.tzinfo else last.replace(tzinfo=UTC)

    def next(self) -> str:
        """Now, or a millisecond after the last one."""
        with self._lock:
            self._last = max(datetime.now(UTC), self._last + timedelta(milliseconds=1))
            return self._last.isoformat(timespec="milliseconds").replace("+00:00", "Z")
