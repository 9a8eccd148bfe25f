"""The endings of image files, and names in the order that people count in."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from resit.data.paths import IMAGE_SUFFIXES, short_list
from resit.errors import Notice

# Endings only find files in folders; how a file is decoded is told by its content.
SUFFIXES = IMAGE_SUFFIXES | {".jpe", ".jfif", ".avif", ".jp2", ".ppm", ".pgm", ".pbm", ".pnm"}


def is_image(name: str) -> bool:
    """Whether a file is called as an image."""
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def without_suffix(name: str) -> str:
    """A file's name without folders and the ending of an image."""
    path = PurePosixPath(name)
    return path.stem if is_image(name) else path.name


def natural(text: str) -> list[tuple[int, str]]:
    """Sorting key by which ``train-2`` is before ``train-10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def in_natural_order(names: list[str], where: str) -> tuple[list[str], list[Notice]]:
    """Names in the order that people count in, and a notice where a sorted text would have another order."""
    ordered = sorted(names, key=lambda name: (natural(name), name))
    if ordered == sorted(names):
        return ordered, []
    message = (
        f"Files are taken in the order of their numbers ({short_list(ordered, 3)}). A tool that sorts names as text would take "
        f"{short_list(sorted(names), 3)}: check that answers stored elsewhere were not in that order."
    )
    return ordered, [Notice("files-by-number", where, message)]
