"""Shards of WebDataset: tar files in which the files of one sample share a name and differ in their endings."""

from __future__ import annotations

import glob
import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from resit.data import entries
from resit.data.benchmark import Benchmark
from resit.data.guard import reading
from resit.data.image_sources.tar import Member, TarImages, index_tar, read_member
from resit.data.labels import LabelSheet
from resit.data.layouts.found import Found, benchmark_of, no_labels
from resit.data.layouts.request import Request
from resit.data.layouts.suffixes import SUFFIXES, in_natural_order
from resit.data.paths import counted, default_name, short_list
from resit.errors import InputError, Notice

BRACES = re.compile(r"\{([^{}]*)\}")
RANGE = re.compile(r"(\d+)\.\.(\d+)")
TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")
MOST_SHARDS = 100_000
Sample = dict[str, Member]


def read(place: str, request: Request) -> Benchmark:
    """Read shards of WebDataset.

    The key of a sample, which is its id, is the name of its files up to the first point. Its image is the file with the ending
    of an image, its label the file ``.cls``, or ``label`` in ``.json``, whose other plain values become group columns.

    Parameters
    ----------
    place : str
        A file, a folder, a glob, or a name with ``{000000..000007}`` in it.
    request : Request
        ``image_column`` chooses an ending among several images, ``label_column`` a value in ``.json``.

    Raises
    ------
    InputError
        If a shard is missing, packed or cut off, a key is there twice, or labels are missing.
    """
    paths, notices = shards(place)
    samples: dict[str, Sample] = {}
    twice: Counter[str] = Counter()
    for number, path in enumerate(paths):
        own: dict[str, Sample] = {}
        for member in index_tar(Path(path), number):
            key, ending = split_key(member.name)
            if key.rsplit("/", 1)[-1] == "":  # hidden files, such as those that macOS adds
                continue
            twice[f"{key}.{ending}"] += ending in own.setdefault(key, {})
            own[key][ending] = member
        twice.update(own.keys() & samples.keys())
        samples |= own
    _refuse_twice([key for key, count in twice.items() if count], place)
    keys, images = _images(samples, request, place, notices)
    found = Found(place, TarImages(paths, images), ids=np.array(keys, str), notices=notices, name=_name(place))
    if request.labels is None:
        found.sheet = _sheet(keys, samples, paths, request, place)
    return benchmark_of(found, request)


def shards(place: str) -> tuple[list[str], list[Notice]]:
    """The tar files of a place.

    Raises
    ------
    InputError
        If there are none, or one in braces is missing.
    """
    path = Path(place)
    with reading(place):
        if path.is_dir():
            found = [str(one) for one in path.iterdir() if is_tar(one.name)]
        elif path.exists():
            return [place], []
        else:
            found = []
            for name in expand(place):
                some = glob.glob(name) if glob.has_magic(name) else [name]  # noqa: PTH207
                if not some or not Path(some[0]).exists():
                    raise InputError("no such shard", where=name, fix="Check the path, and the numbers in braces.")
                found += some
    if not found:
        raise InputError("no tar files", where=place, fix="Check the path and the current folder.")
    return in_natural_order(found, place)


def expand(text: str) -> list[str]:
    """All names of a text with braces: ``a-{08..10}.tar`` is ``a-08.tar``, ``a-09.tar``, ``a-10.tar``.

    Raises
    ------
    InputError
        If the braces are no range of numbers or list of words, or mean too many names.
    """
    parts = BRACES.split(text)
    choices = [[part] if place % 2 == 0 else _choices(part, text) for place, part in enumerate(parts)]
    count = int(np.prod([float(len(some)) for some in choices]))
    if count > MOST_SHARDS:
        raise InputError(f"{count:,} shards", where=text, fix=f"At most {MOST_SHARDS:,} are read.")
    return ["".join(some) for some in product(*choices)]


def _choices(inside: str, text: str) -> list[str]:
    match = RANGE.fullmatch(inside)
    if match is None:
        if "," not in inside:
            raise InputError(f"{{{inside}}} is no range", where=text, fix="Write {000000..000007} or {a,b}.")
        return inside.split(",")
    first, last = int(match[1]), int(match[2])
    if not 0 <= last - first < MOST_SHARDS:
        raise InputError(f"{{{inside}}} is no range", where=text, fix="Write the smaller number first.")
    return [str(number).zfill(len(match[1])) for number in range(first, last + 1)]


def is_tar(name: str) -> bool:
    """Whether a file is called as a tar file, packed or not."""
    return name.lower().endswith(TAR_SUFFIXES) and not name.startswith(".")


def split_key(name: str) -> tuple[str, str]:
    """Key and ending of a member: ``a/0001.seg.png`` is ``a/0001`` and ``seg.png``."""
    folder, _, file = name.removeprefix("./").rpartition("/")
    stem, _, ending = file.partition(".")
    return (f"{folder}/{stem}" if folder else stem), ending.lower()


def _refuse_twice(keys: Sequence[str], place: str) -> None:
    if keys:
        raise InputError(
            f"keys that are there twice: {short_list(keys)}",
            where=place,
            fix="Are shards of several sets mixed? Each key needs to be one.",
        )


def _images(samples: dict[str, Sample], request: Request, place: str, notices: list[Notice]) -> tuple[list[str], list[Member]]:
    keys, images, without = [], [], []
    for key, sample in samples.items():
        endings = [end for end in sample if f".{end.rsplit('.', 1)[-1]}" in SUFFIXES]
        plain = [end for end in endings if "." not in end]
        if request.image_column is not None:
            endings = [end for end in endings if end == request.image_column.lower().removeprefix(".")]
        elif len(plain) == 1:
            endings = plain
        if len(endings) > 1:
            raise InputError(
                f"more than one image of {key}: {', '.join(endings)}",
                where=place,
                fix="Say which ending holds: image_column=….",
            )
        if endings:
            keys.append(key)
            images.append(sample[endings[0]])
        else:
            without.append(key)
    if not keys:
        raise InputError("no images in it", where=place, fix="Images end in .jpg, .png or .webp; image_column=… names another.")
    if without:
        message = f"{counted(len(without), 'sample')} without an image left out: {short_list(without)}."
        notices.append(Notice("samples-without-image", place, message))
    return keys, images


def _sheet(
    keys: Sequence[str], samples: dict[str, Sample], paths: Sequence[str], request: Request, place: str
) -> LabelSheet | None:
    in_json = request.label_column is not None or not any("cls" in samples[key] for key in keys)
    facts = [_json(samples[key], paths) for key in keys]
    if in_json:
        name = request.label_column or "label"
        labels = [fact.get(name) for fact in facts]
    else:
        labels = [_text(samples[key]["cls"], paths) if "cls" in samples[key] else None for key in keys]
    missing = [key for key, label in zip(keys, labels, strict=True) if label is None or label == ""]
    if len(missing) == len(keys):
        raise no_labels(place, "Or put a file .cls, or .json with label, into each sample.")
    if missing:
        raise InputError(
            f"{len(missing)} of {len(keys)} samples have no label: {short_list(missing)}", where=place, fix="Leave them out."
        )
    found = entries.from_list(labels, place)
    plain = {
        name
        for name in facts[0]
        if name not in ("label", request.label_column)
        and all(isinstance(fact.get(name), str | int | float | bool) for fact in facts)
    }
    groups = {name: np.array([str(fact[name]) for fact in facts], str) for name in facts[0] if name in plain}
    return LabelSheet(entries.Entries(found.values), np.array(keys, str), groups, place)


def _text(member: Member, paths: Sequence[str]) -> str:
    with reading(f"{paths[member.shard]}/{member.name}"):
        return read_member(paths[member.shard], member).decode("utf-8").strip()


def _json(sample: Sample, paths: Sequence[str]) -> dict[str, Any]:
    if "json" not in sample:
        return {}
    text = _text(sample["json"], paths)
    with reading(f"{paths[sample['json'].shard]}/{sample['json'].name}"):
        found = json.loads(text)
        return found if isinstance(found, dict) else {}


def _name(place: str) -> str:
    path = Path(place)
    stem = re.split(r"[-_.]*[{*?\[]", path.name)[0] or path.absolute().parent.name
    return default_name(path) if path.exists() else stem
