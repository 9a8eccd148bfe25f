"""Models of transformers, from a folder or the hub: ``transformers:google/vit-base-patch16-224``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import ClassInfo
from resit.data.models import ModelId
from resit.errors import InputError, UsageError
from resit.models.library import library, loading, versions
from resit.models.options import ModelOptions
from resit.models.protocol import LabelSpace
from resit.models.settings import refuse_unknown
from resit.models.spaces import named, numbered, space
from resit.models.torch_model import TorchModel, last_linear, pick_device, torch_model
from resit.models.transforms import WrappedTransform
from resit.models.zero_shot import SETTINGS, class_vectors, read_prompts, zero_shot_forward

if TYPE_CHECKING:
    from PIL.Image import Image

EXTRA = "transformers"
NETWORK = "Check the name; models come over the network, or from a folder."


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> TorchModel:
    """Load an image classifier, or a model that compares images with text, with its own image processor.

    Parameters
    ----------
    name : str
        A folder, or an id on the hub.
    options : ModelOptions
        Weights in pickles need ``allow_pickle``; code of a repository is never run.
    settings : mapping
        ``revision``: of the hub. ``classes``: what the scores mean, where the configuration does not name them by id; for a
        model that compares with text also ``names`` and ``templates``, see `resit.models.zero_shot.read_prompts`.

    Raises
    ------
    UsageError
        If transformers is missing or a setting does not fit.
    InputError
        If the model cannot be loaded, or its weights are incomplete.
    """
    where = f"transformers:{name}"
    refuse_unknown(settings, ("revision", *SETTINGS), where)
    transformers = library("transformers", EXTRA)
    common = {"trust_remote_code": False, "revision": settings.get("revision", "main")}
    with loading(where, NETWORK):
        config = transformers.AutoConfig.from_pretrained(name, **common)
        processor = transformers.AutoImageProcessor.from_pretrained(name, **common)
    provenance = {"adapter": "transformers", "revision": str(getattr(config, "_commit_hash", None) or "local")}
    provenance |= versions("transformers", "torchvision")
    model_id, transform = ModelId(Path(name).resolve().name if Path(name).is_dir() else name), _transform(processor)
    if any("ForImageClassification" in architecture for architecture in config.architectures or ()):
        refuse_unknown(settings, ("revision", "classes"), where)
        model = _weights(transformers.AutoModelForImageClassification, name, options, common, where)
        label_space = _label_space(config, settings, where)
        last = last_linear(model)
        return torch_model(model_id, model, label_space, transform, options, provenance, last, _logits)
    if not _is_clip(config):
        fix = "Use a model for image classification, or one like CLIP."
        raise UsageError(f"a {config.model_type} model does not classify images", where=where, fix=fix)
    prompts = read_prompts(settings, where)
    device = pick_device(options.device)
    model = _weights(transformers.AutoModelForZeroShotImageClassification, name, options, common, where).eval().to(device)
    with loading(where, NETWORK):
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **common)
    vectors = class_vectors(prompts, lambda texts: _encode(model, tokenizer, texts))
    forward = zero_shot_forward(lambda clip, images: _pooled(clip.get_image_features(pixel_values=images)), vectors, prompts)
    provenance |= dict(prompts.provenance)
    return TorchModel(model_id, model, prompts.label_space, transform, options, provenance, forward=forward)


def _is_clip(config: Any) -> bool:
    return any(str(name).endswith(("CLIPModel", "SiglipModel", "Siglip2Model")) for name in config.architectures or ())


def _weights(kind: Any, name: str, options: ModelOptions, common: Mapping[str, Any], where: str) -> Any:
    fix = "Its weights must be in safetensors; pickles can run code, and are read only with permission (allow_pickle)."
    with loading(where, NETWORK if options.allow_pickle else fix):
        model, info = kind.from_pretrained(
            name, use_safetensors=None if options.allow_pickle else True, output_loading_info=True, dtype="float32", **common
        )
    lacking = [*info["missing_keys"], *(str(key) for key in info["mismatched_keys"])]
    if lacking:
        fix = "It may be a model without a head for classification; use one that was trained as a classifier."
        raise InputError(f"{len(lacking)} weights are missing, such as {lacking[0]}", where=where, fix=fix)
    return model


def _logits(model: Any, images: Any) -> Any:
    return model(pixel_values=images).logits


def _encode(model: Any, tokenizer: Any, texts: list[str]) -> Any:
    length = model.config.text_config.max_position_embeddings
    padded = tokenizer(texts, padding="max_length", max_length=length, truncation=True, return_tensors="pt")
    wanted = {key: padded[key].to(model.device) for key in ("input_ids", "attention_mask") if key in padded}
    return _pooled(model.get_text_features(**wanted))


def _pooled(output: Any) -> Any:
    """Vectors, which newer versions put into a record."""
    return getattr(output, "pooler_output", output)


def _label_space(config: Any, settings: Mapping[str, str], where: str) -> LabelSpace:
    n_classes = config.num_labels
    names = [str(config.id2label[i]) for i in range(n_classes)]
    if "classes" in settings:
        found = named(settings["classes"], where)
    elif names == [f"LABEL_{i}" for i in range(n_classes)]:
        found = numbered(n_classes)
    else:
        found = space(f"classes of {where}", [ClassInfo(one, one) for one in _unique(names)], where)
    if len(found.classes) != n_classes:
        what = f"{len(found.classes)} classes of {found.name} for {n_classes} scores"
        raise UsageError(what, where=where, fix="Give the list of its classes: ?classes=FILE.")
    return found


def _unique(names: list[str]) -> list[str]:
    """Names as ids; those that come twice are told apart by their place."""
    return [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names)]


def _transform(processor: Any) -> WrappedTransform:
    config = {key: value for key, value in processor.to_dict().items() if not key.startswith("_")}

    def prepare(image: Image) -> npt.NDArray[np.float32]:
        return np.asarray(processor(images=image, return_tensors="np")["pixel_values"][0], np.float32)

    return WrappedTransform(prepare, type(processor).__name__, config)
