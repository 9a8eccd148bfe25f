"""Any Python function as a model, and models that users' own modules make."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.models import ModelId
from resit.errors import ResitError, UsageError
from resit.models.library import first_line
from resit.models.options import ModelOptions
from resit.models.protocol import Batch, LabelSpace, Model, Scores, Transform
from resit.models.settings import refuse_unknown
from resit.models.spaces import named


class CallableModel:
    """A function from a batch to scores, as a Model.

    Parameters
    ----------
    name : str
        Its name.
    function : callable
        Takes prepared images, shape (b, …), and gives scores, shape (b, number of classes), the higher the likelier. The array
        is its own: it may work in place. Tensors of torch are taken too.
    classes : str, path, sequence or LabelSpace
        The classes in the order of the scores: the name of a bundled list such as ``imagenet-1k``, the path of a text file with
        one id a line, or the ids.
    transform : Transform
        How images are prepared, such as ``Preprocess(224, resize=256)``.
    version : str, optional
        Whatever tells one state of the function from another. Stored answers are taken for the same while it is the same.

    Raises
    ------
    InputError
        If the classes cannot be read.
    UsageError
        If the classes are none.
    """

    def __init__(
        self, name: str, function: Callable[[Batch], Scores], classes: object, transform: Transform, version: str = ""
    ) -> None:
        self.id = ModelId(name)
        self.label_space: LabelSpace = named(classes, name)
        self.transform = transform
        self.provenance: Mapping[str, str] = {"adapter": "callable", "version": version}
        self._function = function

    def scores(self, batch: Batch) -> Scores:
        """Scores of a batch of prepared images, shape (b, number of classes).

        Raises
        ------
        UsageError
            If the function gives anything else.
        """
        scores = _as_array(self._function(np.array(batch)), self.id)  # other models may be given the same batch
        expected = (len(batch), len(self.label_space.classes))
        if scores.shape != expected or not np.issubdtype(scores.dtype, np.number) or np.iscomplexobj(scores):
            what = f"the function gives {scores.dtype} of shape {scores.shape} for a batch of {len(batch)}"
            raise UsageError(what, where=self.id, fix=f"It must give numbers of shape {expected}.")
        return scores if np.issubdtype(scores.dtype, np.floating) else scores.astype(np.float64)


def _as_array(found: Any, where: object) -> npt.NDArray[Any]:
    """What a function gives as an array: also a tensor of torch, on any device, with or without gradients."""
    if hasattr(found, "detach"):
        tensor = found.detach().cpu()
        found = tensor.float() if tensor.is_floating_point() and tensor.element_size() < 4 else tensor
    try:
        return np.asarray(found)
    except ValueError as error:  # rows of several lengths
        what = f"the function gives a {type(found).__name__} that is no array: {first_line(error)}"
        raise UsageError(what, where=where, fix="It must give one row of scores for each image.") from error


def load(name: str, options: ModelOptions, settings: Mapping[str, str]) -> Model:  # noqa: ARG001
    """Load ``python:module.path:attribute``: a Model, or a function without arguments that gives one.

    The module is looked for in the current folder and on Python's path. Options are the module's own affair.

    Raises
    ------
    UsageError
        If there is no such module or attribute, it fails, or it is no model.
    """
    where = f"python:{name}"
    refuse_unknown(settings, (), where)
    module_name, colon, attribute = name.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module_name.split("."), *attribute.split("."))):
        raise UsageError("not of the form module.path:attribute", where=where, fix="Write python:my_models:baseline.")
    found: object = _module(module_name, where)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(f"the module {module_name} has no {attribute!r}", where=where, fix="Check the name.")
        found = getattr(found, part)
    if isinstance(found, type) or (callable(found) and not isinstance(found, Model)):
        found = _called(found, where)
    if not isinstance(found, Model):
        what = f"it is a {type(found).__name__}, not a Model or a function without arguments that gives one"
        raise UsageError(what, where=where, fix="Use resit.models.callable.CallableModel to make a Model of a function.")
    return found


def _module(name: str, where: str) -> ModuleType:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise UsageError(f"the module needs {error.name!r}, which is not installed", where=where) from error
        fix = f"Run where it lies (now {here}), or put its folder into PYTHONPATH."
        raise UsageError(f"no module {error.name!r}", where=where, fix=fix) from error
    except Exception as error:
        raise UsageError(f"the module fails: {type(error).__name__}: {first_line(error)}", where=where) from error
    finally:
        sys.path.remove(here)


def _called(factory: Callable[[], object], where: str) -> object:
    try:
        return factory()
    except ResitError:
        raise
    except Exception as error:
        what = f"calling it without arguments fails: {type(error).__name__}: {first_line(error)}"
        raise UsageError(what, where=where, fix="Give a Model, or a function without arguments that gives one.") from error
