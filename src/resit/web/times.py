"""Times from now, written as the store has them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def moment(seconds: float = 0.0) -> str:
    """The time so many seconds from now, in ISO 8601, UTC, to the millisecond."""
    then = datetime.now(UTC) + timedelta(seconds=seconds)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_between(first: str, last: str) -> float:
    """Seconds from one time to another."""
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
