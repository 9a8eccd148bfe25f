"""Torchvision's models from files of weights, as nothing can be downloaded here."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from extras import needs
from resit.data.class_lists import class_list
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.adapters.torchvision import _entry, _space, _transform
from resit.models.load import load_model
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import FeatureModel
from resit.models.transforms import probe_images

torch, models = needs("torch"), needs("torchvision.models")
save_file = needs("safetensors.torch").save_file

CPU = ModelOptions(device="cpu")
NAME = "mobilenet_v3_small"


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Random weights of one network in both kinds of files."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("weights")
    state = models.get_model(NAME, weights=None).state_dict()
    torch.save(state, folder / "w.pth")
    save_file(state, folder / "w.safetensors")
    return folder


@pytest.mark.parametrize("ending", ["pth", "safetensors"])
def test_a_file_of_weights(weights, ending):
    model = load_model(f"torchvision:{NAME}?weights={weights}/w.{ending}&like=IMAGENET1K_V1", CPU)
    assert model.id == ModelId(NAME, f"w.{ending}")
    assert model.label_space.name == "imagenet-1k"
    assert isinstance(model.transform, Preprocess)
    reference = models.get_model(NAME, weights=None)
    reference.load_state_dict(torch.load(weights / "w.pth", weights_only=True))
    theirs = models.MobileNet_V3_Small_Weights.IMAGENET1K_V1.transforms()
    with torch.no_grad():
        expected = reference.eval()(torch.stack([theirs(image) for image in probe_images()])).numpy()
    batch = np.stack([model.transform(image) for image in probe_images()])
    assert np.allclose(model.scores(batch), expected, atol=1e-5)
    head, bias = model.head()
    assert isinstance(model, FeatureModel)
    assert np.allclose(model.features(batch) @ head.T + bias, expected, atol=1e-5)


def test_both_kinds_of_files_have_one_digest(weights):
    specs = [f"torchvision:{NAME}?weights={weights}/w.{ending}&like=DEFAULT" for ending in ("pth", "safetensors")]
    first, second = (load_model(spec, CPU).provenance["weights"] for spec in specs)
    assert first == second


def test_nothing_is_guessed_of_a_file(weights):
    with pytest.raises(UsageError, match=r"not guessed.*\?like= one of IMAGENET1K_V1"):
        load_model(f"torchvision:{NAME}?weights={weights}/w.pth", CPU)
    with pytest.raises(UsageError, match=r"interpolation, mean, std of its preprocessing are not known"):
        load_model(f"torchvision:{NAME}?weights={weights}/w.pth&classes=imagenet-1k&size=8&resize=9", CPU)
    settings = "classes=imagenet-1k&size=8&resize=none&interpolation=bilinear&mean=0,0,0&std=1,1,1"
    model = load_model(f"torchvision:{NAME}?weights={weights}/w.pth&{settings}", CPU)
    assert model.transform.fingerprint == "as it is, crop 8, mean 0 0 0, std 1 1 1"
    with pytest.raises(UsageError, match="Give either"):
        load_model(f"torchvision:{NAME}?weights={weights}/w.pth&like=DEFAULT&{settings}", CPU)


def test_a_file_that_runs_code_is_refused_without_asking(tmp_path):
    class Code:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    (tmp_path / "w.pth").write_bytes(pickle.dumps(Code()))
    torch.save({"a": Code()}, tmp_path / "v.pth")
    for name in ("w", "v"):
        with pytest.raises(InputError, match="cannot be loaded"):
            load_model(f"torchvision:{NAME}?weights={tmp_path}/{name}.pth&like=DEFAULT", ModelOptions("cpu", allow_pickle=True))
    assert not (tmp_path / "ran").exists()


def test_weights_of_another_model_are_refused(weights):
    with pytest.raises(InputError, match="state dict of resnet18"):
        load_model(f"torchvision:resnet18?weights={weights}/w.pth&like=DEFAULT", CPU)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("resnet81", "Did you mean"),
        ("resnet18?weights=IMAGENET1K_V7", "Use one of IMAGENET1K_V1"),
        ("resnet18?weights=IMAGENET1K_V1&size=3", "beside weights that tell it themselves"),
        ("fcn_resnet50", "no classifier"),
    ],
)
def test_specs_that_cannot_be_meant(spec, said):
    with pytest.raises(UsageError, match=said):
        load_model(f"torchvision:{spec}", CPU)


def test_a_missing_file():
    with pytest.raises(InputError, match="no such file"):
        load_model("torchvision:resnet18?weights=/none.pth&like=DEFAULT")


def test_every_classifier_of_torchvision_is_understood():
    """Each entry of weights has ImageNet's classes, and a transform that becomes ours to the bit."""
    names = models.list_models(module=models)
    assert len(names) > 70
    for name in names:
        for entry in models.get_model_weights(name):
            if entry.name == "IMAGENET1K_FEATURES":
                with pytest.raises(UsageError, match="have no classes"):
                    _space(entry)
            else:
                assert _space(entry).name == "imagenet-1k", entry
    for name in ("resnet50", "vit_b_16", "inception_v3", "swin_t", "efficientnet_b0", "regnet_y_16gf"):
        for entry in models.get_model_weights(name):
            assert isinstance(_transform(entry), Preprocess), entry


def test_torchvision_orders_its_classes_as_the_class_list_does():
    categories = _entry(models, "resnet50", "DEFAULT", "").meta["categories"]
    names = [one.name for one in class_list("imagenet-1k")]
    same = sum(a.lower() == b.lower() for a, b in zip(categories, names, strict=True))
    assert same > 900
    assert max(sum(a.lower() == b.lower() for a, b in zip(categories[1:], names, strict=False)), 20) == 20


def test_inception_is_built_as_for_its_own_weights(tmp_path):
    torch.manual_seed(0)
    reference = models.googlenet(weights=None, init_weights=False, aux_logits=False, transform_input=True).eval()
    torch.save(reference.state_dict(), tmp_path / "g.pth")
    model = load_model(f"torchvision:googlenet?weights={tmp_path}/g.pth&like=IMAGENET1K_V1", CPU)
    batch = np.random.default_rng(0).normal(size=(2, 3, 64, 64)).astype(np.float32)
    with torch.no_grad():
        assert np.allclose(model.scores(batch), reference(torch.from_numpy(batch)).numpy(), atol=1e-5)
