"""Statistics written out slowly from their definitions, in plain Python and exact fractions, to hold the fast ones against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import comb


def subsets(members: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """All non-empty subsets."""
    return chain.from_iterable(combinations(members, size) for size in range(1, len(members) + 1))


def mcnemar(only_1: int, only_2: int) -> Fraction:
    """Two-sided p-value: all splits of the discordant examples that are no more likely than the observed one."""
    total = only_1 + only_2
    seen = comb(total, only_1)
    return Fraction(sum(comb(total, k) for k in range(total + 1) if comb(total, k) <= seen), 2**total)


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values by the closure of Bonferroni tests: the worst over all intersections that hold the hypothesis."""
    worst = [0.0] * len(p)
    for subset in subsets(range(len(p))):
        bonferroni = min(1.0, len(subset) * min(p[i] for i in subset))
        for i in subset:
            worst[i] = max(worst[i], bonferroni)
    return worst


def pair_p_values(right: Sequence[Sequence[bool]]) -> dict[tuple[int, int], tuple[float, int]]:
    """For each pair i < j of models its p-value and the sign of the difference."""
    found = {}
    for i, j in combinations(range(len(right)), 2):
        only_i = sum(a and not b for a, b in zip(right[i], right[j], strict=True))
        only_j = sum(b and not a for a, b in zip(right[i], right[j], strict=True))
        found[i, j] = float(mcnemar(only_i, only_j)), (only_i > only_j) - (only_i < only_j)
    return found


def holm_by_steps(p: dict[tuple[int, int], float], alpha: float) -> set[tuple[int, int]]:
    """Hypotheses that Holm rejects: smallest p first against alpha / (number left), until one stands."""
    rejected: set[tuple[int, int]] = set()
    for pair in sorted(p, key=lambda pair: p[pair]):
        if p[pair] > alpha / (len(p) - len(rejected)):
            break
        rejected.add(pair)
    return rejected


def discordant_power(n: int, difference: Fraction, discordance: Fraction, alpha: Fraction) -> Fraction:
    """Chance that McNemar's exact test rejects, summed over all (only first, only second, rest) of n examples."""
    first, second = (discordance + difference) / 2, (discordance - difference) / 2
    total = Fraction(0)
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if mcnemar(b, c) <= alpha:
                total += comb(n, b) * comb(n - b, c) * first**b * second**c * (1 - discordance) ** (n - b - c)
    return total
