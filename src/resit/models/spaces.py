"""The classes that a model scores: bundled lists, lists in files, and bare numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resit.data.benchmark import ClassInfo
from resit.data.class_lists import class_list, resolve_classes
from resit.data.label_spaces import IMAGENET_1K
from resit.errors import InputError, UsageError
from resit.models.protocol import POSITIONS, LabelSpace


def bundled(name: str) -> LabelSpace:
    """Label space of a class list that comes with resit, such as ``imagenet-1k``.

    Raises
    ------
    UsageError
        If there is no such list.
    """
    return LabelSpace(name, class_list(name))


def numbered(n_classes: int) -> LabelSpace:
    """Label space of classes of which only the number is known; their ids are ``0``, ``1`` …"""
    return LabelSpace(POSITIONS, tuple(ClassInfo(str(i), str(i)) for i in range(n_classes)))


def named(given: object, where: object, folder: Path | None = None) -> LabelSpace:
    """Label space from what a user gives: the name of a bundled list, the path of a file, or the classes themselves.

    Parameters
    ----------
    given : object
        A name such as ``imagenet-1k``; the path of a class list (a table with the columns label, wnid or id, and name) in the
        order of the scores; or a sequence of ids, of ClassInfo, or of mappings with ``id`` and ``name``.
    where : object
        Who gives it, for messages; also the name of the space where the classes are given themselves.
    folder : Path, optional
        Where a relative path begins. Default: the current folder.

    Raises
    ------
    InputError
        If the file cannot be read, or a class comes twice.
    UsageError
        If it is none of these.
    """
    if isinstance(given, LabelSpace):
        return given
    if isinstance(given, str | Path):
        path = (folder or Path()) / Path(given).expanduser()
        classes = resolve_classes(path if path.is_file() else given)
        found = classes.classes if classes else []
        return space(path.name if path.is_file() else str(given), found, where)
    if isinstance(given, Sequence) and given:
        return space(f"classes of {where}", [_class(item, where) for item in given], where)
    fix = "Give the name of a list such as imagenet-1k, the path of a class list, or the ids."
    raise UsageError(f"classes {given!r} are no list of classes", where=where, fix=fix)


def space(name: str, classes: Sequence[ClassInfo], where: object) -> LabelSpace:
    """Label space of these classes: ``imagenet-1k`` where they are its wnids in its order, else of this name.

    Raises
    ------
    InputError
        If an id comes twice.
    """
    seen: set[str] = set()
    for one in classes:
        if one.id in seen:
            raise InputError(f"the class {one.id!r} comes twice", where=where, fix="Each class needs an id of its own.")
        seen.add(one.id)
    imagenet = class_list(IMAGENET_1K)
    if [one.id for one in classes] == [one.id for one in imagenet]:
        return LabelSpace(IMAGENET_1K, imagenet)
    return LabelSpace(name, tuple(classes))


def _class(item: Any, where: object) -> ClassInfo:
    if isinstance(item, ClassInfo):
        return item
    if isinstance(item, str):
        return ClassInfo(item, item)
    if isinstance(item, dict) and set(item) <= {"id", "name"} and isinstance(item.get("id"), str):
        return ClassInfo(item["id"], str(item.get("name", item["id"])))
    raise UsageError(f"the class {item!r} needs an id that is text", where=where, fix='Write ids in quotes, such as "007".')
