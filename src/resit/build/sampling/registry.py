"""Strategies by name, and the one that a configuration asks for."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from resit.build.sampling.corrected_frequency import CorrectedFrequency
from resit.build.sampling.keyword_matched import KeywordMatched
from resit.build.sampling.matched_frequency import MatchedFrequency
from resit.build.sampling.strategy import Strategy
from resit.build.sampling.threshold import Threshold
from resit.build.sampling.top_images import TopImages
from resit.build.sampling.uniform import Uniform
from resit.errors import UsageError

if TYPE_CHECKING:
    from resit.build.config import SamplingConfig

STRATEGIES: dict[str, type[Strategy]] = {
    kind.name: kind for kind in (MatchedFrequency, CorrectedFrequency, Threshold, TopImages, KeywordMatched, Uniform)
}


def strategy_of(config: SamplingConfig) -> Strategy:
    """The strategy that a configuration asks for, with those of the settings that it has.

    Parameters
    ----------
    config : SamplingConfig

    Raises
    ------
    UsageError
        If there is no such strategy, or a setting does not fit.
    """
    if config.strategy not in STRATEGIES:
        raise UsageError(f"no strategy {config.strategy!r}", where="sampling", fix=f"There are {', '.join(STRATEGIES)}.")
    kind = STRATEGIES[config.strategy]
    return kind(**{one.name: getattr(config, one.name) for one in fields(kind) if hasattr(config, one.name)})
