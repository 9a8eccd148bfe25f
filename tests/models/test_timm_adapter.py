"""timm's models, with random weights in folders: what they mean and how their images are prepared."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from extras import needs
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.load import load_model
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import POSITIONS, FeatureModel
from resit.models.transforms import WrappedTransform, probe_images

timm, torch = needs("timm"), needs("torch")
save_file = needs("safetensors.torch").save_file

CPU = ModelOptions(device="cpu")
ARCHITECTURE = "test_resnet"


def folder_of(path, config=None, architecture=ARCHITECTURE, **top):
    """A folder for timm with random weights, always the same ones."""
    torch.manual_seed(0)
    n_classes = top.get("num_classes", 1000)
    model = timm.create_model(architecture, num_classes=n_classes)
    size = model.pretrained_cfg["input_size"]
    pretrained = {"num_classes": n_classes, "input_size": size, "crop_pct": 0.9, "interpolation": "bicubic"}
    pretrained |= {"first_conv": model.pretrained_cfg["first_conv"], "classifier": model.pretrained_cfg["classifier"]}
    content = {"architecture": architecture, "num_classes": n_classes, "pretrained_cfg": pretrained | (config or {}), **top}
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(content))
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, path / "model.safetensors")
    return path


def load(path, query=""):
    return load_model(f"timm:local-dir:{path}{query}", CPU)


def test_a_folder(tmp_path):
    model = load(folder_of(tmp_path / "mine.v1"))
    assert model.id == ModelId("mine.v1")
    assert isinstance(model, FeatureModel)
    assert model.label_space.name == "imagenet-1k"
    assert model.label_space.classes[-1].id == "n15075141"
    assert model.provenance["classes"] == "taken for imagenet-1k by their number"
    assert {
        "adapter",
        "weights",
        "precision",
        "compile",
        "timm version",
        "torch version",
        "torchvision version",
        "architecture",
    } <= set(model.provenance)
    batch = np.stack([model.transform(image) for image in probe_images()])
    reference = timm.create_model(f"local-dir:{tmp_path / 'mine.v1'}", pretrained=True).eval()
    with torch.no_grad():
        assert np.allclose(model.scores(batch), reference(torch.from_numpy(batch)).numpy(), atol=1e-5)
    weights, bias = model.head()
    assert np.allclose(model.features(batch) @ weights.T + bias, model.scores(batch), atol=1e-4)


@pytest.mark.parametrize("name", ["test_resnet", "test_vit", "test_efficientnet", "test_byobnet", "test_convnext"])
def test_features_of_several_architectures(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load_model(f"timm:{name}?pretrained=false", CPU)
    assert isinstance(model, FeatureModel)
    batch = np.stack([model.transform(image) for image in probe_images()])
    weights, bias = model.head()
    assert np.allclose(model.features(batch) @ weights.T + bias, model.scores(batch), atol=1e-4)


@pytest.mark.parametrize("n_classes", [11821, 21841, 21843, 11221, 21842])
def test_larger_imagenets_are_told_by_wnid(tmp_path, n_classes):
    model = load(folder_of(tmp_path / "a", num_classes=n_classes))
    ids = [one.id for one in model.label_space.classes]
    assert len(set(ids)) == len(ids) == n_classes
    assert ids[0].startswith("n0")
    assert model.label_space.name == timm.data.infer_imagenet_subset({"num_classes": n_classes})


def test_other_numbers_of_classes_have_no_names(tmp_path):
    model = load(folder_of(tmp_path / "a", num_classes=7))
    assert model.label_space.name == POSITIONS
    assert [one.id for one in model.label_space.classes] == [str(i) for i in range(7)]


def test_classes_that_the_configuration_lists(tmp_path):
    names = [f"bird {i}" for i in range(7)]
    model = load(folder_of(tmp_path / "a", num_classes=7, label_names=names))
    assert [one.id for one in model.label_space.classes] == names
    as_map = {str(i): name for i, name in reversed(list(enumerate(names)))}
    assert [one.id for one in load(folder_of(tmp_path / "b", num_classes=7, label_names=as_map)).label_space.classes] == names
    with pytest.raises(UsageError, match="gaps"):
        load(folder_of(tmp_path / "c", num_classes=7, label_names={"0": "a", "9": "b"}))


def test_thousand_classes_that_are_not_imagenet(tmp_path):
    names = [f"shop {i}" for i in range(1000)]
    model = load(folder_of(tmp_path / "a", label_names=names))
    assert model.label_space.name != "imagenet-1k"
    assert model.label_space.classes[5].id == "shop 5"


def test_classes_that_the_user_lists(tmp_path):
    (tmp_path / "list.csv").write_text("label,id\n" + "".join(f"{i},c{i}\n" for i in range(7)))
    model = load(folder_of(tmp_path / "a", num_classes=7), f"?classes={tmp_path / 'list.csv'}")
    assert [one.id for one in model.label_space.classes] == [f"c{i}" for i in range(7)]
    assert model.provenance["classes"] == "setting"
    with pytest.raises(UsageError, match="1000 classes of imagenet-1k for 7 scores"):
        load(tmp_path / "a", "?classes=imagenet-1k")


CONFIGS = [
    ({}, True),
    ({"crop_pct": 1.0, "interpolation": "bilinear", "mean": [0.5] * 3, "std": [0.5] * 3}, True),
    ({"crop_mode": "squash", "crop_pct": 0.95}, True),
    ({"crop_mode": "squash", "crop_pct": 1.0, "input_size": [3, 64, 96]}, True),
    ({"crop_mode": "border"}, False),
    ({"input_size": [3, 64, 96]}, False),
]


@pytest.mark.parametrize(("config", "is_ours"), CONFIGS)
def test_images_are_prepared_as_timm_does_it(tmp_path, config, is_ours, shared_data):
    image_module = needs("PIL.Image")
    model = load(folder_of(tmp_path / "a", config))
    data_config = timm.data.resolve_model_data_config(timm.create_model(f"local-dir:{tmp_path / 'a'}", pretrained=True))
    theirs = timm.data.create_transform(**data_config, is_training=False)
    assert isinstance(model.transform, Preprocess if is_ours else WrappedTransform)
    for file in sorted(shared_data.glob("imagenet-sample/*/*.JPEG"))[::30]:
        with image_module.open(file) as stored:
            image = stored.convert("RGB")
        assert np.array_equal(model.transform(image), theirs(image).numpy())


def test_a_wrapped_transform_has_a_fingerprint_of_all_its_numbers(tmp_path):
    means = [0.5, 0.50000001, 0.5000001]
    configs = [{"crop_mode": "border", "mean": [mean] * 3} for mean in means] + [{"crop_mode": "border", "crop_pct": 0.91}]
    prints = {load(folder_of(tmp_path / str(i), config)).transform.fingerprint for i, config in enumerate(configs)}
    assert len(prints) == 4
    assert all("CenterCropOrPad" in text and "\n" not in text for text in prints)


def test_another_size_is_a_variant(tmp_path):
    path = folder_of(tmp_path / "a", {"test_input_size": [3, 192, 192], "test_crop_pct": 1.0})
    bigger = load(path, "?img_size=128")
    assert bigger.id == ModelId("a", "128")
    assert bigger.transform.size == 128
    assert np.isfinite(bigger.scores(np.zeros((1, 3, 128, 128), np.float32))).all()
    as_tested = load(path, "?test_size=true")
    assert as_tested.id == ModelId("a", "192")
    assert (as_tested.transform.size, as_tested.transform.resize) == (192, 192)
    with pytest.raises(UsageError, match="img_size and test_size"):
        load(path, "?img_size=128&test_size=true")


def test_another_size_of_a_model_with_one_size(tmp_path):
    path = folder_of(tmp_path / "a", {"fixed_input_size": True}, architecture="test_vit")
    model = load(path, "?img_size=64")
    assert model.scores(np.zeros((1, 3, 64, 64), np.float32)).shape == (1, 1000)


def test_a_name_gets_the_tag_of_its_weights():
    model = load_model("timm:test_resnet?pretrained=false", CPU)
    assert model.id == ModelId("test_resnet.r160_in1k")
    assert model.provenance["source"] == "random"


def test_weights_that_do_not_fit_are_refused(tmp_path):
    path = folder_of(tmp_path / "a", num_classes=7)
    state = timm.create_model(ARCHITECTURE, num_classes=7).state_dict()
    save_file(dict(list(state.items())[:-3]), path / "model.safetensors")
    with pytest.raises(InputError, match="cannot be loaded"):
        load(path)
    (path / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(InputError, match="cannot be loaded"):
        load(path)
    (path / "model.safetensors").unlink()
    with pytest.raises(InputError, match="cannot be loaded"):
        load(path)


@pytest.mark.parametrize("name", ["no_such_model", "local-dir:/no/such/folder", "what:ever"])
def test_models_that_are_not_there(name):
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(f"timm:{name}", CPU)


def test_settings_that_cannot_be_meant(tmp_path):
    path = folder_of(tmp_path / "a")
    for query in ("?img_size=big", "?pretrained=maybe", "?size=3"):
        with pytest.raises(UsageError):
            load(path, query)
