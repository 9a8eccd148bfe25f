"""Do people agree more than by chance? Raw agreement and Krippendorff's alpha for nominal answers, with missing ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resit.stats.intervals import percentile
from resit.stats.resample import CHUNK_CELLS, generator

Ints = npt.NDArray[np.int_]
Array = npt.NDArray[np.float64]
NOBODY_PAIRED = "no unit has answers of two people"
ONE_ANSWER = "everybody always gave the same answer, so agreement by chance would be complete too"
ONE_UNIT = "only one unit has answers of two people"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of people on units.

    Parameters
    ----------
    raw : float
        Share of pairs of answers to one unit that are the same, over all pairs of all units; NaN where there is none.
    alpha : float
        Krippendorff's alpha, 1 for complete agreement and 0 for agreement by chance; NaN where it is not defined.
    low, high : float
        Percentile interval of alpha over resampled units; NaN where there is none.
    level : float
    units : int
        Units with at least two answers; others say nothing of agreement.
    answers : int
        Answers to these.
    resamples : int
    undefined : int
        Resamples in which alpha was not defined; the interval is over the others.
    seed : int
    reason : str
        Why alpha or its interval is not available; empty where both are.
    """

    raw: float
    alpha: float
    low: float
    high: float
    level: float
    units: int
    answers: int
    resamples: int
    undefined: int
    seed: int
    reason: str

    def __str__(self) -> str:
        if math.isnan(self.raw):
            return f"agreement not available: {self.reason}"
        head = f"raw agreement {self.raw:.3f}"
        if math.isnan(self.alpha):
            return f"{head}; alpha not available: {self.reason}"
        bounds = f" [{self.low:.3f}, {self.high:.3f}]" if not math.isnan(self.low) else ""
        return f"{head}, Krippendorff's alpha {self.alpha:.3f}{bounds} ({self.answers:,} answers to {self.units:,} units)"


def agreement(counts: Ints, *, level: float = 0.95, resamples: int = 1_000, seed: int = 0) -> Agreement:
    """Raw agreement and Krippendorff's alpha of nominal answers.

    With n_uc answers c to unit u, n_u of them, over units with n_u of two or more, N answers in all and N_c answers c:

    alpha = 1 - D_o / D_e, D_o = (1 / N) sum_u (n_u^2 - sum_c n_uc^2) / (n_u - 1), D_e = (N^2 - sum_c N_c^2) / (N (N - 1)).

    Units differ in who answered and how many did; who gave an answer does not enter. For the interval, units are drawn with
    replacement; units with the same counts are drawn together, as a multinomial number.

    Parameters
    ----------
    counts : ndarray of int, shape (units, answers)
        How often each unit got each answer.
    level : float, optional
    resamples : int, optional
    seed : int, optional

    Returns
    -------
    Agreement

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability, sections A to C; Hayes and Krippendorff (2007),
    Communication Methods and Measures 1(1), 77-89.
    """
    counts = counts[counts.sum(axis=1) > 1] if counts.size else counts.reshape(0, 1)
    units, answers = len(counts), int(counts.sum())
    if not units:
        nan = math.nan
        return Agreement(nan, nan, nan, nan, level, 0, 0, 0, 0, seed, NOBODY_PAIRED)
    patterns, weights = np.unique(counts, axis=0, return_counts=True)
    size = patterns.sum(axis=1)
    differing = size**2 - (patterns**2).sum(axis=1)
    raw = 1 - float(weights @ differing) / float(weights @ (size * (size - 1)))
    alpha = float(_alpha(patterns, weights[None])[0])
    if math.isnan(alpha) or units == 1:
        reason = ONE_ANSWER if math.isnan(alpha) else ONE_UNIT
        return Agreement(raw, alpha, math.nan, math.nan, level, units, answers, 0, 0, seed, reason)
    rng, step = generator(seed), max(1, CHUNK_CELLS // len(patterns))
    drawn = np.concatenate(
        [
            _alpha(patterns, rng.multinomial(units, weights / units, size=min(step, resamples - start)))
            for start in range(0, resamples, step)
        ]
    )
    known = drawn[~np.isnan(drawn)]
    low, high = map(float, percentile(known, level)) if len(known) else (math.nan, math.nan)
    return Agreement(raw, alpha, low, high, level, units, answers, resamples, resamples - len(known), seed, "")


def _alpha(patterns: Ints, weights: Ints) -> Array:
    """Alpha of each row of weights, shape (B, patterns), NaN where all answers are the same."""
    size = patterns.sum(axis=1)
    total = (weights @ size).astype(float)
    differing = weights @ ((size**2 - (patterns**2).sum(axis=1)) / (size - 1))
    of_each = (weights @ patterns).astype(float)
    by_chance = (total**2 - (of_each**2).sum(axis=1)) / (total - 1)
    known = by_chance > 0
    return np.where(known, 1 - differing / np.where(known, by_chance, 1), np.nan)
