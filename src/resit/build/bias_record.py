"""The record of a bias report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from resit.stats.beta_mixture import Trial

ESTIMATES = ("naive", "jackknife", "parametric")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its standard error over images and its interval, or why there is none.

    Parameters
    ----------
    value, error : float or None
    reason : str
        Why the value is not available; empty where it is.
    low, high : float or None
        Interval at the report's level.
    """

    value: float | None
    error: float | None
    reason: str = ""
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return f"not available ({self.reason})"
        ends = "" if self.low is None or self.high is None else f" [{self.low:.4f}, {self.high:.4f}]"
        return f"{self.value:.4f}" + ("" if self.error is None else f" ± {self.error:.4f}") + ends


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


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Accuracy on the original, on the new set, and on the new set at the original's frequencies, by three estimates.

    Parameters
    ----------
    name : str
        Of the model, or what the figures are the mean of.
    original, new : Figure
    naive, jackknife, parametric : Figure
    drop : Figure
        Original minus new, as observed.
    naive_drop, jackknife_drop, parametric_drop : Figure
        Original minus each estimate: the drop that the bias of matching does not explain.
    """

    name: str
    original: Figure
    new: Figure
    naive: Figure
    jackknife: Figure
    parametric: Figure
    drop: Figure
    naive_drop: Figure
    jackknife_drop: Figure
    parametric_drop: Figure


@dataclass(frozen=True, slots=True)
class Fitted:
    """How a mixture of betas was come by.

    Parameters
    ----------
    images, patterns : int
        Images, and different pairs of counts among them.
    trials : tuple of Trial
        By number of components.
    betas : tuple of (float, float, float)
        Shapes and weight of each beta of the chosen number.
    """

    images: int
    patterns: int
    trials: tuple[Trial, ...]
    betas: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """What is drawn: by true frequency, from 0 to 1 in equal bins.

    Parameters
    ----------
    edges : tuple of float
    original, new : tuple of float
        Estimated share of images in each bin.
    accuracy : tuple of float or None
        Accuracy of the mean of the models on new images of each bin; None without models.
    """

    edges: tuple[float, ...]
    original: tuple[float, ...]
    new: tuple[float, ...]
    accuracy: tuple[float, ...] | None


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
    mean : Accuracies
        Of the mean of the models, images with votes.
    models : tuple of Accuracies
        Of each model, where there is more than one.
    votes, deleted : int
        Votes that naive and jackknife match on, and how many the jackknife leaves out.
    uncovered : float or None
        Share of original images at an observed frequency that no new image has; the nearest frequency stands in.
    left_over : float or None
        Bias that the jackknife is expected to leave; its intervals reach so much farther.
    mixtures : dict of str to Fitted
        Of the original and of the pool.
    shape : Shape or None
    left_out : dict of str to int
        How many images or models were left out, by what for.
    level : float
        Of the intervals.
    resamples, seed : int
        Of the standard errors.
    """

    original: Frequencies
    new: Frequencies
    fresh_frequency: Figure
    frequency_shift: Figure
    accuracy_shift: Figure
    mean: Accuracies
    models: tuple[Accuracies, ...]
    votes: int
    deleted: int
    uncovered: float | None
    left_over: float | None
    mixtures: dict[str, Fitted]
    shape: Shape | None
    left_out: dict[str, int]
    level: float
    resamples: int
    seed: int

    @property
    def summary(self) -> tuple[str, ...]:
        """What was found, in sentences."""
        return tuple(sentences(self))

    def to_record(self) -> dict[str, Any]:
        """Plain values that JSON holds."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{name}: {one.images:,} images with votes; frequency {one.observed} observed, {one.true} true"
            for name, one in (("original", self.original), ("new", self.new))
        ]
        lines.append(f"true frequency, new minus original: {self.frequency_shift}")
        if self.mean.original.value is None and self.mean.new.value is None:
            return "\n".join([*lines, f"what this does to accuracy: {self.accuracy_shift}"])
        lines.append(f"accuracy that this shift is expected to gain: {self.accuracy_shift}")
        lines.append(f"accuracy: original {self.mean.original}, new {self.mean.new}")
        lines.append("accuracy on the new set at the original's frequencies:")
        lines += [f"  {name}: {getattr(self.mean, name)}" for name in ESTIMATES]
        return "\n".join([*lines, *self.summary])


def sentences(report: BiasReport) -> Iterator[str]:
    """What a report says, in plain words.

    Parameters
    ----------
    report : BiasReport
    """
    shift = report.frequency_shift
    if shift.value is not None and shift.low is not None and shift.high is not None:
        clear = shift.low > 0 or shift.high < 0
        way = "more" if shift.value > 0 else "less"
        told = f"People select the new images {way} readily than the original's" if clear else "No clear shift"
        yield f"{told}: {_points(shift)} points of true frequency."
    for name, fit in report.mixtures.items():
        taken = next(trial for trial in fit.trials if trial.components == len(fit.betas))
        if taken.at_boundary or not taken.converged:
            end = "at a bound" if taken.converged else "before a maximum"
            yield f"The fit of the {name}'s true frequencies ended {end}: single peaks of its curve may be no real ones."
    mean = report.mean
    if mean.drop.value is None:
        return
    yield f"Observed drop, original minus new: {_points(mean.drop)} points."
    for name in ESTIMATES:
        left: Figure = getattr(mean, f"{name}_drop")
        if left.value is not None:
            explained = 100 * (mean.drop.value - left.value)
            yield f"By the {name} estimate matching explains {explained:.1f} points of it; {_points(left)} are left."
    if mean.jackknife.value is None:
        yield f"Naive and jackknife are not available: {mean.jackknife.reason}."


def _points(figure: Figure) -> str:
    ends = "" if figure.low is None or figure.high is None else f" [{100 * figure.low:.1f}, {100 * figure.high:.1f}]"
    return f"{100 * (figure.value or 0):.1f}{ends}"
