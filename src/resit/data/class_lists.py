"""The class lists that ship with the package, and where a class list may be named instead of given as a file."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Collection
from functools import cache
from importlib import resources
from pathlib import Path

from resit.data.benchmark import ClassInfo
from resit.data.classes import ClassMap, read_class_list
from resit.data.guard import reading
from resit.data.label_spaces import IMAGENET_1K, label_space_of
from resit.errors import UsageError

CLASS_LISTS = ("cifar-10", "imagenet-1k")
SUBSETS = ("imagenet-a", "imagenet-r", "objectnet")


def class_list(name: str) -> tuple[ClassInfo, ...]:
    """Classes of a list that ships with resit, in the order of their indices.

    Parameters
    ----------
    name : str
        ``imagenet-1k`` (ids are wnids, names the first lemma of WordNet) or ``cifar-10`` (ids are the names).
        Or a subset of ImageNet-1k: ``imagenet-a``, ``imagenet-r``, ``objectnet``, in the order of ImageNet-1k.

    Returns
    -------
    tuple of ClassInfo

    Raises
    ------
    UsageError
        If there is no such list.

    Notes
    -----
    The lists of ImageNet-1k, ImageNet-A and ImageNet-R are those of timm [1]_ (Apache-2.0). That of ObjectNet follows
    ``objectnet_to_imagenet_1k.json`` of its archive [2]_, whose names of ImageNet classes were resolved to wnids.

    References
    ----------
    .. [1] Wightman, R. (2019). PyTorch Image Models. https://github.com/huggingface/pytorch-image-models
    .. [2] Barbu, A., et al. (2019). ObjectNet. NeurIPS 32.
    """
    if name == "imagenet-1k":
        return tuple(ClassInfo(row["wnid"], row["name"]) for row in _rows(name))
    if name == "cifar-10":
        return tuple(ClassInfo(row["name"], row["name"]) for row in _rows(name))
    if name in SUBSETS:
        ids = {wnid for row in _rows(name) for wnid in row.get("wnid", row.get("wnids", "")).split()}
        return tuple(info for info in class_list("imagenet-1k") if info.id in ids)
    raise UsageError(f"no class list {name!r}", fix=f"There are {', '.join((*CLASS_LISTS, *SUBSETS))}.")


def objectnet_classes() -> dict[str, tuple[str, ...]]:
    """Accepted wnids of each of ObjectNet's 113 objects that are in ImageNet, by the name of the object's folder."""
    return {row["folder"]: tuple(row["wnids"].split()) for row in _rows("objectnet")}


def part_of(space: str, ids: Collection[str]) -> str:
    """Label space of answers that are taken from some of the classes of a space.

    It tells which classes these are: by the name of a subset that ships with resit, else by a digest, so that two sets of as
    many classes are not taken for the same.

    Parameters
    ----------
    space : str
        Label space of all classes.
    ids : collection of str
        The classes that answers are taken from.
    """
    if space == IMAGENET_1K:
        known = (name for name in SUBSETS if {info.id for info in class_list(name)} == set(ids))
        if name := next(known, None):
            return label_space_of(name)
    digest = hashlib.sha256("\0".join(sorted(ids)).encode()).hexdigest()[:6]
    return f"subset {digest} ({len(ids)} of {space})"


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    text = (resources.files("resit.data") / "lists" / f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def resolve_classes(source: str | Path | ClassMap | None) -> ClassMap | None:
    """The class map of a class list, given as a file or by the name of one that ships with resit.

    Parameters
    ----------
    source : path, str, ClassMap or None
        A file wins over a name. None and a class map are returned as they are.

    Returns
    -------
    ClassMap or None

    Raises
    ------
    InputError
        If the file cannot be read as a class list.
    UsageError
        If it is neither a file nor the name of a class list.
    """
    if source is None or isinstance(source, ClassMap):
        return source
    with reading(source):
        is_there = Path(source).exists()
    if is_there:
        return read_class_list(Path(source))
    if str(source) in (*CLASS_LISTS, *SUBSETS):
        return ClassMap(list(class_list(str(source))), source=f"the class list {source}")
    if Path(source).suffix:
        return read_class_list(Path(source))
    raise UsageError(
        f"neither a file nor a known class list: {str(source)!r}",
        where="classes",
        fix=f"Give a CSV with label, wnid and name, or one of {', '.join((*CLASS_LISTS, *SUBSETS))}.",
    )
