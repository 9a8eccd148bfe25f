"""A trainer from one line of text, such as ``resnet?epochs=12``, ``pixels`` or ``features:MODEL``."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from resit.errors import UsageError
from resit.models.library import existing_file, first_line
from resit.models.load import load_model
from resit.models.options import DEFAULT, ModelOptions
from resit.models.protocol import FeatureModel
from resit.models.settings import refuse_unknown
from resit.models.training.estimator import Estimator
from resit.models.training.linear import Linear
from resit.models.training.pixels import Pixels
from resit.models.training.protocol import Source, Trainer, digest
from resit.models.training.resnet import ON_GPU, RESNET_18, ResNet
from resit.models.training.torch_module import TorchModule, TorchSettings

if TYPE_CHECKING:
    from torch import nn

KINDS = "resnet, resnet18, pixels, features:MODEL, sklearn:module.Class, torch:FILE.py:FACTORY"
FeatureSource = Callable[[FeatureModel], Source]
Settings = Mapping[str, Any]


def load_trainer(spec: str, features: FeatureSource | None = None, options: ModelOptions = DEFAULT) -> Trainer:
    """Make a trainer.

    Parameters
    ----------
    spec : str
        - ``resnet``: the small residual network; ``resnet18``: the large one, for a GPU. Settings: those of
          :class:`~resit.models.training.torch_module.TorchSettings`, ``size`` (pixels), ``widths`` and ``blocks`` such as
          ``widths=(16,32,64)``, ``stem``;
        - ``pixels``: a linear head on pixels. Settings: ``size``, ``c``;
        - ``features:MODEL``: a linear head on the features of a model, written as for :func:`resit.models.load.load_model`;
        - ``sklearn:module.Class``: a classifier on pixels. Settings: ``size`` and the classifier's own;
        - ``torch:FILE.py:FACTORY``: what a function of a file makes from the number of classes and the shape of one input.
          Settings: as of ``resnet`` without those of the network.
    features : callable, optional
        Makes a source of features of a model, as :func:`resit.study.training.trainer_of` does. Default: none, and ``features:``
        is refused.
    options : ModelOptions, optional
        For the model of ``features:``.

    Returns
    -------
    Trainer

    Raises
    ------
    UsageError
        If there is no such kind, or a setting does not fit.
    InputError
        If the model or file cannot be read.
    """
    kind, colon, rest = spec.partition(":")
    if kind == "features" and rest:
        model = load_model(rest, options)
        if not isinstance(model, FeatureModel):
            fix = "Use a model whose last layer is one linear layer, such as timm:resnet50.a1_in1k."
            raise UsageError("the model has no features: its last layer cannot be replaced", where=spec, fix=fix)
        if features is None:
            raise UsageError("nothing makes features here", where=spec, fix="Use resit.study.training.trainer_of.")
        return Trainer(features(model), Linear())
    name, settings = _split(spec, rest if colon else kind)
    makers: dict[str, Callable[[str, dict[str, Any], str], Trainer]] = {"sklearn": _sklearn, "torch": _torch}
    if colon and kind in makers and name:
        return makers[kind](name, settings, spec)
    if not colon and name == "pixels":
        refuse_unknown(settings, ("size", "c"), spec)
        return Trainer(_pixels(settings, spec), _made(Linear, settings, spec))
    if not colon and name in ("resnet", "resnet18"):
        return _resnet(name, settings, spec)
    raise UsageError(f"no kind of training {spec!r}", where="--trainer", fix=f"There are {KINDS}.")


def _split(spec: str, text: str) -> tuple[str, dict[str, Any]]:
    """Name and settings; a value is read as Python writes it (3, 0.5, True, (1, 2)), else it is text."""
    name, mark, query = text.partition("?")
    settings: dict[str, Any] = {}
    for part in query.split("&") if mark else ():
        key, equals, value = part.partition("=")
        if not equals or not key or not value or key in settings:
            raise UsageError(f"{part!r} is not a setting, or comes twice", where=spec, fix="Write NAME?key=value&key=value.")
        try:
            settings[key] = ast.literal_eval(unquote(value))
        except (ValueError, SyntaxError):
            settings[key] = {"true": True, "false": False}.get(value, unquote(value))
    return name, settings


def _resnet(name: str, settings: dict[str, Any], spec: str) -> Trainer:
    network, how = (RESNET_18, ON_GPU) if name == "resnet18" else (ResNet(), TorchSettings())
    own = _names(network)
    refuse_unknown(settings, (*own, *_names(how), "size"), spec)
    source = _pixels(settings, spec)
    network = _made(lambda **chosen: replace(network, **chosen), {k: v for k, v in settings.items() if k in own}, spec)
    rest = {key: value for key, value in settings.items() if key not in own}
    return Trainer(source, TorchModule(network, _made(lambda **chosen: replace(how, **chosen), rest, spec)))


def _sklearn(name: str, settings: dict[str, Any], spec: str) -> Trainer:
    source = _pixels(settings, spec)
    return Trainer(source, Estimator(name, settings))


def _torch(name: str, settings: dict[str, Any], spec: str) -> Trainer:
    refuse_unknown(settings, (*_names(TorchSettings()), "size"), spec)
    source = _pixels(settings, spec)
    file, _, function = name.rpartition(":")
    if not file or not function.isidentifier():
        raise UsageError("not of the form torch:FILE.py:FACTORY", where=spec, fix="Write torch:nets.py:small.")
    path = existing_file(file).absolute()
    factory = FileFactory(str(path), function, hashlib.sha256(path.read_bytes()).hexdigest()[:16])
    factory.loaded()
    return Trainer(source, TorchModule(factory, _made(TorchSettings, settings, spec)))


@dataclass(frozen=True)
class FileFactory:
    """A function of a Python file, read where it is called; the file must be there on every machine.

    Parameters
    ----------
    path, function : str
    fingerprint : str
        Digest of the file.
    """

    path: str
    function: str
    fingerprint: str
    images_per_second: float = 500.0

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.function} of {Path(self.path).name}"

    def loaded(self) -> Callable[[int, tuple[int, ...]], nn.Module]:
        """The function.

        Raises
        ------
        UsageError
            If the file fails or has no such function.
        """
        made = importlib.util.spec_from_file_location(f"resit_factory_{digest(self.path)}", self.path)
        if made is None or made.loader is None:
            raise UsageError("no Python file", where=self.path, fix="Its name ends in .py.")
        module = importlib.util.module_from_spec(made)
        try:
            made.loader.exec_module(module)
            found: Callable[[int, tuple[int, ...]], nn.Module] = getattr(module, self.function)
        except Exception as error:
            what = f"it cannot be used: {type(error).__name__}: {first_line(error)}"
            raise UsageError(
                what, where=self.path, fix=f"It must define a function {self.function}(n_classes, shape)."
            ) from error
        return found

    def __call__(self, n_classes: int, shape: tuple[int, ...]) -> nn.Module:
        """The module that the function makes."""
        return self.loaded()(n_classes, shape)


def _pixels(settings: dict[str, Any], spec: str) -> Source:
    size = settings.pop("size", Pixels().size)
    if not isinstance(size, int) or isinstance(size, bool) or size < 8:
        raise UsageError(f"size={size} is not a number of pixels from 8", where=spec)
    return Pixels(size)


def _names(record: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(record))


def _made(make: Callable[..., Any], settings: Settings, spec: str) -> Any:
    try:
        return make(**settings)
    except (TypeError, ValueError) as error:
        raise UsageError(f"settings that do not fit: {first_line(error)}", where=spec) from error
