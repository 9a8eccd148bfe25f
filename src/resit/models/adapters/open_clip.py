"""Models of open_clip, asked without training: ``open_clip:ViT-B-32?pretrained=openai&classes=imagenet-1k``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resit.data.models import ModelId
from resit.errors import UsageError
from resit.models.library import library, loading, versions
from resit.models.options import ModelOptions
from resit.models.protocol import Transform
from resit.models.settings import refuse_unknown
from resit.models.torch_model import TorchModel, pick_device
from resit.models.transforms import interpolation_name, translated
from resit.models.zero_shot import SETTINGS, class_vectors, read_prompts, zero_shot_forward

EXTRA = "open-clip"
NETWORK = "Weights come over the network, or from a folder: open_clip:local-dir:FOLDER."


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> TorchModel:
    """Load a model that compares images with sentences about the classes.

    Parameters
    ----------
    name : str
        As open_clip takes it: a name such as ``ViT-B-32``, ``hf-hub:ORG/REPO`` or ``local-dir:FOLDER``.
    options : ModelOptions
    settings : mapping
        ``pretrained``: tag or file of the weights, needed for a name alone. ``classes``, ``names`` and ``templates``: see
        `resit.models.zero_shot.read_prompts`.

    Raises
    ------
    UsageError
        If open_clip is missing or a setting does not fit.
    InputError
        If the model or a file cannot be loaded.
    """
    where = f"open_clip:{name}"
    refuse_unknown(settings, ("pretrained", *SETTINGS), where)
    open_clip = library("open_clip", EXTRA)
    is_bare = not name.startswith(("hf-hub:", "local-dir:"))
    if is_bare != ("pretrained" in settings):
        fix = f"Give ?pretrained= a tag, such as {_tags(open_clip, name)}." if is_bare else "Leave pretrained out."
        raise UsageError("a name needs the tag of its weights, a folder or repository has them", where=where, fix=fix)
    if is_bare:
        _refuse_other_activation(open_clip, name, settings["pretrained"], where)
    prompts = read_prompts(settings, where)
    device = pick_device(options.device)
    with loading(where, NETWORK):
        model = open_clip.create_model(name, pretrained=settings.get("pretrained"), require_pretrained=True).eval().to(device)
        tokenizer = open_clip.get_tokenizer(name)
    vectors = class_vectors(prompts, lambda texts: model.encode_text(tokenizer(texts).to(device)))
    forward = zero_shot_forward(lambda clip, images: clip.encode_image(images), vectors, prompts)
    provenance = {"adapter": "open_clip", **prompts.provenance, **versions("open_clip_torch", "torchvision")}
    return TorchModel(_id(name, settings), model, prompts.label_space, _transform(model), options, provenance, forward=forward)


def _refuse_other_activation(open_clip: Any, name: str, tag: str, where: str) -> None:
    """Refuse weights that were trained with another activation: they work, a few points worse, and open_clip only warns."""
    config, pretrained = open_clip.get_model_config(name), open_clip.get_pretrained_cfg(name, tag)
    if not config or not pretrained:
        return
    quick = bool(pretrained.get("quick_gelu", False))
    if quick != bool(config.get("quick_gelu", False)):
        other = f"{name}-quickgelu" if quick else name.removesuffix("-quickgelu")
        what = f"the weights {tag} were trained {'with' if quick else 'without'} QuickGELU"
        raise UsageError(what, where=where, fix=f"Use open_clip:{other}?pretrained={tag}.")


def _id(name: str, settings: Mapping[str, str]) -> ModelId:
    source, _, path = name.partition(":")
    if source == "local-dir":
        return ModelId(Path(path).resolve().name)
    if source == "hf-hub":
        return ModelId(path)
    tag = settings["pretrained"]
    return ModelId(name, Path(tag).name if Path(tag).is_file() else tag)


def _transform(model: Any) -> Transform:
    module = library("open_clip.transform", EXTRA)
    config: dict[str, Any] = model.visual.preprocess_cfg
    function = module.image_transform_v2(module.PreprocessCfg(**config), is_train=False)
    size = config["size"]
    sides = tuple(size) if isinstance(size, list | tuple) else (size, size)
    numbers: dict[str, Any] | None = None
    if config["resize_mode"] == "squash" or (config["resize_mode"] == "shortest" and sides[0] == sides[1]):
        numbers = {
            "size": sides[0] if sides[0] == sides[1] else sides,
            "resize": sides if config["resize_mode"] == "squash" else sides[0],
            "interpolation": interpolation_name(config["interpolation"]),
            "mean": tuple(config["mean"]),
            "std": tuple(config["std"]),
        }
    return translated(function, numbers, " ".join(repr(function).split()), config)


def _tags(open_clip: Any, name: str) -> str:
    tags = open_clip.list_pretrained_tags_by_model(name)
    return ", ".join(tags[:4]) or "openai (see open_clip.list_pretrained())"
