"""Models of torchvision: ``torchvision:resnet50``, with its weights or a file of weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resit.data.models import ModelId
from resit.errors import UsageError
from resit.models.library import existing_file, first_line, library, loading, versions
from resit.models.options import ModelOptions
from resit.models.protocol import LabelSpace, Transform
from resit.models.settings import refuse_unknown
from resit.models.sidecar import SETTINGS, read_sidecar
from resit.models.spaces import bundled, space
from resit.models.torch_model import TorchModel, last_linear, torch_model
from resit.models.transforms import interpolation_name, translated

EXTRA = "torchvision"
FILES = (".safetensors", ".pth", ".pt")
# What torchvision sets where it loads its own weights of these.
WITH_WEIGHTS = {
    "googlenet": {"transform_input": True, "init_weights": False},
    "inception_v3": {"transform_input": True, "init_weights": False},
}


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> TorchModel:
    """Load a classifier of torchvision.

    Parameters
    ----------
    name : str
        Such as ``resnet50``.
    options : ModelOptions
    settings : mapping
        ``weights``: the name of an entry such as ``IMAGENET1K_V1`` (default: torchvision's default), or the path of a state
        dict in ``.safetensors``, ``.pth`` or ``.pt``. A path needs ``like``, the entry whose classes and preprocessing hold for
        it, or ``classes``, ``size``, ``resize``, ``interpolation``, ``mean`` and ``std``, here or in a sidecar ``FILE.yaml``.

    Raises
    ------
    UsageError
        If torchvision is missing or a setting does not fit.
    InputError
        If weights cannot be loaded.

    Notes
    -----
    A ``.pth`` file is a pickle, but torch reads it with ``weights_only=True``, which refuses code: it needs no permission.
    """
    where = f"torchvision:{name}"
    refuse_unknown(settings, ("weights", "like", *SETTINGS), where)
    models = library("torchvision.models", EXTRA)
    if name not in models.list_models(module=models):
        raise UsageError("torchvision has no classifier of this name", where=where, fix=_some(models, name))
    given = settings.get("weights", "DEFAULT")
    if given.lower().endswith(FILES):
        model, label_space, transform, source = _from_file(models, name, existing_file(given), settings, where)
    else:
        if rest := set(settings) - {"weights"}:
            what = f"{', '.join(sorted(rest))} beside weights that tell it themselves"
            raise UsageError(what, where=where, fix="Leave it out.")
        entry = _entry(models, name, given, where)
        with loading(where, "Weights come over the network; or give a file: ?weights=FILE.pth&like=IMAGENET1K_V1."):
            model = models.get_model(name, weights=entry)
        label_space, transform, source = _space(entry), _transform(entry), entry.name
    provenance = {"adapter": "torchvision", "source": source, **versions("torchvision")}
    return torch_model(ModelId(name, source), model, label_space, transform, options, provenance, last_linear(model))


def _from_file(
    models: Any, name: str, path: Path, settings: Mapping[str, str], where: str
) -> tuple[Any, LabelSpace, Transform, str]:
    state = _state(path)
    if "like" in settings:
        if given := set(settings) & set(SETTINGS):
            raise UsageError(f"like, and {', '.join(sorted(given))}", where=where, fix="Give either.")
        entry = _entry(models, name, settings["like"], where)
        label_space, transform, more = _space(entry), _transform(entry), WITH_WEIGHTS.get(name, {})
    else:
        sidecar = read_sidecar(path, settings)
        if not sidecar.preprocess and sidecar.classes is None:
            entries = ", ".join(models.get_model_weights(name).__members__)
            fix = f"Give ?like= one of {entries}, or classes, size, resize, interpolation, mean and std."
            raise UsageError("its classes and preprocessing are not known, and are not guessed", where=path, fix=fix)
        label_space, transform, more = sidecar.label_space(), sidecar.transform(), {}
    if name in WITH_WEIGHTS:
        more = {**more, "aux_logits": any(key.startswith(("aux", "AuxLogits")) for key in state)}
    with loading(path, f"Is it a state dict of {name} with {len(label_space.classes)} classes?"):
        model = models.get_model(name, weights=None, num_classes=len(label_space.classes), **more)
        model.load_state_dict(state)
    return model, label_space, transform, path.name


def _state(path: Path) -> Any:
    with loading(path, "It must be a state dict; save it with `torch.save(model.state_dict(), FILE)` or as safetensors."):
        if path.suffix.lower() == ".safetensors":
            return library("safetensors.torch", EXTRA).load_file(path)
        return library("torch", EXTRA).load(path, map_location="cpu", weights_only=True)


def _entry(models: Any, name: str, given: str, where: str) -> Any:
    entries = models.get_model_weights(name)
    try:
        return entries[given]
    except KeyError as error:
        fix = f"Use one of {', '.join(entries.__members__)}, or the path of a file in {', '.join(FILES)}."
        raise UsageError(f"no weights {given!r}: {first_line(error)}", where=where, fix=fix) from error


def _space(entry: Any) -> LabelSpace:
    """Torchvision's lists are names; those of ImageNet are known by their number and first and last names."""
    names = entry.meta["categories"]
    if not names:
        raise UsageError("these weights have no classes", where=entry, fix="Choose others; they are for features only.")
    if len(names) == 1000 and (names[0], names[-1]) == ("tench", "toilet tissue"):
        return bundled("imagenet-1k")
    from resit.data.benchmark import ClassInfo

    return space(f"classes of torchvision's {entry}", [ClassInfo(one, one) for one in names], entry)


def _transform(entry: Any) -> Transform:
    function = entry.transforms()
    numbers: dict[str, Any] | None = None
    if type(function).__name__ == "ImageClassification" and len(function.crop_size) == 1 == len(function.resize_size):
        numbers = {
            "size": function.crop_size[0],
            "resize": function.resize_size[0],
            "interpolation": interpolation_name(function.interpolation),
            "mean": tuple(function.mean),
            "std": tuple(function.std),
        }
    return translated(function, numbers, repr(function))


def _some(models: Any, name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, models.list_models(module=models), n=3)
    return f"Did you mean {' or '.join(close)}?" if close else "See torchvision.models.list_models()."
