"""Cross-validation and discriminator on real CIFAR-10 images with the default network, on a part that trains in minutes."""

from __future__ import annotations

import io
import os
import time
from dataclasses import replace

import numpy as np
import pytest
import trained_made as made
from PIL import Image, ImageFilter

import resit
from extras import needs
from resit.data.benchmark import Benchmark
from resit.data.decode import decode
from resit.data.image_sources.arrays import ArrayImages
from resit.models.training.pixels import Pixels
from resit.models.training.protocol import Trainer
from resit.models.training.resnet import ResNet
from resit.models.training.torch_module import TorchModule, TorchSettings
from resit.study.hypotheses import cross_validation, discriminator
from resit.study.hypotheses.interface import Rules

needs("torch")
pytestmark = pytest.mark.slow
THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))
CLASSES = TorchSettings(epochs=5, threads=THREADS)
ORIGIN = TorchSettings(epochs=8, threads=THREADS, augment=False)


def part(benchmark, name, n, skip=0, change=None):
    """Images of a set after the first ones, changed."""
    pictures = [decode(benchmark.images[row]).image for row in range(skip, skip + n)]
    pixels = np.stack([np.asarray(change(one) if change else one) for one in pictures])
    return replace(
        benchmark, name=name, labels=benchmark.labels[skip : skip + n], images=ArrayImages(pixels), ids=None, groups={}
    )


def jpeg(picture):
    """At quality 50: the images are JPEG files of quality 75 already, which that quality changes by 0.2 of 255 levels only."""
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=50)
    return Image.open(file).convert("RGB")


def blurred(picture):
    return picture.filter(ImageFilter.GaussianBlur(0.5))


@pytest.fixture(scope="module")
def cifar(shared_data) -> dict[str, Benchmark]:
    folder = shared_data / "cifar10"
    return {name: resit.load_benchmark(str(folder / f"{name}.parquet")) for name in ("test", "train-1-of-5", "train-2-of-5")}


def run(module, material, rules):
    start, said = time.time(), []
    found = module.run(material, rules, said.append)
    print(f"\n{time.time() - start:.0f} s: {found.verdict}\n{said[-2:]}")
    assert not [one for one in found.warnings if one.code == "diverged"]
    return found


@pytest.mark.parametrize(("change", "effect"), [(None, False), (jpeg, True), (blurred, True)])
def test_a_discriminator_on_cifar(cifar, change, effect):
    n = 5_000
    test = part(cifar["test"], "test", n)
    new = part(cifar["train-1-of-5"], "part of train", n) if change is None else part(cifar["test"], "changed", n, n, change)
    trainer = Trainer(Pixels(), TorchModule(ResNet(), ORIGIN))
    found = run(discriminator, made.material(test, new, trainer=trainer), Rules(seeds=1))
    assert found.effect is effect


def test_no_fold_of_cifar_differs_from_the_test_set(cifar):
    test, new = part(cifar["test"], "test", 2_000), part(cifar["test"], "new", 100, 5_000)
    trains = part(cifar["train-1-of-5"], "train", 10_000)
    trainer = Trainer(Pixels(), TorchModule(ResNet(), CLASSES))
    found = run(cross_validation, made.material(test, new, trains, trainer=trainer), Rules(seeds=1))
    assert found.effect is False
    assert all(row[2] > 0.4 for row in found.sheets[0].rows)
