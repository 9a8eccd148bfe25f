"""Paths as people give them: ``FILE::SET``, folders with hidden files in them, names that come from files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from resit.data.guard import reading, refuse_odd_name
from resit.errors import InputError, Notice, UsageError

PREFIXES = re.compile(r"^(?:timm[-_])?(?:results?[-_])?(?=.)")
OWN = ".resit-"
IMAGE_SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}


def split_set(path: str | Path) -> tuple[Path, str | None]:
    """Split ``FILE::SET`` into the file and the test set to take from it; a path that exists is taken as it is."""
    refuse_odd_name(path)
    text = str(path)
    file, separator, test_set = text.rpartition("::")
    with reading(text):
        if not separator or Path(text).exists():
            return Path(text), None
    if not file or not test_set:
        raise UsageError("half of FILE::SET is missing", where=text, fix="Write the file, two colons and the test set's name.")
    return Path(file), test_set


def default_name(path: Path) -> str:
    """Name of a test set from its file or folder: ``timm-results-imagenet-a.csv`` is ``imagenet-a``."""
    located = whole_path(path)
    return located.name if located.is_dir() else PREFIXES.sub("", located.stem)


def whole_path(path: Path) -> Path:
    """Path from the root, so that ``.`` has a name and neighbours; links are not followed."""
    return path.resolve() if path.name in ("", "..") else path.absolute()


def visible_files(folder: Path) -> tuple[list[Path], list[Notice]]:
    """Files of a folder sorted by name, broken links among them, and a notice about hidden ones that were left out.

    Raises
    ------
    InputError
        If the folder cannot be listed.
    """
    with reading(folder):
        entries = sorted(folder.iterdir())
    for entry in entries:
        refuse_odd_name(entry)
    hidden = [entry.name for entry in entries if entry.name.startswith(".") and not entry.name.startswith(OWN)]
    notices = []
    if hidden:
        message = f"Hidden files and folders were ignored: {short_list(hidden)}."
        notices.append(Notice("hidden-ignored", str(folder), message))
    with reading(folder):
        seen = [entry for entry in entries if not entry.name.startswith(".")]
        return [entry for entry in seen if entry.is_file() or (entry.is_symlink() and not entry.exists())], notices


def visible_folders(folder: Path) -> list[str]:
    """Names of the folders in a folder, sorted, without hidden ones.

    Raises
    ------
    InputError
        If the folder cannot be listed.
    """
    with reading(folder):
        return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(".") and entry.is_dir())


def short_list(items: Iterable[object], most: int = 5) -> str:
    """The first items, and how many more there are."""
    texts = [str(item) for item in items]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what there are so many of, with the words for one where it is one.

    Parameters
    ----------
    number : int
    one : str
        What follows 1, such as ``image has no label``.
    many : str, optional
        What follows every other number. Default: ``one`` and an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def match_names(names: Sequence[str], globs: Sequence[str], where: str) -> set[str]:
    """Names that at least one glob matches.

    Raises
    ------
    UsageError
        If a glob matches no name.
    """
    found: set[str] = set()
    for glob in globs:
        matched = {name for name in names if fnmatchcase(name, glob)}
        if not matched:
            raise unknown_name(glob, names, where)
        found |= matched
    return found


def unknown_name(name: str, names: Iterable[str], where: str) -> UsageError:
    """Error for a model name or glob that nothing matches, with the names that come close."""
    known = sorted(set(names))
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    fix = f"Did you mean {' or '.join(close)}?" if close else f"The models are {short_list(known)}."
    return UsageError(f"no model matches {name!r}", where=where, fix=fix)


def refuse_images(folder: Path, files: Sequence[Path]) -> None:
    """Refuse a folder that holds images, or folders of images, where predictions are needed.

    Raises
    ------
    InputError
        If it is such a folder.
    """
    inner = visible_folders(folder)
    with reading(folder):
        candidates = list(files) or (sorted((folder / inner[0]).iterdir()) if inner else [])
    if any(file.suffix.lower() in IMAGE_SUFFIXES for file in candidates):
        raise InputError(
            "a folder of images; predictions are needed here",
            where=folder,
            fix="Give a folder with one file of answers for each model; images must first be classified by the models.",
        )
