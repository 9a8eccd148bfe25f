from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from extras import needs
from resit.data.benchmark import Benchmark
from resit.data.image_sources.arrays import ArrayImages
from resit.errors import InputError, UsageError
from resit.models.training.augment import flipped, shifted
from resit.models.training.diverged import Diverged
from resit.models.training.estimator import Estimator
from resit.models.training.linear import Linear
from resit.models.training.load import load_trainer
from resit.models.training.pixels import Pixels
from resit.models.training.resnet import RESNET_18, ResNet
from resit.models.training.torch_module import TorchModule, TorchSettings

torch = needs("torch", "sklearn")
QUICK = TorchSettings(epochs=4, batch=32, threads=1)
TINY = ResNet((8, 8), (1, 1), 1)
FACTORY = """
from torch import nn

def small(n_classes, shape):
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(n_classes))

def wide(n_classes, shape):
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(n_classes + 1))

def number(n_classes, shape):
    return 3

def failing(n_classes, shape):
    raise ValueError("no such shape")
"""


def quiet(_):
    pass


def no_features(model):
    raise AssertionError(model)


def images(n=240, classes=3, side=8, seed=0, apart=40):
    rng = np.random.default_rng(seed)
    patterns = np.random.default_rng(1).choice([-1, 1], (classes, 1, 1, 3))
    labels = np.arange(n) % classes
    noisy = 128 + apart * patterns[labels] + rng.normal(0, 30, (n, side, side, 3))
    return np.clip(noisy, 0, 255).astype(np.uint8), labels.astype(np.int64)


def accuracy(trained, seed=9):
    inputs, labels = images(seed=seed)
    return float((trained.scores(inputs).argmax(axis=1) == labels).mean())


@pytest.mark.parametrize(
    "fitter",
    [
        Linear(),
        Linear(1e-2),
        Estimator("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 20}, 1),
        Estimator("sklearn.svm.LinearSVC", threads=1),
        Estimator("sklearn.neighbors.NearestCentroid", threads=1),
        TorchModule(TINY, QUICK),
        TorchModule(TINY, replace(QUICK, schedule="cosine", augment=False)),
        TorchModule(TINY, replace(QUICK, half=True)),
    ],
    ids=lambda one: one.name,
)
def test_every_kind_learns_is_seeded_and_can_be_pickled(fitter):
    inputs, labels = images()
    told = []
    one = fitter.fit(inputs, labels, 5, seed=3, tell=told.append)
    again = pickle.loads(pickle.dumps(fitter)).fit(inputs, labels, 5, seed=3, tell=quiet)
    assert accuracy(one) > 0.9
    scores = one.scores(inputs)
    assert scores.shape == (240, 5)
    assert scores.dtype == np.float32
    assert np.array_equal(scores, again.scores(inputs))
    assert told
    assert fitter.seconds(1_000) > 0
    assert fitter.fingerprint == pickle.loads(pickle.dumps(fitter)).fingerprint


@pytest.mark.parametrize("fitter", [Linear(1e-2), Estimator("sklearn.svm.LinearSVC", threads=1)])
def test_a_class_without_examples_is_never_answered(fitter):
    inputs, labels = images()
    there = labels != 1
    trained = fitter.fit(inputs[there], labels[there], 3, seed=0, tell=quiet)
    scores = trained.scores(inputs)
    assert np.all(scores[:, 1] == -np.inf)
    assert (scores.argmax(axis=1) == labels)[there].mean() > 0.95


@pytest.mark.parametrize("fitter", [Linear(1e-2), Estimator("sklearn.svm.LinearSVC", threads=1), TorchModule(TINY, QUICK)])
def test_one_class_alone_is_refused(fitter):
    inputs, _ = images()
    with pytest.raises(UsageError):
        fitter.fit(inputs, np.zeros(240, np.int64), 3, seed=0, tell=quiet)


def test_fingerprints_differ_where_settings_do():
    fitters = [
        *(Linear(), Linear(1e-3), Estimator("sklearn.svm.LinearSVC"), Estimator("sklearn.svm.LinearSVC", {"C": 2.0})),
        *(TorchModule(ResNet()), TorchModule(RESNET_18), TorchModule(ResNet(), replace(QUICK, lr=0.01))),
        *(fitter for name, fitter in TorchModule(ResNet(), QUICK).grid()),
    ]
    assert len({fitter.fingerprint for fitter in fitters}) == len(fitters)


def test_a_linear_head_is_logistic_regression_on_standardised_pixels():
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    inputs, labels = images(apart=4)
    flat = inputs.reshape(len(inputs), -1) / 255
    scale = StandardScaler().fit(flat)
    expected = LogisticRegression(C=1e-2, tol=1e-8, max_iter=5_000).fit(scale.transform(flat), labels)
    other, _ = images(seed=4, apart=4)
    found = Linear(1e-2).fit(inputs, labels, 3, seed=0, tell=quiet).scores(other)
    wanted = expected.decision_function(scale.transform(other.reshape(len(other), -1) / 255))
    assert np.abs((found - found.mean(1, keepdims=True)) - (wanted - wanted.mean(1, keepdims=True))).max() < 0.02


def test_the_strength_is_chosen_on_a_held_out_part():
    told = []
    inputs, labels = images(n=300, side=8, apart=3)
    Linear().fit(inputs, labels, 3, seed=0, tell=told.append)
    tried = [float(text.split("%")[0].split(", ")[1]) for text in told[:-1]]
    chosen = float(told[-1].split("C ")[1])
    assert chosen == [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0][int(np.argmax(tried))]


def test_an_estimator_answers_as_scikit_learn_does():
    from sklearn.ensemble import RandomForestClassifier

    inputs, labels = images(apart=5)
    flat = inputs.reshape(240, -1) / np.float32(255)
    expected = RandomForestClassifier(n_estimators=7, random_state=11).fit(flat, labels)
    found = Estimator("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 7}, 1).fit(
        inputs, labels, 3, seed=11, tell=quiet
    )
    assert np.allclose(found.scores(inputs), expected.predict_proba(flat))


def test_a_loss_that_is_not_finite_is_told_as_diverged():
    inputs, labels = images()
    with pytest.raises(Diverged, match=r"not finite|the loss is"):
        TorchModule(TINY, replace(QUICK, lr=1e12)).fit(inputs, labels, 3, seed=0, tell=quiet)
    broken = np.full((60, 5), np.nan, np.float32)
    with pytest.raises(Diverged, match="the loss is nan"):
        TorchModule(_Flat(), QUICK).fit(broken, np.arange(60) % 2, 2, seed=0, tell=quiet)


class _Flat:
    name, fingerprint, images_per_second = "flat", "flat", 1e4

    def __call__(self, n_classes, shape):
        return torch.nn.Linear(shape[0], n_classes)


def test_features_are_trained_on_too():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    features = (rng.normal(0, 1, (200, 6)) + 3 * labels[:, None]).astype(np.float32)
    trained = TorchModule(_Flat(), QUICK).fit(features, labels, 2, seed=0, tell=quiet)
    assert (trained.scores(features).argmax(axis=1) == labels).mean() > 0.95


def test_torch_is_left_as_it_was():
    inputs, labels = images(n=60)
    torch.manual_seed(5)
    expected = torch.rand(3)
    threads = torch.get_num_threads()
    torch.manual_seed(5)
    TorchModule(TINY, replace(QUICK, epochs=1, threads=threads + 1)).fit(inputs, labels, 3, seed=0, tell=quiet)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads


def test_the_best_epoch_is_kept_and_training_stops_early():
    """After a first good epoch the learning rate is far too high: the best is early, and two worse ones end it."""
    inputs, labels = images(n=1_200, apart=10)
    told = []
    settings = replace(QUICK, epochs=30, patience=2, held_out=0.25)
    trained = TorchModule(TINY, settings).fit(inputs, labels, 3, seed=1, tell=told.append)
    share = [float(text.split(", ")[2].split("%")[0]) for text in told]
    assert 3 <= len(told) < 30
    folds_right = max(share)
    assert share[-1] <= folds_right
    assert accuracy(trained) > 0.8


def test_networks_have_the_layers_and_weights_that_they_should():
    small = ResNet()(10, (3, 32, 32))
    layers = [one for one in small.modules() if isinstance(one, torch.nn.Conv2d | torch.nn.Linear)]
    assert len([one for one in layers if not (isinstance(one, torch.nn.Conv2d) and one.kernel_size == (1, 1))]) == 8
    assert "8 layers" in ResNet().name
    large = RESNET_18(10, (3, 32, 32))
    assert sum(one.numel() for one in large.parameters()) == 11_173_962  # as the usual CIFAR variant of ResNet-18
    assert large(torch.zeros(2, 3, 32, 32)).shape == (2, 10)
    with pytest.raises(UsageError):
        ResNet((8,), (1, 1))
    with pytest.raises(UsageError, match="takes images"):
        TorchModule(TINY, QUICK).fit(np.zeros((60, 5), np.float32), np.arange(60) % 2, 2, seed=0, tell=quiet)


def test_augmented_images_are_shifted_or_mirrored_ones():
    rng = np.random.default_rng(0)
    batch = rng.integers(1, 255, (40, 16, 16, 3)).astype(np.uint8)
    padded = np.pad(batch, ((0, 0), (2, 2), (2, 2), (0, 0)))
    seen = set()
    for one, all_shifts in zip(shifted(batch, rng), padded, strict=True):
        places = [(y, x) for y in range(5) for x in range(5) if np.array_equal(one, all_shifts[y : y + 16, x : x + 16])]
        assert len(places) == 1
        seen.update(places)
    assert len(seen) > 12
    mirrored = flipped(batch, rng)
    turned = [np.array_equal(one, own[:, ::-1]) for one, own in zip(mirrored, batch, strict=True)]
    kept = [np.array_equal(one, own) for one, own in zip(mirrored, batch, strict=True)]
    assert np.all(np.array(turned) ^ np.array(kept))
    assert 8 < sum(turned) < 32


def test_pixels_are_read_resized_and_those_that_cannot_be_read_are_told():
    class Torn(ArrayImages):
        def __getitem__(self, index):
            if index == 2:
                raise OSError("torn")
            return super().__getitem__(index)

    raw = np.random.default_rng(0).integers(0, 255, (5, 8, 12, 3)).astype(np.uint8)
    made = Pixels(8).prepare(Benchmark("a", np.zeros((5, 1), np.int32), images=Torn(raw)), quiet)
    assert made.usable.tolist() == [True, True, False, True, True]
    assert np.array_equal(made.values[0], raw[0][:, 2:10])
    assert "torn" in made.notices[0].message
    with pytest.raises(UsageError, match="without images"):
        Pixels().prepare(Benchmark("a", np.zeros((5, 1), np.int32)), quiet)


def test_trainers_are_made_from_names(tmp_path):
    file = tmp_path / "nets.py"
    file.write_text(FACTORY)
    names = {
        "pixels": "linear head on 32×32 pixels",
        "pixels?size=16&c=0.01": "linear head (C 0.01) on 16×16 pixels",
        "resnet?epochs=2&lr=0.01": "residual network of 8 layers, 2 epochs on 32×32 pixels",
        "resnet?widths=(8,16)&blocks=(2,2)&epochs=1": "residual network of 10 layers, 1 epochs on 32×32 pixels",
        "resnet18": "residual network of 18 layers, 30 epochs on 32×32 pixels",
        "sklearn:sklearn.svm.LinearSVC?C=9": "LinearSVC(C=9) on 32×32 pixels",
        f"torch:{file}:small?epochs=3&size=8": "small of nets.py, 3 epochs on 8×8 pixels",
    }
    for spec, name in names.items():
        trainer = load_trainer(spec, no_features)
        assert trainer.name == name
        assert pickle.loads(pickle.dumps(trainer)).fitter.fingerprint == trainer.fitter.fingerprint
    settings = load_trainer("resnet?augment=false&half=True", no_features).fitter.settings
    assert (settings.augment, settings.half) == (False, True)


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
def test_a_factory_of_a_file_is_trained(tmp_path):
    file = tmp_path / "nets.py"
    file.write_text(FACTORY)
    inputs, labels = images()
    fitter = load_trainer(f"torch:{file}:small?epochs=4&lr=0.01&threads=1", no_features).fitter
    with pytest.raises(UsageError, match="factory gives a int"):
        load_trainer(f"torch:{file}:number", no_features).fitter.fit(inputs, labels, 3, seed=0, tell=quiet)
    with pytest.raises(UsageError, match="no such shape"):
        load_trainer(f"torch:{file}:failing", no_features).fitter.fit(inputs, labels, 3, seed=0, tell=quiet)
    with pytest.raises(UsageError, match="scores of shape"):
        load_trainer(f"torch:{file}:wide", no_features).fitter.fit(inputs, labels, 3, seed=0, tell=quiet)
    assert accuracy(fitter.fit(inputs, labels, 3, seed=0, tell=quiet)) > 0.9


@pytest.mark.parametrize(
    "spec",
    [
        *("", "pixel", "pixels:a", "resnet:a", "resnet?depth=3", "resnet?lr=fast", "resnet?epochs=0", "pixels?size=2"),
        *(
            "pixels?size",
            "pixels?size=8&size=9",
            "sklearn:",
            "sklearn:sklearn.svm.Nothing",
            "sklearn:sklearn.svm.SVC?colour=red",
        ),
        *("torch:none.py:f", "torch:none", "resnet?widths=(8,8)", "resnet?schedule=steep", "pixels?c=-1", "features:"),
    ],
)
def test_what_is_no_trainer_is_refused(spec):
    with pytest.raises((UsageError, InputError)):
        load_trainer(spec, no_features)


def test_a_model_without_features_is_refused(monkeypatch):
    monkeypatch.setattr("resit.models.training.load.load_model", lambda _spec, _options: object())
    with pytest.raises(UsageError, match="no features"):
        load_trainer("features:fake:guess", no_features)
