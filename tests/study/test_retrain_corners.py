"""Retraining on odd sets: what gives no figure, and what gives one that must not be believed without a word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from extras import needs
from featured import PixelModel, exam
from resit import OutputError, Retrained, UsageError, retrain_last_layer
from resit.models.head_file import load_head
from resit.study.retrain_result import Outcome

needs("sklearn.linear_model")
needs("safetensors")
FEW = {"by": "region", "grid": (1e-2, 1e-1), "resamples": 200, "workers": 1, "batch_size": 64}
N = 600


class Partly(PixelModel):
    """Features of some images are not finite."""

    lost = 7

    def features(self, batch: np.ndarray) -> np.ndarray:
        found = np.array(super().features(batch))
        found[:: self.lost] = np.nan
        return found


def codes(result: Retrained) -> set[str]:
    return {warning.code for warning in result.warnings}


def only(result: Retrained) -> Outcome:
    (found,) = [one for one in result.outcomes if one.metric == "top1"]
    return found


def test_case_21_images_whose_features_are_not_finite_count_as_wrong_and_are_told(tmp_path: Path):
    benchmark, model = exam(N, 8)
    partly = Partly(model.weight, model.bias, model.label_space.classes)
    found = retrain_last_layer(partly, benchmark, tmp_path, **FEW)
    lost = sum(len(range(0, min(64, rows - start), 7)) for rows in (512, N - 512) for start in range(0, rows, 64))
    assert found.head.n_examples == N - lost
    assert only(found).n_unusable == lost
    assert only(found).change.overall.neither >= lost
    assert "invalid-features" in codes(found)
    assert np.isfinite(load_head(tmp_path / "head.safetensors").head.weight).all()


def test_case_21_without_a_finite_feature_there_is_nothing_to_train_on(tmp_path: Path):
    benchmark, model = exam(N, 8)
    none = Partly(model.weight, model.bias, model.label_space.classes)
    none.lost = 1
    with pytest.raises(UsageError, match="training examples of 0 classes"):
        retrain_last_layer(none, benchmark, tmp_path, **FEW)
    assert not list(tmp_path.rglob("*.safetensors"))


def test_case_18_and_31_a_missing_group_and_a_group_of_one_are_kept_and_not_the_headline(tmp_path: Path):
    benchmark, model = exam(N, 8)
    region = benchmark.groups["region"].astype("U10")
    region[3], region[5] = "islet", ""
    found = retrain_last_layer(model, replace(benchmark, groups={"region": region}), tmp_path, **FEW)
    groups = {score.group: score for score in only(found).after.groups}
    assert {name for name, score in groups.items() if score.small} == {"(missing)", "islet"}
    assert groups["islet"].n == groups["(missing)"].n == 1
    assert groups["islet"].accuracy.low is not None
    assert {"missing-groups", "small-groups"} <= codes(found)
    assert {only(found).after.disparity.best, only(found).after.disparity.worst} == {"north", "south"}


def test_case_30_a_group_in_one_cluster_has_no_interval_and_says_why(tmp_path: Path):
    benchmark, model = exam(N, 8)
    south = benchmark.groups["region"] == "south"
    home = np.where(south, "palace", benchmark.groups["home"])
    found = retrain_last_layer(
        model, replace(benchmark, groups={**benchmark.groups, "home": home}), tmp_path, cluster="home", **FEW | {"min_size": 0}
    )
    change = {group.group: group.change.difference for group in only(found).change.groups}
    assert change["south"].low is None
    assert change["south"].reason == "no interval: it lies in one cluster"
    assert change["north"].low is not None


def test_a_cluster_larger_than_a_fold_is_told(tmp_path: Path):
    benchmark, model = exam(N, 8)
    home = np.array(["palace"] * 400 + [f"h{at}" for at in range(200)])
    wide = replace(benchmark, groups={**benchmark.groups, "home": home})
    found = retrain_last_layer(model, wide, tmp_path, cluster="home", **FEW)
    assert max(row.n_test for row in found.folds) == 400
    (message,) = [warning.message for warning in found.warnings if warning.code == "uneven-folds"]
    assert message.startswith("the largest fold has 400 of 600 examples")
    assert "uneven-folds" not in codes(retrain_last_layer(model, benchmark, tmp_path, cluster="home", **FEW))


def test_a_class_of_one_cluster_is_never_taught_when_it_is_asked(tmp_path: Path):
    benchmark, model = exam(N, 8)
    home = np.char.add("c", benchmark.labels[:, 0].astype(str))
    found = retrain_last_layer(
        model, replace(benchmark, groups={**benchmark.groups, "home": home}), tmp_path, cluster="home", **FEW
    )
    assert sum(row.n_untaught for row in found.folds) == N
    assert only(found).after.accuracy.estimate == 0
    assert "untaught-classes" in codes(found)


def test_households_that_are_not_kept_together_are_told(tmp_path: Path):
    benchmark, model = exam(N, 8)
    groups = {"region": benchmark.groups["region"], "household": benchmark.groups["home"]}
    benchmark = replace(benchmark, groups=groups)
    assert "clusters-not-used" in codes(retrain_last_layer(model, benchmark, tmp_path, **FEW))
    assert "clusters-not-used" not in codes(retrain_last_layer(model, benchmark, tmp_path, cluster="household", **FEW))


def test_case_34_features_that_are_there_are_not_computed_again(tmp_path: Path):
    benchmark, model = exam(N, 8)
    first = retrain_last_layer(model, benchmark, tmp_path, **FEW)
    asked = model.asked
    again = retrain_last_layer(model, benchmark, tmp_path, **FEW)
    assert model.asked == asked
    assert again.to_json() == first.to_json()


def test_case_36_a_head_that_cannot_be_stored_leaves_the_features(tmp_path: Path):
    benchmark, model = exam(N, 8)
    (tmp_path / "out" / "head.safetensors").mkdir(parents=True)
    with pytest.raises(OutputError, match="the head cannot be written"):
        retrain_last_layer(model, benchmark, tmp_path / "out", features=tmp_path / "kept", **FEW)
    asked = model.asked
    retrain_last_layer(model, benchmark, tmp_path / "other", features=tmp_path / "kept", **FEW)
    assert model.asked == asked
