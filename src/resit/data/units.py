"""Percent or fraction: stated, or inferred for whole columns and never for one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from resit.data.columns import plain
from resit.data.numbers import Numbers
from resit.errors import InputError, Notice, UsageError

UNITS = ("percent", "fraction")
SAY = "Say unit='percent' or unit='fraction' (--unit)"


@dataclass(frozen=True)
class Unit:
    """Unit of a table's accuracies, and how it was found."""

    name: str
    how: str
    notice: Notice | None = None

    @property
    def scale(self) -> float:
        """What to divide by to get fractions."""
        return 100.0 if self.name == "percent" else 1.0


def find_unit(
    columns: Mapping[str, Numbers],
    complements: Mapping[str, Numbers],
    stated: str | None,
    where: str,
    evidence: Mapping[str, Numbers] | None = None,
) -> Unit:
    """The unit of the accuracy columns of a table.

    Parameters
    ----------
    columns : mapping of str to Numbers
        Accuracies, by name of the column.
    complements : mapping of str to Numbers
        For some of these columns, one minus the accuracy in the same unit: their sum tells the unit.
    stated : str or None
        What the user says.
    where : str
        The file, for messages.
    evidence : mapping of str to Numbers, optional
        All that is written in this unit: the whole columns, where some rows were chosen, and the columns of other test sets.

    Raises
    ------
    InputError
        If values of both units seem to be mixed, or are outside of the unit's range.
    UsageError
        If the stated unit is not known.
    """
    if stated is not None and stated not in UNITS:
        raise UsageError(f"unit {stated!r} is not known", where=where, fix=f"{SAY}.")
    unit = (
        Unit(stated, "stated")
        if stated
        else _told(columns, complements, where) or _inferred(columns, {**columns, **(evidence or {})}, where)
    )
    for name, numbers in columns.items():
        outside = numbers.values[(numbers.values < 0) | (numbers.values > unit.scale)]
        if outside.size:
            raise InputError(
                f"column {name!r} holds {outside[0]:g}, outside of 0 to {unit.scale:g} ({unit.name}, {unit.how})",
                where=where,
                fix=f"{SAY}, or name the right column.",
            )
    return unit


def _told(columns: Mapping[str, Numbers], complements: Mapping[str, Numbers], where: str) -> Unit | None:
    """The unit that percent signs, column names, or sums of accuracy and error tell."""
    signs = sum(numbers.percent_signs for numbers in columns.values())
    if signs:
        written = sum(int(np.isfinite(numbers.values).sum()) for numbers in columns.values())
        if signs < written:
            raise InputError(
                f"{signs} of {written} values carry a percent sign", where=where, fix="Write it on all or on none."
            )
        return Unit("percent", "percent signs")
    if all("%" in name or "percent" in plain(name) or plain(name).endswith("_pct") for name in columns):
        return Unit("percent", "name of the column")
    for name, numbers in complements.items():
        total = columns[name].values + numbers.values
        total = total[np.isfinite(total)]
        for unit, whole in (("percent", 100.0), ("fraction", 1.0)):
            if total.size and np.allclose(total, whole, rtol=0, atol=whole * 2e-4):
                return Unit(unit, f"{name} and its error add up to {whole:g}")
    return None


def _inferred(columns: Mapping[str, Numbers], evidence: Mapping[str, Numbers], where: str) -> Unit:
    written = {name: numbers.values[np.isfinite(numbers.values) & (numbers.values > 0)] for name, numbers in columns.items()}
    small = {name: float(values[values <= 1][0]) for name, values in written.items() if np.any(values <= 1)}
    large = {name: float(values[values > 1][0]) for name, values in written.items() if np.any(values > 1)}
    if not large:
        large = {name: float(np.nanmax(other.values)) for name, other in evidence.items() if np.any(other.values > 1)}
    if small and large:
        (one, low), (other, high) = next(iter(small.items())), next(iter(large.items()))
        same = one in large
        raise InputError(
            f"column {one!r} holds both {low:g} and {large[one]:g}"
            if same
            else f"columns {one!r} and {other!r} hold {low:g} and {high:g}",
            where=where,
            fix=f"One looks like a fraction, the other like a percentage. {SAY} if all are of one unit; else write all in one.",
        )
    if large:
        return Unit("percent", "inferred: all values are above 1")
    how = "inferred: no value is above 1"
    highest = max((float(values.max()) for values in written.values() if values.size), default=0.0)
    count = sum(values.size for values in written.values())
    decimals = max((int(numbers.decimals.max(initial=0)) for numbers in columns.values()), default=0)
    if count >= 3 and ((highest >= 0.1 and decimals >= 3) or (highest >= 0.5 and decimals == 2)):
        return Unit("fraction", how)
    message = f"Accuracies were taken as fractions because none is above 1, but {highest:g} could be {highest:g} %. {SAY}."
    return Unit("fraction", how, Notice("unit-inferred", where, message))
