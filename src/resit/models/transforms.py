"""Transforms of other libraries: taken over as a Preprocess where that gives the same numbers, else wrapped as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt

from resit.errors import UsageError
from resit.models.preprocess import Interpolation, Preprocess
from resit.models.protocol import Transform
from resit.models.weights import text_digest

if TYPE_CHECKING:
    from PIL.Image import Image

# Height and width: larger and smaller than usual crops, both ways up, odd, and square.
PROBES = ((375, 500), (501, 333), (90, 64), (224, 224), (700, 101))


class WrappedTransform:
    """A transform of another library.

    Parameters
    ----------
    function : callable
        Takes an RGB image and gives a tensor or an array, always of the same shape.
    words : str
        What it does, for people.
    config : mapping, optional
        All of its numbers; their digest becomes part of the fingerprint. Default: the words tell all.
    """

    def __init__(self, function: Callable[[Image], Any], words: str, config: Any = None) -> None:
        digest = "" if config is None else f" #{text_digest(json.dumps(config, sort_keys=True, default=str))}"
        self.fingerprint = " ".join(words.split()) + digest
        self._function = function

    def __call__(self, image: Image) -> npt.NDArray[Any]:
        """Prepare an RGB image."""
        return np.asarray(self._function(image))


def translated(function: Callable[[Image], Any], numbers: dict[str, Any] | None, words: str, config: Any = None) -> Transform:
    """A transform of another library as a Preprocess, if both give equal arrays for images of several shapes, else wrapped.

    Parameters
    ----------
    function : callable
        The transform.
    numbers : dict or None
        Arguments of Preprocess that should do the same; None if there are none.
    words : str
        What the transform does, for people, where it is wrapped.
    config : optional
        All of its numbers, for its fingerprint where it is wrapped. Default: ``numbers``.
    """
    wrapped = WrappedTransform(function, words, config or numbers)
    if numbers is None:
        return wrapped
    try:
        ours = Preprocess(**numbers)
    except (UsageError, TypeError):
        return wrapped
    same = all(np.array_equal(ours(image), wrapped(image)) for image in probe_images())
    return ours if same else wrapped


def probe_images() -> Iterator[Image]:
    """Images of several shapes: noise over a slope, always the same."""
    from PIL import Image

    random = np.random.default_rng(0)
    for height, width in PROBES:
        slope = np.linspace(0, 200, width)[None, :, None] + np.zeros((height, width, 3))
        yield Image.fromarray((slope + random.integers(0, 56, (height, width, 3))).astype(np.uint8))


def interpolation_name(given: object) -> Interpolation | str:
    """Name of an interpolation as Preprocess has it, from an enumeration or a name of another library."""
    name = str(getattr(given, "value", given)).lower()
    return name if name in get_args(Interpolation) else f"unknown ({name})"
