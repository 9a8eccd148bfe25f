"""Folders of images, one folder a class; or one flat folder and labels beside it."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.classes import MOST_CLASSES, ClassMap
from resit.data.entries import WHOLE, Entries
from resit.data.guard import reading, refuse_odd_name
from resit.data.image_sources.files import FileImages
from resit.data.labels import LabelSheet, find_labels
from resit.data.layouts import metadata
from resit.data.layouts.found import Found, benchmark_of, no_labels
from resit.data.layouts.request import Request
from resit.data.layouts.suffixes import is_image
from resit.data.paths import counted, short_list
from resit.data.tables import TABLE_SUFFIXES
from resit.errors import InputError, Notice

WNID = re.compile(r"n\d{8}")


@dataclass
class _Listing:
    """What is in a folder."""

    images: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def read(place: str, request: Request) -> Benchmark:
    """Read a folder of class folders, or a flat folder of images with labels.

    A folder with a ``metadata.csv``, ``.jsonl`` or ``.parquet`` (file_name, label, …), as Hugging Face's ImageFolder has it, is
    read by that table; beside class folders, only where one of its columns is called as one of labels.

    Class folders are called by id (wnid), number or name, and matched with the class list, never by their rank. Images are in
    the order of the names of class folder and file, as text. Ids are paths below the folder.

    Parameters
    ----------
    place : str
    request : Request

    Raises
    ------
    InputError
        If it is no such folder, or its folders are not the classes of the class list.
    """
    root = Path(place)
    top = _list(root)
    inner = {name: _list(root / name) for name in top.folders}
    described = metadata.find(top.others, place)
    in_folders = any(listing.images for listing in inner.values())
    if described and request.labels is None and (in_folders or not top.images) and metadata.has_labels(root / described):
        return metadata.read(root, described, request)
    if not in_folders and top.images:
        return _flat(place, top, inner, request, described)
    _refuse_nested(root, inner)
    if request.labels is None:
        tables = [f"{name}/{table}" for name, listing in inner.items() if (table := metadata.find(listing.others, place))]
        metadata.refuse_splits(tables, top.folders, place)
    notices = _notices(place, top, inner)
    names = [f"{folder}/{file}" for folder, listing in inner.items() for file in listing.images]
    if not names:
        raise InputError("no images in it", where=place, fix="Give the folder whose folders are the classes.")
    ids = np.array(names, str)
    found = Found(place, FileImages(names, root), ids=ids, notices=notices)
    if request.labels is None:
        classes, codes = _match(list(inner), request.classes, place, notices)
        labels = np.repeat(codes, [len(listing.images) for listing in inner.values()])
        if request.classes and request.classes.classes and all(map(WHOLE.fullmatch, inner)):
            notices += classes.unused(labels)
        found.sheet = LabelSheet(Entries(labels[:, None]), ids, source=place)
        found.classes = classes
        if classes.by_name:  # the numbers are ours
            found.classes = replace(classes, by_name=False)
    benchmark = benchmark_of(found, request)
    if request.labels is None and not (request.classes and request.classes.classes):
        seen = replace(classes, by_name=True)  # there may be classes that have no folder here
        return replace(benchmark, label_space=seen.label_space(0, len(classes.classes)))
    return benchmark


def _list(folder: Path) -> _Listing:
    found = _Listing()
    with reading(folder), os.scandir(folder) as entries:
        for entry in entries:
            refuse_odd_name(entry.path)
            if entry.name.startswith("."):
                found.hidden.append(entry.name)
            elif entry.is_dir():
                found.folders.append(entry.name)
            else:
                (found.images if is_image(entry.name) else found.others).append(entry.name)
    for names in (found.images, found.folders, found.hidden, found.others):
        names.sort()
    return found


def _refuse_nested(root: Path, inner: dict[str, _Listing]) -> None:
    nested = [(name, listing) for name, listing in inner.items() if listing.folders]
    if not nested:
        return
    name, listing = nested[0]
    empty = not any(one.images for one in inner.values())
    fix = f"Give {root / name} or another of its folders." if empty else "Put all images of a class in its one folder."
    raise InputError(
        f"folders in {len(nested)} of its {len(inner)} class folders, such as {name}/{listing.folders[0]}", where=root, fix=fix
    )


def _notices(place: str, top: _Listing, inner: dict[str, _Listing]) -> list[Notice]:
    notices = []
    hidden = top.hidden + [f"{name}/{one}" for name, listing in inner.items() for one in listing.hidden]
    if hidden:
        notices.append(Notice("hidden-ignored", place, f"Hidden files and folders were ignored: {short_list(hidden)}."))
    others = top.others + [f"{name}/{one}" for name, listing in inner.items() for one in listing.others]
    if others:
        message = f"{counted(len(others), 'file')} not called as images ignored: {short_list(others)}."
        notices.append(Notice("not-images", place, message))
    if inner and any(listing.images for listing in inner.values()):
        if top.images:
            message = f"{counted(len(top.images), 'image')} beside the class folders ignored: {short_list(top.images)}."
            notices.append(Notice("images-without-class", place, message))
        if len(inner) == 1:
            message = (
                f"There is one class folder, {next(iter(inner))}, so that all images have one label. If it is no class, give "
                "that folder and its labels, or a table of paths and labels."
            )
            notices.append(Notice("one-class", place, message))
        empty = [name for name, listing in inner.items() if not listing.images]
        if empty:
            without = counted(len(empty), "class folder has", "class folders have")
            message = f"{without} no image: {short_list(empty)}. Each is kept as a class, with n = 0."
            notices.append(Notice("empty-class", place, message))
    return notices


def _flat(place: str, top: _Listing, inner: dict[str, _Listing], request: Request, described: str | None) -> Benchmark:
    root = Path(place)
    nested = [name for name, listing in inner.items() if listing.folders or listing.others]
    if nested:
        raise InputError(
            f"images and folders without images side by side, such as {nested[0]}", where=place, fix="Keep the images apart."
        )
    beside = find_labels(root) if request.labels is None else None
    if beside is not None and beside.parent == root:
        top.others.remove(beside.name)
    notices = _notices(place, top, {})
    if inner:
        message = f"{len(inner)} empty folders were ignored: {short_list(inner)}."
        notices.append(Notice("empty-folders", place, message))
    if request.labels is None:
        if beside is None and described:
            return metadata.read(root, described, request)
        if beside is None:
            tables = [name for name in top.others if name.lower().endswith(TABLE_SUFFIXES)]
            also = f" Or give the table in it as the test set: {root / tables[0]}." if tables else ""
            raise no_labels(place, also)
        notices.append(Notice("labels-found", place, f"Labels were taken from {beside}."))
        request = replace(request, labels=beside)
    found = Found(place, FileImages(top.images, root), ids=np.array(top.images, str), notices=notices)
    return benchmark_of(found, request)


def _match(
    folders: Sequence[str], given: ClassMap | None, place: str, notices: list[Notice]
) -> tuple[ClassMap, npt.NDArray[np.int64]]:
    """The class map, and the class of each folder."""
    numbers = [int(float(name)) for name in folders] if all(map(WHOLE.fullmatch, folders)) else None
    if given is not None and given.classes:
        classes, entries = given, _as_listed(folders, numbers, given, place)
    elif numbers is not None:
        classes, entries = _numbered(numbers, place), Entries(np.array(numbers, np.int64)[:, None])
    else:
        _refuse_spellings(folders, place)
        listed = [ClassInfo(name, name) for name in folders]
        classes, entries = ClassMap(listed, by_name=True), Entries(np.array(folders, str)[:, None])
        if all(map(WNID.fullmatch, folders)):
            message = (
                f"The {len(folders)} class folders are wnids and there is no class list: answers are matched by wnid, never by "
                "the rank of a folder."
            )
            notices.append(Notice("classes-are-wnids", place, message))
    codes = classes.indices(entries, place)[:, 0]
    _refuse_same(folders, codes, classes, place)
    if entries.kind == "ids" and numbers is not None and sorted(numbers) != numbers:
        message = (
            f"Class folders are whole numbers; they are taken by value. A tool that sorts folder names would number them "
            f"{short_list(folders, 3)} as 0, 1, 2: check that the answers were not."
        )
        notices.append(Notice("numbers-as-text", place, message))
    if entries.kind == "ids" and numbers is not None and sorted(numbers) == list(range(1, len(numbers) + 1)):
        message = (
            f"Class folders are numbered from 1 to {len(numbers)}; they are taken by value, so that class 0 has no image. "
            "Class indices start at 0: check that the folders do not."
        )
        notices.append(Notice("numbers-from-1", place, message))
    return classes, codes


def _as_listed(folders: Sequence[str], numbers: list[int] | None, given: ClassMap, place: str) -> Entries:
    """Folders as ids or names where the class list has them all, else as numbers where they are."""
    names = Counter(info.name for info in given.classes)
    known = {info.id for info in given.classes} | {name for name, count in names.items() if count == 1}
    composed = [name if name in known else unicodedata.normalize("NFC", name) for name in folders]
    if numbers is not None and not known.issuperset(composed):
        both = [name for name in composed if name in known]
        if both and any(info.id != str(at) for at, info in enumerate(given.classes) if info.id in both):
            stray = next(name for name in composed if name not in known)
            raise InputError(
                f"class folders that are numbers: {short_list(both, 3)} are ids of the class list, and {stray} is none",
                where=place,
                fix="Are folders called by id or by place in the list? Rename them, or give the list that fits.",
            )
        return Entries(np.array(numbers, np.int64)[:, None])
    return Entries(np.array(composed, str)[:, None])


def _numbered(numbers: list[int], place: str) -> ClassMap:
    if max(numbers) >= MOST_CLASSES or min(numbers) < 0:
        raise InputError(
            f"class folders called {min(numbers)} to {max(numbers)}, which are no class indices",
            where=place,
            fix="Give the class list that has them as ids: classes=… (a CSV with the columns label and id).",
        )
    return ClassMap([ClassInfo(str(i), str(i)) for i in range(max(numbers) + 1)], source=place)


def _refuse_spellings(folders: Sequence[str], place: str) -> None:
    alike = defaultdict(list)
    for name in folders:
        alike[unicodedata.normalize("NFKC", name).casefold()].append(name)
    for same in alike.values():
        if len(same) > 1:
            raise InputError(
                f"class folders that differ only in spelling: {short_list(map(repr, same))}",
                where=place,
                fix="Put them in one folder, or give a class list that has both.",
            )


def _refuse_same(folders: Sequence[str], codes: npt.NDArray[np.int64], classes: ClassMap, place: str) -> None:
    by_code = defaultdict(list)
    for name, code in zip(folders, codes.tolist(), strict=True):
        by_code[code].append(name)
    for code, same in by_code.items():
        if len(same) > 1:
            info = classes.classes[code]
            raise InputError(
                f"class folders that are the same class, {info.id}: {short_list(map(repr, same))}",
                where=place,
                fix="Put their images in one folder.",
            )
