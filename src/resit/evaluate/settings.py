"""How a run is made."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal, get_args

from resit.errors import UsageError
from resit.models.options import ModelOptions

LabelSpaceChoice = Literal["auto", "full", "subset"]
Orientation = Literal["apply", "ignore"]
SHARD = 512


@dataclass(frozen=True)
class EvaluateSettings:
    """How a run is made; see :func:`resit.evaluate` for what each means.

    Raises
    ------
    UsageError
        If a setting cannot be meant.
    """

    label_space: LabelSpaceChoice = "auto"
    top: int = 5
    orientation: Orientation = "apply"
    batch_size: int | None = None
    workers: int | None = None
    max_errors: float = 0.01
    overwrite: bool = False
    models_at_once: int = 8
    options: ModelOptions = field(default_factory=ModelOptions)

    def __post_init__(self) -> None:
        for name, kinds in (("label_space", LabelSpaceChoice), ("orientation", Orientation)):
            if getattr(self, name) not in get_args(kinds):
                raise UsageError(f"{getattr(self, name)!r} is none of {', '.join(get_args(kinds))}", where=name)
        for name in ("top", "batch_size", "workers", "models_at_once"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{value} is below 1", where=name)
        if not 0 <= self.max_errors <= 1:
            raise UsageError(
                f"max_errors is a fraction from 0 to 1, not {self.max_errors}",
                where="max_errors",
                fix="0.01 is one in a hundred.",
            )

    @property
    def threads(self) -> int:
        """How many threads decode images."""
        return self.workers or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
