"""Which layout a place has, told by what is there."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from resit.data.benchmark import Benchmark
from resit.data.guard import reading, refuse_odd_name
from resit.data.image_sources.places import is_url
from resit.data.layouts import arrays, imagefolder, manifest, metadata, parquet, webdataset
from resit.data.layouts.libraries import HF, TORCHVISION
from resit.data.layouts.request import Request
from resit.data.layouts.suffixes import is_image
from resit.data.layouts.tabular import image_columns, schema_of
from resit.data.tables import LINES_SUFFIXES, PARQUET_SUFFIXES, PLAIN_SUFFIXES
from resit.errors import InputError, UsageError

LAYOUTS = ("imagefolder", "parquet", "arrays", "webdataset", "manifest", "datasets", "torchvision")
READERS = {
    "imagefolder": imagefolder.read,
    "parquet": parquet.read,
    "arrays": arrays.read,
    "webdataset": webdataset.read,
    "manifest": manifest.read,
}


def read_layout(place: str | Path, request: Request | None = None) -> Benchmark:
    """Read a test set with its images.

    Parameters
    ----------
    place : str or path
        A folder, a file, a glob, shards in braces, ``hf:…`` or ``torchvision:…``.
    request : Request, optional
        What is said of it beside its place.

    Returns
    -------
    Benchmark

    Raises
    ------
    InputError
        If it cannot be read, has no labels, or contradicts itself.
    UsageError
        If there is no such layout.
    """
    place, request = str(place), request or Request()
    if request.layout is not None and request.layout not in LAYOUTS:
        raise UsageError(f"no layout {request.layout!r}", where=place, fix=f"Use one of {', '.join(LAYOUTS)}.")
    layout = request.layout or detect(place)
    if layout in READERS:
        return READERS[layout](place, request)
    read = import_module("resit.data.layouts." + layout).read  # only these need other libraries
    found: Benchmark = read(place, request)
    return found


def detect(place: str | Path) -> str:
    """Name of the layout of a place.

    Raises
    ------
    InputError
        If it cannot be told, or there is nothing.
    """
    place = str(place)
    refuse_odd_name(place)
    if place.startswith(HF):
        return "datasets"
    if place.startswith(TORCHVISION):
        return "torchvision"
    if is_url(place):
        raise InputError(
            "an address instead of files on this machine",
            where=place,
            fix="Fetch them, or write a table with a column url of the addresses of all images.",
        )
    path = Path(place)
    with reading(place):
        if path.is_dir():
            return _of_folder(path)
        return _of_name(path)


def _of_name(path: Path) -> str:
    """Layout of a file, a glob or a name with braces."""
    name = path.name.lower()
    if webdataset.is_tar(name):
        return "webdataset"
    if path.suffix.lower() in PARQUET_SUFFIXES:
        if not path.exists():
            return "parquet"
        return "parquet" if image_columns(schema_of(path)) else "manifest"
    if path.suffix.lower() in (*PLAIN_SUFFIXES, *LINES_SUFFIXES):
        return "manifest"
    if path.suffix.lower() == ".npy":
        return "arrays"
    if not path.exists():
        raise FileNotFoundError(path)
    raise InputError("a file of no known layout", where=path, fix=f"Say which it is: layout=… ({', '.join(LAYOUTS)}).")


def _of_folder(folder: Path) -> str:
    with os.scandir(folder) as entries:
        seen = [(entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith(".")]
    files = [name for name, is_folder in seen if not is_folder]
    folders = [name for name, is_folder in seen if is_folder]
    found = []
    if any(map(webdataset.is_tar, files)):
        found.append("webdataset")
    tables = [folder / name for name in files if Path(name).suffix.lower() in PARQUET_SUFFIXES]
    if "data" in folders and not tables:
        tables = [one for one in (folder / "data").iterdir() if one.suffix.lower() in PARQUET_SUFFIXES]
        folders = [name for name in folders if name != "data" or not tables]
    if any(image_columns(schema_of(one)) for one in sorted(tables)[:1]):
        found.append("parquet")
    if any(name.endswith(".npy") for name in files) and arrays.pairs(folder):
        found.append("arrays")
    if any(map(is_image, files)) or metadata.NAMES & set(files) or any(_has_images(folder / name) for name in folders):
        found.append("imagefolder")
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"may be {' or '.join(found)}", where=folder, fix="Say which it is: layout=….")
    if folders and not files:
        return "imagefolder"
    raise InputError("no images in it, in no known layout", where=folder, fix=f"Layouts are {', '.join(LAYOUTS)}.")


def _has_images(folder: Path) -> bool:
    with os.scandir(folder) as entries:
        return any(is_image(entry.name) for entry in entries if not entry.name.startswith("."))
