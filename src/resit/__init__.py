"""Let models sit the exam again, and see what an old benchmark's scores are worth on a new test set.

The names below are the public face. They are loaded when they are first used, so that ``import resit`` stays quick.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resit.data import load as load
    from resit.data import load_accuracies as load_accuracies
    from resit.data import load_model_table as load_model_table
    from resit.data import load_predictions as load_predictions
    from resit.data import published as published
    from resit.data import published_names as published_names
    from resit.data import save_predictions as save_predictions
    from resit.data.accuracies import Accuracies as Accuracies
    from resit.data.benchmark import Benchmark as Benchmark
    from resit.data.load_benchmark import load_benchmark as load_benchmark
    from resit.data.models import ModelId as ModelId
    from resit.data.models import ModelTable as ModelTable
    from resit.data.predictions import Predictions as Predictions
    from resit.errors import InputError as InputError
    from resit.errors import Notice as Notice
    from resit.errors import OutputError as OutputError
    from resit.errors import ResitError as ResitError
    from resit.errors import UsageError as UsageError
    from resit.evaluate.record import Evaluation as Evaluation
    from resit.evaluate.run import evaluate as evaluate
    from resit.models.load import load_model as load_model
    from resit.models.options import ModelOptions as ModelOptions
    from resit.report import report as report
    from resit.study.compare import compare as compare
    from resit.study.explain import explain as explain
    from resit.study.explain_result import Explanation as Explanation
    from resit.study.groups import groups as groups
    from resit.study.groups_result import Groups as Groups
    from resit.study.plan import plan as plan
    from resit.study.plan_images import plan_images as plan_images
    from resit.study.plan_models import plan_models as plan_models
    from resit.study.plan_result import ImagesPlan as ImagesPlan
    from resit.study.plan_result import ModelsPlan as ModelsPlan
    from resit.study.plan_result import Plan as Plan
    from resit.study.plan_result import SwapPlan as SwapPlan
    from resit.study.plan_result import VotesPlan as VotesPlan
    from resit.study.plan_swap import plan_swap as plan_swap
    from resit.study.plan_votes import plan_votes as plan_votes
    from resit.study.progress import progress as progress
    from resit.study.progress_result import Progress as Progress
    from resit.study.result import Result as Result
    from resit.study.retrain import retrain_last_layer as retrain_last_layer
    from resit.study.retrain_result import Retrained as Retrained

    __version__: str

_HOME = {
    "Accuracies": "resit.data.accuracies",
    "Benchmark": "resit.data.benchmark",
    "Evaluation": "resit.evaluate.record",
    "Explanation": "resit.study.explain_result",
    "Groups": "resit.study.groups_result",
    "ImagesPlan": "resit.study.plan_result",
    "InputError": "resit.errors",
    "ModelId": "resit.data.models",
    "ModelOptions": "resit.models.options",
    "ModelTable": "resit.data.models",
    "ModelsPlan": "resit.study.plan_result",
    "Notice": "resit.errors",
    "OutputError": "resit.errors",
    "Plan": "resit.study.plan_result",
    "Predictions": "resit.data.predictions",
    "Progress": "resit.study.progress_result",
    "ResitError": "resit.errors",
    "Result": "resit.study.result",
    "Retrained": "resit.study.retrain_result",
    "SwapPlan": "resit.study.plan_result",
    "UsageError": "resit.errors",
    "VotesPlan": "resit.study.plan_result",
    "compare": "resit.study.compare",
    "evaluate": "resit.evaluate.run",
    "explain": "resit.study.explain",
    "groups": "resit.study.groups",
    "load": "resit.data",
    "load_accuracies": "resit.data",
    "load_benchmark": "resit.data.load_benchmark",
    "load_model": "resit.models.load",
    "load_model_table": "resit.data",
    "load_predictions": "resit.data",
    "plan": "resit.study.plan",
    "plan_images": "resit.study.plan_images",
    "plan_models": "resit.study.plan_models",
    "plan_swap": "resit.study.plan_swap",
    "plan_votes": "resit.study.plan_votes",
    "progress": "resit.study.progress",
    "published": "resit.data",
    "published_names": "resit.data",
    "report": "resit.report",
    "retrain_last_layer": "resit.study.retrain",
    "save_predictions": "resit.data",
}

__all__ = [
    "Accuracies",
    "Benchmark",
    "Evaluation",
    "Explanation",
    "Groups",
    "ImagesPlan",
    "InputError",
    "ModelId",
    "ModelOptions",
    "ModelTable",
    "ModelsPlan",
    "Notice",
    "OutputError",
    "Plan",
    "Predictions",
    "Progress",
    "ResitError",
    "Result",
    "Retrained",
    "SwapPlan",
    "UsageError",
    "VotesPlan",
    "__version__",
    "compare",
    "evaluate",
    "explain",
    "groups",
    "load",
    "load_accuracies",
    "load_benchmark",
    "load_model",
    "load_model_table",
    "load_predictions",
    "plan",
    "plan_images",
    "plan_models",
    "plan_swap",
    "plan_votes",
    "progress",
    "published",
    "published_names",
    "report",
    "retrain_last_layer",
    "save_predictions",
]


class _Face(ModuleType):
    """The package's own module: a room of the same name never hides a public function (``resit.report``)."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            value: Any = version("resit")
        except PackageNotFoundError:
            value = "0+unknown"
    elif name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Face
