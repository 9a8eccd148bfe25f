"""The two records that every kind of result uses: a figure with its interval, and a warning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; ``method`` names the interval."""

    estimate: float | None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning as it stands in ``result.json``."""

    code: str
    where: str
    message: str
