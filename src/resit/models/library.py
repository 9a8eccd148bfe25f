"""Optional libraries and foreign loaders: what they raise becomes an error that says what to do."""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from resit.errors import InputError, ResitError, UsageError
from resit.models.protocol import OutOfMemory

LONGEST = 400  # characters of another library's message
VERSION = " version"
# Of torch on CUDA, CPU and MPS, of cuBLAS and cuDNN (RuntimeErrors), and of onnxruntime (errors of its own).
MEMORY_SIGNS = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "failed to allocate memory",
    "bad_alloc",
    "bad allocation",
    "status_alloc_failed",
)


def library(name: str, extra: str) -> Any:
    """Import a module of an optional library.

    Parameters
    ----------
    name : str
        The module, such as ``timm.data``.
    extra : str
        The extra of resit that installs it.

    Raises
    ------
    UsageError
        If it is not installed, or does not fit what is installed beside it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        fix = f"Install it with `pip install 'resit[{extra}]'`."
        raise UsageError(f"the library {(error.name or name).split('.')[0]} is not installed", where=extra, fix=fix) from error
    except (ImportError, OSError, RuntimeError) as error:
        fix = f"Install versions that fit together with `pip install --upgrade 'resit[{extra}]'`."
        raise UsageError(f"the library {name} cannot be imported: {first_line(error)}", where=extra, fix=fix) from error


def versions(*distributions: str) -> Mapping[str, str]:
    """Versions of installed distributions, for a model's provenance: they are told, and do not make its answers other ones."""
    return {f"{name}{VERSION}": importlib.metadata.version(name) for name in distributions}


def first_line(error: BaseException) -> str:
    """First line of an error's message, cut where it is very long, without a final full stop; its kind where it has none."""
    lines = str(error).strip().splitlines()
    if not lines:
        return type(error).__name__
    return (lines[0] if len(lines[0]) <= LONGEST else f"{lines[0][:LONGEST]} …").rstrip(".")


@contextmanager
def loading(where: object, fix: str) -> Iterator[None]:
    """Turn whatever a library raises while it loads a model into an InputError; libraries do not agree on kinds of errors.

    Raises
    ------
    InputError
        If anything but an error of resit is raised.
    """
    try:
        yield
    except ResitError:
        raise
    except Exception as error:
        raise InputError(f"the model cannot be loaded: {first_line(error)}", where=where, fix=fix) from error


def existing_file(path: str) -> Path:
    """Path of a file that is there.

    Raises
    ------
    InputError
        If it is not.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise InputError("no such file", where=file, fix="Check the path and the current folder.")
    return file


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a library says, in its own way, that a batch did not fit into memory."""
    text = str(error).lower()
    is_theirs = isinstance(error, RuntimeError) or type(error).__module__.startswith("onnxruntime")
    return isinstance(error, MemoryError) or (is_theirs and any(sign in text for sign in MEMORY_SIGNS))


@contextmanager
def memory(where: object, batch: int) -> Iterator[None]:
    """Turn what libraries raise when memory runs out into OutOfMemory; a batch of 0 is the loading of the model.

    Raises
    ------
    OutOfMemory
        If the work inside ran out of memory.
    """
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        what = f"a batch of {batch} does not fit into memory" if batch else "the model does not fit into memory"
        raise OutOfMemory(what, where=where, fix="Use a smaller batch, half precision, or another device.") from error
