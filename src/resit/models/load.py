"""A model from one line of text: ``PREFIX:NAME?key=value``; the prefix says which adapter loads it."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Mapping

from resit.errors import ResitError, UsageError
from resit.models.library import first_line
from resit.models.options import DEFAULT, ModelOptions
from resit.models.protocol import Model
from resit.models.renamed import renamed
from resit.models.settings import split_spec

Adapter = Callable[[str, ModelOptions, Mapping[str, str]], Model]

GROUP = "resit.models"
BUILT_IN = {
    "fake": "resit.models.fake:load",
    "head": "resit.models.head_file:load",
    "onnx": "resit.models.adapters.onnx:load",
    "open_clip": "resit.models.adapters.open_clip:load",
    "python": "resit.models.callable:load",
    "sklearn": "resit.models.adapters.sklearn:load",
    "timm": "resit.models.adapters.timm:load",
    "torchvision": "resit.models.adapters.torchvision:load",
    "transformers": "resit.models.adapters.transformers:load",
}


def load_model(spec: str, options: ModelOptions = DEFAULT) -> Model:
    """Load a model.

    Parameters
    ----------
    spec : str
        ``PREFIX:NAME`` or ``PREFIX:NAME?key=value&key=value``, such as ``timm:resnet50.a1_in1k``,
        ``onnx:lite0.onnx?name=lite0`` or ``fake:guess?accuracy=0.8``. The setting ``name`` renames the model; the others are
        the adapter's.
    options : ModelOptions, optional
        Device, precision and the like.

    Returns
    -------
    Model

    Raises
    ------
    UsageError
        If no adapter has this prefix, its library is missing, or a setting or option does not fit.
    InputError
        If the model cannot be read.

    Notes
    -----
    Other packages add prefixes by an entry point in the group ``resit.models``, whose name is the prefix and whose value is a
    function ``(name, options, settings) -> Model``. The setting ``name`` is not among its settings. A built-in prefix cannot
    be taken: such an entry point is refused when the prefix is used.
    """
    prefix, name, settings = split_spec(spec)
    own = {key: value for key, value in settings.items() if key != "name"}
    model = find_adapter(prefix)(name, options, own)
    if not isinstance(model, Model):
        what = f"the adapter {prefix!r} gave a {type(model).__name__}, which is no Model"
        raise UsageError(what, where=spec, fix="See resit.models.protocol.Model.")
    return renamed(model, settings["name"]) if "name" in settings else model


def find_adapter(prefix: str) -> Adapter:
    """The function that loads the models of a prefix.

    Raises
    ------
    UsageError
        If there is none, more than one, or it cannot be imported.
    """
    offered = [point for point in importlib.metadata.entry_points(group=GROUP) if point.name == prefix]
    by = " and ".join(sorted(point.dist.name if point.dist else point.value for point in offered))
    if prefix in BUILT_IN:
        if offered:
            what = f"the prefix {prefix!r} is resit's own, and {by} offers it too"
            raise UsageError(what, where=prefix, fix=f"Uninstall {by}, or ask its authors for another prefix.")
        module, _, function = BUILT_IN[prefix].partition(":")
        adapter: Adapter = getattr(importlib.import_module(module), function)
        return adapter
    if not offered:
        raise UsageError(f"no adapter {prefix!r}", where=prefix, fix=f"The adapters are {', '.join(adapter_names())}.")
    if len(offered) > 1:
        raise UsageError(f"the prefix {prefix!r} is offered by {by}", where=prefix, fix="Uninstall all but one.")
    try:
        found: Adapter = offered[0].load()
    except ResitError:
        raise
    except Exception as error:
        what = f"the adapter {prefix!r} of {by} cannot be imported: {first_line(error)}"
        raise UsageError(what, where=prefix, fix=f"Install {by} again.") from error
    return found


def adapter_names() -> tuple[str, ...]:
    """Prefixes that are known here, those of other packages too."""
    return tuple(sorted({*BUILT_IN, *importlib.metadata.entry_points(group=GROUP).names}))
