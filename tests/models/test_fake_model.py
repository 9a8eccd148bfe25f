from __future__ import annotations

import io

import numpy as np
import pytest

from extras import needs
from resit.data.benchmark import Benchmark, ClassInfo
from resit.errors import UsageError
from resit.models.fake import FakeModel, digest
from resit.models.load import load_model
from resit.models.protocol import FeatureModel

Image = needs("PIL.Image")
N, CLASSES = 50, 7


class PngImages:
    """Pictures of noise, as stored files."""

    fingerprint = "noise"

    def __len__(self) -> int:
        return N

    def __getitem__(self, index: int) -> bytes:
        if index == 3:
            return b"not an image"
        file = io.BytesIO()
        pixels = np.random.default_rng(index).integers(0, 256, (20, 30, 3), np.uint8)
        Image.fromarray(pixels).save(file, "PNG")
        return file.getvalue()

    def where(self, index: int) -> str:
        return f"{index}.png"


@pytest.fixture(scope="module")
def benchmark_of_noise() -> Benchmark:
    labels = np.random.default_rng(0).integers(0, CLASSES, (N, 2)).astype(np.int32)
    labels[::2, 1] = -1
    classes = tuple(ClassInfo(f"c{i}", f"class {i}") for i in range(CLASSES))
    return Benchmark("noise", labels, classes=classes, label_space="seven", images=PngImages())


def n_right(model: FakeModel, benchmark: Benchmark) -> int:
    images = benchmark.images
    assert images is not None
    right = 0
    for i in range(N):
        if i != 3:
            with Image.open(io.BytesIO(images[i])) as image:
                answer = model.scores(model.transform(image.convert("RGB"))[None]).argmax()
            right += answer in benchmark.labels[i][benchmark.labels[i] >= 0]
    return right


@pytest.mark.parametrize("accuracy", [0.0, 0.31, 0.8, 1.0])
def test_it_is_right_as_often_as_it_is_told(accuracy, benchmark_of_noise):
    model = FakeModel("f", benchmark_of_noise, accuracy=accuracy, seed=2)
    assert n_right(model, benchmark_of_noise) == round(accuracy * (N - 1))
    assert model.label_space.name == "seven"
    assert model.label_space.classes == benchmark_of_noise.classes


def test_a_better_model_of_one_seed_is_right_wherever_a_worse_one_is(benchmark_of_noise):
    worse, better = (FakeModel("f", benchmark_of_noise, accuracy=accuracy) for accuracy in (0.4, 0.7))
    assert worse._right < better._right
    assert FakeModel("f", benchmark_of_noise, accuracy=0.4, seed=1)._right != worse._right


def test_it_is_the_same_every_time_and_another_by_seed():
    batch = np.random.default_rng(0).normal(size=(40, 3, 4, 4)).astype(np.float32)
    first = FakeModel("a", classes=5, seed=1).scores(batch)
    assert np.array_equal(first, FakeModel("b", classes=5, seed=1).scores(batch[::-1])[::-1])
    assert not np.array_equal(first, FakeModel("a", classes=5, seed=2).scores(batch))
    assert set(first.argmax(axis=1)) == set(range(5))
    assert first.max() == 2
    assert FakeModel("a").scores(batch[:0]).shape == (0, 10)


def test_a_key_of_digests():
    batch = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    key = {digest(image): [i % 3] for i, image in enumerate(batch)}
    model = FakeModel("a", key, accuracy=1, classes=["x", "y", "z"])
    assert model.scores(batch).argmax(axis=1).tolist() == [i % 3 for i in range(20)]
    with pytest.raises(UsageError, match="none of the 2 classes"):
        FakeModel("a", key, classes=2)


def test_its_last_layer_is_linear():
    model = FakeModel("a", classes=4)
    batch = np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32)
    weights, bias = model.head()
    assert isinstance(model, FeatureModel)
    assert np.array_equal(model.features(batch) @ weights.T + bias, model.scores(batch))


def test_provenance_tells_models_apart(benchmark_of_noise):
    models = [FakeModel("a"), FakeModel("a", seed=1), FakeModel("a", benchmark_of_noise), FakeModel("a", accuracy=0.5)]
    assert len({tuple(sorted(model.provenance.items())) for model in models}) == len(models)


def test_specs():
    model = load_model("fake:guess?classes=3&seed=4")
    assert [one.id for one in model.label_space.classes] == ["0", "1", "2"]
    assert load_model("fake:guess?classes=imagenet-1k").label_space.name == "imagenet-1k"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("fake:a?accuracy=0.8", "no key"),
        ("fake:a?classes=0", "0 classes"),
        ("fake:a?seed=x", "seed=x is not a whole number"),
    ],
)
def test_specs_that_cannot_be_meant(spec, said):
    with pytest.raises(UsageError, match=said):
        load_model(spec)


def test_an_accuracy_outside_of_0_to_1_and_a_benchmark_without_images():
    with pytest.raises(UsageError, match="from 0 to 1"):
        FakeModel("a", accuracy=80)
    with pytest.raises(UsageError, match="without images"):
        FakeModel("a", Benchmark("b", np.zeros((3, 1), np.int32)))
