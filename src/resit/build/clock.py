"""The one place that asks for the time; steps are given it, so that they give the same for the same."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The time in ISO 8601, UTC, to the millisecond, such as ``2026-01-31T12:00:00.000Z``."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
