"""Accuracy tables of timm against an independent computation from the same files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from made import FEW, codes, only

import resit

FILES = ("imagenet", "imagenetv2-matched-frequency", "imagenet-a")
SIZES = (50_000, 10_000, 7_500)


@pytest.fixture(scope="module")
def paths(shared_data: Path) -> list[Path]:
    return [shared_data / "leaderboards" / f"timm-results-{name}.csv" for name in FILES]


@pytest.fixture(scope="module")
def result(paths: list[Path]) -> resit.Result:
    return resit.compare(*(resit.load_accuracies(path, n=n) for path, n in zip(paths, SIZES, strict=True)), **FEW)


def by_key(path: Path) -> dict[tuple[str, str], float]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {(line["model"], line["img_size"]): float(line["top1"]) / 100 for line in csv.DictReader(file)}


@pytest.mark.parametrize(("at", "n", "slope"), [(1, 1_556, 1.14382), (2, 1_555, 2.88888)])
def test_slopes_agree_with_an_independent_computation(result, paths: list[Path], at: int, n: int, slope: float):
    old, new = by_key(paths[0]), by_key(paths[at])
    keys = sorted(old.keys() & new.keys())
    independent = np.polyfit([old[key] for key in keys], [new[key] for key in keys], 1)[0]
    found = only(result, new=result.comparisons[2 * (at - 1)].new.name)
    assert found.n_models == len(keys) == n
    assert found.fits["linear"].slope.estimate == pytest.approx(independent, rel=1e-9)
    assert found.fits["linear"].slope.estimate == pytest.approx(slope, abs=5e-6)


def test_every_row_is_read(paths: list[Path]):
    for path, n in zip(paths, SIZES, strict=True):
        data = resit.load_accuracies(path, n=n)
        assert {(model.model, model.variant) for model in data.models} == by_key(path).keys()


def test_case_4_other_label_space_is_recorded_and_told(result):
    spaces = {one.new.name: one.label_space for one in result.comparisons}
    subset = next(space for name, space in spaces.items() if name.endswith("imagenet-a"))
    assert subset.original != subset.new
    assert "label-spaces-differ" in codes(result)
