"""An array of images and an array of labels, as CIFAR-10.1 is released."""

from __future__ import annotations

from pathlib import Path

from resit.data.benchmark import Benchmark
from resit.data.guard import reading
from resit.data.image_sources.arrays import ArrayImages
from resit.data.labels import read_labels
from resit.data.layouts.found import Found, benchmark_of, no_labels
from resit.data.layouts.request import Request
from resit.data.paths import short_list
from resit.errors import InputError

# Endings of the two arrays' names.
PAIRS = (("_data", "_labels"), ("_images", "_labels"), ("images", "labels"), ("data", "labels"), ("", "_labels"))


def read(place: str, request: Request) -> Benchmark:
    """Read ``NAME_data.npy`` and ``NAME_labels.npy``, or ``images.npy`` and ``labels.npy``.

    Parameters
    ----------
    place : str
        The array of images, or a folder with one such pair.
    request : Request

    Raises
    ------
    InputError
        If there is no such pair or more than one, or the arrays do not fit together.
    """
    path = Path(place)
    with reading(place):
        images = _only(path) if path.is_dir() else path
    labels = partner(images)
    if labels is None and request.labels is None:
        raise no_labels(place, f"Or put {images.stem.removesuffix('_data')}_labels.npy beside it.")
    found = Found(place, ArrayImages(images, request.channels), name=name_of(images))
    if labels is not None and request.labels is None:
        found.sheet = read_labels(labels)
    return benchmark_of(found, request)


def pairs(folder: Path) -> list[Path]:
    """The arrays of images in a folder whose labels are beside them."""
    with reading(folder):
        found = sorted(file for file in folder.glob("*.npy") if not file.name.startswith("."))
    return [file for file in found if partner(file) is not None]


def partner(images: Path) -> Path | None:
    """The array of labels of an array of images."""
    for data, labels in PAIRS:
        if data.startswith("_") and images.stem.endswith(data):
            other = images.with_name(f"{images.stem.removesuffix(data)}{labels}.npy")
        elif images.stem == data or not data:
            other = images.with_name(f"{images.stem if not data else ''}{labels}.npy")
        else:
            continue
        if other != images and other.is_file():
            return other
    return None


def name_of(images: Path) -> str:
    """Name of a test set from its array of images: ``cifar10.1_v4_data.npy`` is ``cifar10.1_v4``."""
    for data, _ in PAIRS:
        if data.startswith("_"):
            name = images.stem.removesuffix(data)
            if name != images.stem:
                return name
    return images.absolute().parent.name if images.stem in ("images", "data") else images.stem


def _only(folder: Path) -> Path:
    found = pairs(folder)
    if len(found) != 1:
        what = (
            f"{len(found)} pairs of images and labels: {short_list(file.name for file in found)}" if found else "no such pair"
        )
        raise InputError(what, where=folder, fix="Give the array of images itself, with NAME_labels.npy beside NAME_data.npy.")
    return found[0]
