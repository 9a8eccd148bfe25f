"""Small test sets written to disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resit.errors import ResitError

LABELS = [0, 1, 2, 0, 1, 2]


def write_folder(root: Path, answers: Mapping[str, Any], labels: Any = tuple(LABELS), name: str = "exam") -> Path:
    folder = root / name
    folder.mkdir()
    for model, values in answers.items():
        (folder / f"{model}.json").write_text(json.dumps(values))
    if labels is not None:
        np.save(root / f"{name}_labels.npy", np.asarray(labels))
    return folder


def write_csv(path: Path, header: str, rows: Sequence[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return path


def refusal(call: Callable[[], object], kind: type[ResitError]) -> ResitError:
    """The error of a call, which says what, where, and what to do, in one line."""
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert error.what
    assert "\n" not in str(error)
    return error
