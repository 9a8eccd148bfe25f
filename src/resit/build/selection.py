"""What a revision tells of itself: how it was drawn, what was excluded, and what is short."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from resit.build.bias_record import BiasReport
from resit.build.eligibility import Eligible
from resit.build.sampling.records import Drawn
from resit.build.sampling.strategy import Strategy


def record(
    strategy: Strategy,
    eligible: Eligible,
    drawn: Drawn,
    *,
    seed: int,
    time: str,
    parent: int | None,
    bias: BiasReport | None = None,
) -> dict[str, Any]:
    """The record of a selection, for the store: plain values that JSON holds.

    Parameters
    ----------
    strategy : Strategy
    eligible : Eligible
        What it was drawn from.
    drawn : Drawn
    seed : int
    time : str
        ISO 8601, UTC.
    parent : int or None
        The revision that it went on from.
    bias : BiasReport, optional
        What noisy votes do to it.

    Returns
    -------
    dict
        Keys strategy, settings, seed, time, parent, valid, selected, upward, candidates, excluded, shortages and bias.
    """
    return {
        "strategy": strategy.name,
        "settings": {name: list(value) if isinstance(value, tuple) else value for name, value in strategy.settings.items()},
        "seed": seed,
        "time": time,
        "parent": parent,
        "valid": drawn.valid,
        "selected": len(drawn.selected),
        "upward": drawn.upward,
        "candidates": len(eligible.candidates) + len(eligible.excluded),
        "excluded": eligible.counts,
        "shortages": [asdict(one) for one in drawn.shortages],
        "bias": None if bias is None else bias.to_record(),
    }
