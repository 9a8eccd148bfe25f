"""CIFAR-10.1: figures computed independently of resit on the released predictions, and those of Recht et al. (2018)."""

from __future__ import annotations

from pathlib import Path

import pytest
from made import FEW, only

import resit
from resit import Result


@pytest.mark.parametrize(("new", "slope"), [("v4", 1.617), ("v6", 1.595)])
def test_slopes(cifar: Result, new: str, slope: float):
    found = only(cifar, new=new)
    assert found.n_models == 30
    assert found.fits["linear"].slope.estimate == pytest.approx(slope, abs=0.0005)


def test_line_of_v4(cifar: Result):
    fit = only(cifar, new="v4").fits["linear"]
    assert fit.r2 == pytest.approx(0.989, abs=0.0005)
    assert (fit.slope.low, fit.slope.high) == pytest.approx((1.53, 1.70), abs=0.005)


@pytest.mark.parametrize(
    ("model", "old", "new"),
    [("vgg16_keras", 93.59, 85.25), ("wrn_28_10", 95.93, 89.71), ("shake_shake_26_2x64d_SSI_cutout16", 97.11, 92.97)],
)
def test_models_of_v4(cifar: Result, model: str, old: float, new: float):
    (found,) = [one for one in only(cifar, new="v4").models if one.model == model]
    assert (100 * found.original.accuracy, 100 * found.new.accuracy) == pytest.approx((old, new), abs=0.005)


def test_images_that_no_model_gets_right(cifar: Result):
    assert cifar.original.unanswered_by_all == 28
    assert [one.new.unanswered_by_all for one in cifar.comparisons] == [21, 22]


def test_ten_thousand_images_tell_an_accuracy_within_a_point(cifar: Result):
    widths = [one.original.high - one.original.low for one in only(cifar, new="v4").models]
    assert max(widths) / 2 <= 0.0101


def test_case_33_overlap_of_known_sets_is_known_under_any_name(cifar: Result, shared_data: Path):
    (overlap,) = cifar.overlaps
    assert (overlap.shared, overlap.source) == (1_800, "known benchmarks")
    folder = shared_data / "cifar10.1"
    renamed = [
        resit.load_predictions(folder / name, labels=folder / f"{name}_labels.npy", name=called)
        for name, called in (("original", "old"), ("v4", "mine"), ("v6", "yours"))
    ]
    assert resit.compare(*renamed, **FEW).overlaps[0].shared == 1_800


def test_agreement_on_the_line_over_networks(shared_data: Path):
    sets = [resit.load_predictions(shared_data / "cifar10.1" / name) for name in ("original", "v4")]
    found = only(resit.compare(*sets, exclude=["random_features_*"], **FEW))
    assert found.n_models == 26
    assert (found.aline.mae_s, found.aline.mae_d, found.aline.mae_uncorrected) == pytest.approx(
        (0.0109, 0.0106, 0.0723), abs=5e-5
    )


def test_top5_is_not_made_of_one_answer(cifar: Result):
    assert {one.metric for one in cifar.comparisons} == {"top1"}
