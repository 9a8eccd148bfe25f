"""Models of timm: ``timm:resnet50.a1_in1k``, ``timm:hf-hub:ORG/REPO``, ``timm:local-dir:FOLDER``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resit.data.benchmark import ClassInfo
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.library import library, loading, versions
from resit.models.options import ModelOptions
from resit.models.protocol import LabelSpace, Transform
from resit.models.settings import refuse_unknown, whole, yes_no
from resit.models.spaces import named, numbered, space
from resit.models.torch_model import TorchModel, torch_model
from resit.models.transforms import interpolation_name, translated

EXTRA = "timm"
SETTINGS = ("classes", "img_size", "pretrained", "test_size")
NETWORK = "Check the name; weights come over the network, or from a folder: timm:local-dir:FOLDER."


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> TorchModel:
    """Load a model of timm with its weights, prepared as its configuration says.

    Parameters
    ----------
    name : str
        As ``timm.create_model`` takes it. Without a tag, timm's default weights; the model's id has the tag.
    options : ModelOptions
    settings : mapping
        ``img_size``: another size of the input, in pixels. ``test_size=true``: size and crop that timm's own results are made
        with, where the configuration has them. ``classes``: what the scores mean, where timm does not know.
        ``pretrained=false``: random weights.

    Raises
    ------
    UsageError
        If timm is missing or a setting does not fit.
    InputError
        If there is no such model, or its weights cannot be loaded.

    Notes
    -----
    Unless the configuration or ``classes`` lists the classes, a model with 1,000, 11,221, 11,821, 21,841, 21,842 or 21,843
    classes is taken for one of ImageNet's sets, as timm does; provenance says so.
    """
    where = f"timm:{name}"
    refuse_unknown(settings, SETTINGS, where)
    arguments: dict[str, Any] = {"model_name": name, "pretrained": yes_no(settings, "pretrained", True, where)}
    with loading(where, NETWORK):
        model, size = _create(arguments, settings, where)
    config = model.pretrained_cfg
    label_space, told_by = _label_space(model, settings, where)
    provenance = {
        "adapter": "timm",
        "architecture": str(config.get("architecture", "")),
        "source": str(config.get("hf_hub_id") or config.get("url") or "local-dir") if arguments["pretrained"] else "random",
        "classes": told_by,
        **versions("timm", "torchvision"),
    }
    transform = _transform(model, settings, size)
    return torch_model(_id(name, config, size), model, label_space, transform, options, provenance, model.get_classifier())


def _create(arguments: dict[str, Any], settings: Mapping[str, str], where: str) -> tuple[Any, tuple[int, ...] | None]:
    """The model, and the size of its input where it is not the usual one."""
    timm = library("timm", EXTRA)
    if "img_size" in settings and "test_size" in settings:
        raise UsageError("img_size and test_size", where=where, fix="Give one of them.")
    size: tuple[int, ...] | None = None
    if "img_size" in settings:
        size = (3, *[whole(settings, "img_size", 0, where)] * 2)
    elif yes_no(settings, "test_size", False, where):
        bare = timm.create_model(**{**arguments, "pretrained": False})
        config = bare.pretrained_cfg
        size = tuple(config.get("test_input_size") or config["input_size"])
    if size and timm.create_model(**{**arguments, "pretrained": False}).pretrained_cfg.get("fixed_input_size"):
        arguments = {**arguments, "img_size": size[1:]}
    model: Any = timm.create_model(**arguments)
    config = model.pretrained_cfg
    if arguments["pretrained"] and not any(config.get(key) for key in ("url", "file", "hf_hub_id", "state_dict")):
        raise InputError("timm has no weights for it", where=where, fix="Choose another tag, or ?pretrained=false.")
    return model, size


def _id(name: str, config: Mapping[str, Any], size: tuple[int, ...] | None) -> ModelId:
    source, colon, path = name.partition(":")
    if colon:
        model = Path(path).resolve().name if source == "local-dir" else path
    else:
        model = name if "." in name or not config.get("tag") else f"{name}.{config['tag']}"
    return ModelId(model, "" if size is None else "x".join(map(str, dict.fromkeys(size[1:]))))


def _label_space(model: Any, settings: Mapping[str, str], where: str) -> tuple[LabelSpace, str]:
    """The classes, and who says so."""
    data = library("timm.data", EXTRA)
    n_classes, config = model.num_classes, model.pretrained_cfg
    if "classes" in settings:
        found, told_by = named(settings["classes"], where), "setting"
    elif config.get("label_names"):
        found, told_by = _listed(config, where), "label_names of the configuration"
    elif subset := data.infer_imagenet_subset(model):
        info = data.ImageNetInfo(subset)
        classes = [ClassInfo(wnid, info.label_name_to_description(wnid)) for wnid in info.label_names()]
        found, told_by = space(subset, classes, where), f"taken for {subset} by their number"
    else:
        found, told_by = numbered(n_classes), "unknown"
    if len(found.classes) != n_classes:
        what = f"{len(found.classes)} classes of {found.name} for {n_classes} scores"
        raise UsageError(what, where=where, fix="Give the list of its classes: ?classes=FILE.")
    return found, told_by


def _listed(config: Mapping[str, Any], where: str) -> LabelSpace:
    names, described = config["label_names"], config.get("label_descriptions") or {}
    if isinstance(names, dict):
        numbered_names = {int(index): text for index, text in names.items()}
        if sorted(numbered_names) != list(range(len(numbered_names))):
            raise UsageError("label_names has gaps", where=where, fix="Give the list of its classes: ?classes=FILE.")
        names = [numbered_names[i] for i in range(len(numbered_names))]
    texts = described if isinstance(described, dict) else {}
    return space(f"classes of {where}", [ClassInfo(str(one), str(texts.get(one, one))) for one in names], where)


def _transform(model: Any, settings: Mapping[str, str], size: tuple[int, ...] | None) -> Transform:
    data = library("timm.data", EXTRA)
    use_test = yes_no(settings, "test_size", False, "timm")
    config = data.resolve_model_data_config(model, args={"input_size": size} if size else None, use_test_size=use_test)
    function = data.create_transform(**config, is_training=False)
    return translated(function, _numbers(config), repr(function), config)


def _numbers(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments of Preprocess that do what timm does, where there are any."""
    size = tuple(config["input_size"][1:])
    scaled = tuple(math.floor(side / config["crop_pct"]) for side in size)
    if config["crop_mode"] == "squash":
        resize: Any = scaled
    elif config["crop_mode"] == "center" and size[0] == size[1]:
        resize = scaled[0]
    else:
        return None
    return {
        "size": size[0] if size[0] == size[1] else size,
        "resize": resize,
        "interpolation": interpolation_name(config["interpolation"]),
        "mean": tuple(map(float, config["mean"])),
        "std": tuple(map(float, config["std"])),
    }
