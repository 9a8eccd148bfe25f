"""The record of a bias report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its standard error over images, or why there is none.

    Parameters
    ----------
    value, error : float or None
    reason : str
        Why the value is not available; empty where it is.
    """

    value: float | None
    error: float | None
    reason: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"not available ({self.reason})"
        return f"{self.value:.4f}" + ("" if self.error is None else f" ± {self.error:.4f}")


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Mean selection frequency of a set of images.

    Parameters
    ----------
    images : int
        With votes.
    observed : Figure
        Mean of times selected / times shown.
    true : Figure
        Mean true frequency, estimated from mixtures of betas.
    """

    images: int
    observed: Figure
    true: Figure


@dataclass(frozen=True)
class BiasReport:
    """How far a selection is from the original in true frequency, and what that does to accuracy.

    Parameters
    ----------
    original, new : Frequencies
    fresh_frequency : Figure
        Observed frequency of the new images by fresh votes, which did not choose them.
    frequency_shift : Figure
        True frequency, new minus original.
    accuracy_shift : Figure
        Accuracy that the shift is expected to gain, from models on the original: known before a model is asked about the new
        set.
    original_accuracy, new_accuracy : Figure
        Mean accuracy of the models on either set, images with votes.
    naive, jackknife, parametric : Figure
        Accuracy on the new set at the original's frequencies, estimated in three ways.
    votes, deleted : int
        Votes that naive and jackknife match on, and how many the jackknife leaves out.
    uncovered : float or None
        Share of original images at an observed frequency that no new image has; the nearest frequency stands in.
    mixtures : dict of str to tuple of (float, float, float)
        Of the original and of the pool: shapes and weight of each beta.
    left_out : dict of str to int
        How many images were left out, by what for.
    resamples, seed : int
        Of the standard errors.
    """

    original: Frequencies
    new: Frequencies
    fresh_frequency: Figure
    frequency_shift: Figure
    accuracy_shift: Figure
    original_accuracy: Figure
    new_accuracy: Figure
    naive: Figure
    jackknife: Figure
    parametric: Figure
    votes: int
    deleted: int
    uncovered: float | None
    mixtures: dict[str, tuple[tuple[float, float, float], ...]]
    left_out: dict[str, int]
    resamples: int
    seed: int

    def to_record(self) -> dict[str, Any]:
        """Plain values that JSON holds."""
        found = asdict(self)
        return {**found, "mixtures": {name: [list(beta) for beta in betas] for name, betas in self.mixtures.items()}}

    def __str__(self) -> str:
        lines = [
            f"{name}: {one.images:,} images with votes; frequency {one.observed} observed, {one.true} true"
            for name, one in (("original", self.original), ("new", self.new))
        ]
        lines.append(f"true frequency, new minus original: {self.frequency_shift}")
        if self.original_accuracy.value is None and self.new_accuracy.value is None:
            return "\n".join([*lines, f"what this does to accuracy: {self.accuracy_shift}"])
        lines.append(f"accuracy that this shift is expected to gain: {self.accuracy_shift}")
        lines.append(f"accuracy: original {self.original_accuracy}, new {self.new_accuracy}")
        lines.append("accuracy on the new set at the original's frequencies:")
        lines += [f"  {name}: {getattr(self, name)}" for name in ("naive", "jackknife", "parametric")]
        return "\n".join(lines)
