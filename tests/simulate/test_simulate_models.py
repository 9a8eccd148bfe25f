from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import resit
from extras import needs
from resit.errors import UsageError
from resit.simulate.models import estimators, train_models
from resit.simulate.parts import Parts

needs("sklearn", "skops")


@pytest.fixture(scope="module")
def specs(parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    return train_models(parts.reference_sources, tmp_path_factory.mktemp("models"), size=8, seed=1)


def test_models_of_different_strength_sit_the_exam(parts: Parts, specs: tuple[str, ...], tmp_path: Path):
    done = resit.evaluate(specs, [parts.original_source], tmp_path)
    predictions = resit.load_predictions(done.folders[0])
    accuracy = predictions.correct().mean(axis=1)
    assert [str(model) for model in predictions.models] == sorted(estimators())
    assert len(accuracy) >= 8
    assert accuracy.min() > 0.4
    assert accuracy.max() > 0.97
    assert len(set(np.round(accuracy, 2).tolist())) >= 8
    assert accuracy[[str(model) for model in predictions.models].index("two-components")] < 0.7


def test_the_same_seed_trains_the_same_models(parts: Parts, specs: tuple[str, ...], tmp_path: Path):
    chosen = ["two-components", "perceptron"]
    again = train_models(parts.reference_sources, tmp_path / "models", size=8, names=chosen, seed=1)
    assert [Path(spec).stem for spec in again] == chosen
    first = [spec for spec in specs if Path(spec).stem in chosen]
    one, two = (resit.evaluate(some, [parts.original_source], tmp_path / name) for some, name in ((first, "a"), (again, "b")))
    found = [resit.load_predictions(done.folders[0]).correct() for done in (one, two)]
    assert np.array_equal(*found)


def test_few_images_are_drawn_among_all(parts: Parts, tmp_path: Path):
    sources = [parts.original_source, *parts.reference_sources]
    spec = train_models(sources, tmp_path / "few", size=8, most=60, names=["naive-bayes"])
    more = train_models(sources, tmp_path / "all", size=8, names=["naive-bayes"])
    right = []
    for name, some in (("few", spec), ("all", more)):
        done = resit.evaluate(some, [parts.original_source], tmp_path / f"{name}-answers")
        right.append(resit.load_predictions(done.folders[0]).correct().mean())
    assert right[0] < right[1] - 0.02


def test_what_is_unknown_is_refused(parts: Parts, tmp_path: Path):
    with pytest.raises(UsageError, match="no classifier 'oracle'"):
        train_models(parts.reference_sources, tmp_path, names=["oracle"])
    with pytest.raises(UsageError, match="no training images"):
        train_models([], tmp_path)
