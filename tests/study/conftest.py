"""Studies on real data, each computed once for all the tests that look at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from made import FEW

import resit
from resit import Result

SETS = ("val", "matched-frequency", "threshold-0.7")
REPAIRS = {
    "alias": {"fv_64k_model": "fv_64k"},
    "worst_first": ("fv_16k@matched-frequency", "fv_16k@threshold-0.7"),
}


@pytest.fixture(scope="session")
def imagenetv2(shared_data: Path) -> Result:
    """ImageNetV2 with its two faults repaired, the line over convnets, at full resamples."""
    sets = [resit.load_predictions(shared_data / "imagenetv2" / name) for name in SETS]
    return resit.compare(*sets, **REPAIRS, baseline="kind=convnet", model_table=resit.published("imagenetv2").table)


@pytest.fixture(scope="session")
def imagenetv2_as_it_stands(shared_data: Path) -> Result:
    """ImageNetV2 with nothing repaired, all models."""
    return resit.compare(*(resit.load_predictions(shared_data / "imagenetv2" / name) for name in SETS), **FEW)


@pytest.fixture(scope="session")
def cifar(shared_data: Path) -> Result:
    """CIFAR-10.1, all 30 models."""
    sets = [resit.load_predictions(shared_data / "cifar10.1" / name) for name in ("original", "v4", "v6")]
    return resit.compare(*sets, example_resamples=500)
