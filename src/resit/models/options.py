"""How models are loaded and run, the same for every adapter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from resit.errors import UsageError

Precision = Literal["float32", "float16", "bfloat16"]


@dataclass(frozen=True)
class ModelOptions:
    """How a model is loaded and run.

    Parameters
    ----------
    device : str
        ``auto`` (CUDA, else MPS, else CPU) or the name of a device as torch writes it, such as ``cpu`` or ``cuda:1``.
    precision : {'float32', 'float16', 'bfloat16'}
        Half precision is by autocast. It changes scores a little, so it is part of how answers were made.
    compile : bool
        Whether torch compiles the model.
    allow_pickle : bool
        Whether files that can run code when they are read (pickle, joblib) may be loaded.

    Raises
    ------
    UsageError
        If the precision is not one of these.
    """

    device: str = "auto"
    precision: Precision = "float32"
    compile: bool = False
    allow_pickle: bool = False

    def __post_init__(self) -> None:
        if self.precision not in get_args(Precision):
            raise UsageError(f"no precision {self.precision!r}", where="precision", fix=f"Use one of {get_args(Precision)}.")


DEFAULT = ModelOptions()
