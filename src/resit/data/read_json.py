"""Classes in a JSON file: a list with one item an example, or an object from id to item."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data import entries
from resit.data.entries import Entries
from resit.data.guard import reading, refuse_unfit
from resit.errors import InputError


@dataclass(frozen=True)
class Pairs:
    """A JSON object with all its pairs, so that a key that is there twice is not lost."""

    items: list[tuple[str, Any]]


def read_json(path: Path) -> tuple[Entries, npt.NDArray[np.str_] | None]:
    """Classes and, where the file tells them, the examples' ids, each as often as it is written.

    Raises
    ------
    InputError
        If it is not such JSON.
    """
    refuse_unfit(path)
    with reading(path):
        content = json.loads(path.read_bytes(), object_pairs_hook=Pairs)
    if isinstance(content, Pairs) and content.items:
        return entries.from_list([item for _, item in content.items], path), np.array([key for key, _ in content.items], str)
    if not isinstance(content, list) or not content:
        raise InputError(
            "JSON that is not a list with an item for each example",
            where=path,
            fix="Write one class id, or one list of class ids best first, for each example.",
        )
    return entries.from_list(content, path), None
