"""Figures as people read them: percent, points, intervals; a real minus sign, never a negative zero."""

from __future__ import annotations

import re

from resit.study.result import Estimate, Result, Score

MINUS = "\u2212"
MISSING = "not available"
METRICS = {"top1": "top-1", "top5": "top-5"}


def number(value: float | None, digits: int = 3) -> str:
    """A plain number with a fixed number of digits.

    Parameters
    ----------
    value : float or None
        The figure.
    digits : int
        Digits after the point.

    Returns
    -------
    str
    """
    return MISSING if value is None else f"{value:z,.{digits}f}".replace("-", MINUS)


def signed(value: float | None, digits: int = 3) -> str:
    """A number that always shows its sign, unless it is zero."""
    if value is None:
        return MISSING
    text = number(value, digits)
    return f"+{text}" if float(f"{value:.{digits}f}") > 0 else text


def percent(fraction: float | None, digits: int = 2) -> str:
    """A fraction as percent."""
    return MISSING if fraction is None else f"{number(100 * fraction, digits)}%"


def points(fraction: float | None, digits: int = 2) -> str:
    """A difference of fractions, in points, with its sign."""
    return MISSING if fraction is None else signed(100 * fraction, digits)


def p_value(value: float) -> str:
    """A p-value with an operator, such as ``= 0.0048`` or ``< 0.0001``."""
    return f"< {1e-4:.4f}" if value < 1e-4 else f"= {value:.4f}" if value < 0.1 else f"= {value:.2f}"


def bounds(low: float | None, high: float | None, digits: int = 3, factor: float = 1.0) -> str:
    """An interval in brackets, or nothing where it is not known."""
    if low is None or high is None:
        return ""
    return f"[{number(low * factor, digits)}, {number(high * factor, digits)}]"


def estimate(value: Estimate, digits: int = 3) -> str:
    """A figure with its interval on one line."""
    return f"{number(value.estimate, digits)} {bounds(value.low, value.high, digits)}".strip()


def change(value: Estimate) -> str:
    """A change of accuracy in points with its interval on one line."""
    return f"{points(value.estimate)} {bounds(value.low, value.high, 2, 100)}".strip()


def score(value: Score) -> str:
    """An accuracy with its interval and its counts on one line."""
    counts = "" if value.correct is None or value.n is None else f"({value.correct:,} of {value.n:,})"
    return " ".join(part for part in (percent(value.accuracy), bounds(value.low, value.high, 2, 100), counts) if part)


def rank(value: float) -> str:
    """A rank or a difference of ranks; halves come from ties."""
    return f"{value:zg}".replace("-", MINUS)


def metric(name: str) -> str:
    """The field's word for a metric."""
    return METRICS.get(name, name)


def slug(text: str) -> str:
    """A file name made from a set's name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "set"


def stems(result: Result) -> list[str]:
    """A file name's stem for each comparison, in order: new set and metric, no two alike."""
    taken: list[str] = []
    for comparison in result.comparisons:
        stem = f"{slug(comparison.new.name)}-{slug(comparison.metric)}"
        while stem.lower() in map(str.lower, taken):
            stem += "-2"
        taken.append(stem)
    return taken
