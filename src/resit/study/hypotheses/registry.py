"""The hypotheses, in the order in which a report tells them."""

from __future__ import annotations

import importlib

from resit.errors import UsageError
from resit.study.hypotheses.interface import Hypothesis

MODULES: tuple[str, ...] = (
    "statistical_error",
    "near_duplicates",
    "hyperparameters",
    "hard_images",
    "human_accuracy",
    "train_on_part",
    "cross_validation",
    "discriminator",
    "class_balance",
    "selection_frequency",
    "review_rounds",
    "sampling_strategy",
    "model_similarity",
    "calibration",
    "image_attributes",
    "gaussian_difficulty",
    "gap_split",
    "adaptivity_bound",
)


def hypotheses(only: tuple[str, ...] = ()) -> tuple[Hypothesis, ...]:
    """All hypotheses, or some of them, in the order of the report.

    Parameters
    ----------
    only : tuple of str, optional
        Names.

    Raises
    ------
    UsageError
        If a name is none.
    """
    names = [module.replace("_", "-") for module in MODULES]
    if stray := [name for name in only if name not in names]:
        raise UsageError(f"no hypothesis {stray[0]!r}", where="--only", fix=f"There are {', '.join(names)}.")
    wanted = [module for module, name in zip(MODULES, names, strict=True) if not only or name in only]
    return tuple(importlib.import_module(f"resit.study.hypotheses.{module}").HYPOTHESIS for module in wanted)
