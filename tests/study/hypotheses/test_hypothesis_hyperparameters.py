"""Hyperparameters, where given models are compared: what choosing cost, its bound, and what they are called."""

from __future__ import annotations

import numpy as np
import pytest
from material_made import answers, asked, figure

from resit.study.hypotheses.interface import Material

NAME = "hyperparameters"


def models(seed: int, accuracies: list[float], n: int = 500) -> np.ndarray:
    return np.random.default_rng(seed).random((len(accuracies), n)) < np.array(accuracies)[:, None]


def test_what_choosing_cost_is_told_as_it_is_and_bounded_by_the_interval():
    right = models(1, [0.5, 0.6, 0.69, 0.7])
    found = asked(NAME, Material(answers("a", right), answers("b", right)))
    regret = figure(found, "regret").value
    assert regret.high is not None
    assert regret.estimate == 0 < regret.high
    assert f"cost 0.00 points here, and at most {100 * regret.high:.2f} by the interval" in found.verdict
    assert found.kind == "bound"
    assert found.part is not None
    assert found.part.estimate == regret.high


def test_the_bound_of_a_tuned_model_is_above_what_it_cost():
    found = asked(NAME, Material(answers("a", models(1, [0.6, 0.65, 0.9])), answers("b", models(2, [0.6, 0.65, 0.5]))))
    new = models(2, [0.6, 0.65, 0.5]).mean(axis=1)
    regret = figure(found, "regret").value
    assert regret.estimate == pytest.approx(new.max() - new[2])
    assert found.part is not None
    assert found.part.estimate == regret.high
    assert found.part.estimate > new.max() - new[2]


def test_given_models_are_called_models():
    found = asked(NAME, Material(*(answers(name, np.tile(models(1, [0.7]), (3, 1))) for name in ("a", "b"))))
    assert found.verdict.startswith("The model that is best on the original")
    assert "setting" not in f"{found.verdict}{found.sheets[0].title}{found.sheets[0].columns}{found.pictures[0].series[0].name}"
    assert figure(found, "slope").value.reason == "all models are the same on one set"
