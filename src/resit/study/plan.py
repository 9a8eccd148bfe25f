"""How many examples a new test set needs."""

from __future__ import annotations

from resit.errors import UsageError
from resit.stats.intervals import clopper_pearson
from resit.stats.power import independent_discordance, mcnemar_power, paired_sample_size
from resit.study.plan_result import Plan as Plan
from resit.study.plan_result import Width
from resit.study.plan_runs import near_pairs
from resit.study.settings import Data

SIZES = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
MOST = 100_000_000
INDEPENDENT = "as if errors were independent: an upper bound for models that err alike"


def plan(
    accuracy: float,
    difference: float,
    *,
    discordance: float | Data | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan:
    """Plan the size of a test set.

    Parameters
    ----------
    accuracy : float
        Mean accuracy of the two models, between 0 and 1.
    difference : float
        Difference of their accuracies that should be found, above 0.
    discordance : float or Predictions, optional
        Fraction of examples that exactly one of them gets right; or answers of models, of which the median of near pairs is
        taken. Default: as if their errors were independent, an upper bound for models that tend to err on the same examples.
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
    check_shares(accuracy=accuracy, power=power, level=level)
    check_difference(difference, "--difference")
    if not (difference / 2 <= accuracy <= 1 - difference / 2):
        raise UsageError(f"two accuracies around {accuracy:g} cannot differ by {difference:g}", where="--difference")
    source = "given"
    if discordance is None:
        psi, source = independent_discordance(accuracy, difference), INDEPENDENT
    elif isinstance(discordance, float | int):
        psi = discordance
    else:
        found = near_pairs(discordance)
        psi, source = found.discordance, str(found)
    check_discordance(psi, difference, min(1.0, 2 * min(accuracy, 1 - accuracy)), "--discordance")
    if power <= 1 - level:
        raise UsageError(f"the power must be above 1 - level = {1 - level:g}, not {power:g}", where="--power")
    n = paired_sample_size(difference, psi, power, level)
    if n > MOST:
        raise UsageError(f"{n:,} examples are more than anyone can collect", where="--difference", fix="Plan for a larger one")
    sizes = sorted({*SIZES, n})
    exact = clopper_pearson([round(accuracy * size) for size in sizes], sizes, level)
    widths = tuple(Width(size, float(low), float(high)) for size, low, high in zip(sizes, exact.low, exact.high, strict=True))
    return Plan(accuracy, difference, psi, source, power, level, n, mcnemar_power(n, difference, psi, level), widths)


def check_shares(**values: float) -> None:
    """Refuse values that do not lie between 0 and 1.

    Raises
    ------
    UsageError
    """
    for name, value in values.items():
        if not 0 < value < 1:
            what = f"{name.replace('_', ' ')} lies between 0 and 1, not {value:g}"
            raise UsageError(what, where=f"--{name.replace('_', '-')}", fix="0.76 means 76 %")


def check_difference(difference: float, option: str) -> None:
    """Refuse a difference of accuracies that cannot be.

    Raises
    ------
    UsageError
    """
    if not 0 < difference < 1:
        raise UsageError(f"the difference lies between 0 and 1, not {difference:g}", where=option, fix="0.01 is a point")


def check_discordance(discordance: float, difference: float, most: float, option: str) -> None:
    """Refuse a discordance below the difference, or above what the accuracies allow.

    Raises
    ------
    UsageError
    """
    if not difference <= discordance <= most:
        raise UsageError(
            f"the discordance lies between the difference, {difference:g}, and {most:g}, not {discordance:g}",
            where=option,
            fix="It is the fraction of examples that exactly one of the two models gets right",
        )
