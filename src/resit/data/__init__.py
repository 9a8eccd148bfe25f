"""What travels: benchmarks, predictions, accuracies and the model table; reading every layout people have, storing ours."""

from resit.data.accuracies import Accuracies, Figures
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.load import load, load_accuracies, load_predictions
from resit.data.model_table import load_model_table
from resit.data.models import ModelId, ModelTable
from resit.data.predictions import CORRECTNESS, Predictions
from resit.data.published import Published, published, published_names
from resit.data.store import save_predictions

__all__ = [
    "CORRECTNESS",
    "Accuracies",
    "Benchmark",
    "ClassInfo",
    "Figures",
    "ModelId",
    "ModelTable",
    "Predictions",
    "Published",
    "load",
    "load_accuracies",
    "load_model_table",
    "load_predictions",
    "published",
    "published_names",
    "save_predictions",
]
