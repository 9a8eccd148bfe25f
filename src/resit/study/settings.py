"""How a comparison is made, and whether the sets allow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from resit.data.accuracies import Accuracies
from resit.data.models import ModelTable
from resit.data.predictions import Predictions
from resit.errors import UsageError

Data = Predictions | Accuracies
UNITS = ("models", "examples", "crossed", "families")
FEWEST_RESAMPLES = 50
WEIGHTINGS = ("micro", "class-macro")


@dataclass(frozen=True)
class Settings:
    """How a comparison is made."""

    level: float
    seed: int
    bootstrap: str
    model_resamples: int
    example_resamples: int
    weighting: str
    baseline: tuple[str, ...]
    allow_different_transforms: bool

    def told(self) -> dict[str, str]:
        """The settings that have no place of their own in a Result."""
        return {
            "baseline": ", ".join(self.baseline) or "all",
            "model_resamples": str(self.model_resamples),
            "example_resamples": str(self.example_resamples),
            "different_transforms": "allowed" if self.allow_different_transforms else "refused",
        }

    def check(self, table: ModelTable | None, sets: Sequence[Data]) -> None:
        """Refuse what cannot be done with these sets.

        Raises
        ------
        UsageError
        """
        if not 0 < self.level < 1:
            raise UsageError(f"a confidence level lies between 0 and 1, not {self.level}", where="--level", fix="Try 0.95")
        if self.seed < 0:
            raise UsageError(f"a seed is not negative, but this is {self.seed}", where="--seed")
        if self.bootstrap not in UNITS:
            raise UsageError(f"{self.bootstrap!r} is none of {', '.join(UNITS)}", where="--bootstrap")
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"{self.weighting!r} is none of {', '.join(WEIGHTINGS)}", where="--weighting")
        if min(self.model_resamples, self.example_resamples) < 0:
            raise UsageError("a number of resamples is not negative", where="--model-resamples, --example-resamples")
        if any(0 < count < FEWEST_RESAMPLES for count in (self.model_resamples, self.example_resamples)):
            raise UsageError(
                f"an interval needs at least {FEWEST_RESAMPLES} resamples",
                where="--model-resamples, --example-resamples",
                fix="Ask for more, or for 0: then there is no interval",
            )
        if self.bootstrap == "families" and (table is None or "family" not in table.columns):
            raise UsageError(
                "families need a model table with a column 'family'", where="--bootstrap", fix="Use --model-table FILE"
            )
        figures_only = [data.name for data in sets if isinstance(data, Accuracies)]
        if self.bootstrap in ("examples", "crossed") and figures_only:
            raise UsageError(
                f"examples cannot be resampled: {', '.join(figures_only)} has figures only",
                where=f"--bootstrap {self.bootstrap}",
                fix="Give the models' answers, or resample models",
            )
        if self.weighting == "class-macro" and not all(has_classes(data) for data in sets):
            raise UsageError(
                "class-macro accuracy needs answers, and one label for each example, on all sets", where="--weighting"
            )


def has_classes(data: Data) -> bool:
    """Whether each example of a set is known to have exactly one class."""
    return isinstance(data, Predictions) and not data.is_correctness and data.benchmark.single_label


def versions() -> dict[str, str]:
    """What computed a result."""
    import platform

    import numpy as np
    import scipy

    import resit

    return {
        "resit": resit.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }
