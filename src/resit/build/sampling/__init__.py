"""How images are drawn among the eligible candidates: one strategy a file, and one function that draws class by class."""

from resit.build.sampling.records import Drawn, Shortage
from resit.build.sampling.registry import STRATEGIES, strategy_of
from resit.build.sampling.run import sample
from resit.build.sampling.strategy import Strategy

__all__ = ["STRATEGIES", "Drawn", "Shortage", "Strategy", "sample", "strategy_of"]
