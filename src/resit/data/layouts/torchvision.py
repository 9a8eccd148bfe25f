"""A data set of torchvision."""

from __future__ import annotations

from typing import Any

import numpy as np

from resit.data import entries
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.image_sources.torchvision import TorchvisionImages, open_dataset, parameters_of, takes_loader
from resit.data.labels import LabelSheet
from resit.data.layouts.found import Found, benchmark_of
from resit.data.layouts.libraries import TORCHVISION, split_options
from resit.data.layouts.request import Request
from resit.errors import InputError, Notice

# Their classes are numbered by the rank of a folder.
FOLDERS = ("ImageFolder", "DatasetFolder")
TARGETS = ("targets", "labels", "_labels")


def read(place: str, request: Request) -> Benchmark:
    """Read ``torchvision:CLASS?root=…&train=false``; what is after ``?`` is what the class is called with.

    Parameters
    ----------
    place : str
    request : Request

    Raises
    ------
    InputError
        If there is no such class, it cannot be opened, or its targets are no classes.
    """
    head, options = split_options(place)
    name = head.removeprefix(TORCHVISION)
    if name in FOLDERS:
        raise InputError(
            "its classes are numbered by the rank of a folder, which means nothing elsewhere",
            where=place,
            fix="Give the folder itself.",
        )
    _refuse_default_split(name, options, place)
    rows = open_dataset(name, options)
    images = TorchvisionImages(name, options, opened=rows)
    notices = []
    if not takes_loader(type(rows)) and not isinstance(getattr(rows, "data", None), np.ndarray) and not _is_tensor(rows):
        message = (
            "torchvision opens these images itself: EXIF orientation, alpha and 16-bit grey are treated by its rules, not by "
            "those that answers on other sets were made with."
        )
        notices.append(Notice("decoded-by-torchvision", place, message))
    sheet = LabelSheet(entries.from_list(_targets(rows, place), place), source=place)
    parts = [str(options["split"])] if "split" in options else []
    parts += ["train" if options["train"] else "test"] if "train" in options else []
    found = Found(place, images, sheet, listed=_classes(rows), notices=notices, name="-".join([name.lower(), *parts]))
    return benchmark_of(found, request)


def _refuse_default_split(name: str, options: dict[str, Any], place: str) -> None:
    """Refuse to take the split that torchvision takes where none is said, as it is that for training."""
    missing = [one for one in ("train", "split") if one in parameters_of(name) and one not in options]
    if missing and "what" not in options:
        example = "train=false" if missing[0] == "train" else "split=test"
        raise InputError(
            f"no {missing[0]} is said, and torchvision's default is what models are trained on",
            where=place,
            fix=f"Say which, for example torchvision:{name}?{example}.",
        )


def _is_tensor(rows: Any) -> bool:
    return type(getattr(rows, "data", None)).__name__ == "Tensor"


def _targets(rows: Any, place: str) -> list[Any]:
    """Targets of all images: as a whole where the data set has them so, else one by one."""
    whole = next((getattr(rows, name) for name in TARGETS if getattr(rows, name, None) is not None), None)
    found = None if whole is None else np.asarray(whole).tolist()
    ends = {0, len(rows) - 1}
    if found is None or len(found) != len(rows) or any(found[row] != _plain(rows[row][1]) for row in ends):
        found = [_plain(rows[row][1]) for row in range(len(rows))]
    if not all(isinstance(target, int | str) for target in found):
        raise InputError(
            f"targets such as {found[0]!r}, which are no classes",
            where=place,
            fix="Choose the target of classes, or give labels=….",
        )
    return found


def _plain(target: Any) -> Any:
    return target.item() if hasattr(target, "item") and getattr(target, "ndim", 0) == 0 else target


def _classes(rows: Any) -> list[ClassInfo]:
    names = getattr(rows, "classes", None)
    if not names:
        return []
    first = [name if isinstance(name, str) else name[0] for name in names]
    ids = getattr(rows, "wnids", None) or first
    return [ClassInfo(str(one), str(name)) for one, name in zip(ids, first, strict=True)]
