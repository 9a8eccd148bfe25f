"""From printed accuracies and n back to how many were right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId
from resit.data.numbers import Numbers
from resit.data.paths import counted, short_list
from resit.errors import InputError, Notice

Floats = npt.NDArray[np.float64]


def whole_counts(numbers: Numbers, column: str, where: str) -> Floats:
    """A column of counts; NaN where nothing is written.

    Raises
    ------
    InputError
        If a value is negative or not whole.
    """
    odd = numbers.values[(numbers.values < 0) | (numbers.values != np.floor(numbers.values)) & np.isfinite(numbers.values)]
    if odd.size:
        raise InputError(f"column {column!r} counts, but holds {odd[0]:g}", where=where, fix="Counts are whole numbers from 0.")
    return numbers.values


def counts_of_rates(
    rates: Numbers,
    scale: float,
    asked: Floats,
    models: Sequence[ModelId],
    where: str,
    notices: list[Notice],
    *,
    stated_n: bool,
) -> Floats:
    """Number right of each row, where n explains every printed digit; NaN where n is not known.

    Parameters
    ----------
    rates : Numbers
        Accuracies as printed.
    scale : float
        What to divide by to get fractions.
    asked : ndarray of float, shape (M,)
        Number of examples.
    stated_n : bool
        Whether the user said n, so that one that does not fit is an error; else it is a notice and nothing is derived.

    Raises
    ------
    InputError
        If the stated n cannot give the printed digits.
    """
    correct = np.rint(rates.values / scale * asked)
    misfit = _misfit(rates, scale, correct, asked)
    if not misfit.any():
        return correct
    rows = short_list((model for model, odd in zip(models, misfit, strict=True) if odd), 3)
    what = (
        f"no whole number right of n = {asked[np.argmax(misfit)]:g} gives the accuracies of "
        f"{counted(int(misfit.sum()), 'row')} ({rows})"
    )
    if stated_n:
        raise InputError(f"n does not fit: {what}", where=where, fix="Give the set's true n, or leave it out.")
    notices.append(Notice("n-does-not-fit", where, f"n does not fit: {what}; intervals cannot be derived from it."))
    return np.full(len(correct), np.nan)


def refuse_other_rates(
    rates: Numbers, scale: float, correct: Floats, asked: Floats, models: Sequence[ModelId], where: str
) -> None:
    """Refuse accuracies that are not the number right of n which stands beside them.

    Raises
    ------
    InputError
        If any row contradicts itself.
    """
    misfit = _misfit(rates, scale, correct, asked)
    if misfit.any():
        row = int(np.argmax(misfit))
        raise InputError(
            f"{models[row]} has {correct[row]:g} right of {asked[row]:g}, but an accuracy of {rates.values[row]:g}",
            where=where,
            fix="Say which columns hold, with columns=… (--column), or the unit (--unit).",
        )


def _misfit(rates: Numbers, scale: float, correct: Floats, asked: Floats) -> npt.NDArray[np.bool_]:
    """Whether an accuracy is not the number right of n, at the digits that were printed; False where one is not known."""
    accuracy = rates.values / scale
    printed = 0.5 * 10.0 ** -np.minimum(rates.decimals, 12) / scale
    known = np.isfinite(correct) & np.isfinite(accuracy) & (asked > 0)
    misfit = np.zeros(len(correct), bool)
    misfit[known] = np.abs(correct[known] / asked[known] - accuracy[known]) > printed[known] * (1 + 1e-6) + 1e-9
    return misfit
