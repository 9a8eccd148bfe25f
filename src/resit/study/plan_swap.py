"""The chance to see that two models truly change places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

from resit.errors import UsageError
from resit.stats.power import independent_discordance, order_power, smallest
from resit.study.plan import INDEPENDENT, check_difference, check_discordance, check_shares
from resit.study.plan_result import SwapPlan, SwapRow
from resit.study.plan_runs import BothSets, on_both
from resit.study.settings import Data

MOST = 10_000_000
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


@dataclass(frozen=True)
class _Sides:
    """What is assumed of the two sets."""

    difference: tuple[float, float]
    discordance: tuple[float, float]
    source: str
    models: int
    clear: int
    n: tuple[int | None, int | None]


def plan_swap(
    difference: float,
    *,
    new_difference: float | None = None,
    discordance: float | None = None,
    new_discordance: float | None = None,
    accuracy: float | None = None,
    runs: Sequence[Data] | None = None,
    count: int | None = None,
    n: int | None = None,
    new_n: int | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> SwapPlan:
    """Plan to see a swap of ranks: one model is better on the original, the other on the new set, both significantly.

    For each pair of models the larger of its two exact McNemar p-values counts, with Holm's correction over all pairs. Holm
    goes through pairs that are clear on both sets first, whichever way they differ; so both p-values of the swap must be at
    most (1 - level) / (pairs - clear pairs). Without runs no pair is taken to be clear, which asks for the most. The sets have
    examples of their own, so the two chances are multiplied.

    Parameters
    ----------
    difference : float
        How much better the first model is on the original.
    new_difference : float, optional
        How much worse it is on the new set. Default: as much.
    discordance, new_discordance : float, optional
        Fraction of examples that exactly one of the two gets right, on each set. Default: the median of near pairs in
        ``runs``; else for the new set as on the original, and there as if errors were independent, which needs ``accuracy``.
    accuracy : float, optional
        Mean accuracy of the two models.
    runs : (original, new), optional
        Answers of models; numbers of models and examples are taken from them too, where they are not given.
    count : int, optional
        Models that are compared, all pairs of them. Default: two, or those of the runs.
    n, new_n : int, optional
        Examples of the original and of the new set.
    power, level : float, optional

    Returns
    -------
    SwapPlan

    Raises
    ------
    UsageError
        If values are out of range or do not go together.
    """
    check_shares(power=power, level=level, **({} if accuracy is None else {"accuracy": accuracy}))
    sides = _sides(difference, new_difference, discordance, new_discordance, accuracy, runs, count, (n, new_n), level)
    for option, value in {"--n": n, "--new-n": new_n}.items():
        if value is not None and value < 1:
            raise UsageError(f"{value} examples", where=option, fix="Give 1 or more.")
    pairs = comb(sides.models, 2)
    threshold = (1 - level) / max(1, pairs - sides.clear)

    def order(side: int, size: int) -> float:
        return order_power(size, sides.difference[side], sides.discordance[side], 1 - threshold)

    def row(size: int, new_size: int) -> SwapRow:
        chances = order(0, size), order(1, new_size)
        return SwapRow(new_size, chances[0], chances[1], chances[0] * chances[1])

    size, new_size = sides.n
    return SwapPlan(
        difference=sides.difference[0],
        new_difference=sides.difference[1],
        discordance=sides.discordance[0],
        new_discordance=sides.discordance[1],
        discordance_source=sides.source,
        models=sides.models,
        pairs=pairs,
        clear=sides.clear,
        threshold=threshold,
        power=power,
        level=level,
        n=size,
        new_n=new_size,
        chance=None if size is None or new_size is None else row(size, new_size),
        n_both=_least(lambda count: order(0, count) * order(1, count) >= power),
        new_n_needed=None if size is None else _beside(order(0, size), lambda count: order(1, count), power),
        rows=tuple(row(count, count) for count in SIZES),
    )


def _least(enough: Callable[[int], bool]) -> int | None:
    """The smallest number that is enough, found between a power of two and its double."""
    high = 1
    while not enough(high):
        if high >= MOST:
            return None
        high = min(2 * high, MOST)
    return smallest(enough, high // 2 + 1, high)


def _beside(original: float, new: Callable[[int], float], power: float) -> int | None:
    return None if original < power else _least(lambda count: original * new(count) >= power)


def _sides(
    difference: float,
    new_difference: float | None,
    discordance: float | None,
    new_discordance: float | None,
    accuracy: float | None,
    runs: Sequence[Data] | None,
    count: int | None,
    n: tuple[int | None, int | None],
    level: float,
) -> _Sides:
    share = 0.0
    apart = difference, difference if new_difference is None else new_difference
    for value, option in zip(apart, ("--difference", "--new-difference"), strict=True):
        check_difference(value, option)
    if runs is not None:
        both = _found(runs, level)
        found, share = both.near, both.clear / both.pairs
        psi = found[0].discordance if discordance is None else discordance
        new_psi = found[1].discordance if new_discordance is None else new_discordance
        told = zip((discordance, new_discordance), found, strict=True)
        source = "; ".join(str(near) if value is None else "given" for value, near in told)
        count = both.models if count is None else count
        n = found[0].n if n[0] is None else n[0], found[1].n if n[1] is None else n[1]
    elif discordance is None:
        if accuracy is None:
            fix = "Give --discordance, --from ORIGINAL --from NEW, or --accuracy: then errors are taken for independent."
            raise UsageError("no discordance", where="--discordance", fix=fix)
        psi, source = independent_discordance(accuracy, apart[0]), INDEPENDENT
        new_psi = independent_discordance(accuracy, apart[1]) if new_discordance is None else new_discordance
    else:
        psi, source = discordance, "given"
        new_psi = discordance if new_discordance is None else new_discordance
    for value, least, option in zip((psi, new_psi), apart, ("--discordance", "--new-discordance"), strict=True):
        check_discordance(value, least, 1.0, option)
    models = 2 if count is None else count
    if models < 2:
        raise UsageError(f"no pair of {models} models", where="--count", fix="Give 2 or more.")
    clear = int(share * comb(models, 2))
    return _Sides(apart, (psi, new_psi), source, models, clear, n)


def _found(runs: Sequence[Data], level: float) -> BothSets:
    if len(runs) != 2:
        raise UsageError(f"a swap is on two sets, not on {len(runs)}", where="--from", fix="Give the original and a new set.")
    return on_both(runs[0], runs[1], level)
