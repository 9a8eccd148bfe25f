from __future__ import annotations

import importlib.util
import warnings

import numpy as np
import pytest

from extras import needs
from resit.errors import InputError, UsageError
from resit.models.adapters.sklearn import SklearnModel, sklearn_model
from resit.models.fake import FakeModel
from resit.models.load import load_model
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import FeatureModel

needs("sklearn")
linear_model, neighbors, svm = needs("sklearn.linear_model"), needs("sklearn.neighbors"), needs("sklearn.svm")
ensemble, pipeline, preprocessing = needs("sklearn.ensemble"), needs("sklearn.pipeline"), needs("sklearn.preprocessing")
joblib = needs("joblib")

TINY = Preprocess(2, (2, 2))
N = 60
BATCH = np.random.default_rng(0).normal(size=(N, 3, 2, 2)).astype(np.float32)
ROWS = BATCH.reshape(N, -1)
THREE = np.argmax(ROWS[:, :3], axis=1)


def rgb(n: int = 3):
    return ["red", "green", "blue"][:n]


@pytest.mark.parametrize(
    "estimator",
    [
        linear_model.LogisticRegression(),
        linear_model.RidgeClassifier(),
        linear_model.LogisticRegression(fit_intercept=False),
        svm.LinearSVC(),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_linear_estimators_have_features(estimator, n_classes):
    labels = THREE % n_classes
    estimator.fit(ROWS, labels)
    model = sklearn_model("linear", estimator, rgb(n_classes), TINY)
    assert isinstance(model, FeatureModel)
    weights, bias = model.head()
    assert weights.shape == (n_classes, 12)
    assert np.array_equal(model.scores(BATCH).argmax(axis=1), estimator.predict(ROWS))
    assert np.allclose(model.features(BATCH) @ weights.T + bias, model.scores(BATCH), atol=1e-4)
    assert np.array_equal(model.features(BATCH), ROWS)


@pytest.mark.parametrize(
    "estimator",
    [
        neighbors.KNeighborsClassifier(),
        ensemble.RandomForestClassifier(5, random_state=0),
        svm.SVC(),
        pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_estimators(estimator, n_classes):
    labels = THREE % n_classes
    estimator.fit(ROWS, labels)
    model = sklearn_model("m", estimator, rgb(n_classes), TINY)
    assert not isinstance(model, FeatureModel)
    assert model.scores(BATCH).shape == (N, n_classes)
    assert np.mean(model.scores(BATCH).argmax(axis=1) == estimator.predict(ROWS)) > 0.95


def test_classes_that_were_not_met_have_no_score():
    estimator = linear_model.LogisticRegression().fit(ROWS, np.where(THREE == 1, 4, 2))
    model = sklearn_model("m", estimator, ["a", "b", "c", "d", "e"], TINY)
    assert [one.id for one in model.label_space.classes] == ["c", "e"]
    assert model.scores(BATCH).shape == (N, 2)


def test_classes_as_text_are_ids():
    estimator = linear_model.LogisticRegression().fit(ROWS, np.array(["n2", "n1", "n3"])[THREE])
    model = sklearn_model("m", estimator, ["n3", "n1", "n2", "n0"], TINY)
    assert [one.id for one in model.label_space.classes] == ["n1", "n2", "n3"]
    answers = np.array([one.id for one in model.label_space.classes])[model.scores(BATCH).argmax(axis=1)]
    assert np.array_equal(answers, estimator.predict(ROWS))
    assert [one.id for one in sklearn_model("m", estimator, None, TINY).label_space.classes] == ["n1", "n2", "n3"]


def test_classes_outside_of_the_list():
    for labels in (THREE + 1, np.array(["red", "green", "pink"])[THREE]):
        with pytest.raises(UsageError, match="is none of the 3"):
            sklearn_model("m", linear_model.LogisticRegression().fit(ROWS, labels), rgb(), TINY)


def test_an_estimator_on_features_of_another_model():
    backbone = FakeModel("body", classes=4)
    estimator = linear_model.LogisticRegression().fit(backbone.features(BATCH), THREE)
    model = sklearn_model("m", estimator, rgb(), backbone=backbone)
    assert np.array_equal(model.scores(BATCH).argmax(axis=1), estimator.predict(backbone.features(BATCH)))
    assert model.transform is backbone.transform
    assert model.provenance["backbone seed"] == "0"
    with pytest.raises(UsageError, match="either a transform or a backbone"):
        sklearn_model("m", estimator, rgb(), TINY, backbone=backbone)


def test_estimators_that_give_no_scores():
    for estimator in (linear_model.LogisticRegression(), linear_model.LinearRegression().fit(ROWS, THREE)):
        with pytest.raises(UsageError, match="not fitted, or gives no scores"):
            SklearnModel("m", estimator, rgb(), TINY)
    one_against_one = svm.SVC(decision_function_shape="ovo").fit(ROWS, np.argmax(ROWS[:, :4], axis=1))
    with pytest.raises(UsageError, match="ovr"):
        sklearn_model("m", one_against_one, ["a", "b", "c", "d"], TINY).scores(BATCH)


def test_inputs_of_another_size():
    model = sklearn_model("m", linear_model.LogisticRegression().fit(ROWS, THREE), rgb(), TINY)
    with pytest.raises(UsageError, match="refuses 3 inputs an image"):
        model.scores(BATCH[:, :, :1, :1])


def test_a_decision_that_is_not_of_its_inputs_is_refused():
    class Odd(linear_model.LogisticRegression):
        def decision_function(self, rows):
            return super().decision_function(rows) ** 3

    model = sklearn_model("m", Odd().fit(ROWS, THREE), rgb(), TINY, version="1")
    with pytest.raises(UsageError, match="not linear"):
        model.features(BATCH)


def test_digests_tell_states_apart():
    first, again = (linear_model.LogisticRegression().fit(ROWS, THREE) for _ in range(2))
    other = linear_model.LogisticRegression(C=0.1).fit(ROWS, THREE)
    digests = [sklearn_model("m", one, rgb(), TINY).provenance["weights"] for one in (first, again, other)]
    assert digests[0] == digests[1] != digests[2]


SIDECAR = """classes: [red, green, blue]
preprocess: {size: 2, resize: [2, 2], interpolation: bicubic, mean: [0, 0, 0], std: [1, 1, 1]}
"""


def test_a_pickle_needs_permission(tmp_path):
    estimator = linear_model.LogisticRegression().fit(ROWS, THREE)
    joblib.dump(estimator, tmp_path / "m.joblib")
    with pytest.raises(UsageError, match="a pickle can run code"):
        load_model(f"sklearn:{tmp_path / 'm.joblib'}")
    with pytest.raises(UsageError, match="not guessed"):
        load_model(f"sklearn:{tmp_path / 'm.joblib'}", ModelOptions(allow_pickle=True))
    (tmp_path / "m.yaml").write_text(SIDECAR)
    model = load_model(f"sklearn:{tmp_path / 'm.joblib'}", ModelOptions(allow_pickle=True))
    assert np.allclose(model.scores(BATCH), estimator.decision_function(ROWS))
    assert [one.id for one in model.label_space.classes] == rgb()
    (tmp_path / "m.joblib").write_bytes(b"cut off")
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(f"sklearn:{tmp_path / 'm.joblib'}", ModelOptions(allow_pickle=True))


def test_other_files_are_refused(tmp_path):
    (tmp_path / "m.npz").write_bytes(b"")
    with pytest.raises(UsageError, match=r"Use \.skops"):
        load_model(f"sklearn:{tmp_path / 'm.npz'}")


def test_skops_files(tmp_path):
    if importlib.util.find_spec("skops") is None:
        (tmp_path / "m.skops").write_bytes(b"")
        with pytest.raises(UsageError, match="skops is not installed"):
            load_model(f"sklearn:{tmp_path / 'm.skops'}")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from skops.io import dump
    estimator = linear_model.LogisticRegression().fit(ROWS, THREE)
    dump(estimator, tmp_path / "m.skops")
    (tmp_path / "m.yaml").write_text(SIDECAR)
    model = load_model(f"sklearn:{tmp_path / 'm.skops'}")
    assert np.allclose(model.scores(BATCH), estimator.decision_function(ROWS))


def test_a_step_that_works_in_place_does_not_touch_what_other_models_are_given():
    steps = pipeline.make_pipeline(preprocessing.StandardScaler(copy=False), linear_model.LogisticRegression())
    steps.fit(ROWS.copy(), THREE)
    batch = BATCH.copy()
    sklearn_model("in-place", steps, rgb(), TINY).scores(batch)
    assert np.array_equal(batch, BATCH)


def test_case_24_classes_stored_as_floats_are_whole_numbers():
    estimator = linear_model.LogisticRegression().fit(ROWS, THREE.astype(float))
    assert [one.id for one in sklearn_model("floats", estimator, rgb(), TINY).label_space.classes] == rgb()
    assert [one.id for one in sklearn_model("floats", estimator, None, TINY).label_space.classes] == ["0", "1", "2"]
