"""Heads: what scikit-learn finds by hand, several labels, two classes, draws, and what the solver says."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from extras import needs
from resit import UsageError
from resit.models.heads import Examples, Fitted, Head, Trainer, average, examples_of, hearing, standardised

linear_model = needs("sklearn.linear_model")


def features(n: int = 600, d: int = 20, classes: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features of very different scales and offsets, one of them constant."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=n)
    values = rng.normal(size=(classes, d))[labels] + rng.normal(0, 1.5, (n, d))
    values = values * np.geomspace(0.01, 100, d) + np.linspace(-5, 300, d)
    values[:, 3] = 7
    return values.astype(np.float32), labels


def by_hand(values: np.ndarray, labels: np.ndarray, c: float, weights: np.ndarray | None = None) -> np.ndarray:
    """Probabilities of scikit-learn's own pipeline, in double precision and to a small tolerance."""
    scaler = needs("sklearn.preprocessing").StandardScaler()
    ready = scaler.fit_transform(values.astype(np.float64))
    model = linear_model.LogisticRegression(C=c, max_iter=5_000, tol=1e-8).fit(ready, labels, weights)
    return model.predict_proba(ready)


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("c", [1e-3, 1e-1])
def test_it_agrees_with_scikit_learn_by_hand(classes: int, c: float):
    values, labels = features(classes=classes)
    rows = np.arange(100, 600)
    fitted = Trainer(values, Examples(rows, labels[rows], None)).fit(c)
    assert fitted.trouble == ()
    assert fitted.head.weight.dtype == np.float32
    expected = by_hand(values[rows], labels[rows], c)
    assert np.abs(softmax(fitted.head.scores(values[rows]).astype(float)) - expected).max() < 2e-3


def test_a_memory_map_gives_the_same_head_and_is_left_as_it_is(tmp_path: Path):
    values, labels = features()
    np.save(tmp_path / "features.npy", values)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    rows = np.arange(600)
    plain, from_map = (Trainer(part, Examples(rows, labels, None)).fit(0.01).head for part in (values, mapped))
    assert np.array_equal(plain.weight, from_map.weight)
    assert np.array_equal(np.load(tmp_path / "features.npy"), values)


def test_a_warm_start_ends_at_the_same_head():
    values, labels = features()
    examples = Examples(np.arange(600), labels, None)
    trainer = Trainer(values, examples)
    for c in (1e-4, 1e-3, 1e-2):
        warm = trainer.fit(c, warm=True)
    cold = Trainer(values, examples).fit(1e-2)
    first, second = (softmax(one.head.scores(values).astype(float)) for one in (warm, cold))
    assert np.abs(first - second).max() < 5e-3


def test_several_labels_are_each_trained_on_with_their_share():
    values, labels = features()
    other = (labels + 1) % 4
    given = np.stack([labels, np.where(np.arange(600) % 3, -1, other)], axis=1).astype(np.int32)
    given[5] = -1
    examples = examples_of(given, np.arange(600))
    assert 5 not in examples.rows
    assert examples.weights is not None
    assert np.bincount(examples.rows, examples.weights, minlength=600).tolist() == [float(at != 5) for at in range(600)]
    fitted = Trainer(values, examples).fit(0.01)
    scaled = standardised(values, np.delete(np.arange(600), 5))
    ready = (values[examples.rows] - scaled[1]) / scaled[2]
    model = linear_model.LogisticRegression(C=0.01, max_iter=5_000, tol=1e-8).fit(ready, examples.classes, examples.weights)
    got = softmax(fitted.head.scores(values[examples.rows]).astype(float))
    assert np.abs(got - model.predict_proba(ready)).max() < 2e-3
    assert examples_of(labels[:, None].astype(np.int32), np.arange(600)).weights is None


def test_only_classes_with_examples_are_in_the_head():
    values, labels = features()
    fitted = Trainer(values, Examples(np.arange(600), labels * 10, None)).fit(0.01)
    assert fitted.classes.tolist() == [0, 10, 20, 30]
    assert fitted.head.scores(values).shape == (600, 4)
    with pytest.raises(UsageError, match="examples of 1 classes"):
        Trainer(values, Examples(np.arange(5), np.zeros(5, int), None))


def test_a_mean_of_heads_is_over_those_that_have_the_class():
    heads = [
        Fitted(Head(np.array([[1, 2], [3, 4]], np.float32), np.array([1, 2], np.float32)), np.array([0, 2]), 0.1, ("slow",)),
        Fitted(Head(np.array([[5, 6], [7, 8]], np.float32), np.array([3, 4], np.float32)), np.array([0, 5]), 0.1, ("slow",)),
    ]
    mean, lacking = average(heads)
    assert mean.classes.tolist() == [0, 2, 5]
    assert mean.head.weight.tolist() == [[3, 4], [3, 4], [7, 8]]
    assert mean.head.bias.tolist() == [2, 2, 4]
    assert lacking.tolist() == [2, 5]
    assert mean.trouble == ("slow",)


def test_a_solver_that_stops_early_is_told_and_not_silenced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("resit.models.heads.MOST_ITERATIONS", 2)
    values, labels = features()
    fitted = Trainer(values, Examples(np.arange(600), labels, None)).fit(10.0)
    assert len(fitted.trouble) == 1
    assert "failed to converge" in fitted.trouble[0]


def test_each_thread_hears_its_own_warnings_and_none_is_lost():
    ready, heard = threading.Barrier(2), {}

    def work(name: str) -> None:
        with hearing() as said:
            ready.wait()
            for at in range(50):
                warnings.warn(f"{name} {at}", stacklevel=1)
            ready.wait()
        heard[name] = said

    filters, show = list(warnings.filters), warnings.showwarning
    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {name: [f"{name} {at}" for at in range(50)] for name in "ab"}
    assert (warnings.filters, warnings.showwarning) == (filters, show)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="weights of shape"):
        Head(np.zeros((2, 3), np.float32), np.zeros(3, np.float32))
