"""How many examples a new test set needs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from resit.errors import UsageError
from resit.stats.intervals import clopper_pearson
from resit.stats.power import independent_discordance, mcnemar_power, paired_sample_size

SIZES = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
MOST = 100_000_000


@dataclass(frozen=True, slots=True)
class Width:
    """Exact interval of one accuracy with n examples."""

    n: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Examples needed to tell two models apart, and what a number of examples tells of one accuracy.

    ``discordance`` is the fraction of examples that exactly one of the two models gets right. ``exact_power`` is the power of
    the exact McNemar test with ``n`` examples.
    """

    accuracy: float
    difference: float
    discordance: float
    discordance_source: str
    power: float
    level: float
    n: int
    exact_power: float
    widths: tuple[Width, ...]

    def __str__(self) -> str:
        rows = [
            f"  {w.n:>7,}   [{100 * w.low:5.2f}, {100 * w.high:5.2f}]   ±{50 * (w.high - w.low):.2f} points"
            for w in self.widths
        ]
        return "\n".join(
            [
                f"{self.n:,} examples tell two models of accuracy around {100 * self.accuracy:g} % apart, "
                f"if they differ by {100 * self.difference:g} percentage points",
                f"  paired test, level {self.level:g}, power {self.power:g} wanted; "
                f"the exact McNemar test has {self.exact_power:.3f}",
                f"  discordance {self.discordance:.4f} ({self.discordance_source})",
                "",
                f"Exact {100 * self.level:g} % interval of one accuracy of {100 * self.accuracy:g} %:",
                *rows,
            ]
        )

    def to_json(self) -> str:
        """The plan as JSON."""
        return json.dumps(asdict(self), indent=2) + "\n"


def plan(
    accuracy: float, difference: float, *, discordance: float | None = None, power: float = 0.8, level: float = 0.95
) -> Plan:
    """Plan the size of a test set.

    Parameters
    ----------
    accuracy : float
        Mean accuracy of the two models, between 0 and 1.
    difference : float
        Difference of their accuracies that should be found, above 0.
    discordance : float, optional
        Fraction of examples that exactly one of them gets right. Default: as if their errors were independent, an upper bound
        for models that tend to err on the same examples.
    power, level : float, optional
        Wanted chance of a significant difference, and confidence level.

    Returns
    -------
    Plan

    Raises
    ------
    UsageError
        If a value is out of range or they contradict each other.
    """
    for name, value in {"accuracy": accuracy, "power": power, "level": level}.items():
        if not 0 < value < 1:
            raise UsageError(f"{name} lies between 0 and 1, not {value:g}", where=f"--{name}", fix="0.76 means 76 %")
    if not 0 < difference < 1:
        raise UsageError(
            f"the difference lies between 0 and 1, not {difference:g}", where="--difference", fix="0.01 is a point"
        )
    if not (difference / 2 <= accuracy <= 1 - difference / 2):
        raise UsageError(f"two accuracies around {accuracy:g} cannot differ by {difference:g}", where="--difference")
    psi = independent_discordance(accuracy, difference) if discordance is None else discordance
    most = min(1.0, 2 * min(accuracy, 1 - accuracy))
    if not difference <= psi <= most:
        raise UsageError(
            f"the discordance lies between the difference, {difference:g}, and {most:g}, not {psi:g}",
            where="--discordance",
            fix="It is the fraction of examples that exactly one of the two models gets right",
        )
    if power <= 1 - level:
        raise UsageError(f"the power must be above 1 - level = {1 - level:g}, not {power:g}", where="--power")
    n = paired_sample_size(difference, psi, power, level)
    if n > MOST:
        raise UsageError(f"{n:,} examples are more than anyone can collect", where="--difference", fix="Plan for a larger one")
    source = "as if errors were independent: an upper bound for models that err alike" if discordance is None else "given"
    sizes = sorted({*SIZES, n})
    exact = clopper_pearson([round(accuracy * size) for size in sizes], sizes, level)
    widths = tuple(Width(size, float(low), float(high)) for size, low, high in zip(sizes, exact.low, exact.high, strict=True))
    return Plan(accuracy, difference, psi, source, power, level, n, mcnemar_power(n, difference, psi, level), widths)
