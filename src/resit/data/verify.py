"""Whether a test set on disk is whole and sound: counts, missing and extra images, unreadable ones, and duplicates."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from resit.data.benchmark import Benchmark
from resit.data.card import Card
from resit.data.expect import counts, differences, expected_counts
from resit.data.images import Images
from resit.data.labels import read_labels
from resit.data.load_benchmark import find, load_benchmark
from resit.data.paths import counted, short_list
from resit.errors import InputError, Notice, UsageError

AT_ONCE = 1024
SHOWN = 10


@dataclass(frozen=True)
class ClassCount:
    """Number of examples of one class.

    Parameters
    ----------
    id : str
    name : str
    found : int
    expected : int or None
        As the card says; None where it says nothing.
    """

    id: str
    name: str
    found: int
    expected: int | None


@dataclass(frozen=True)
class Unreadable:
    """An image that cannot be decoded.

    Parameters
    ----------
    where : str
    reason : str
    """

    where: str
    reason: str


@dataclass(frozen=True)
class Duplicates:
    """Images with the same bytes, or the same pixels where they are stored as pixels.

    Parameters
    ----------
    where : tuple of str
        Where each of them lies.
    same_labels : bool
        Whether all have the same accepted labels.
    """

    where: tuple[str, ...]
    same_labels: bool


@dataclass(frozen=True)
class VerifyReport:
    """What was found of a test set on disk.

    Parameters
    ----------
    source : str
        As it was given.
    name : str
    card : str or None
        Name of the card that it was compared with; None where there is none.
    n : int
    n_expected : int or None
    classes : tuple of ClassCount
    differences : tuple of str
        In what the numbers differ from the card.
    missing, extra : tuple of str
        Ids that should be there and are not, and the other way round; empty where the ids are not known.
    order : str or None
        Whether the ids have the expected order: ``same`` or ``other``; None where it is not known.
    n_decoded : int
        Number of images that were decoded, or tried.
    unreadable : tuple of Unreadable
    duplicates : tuple of Duplicates
    notices : tuple of Notice
        What was seen while reading.
    """

    source: str
    name: str
    card: str | None
    n: int
    n_expected: int | None
    classes: tuple[ClassCount, ...]
    differences: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    order: str | None
    n_decoded: int
    unreadable: tuple[Unreadable, ...]
    duplicates: tuple[Duplicates, ...]
    notices: tuple[Notice, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, one line each; empty where nothing is."""
        found = list(self.differences)
        for what, ids in (("missing", self.missing), ("not expected", self.extra)):
            if ids:
                found.append(f"{len(ids):,} image{'s are' if len(ids) > 1 else ' is'} {what}: {short_list(ids)}")
        if self.order == "other":
            found.append("the images are in another order than expected")
        if self.unreadable:
            shown = short_list((f"{bad.where} ({bad.reason})" for bad in self.unreadable), SHOWN)
            found.append(f"{len(self.unreadable):,} of {self.n_decoded:,} images cannot be read: {shown}")
        for same, what in ((False, "with different labels"), (True, "with the same labels")):
            groups = [" = ".join(group.where) for group in self.duplicates if group.same_labels == same]
            if groups:
                found.append(f"{counted(len(groups), 'group')} of identical images {what}: {short_list(groups, SHOWN)}")
        return tuple(found)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def to_dict(self) -> Mapping[str, Any]:
        """The record as plain values, for JSON."""
        from dataclasses import asdict

        return {**asdict(self), "problems": list(self.problems), "ok": self.ok}

    def __str__(self) -> str:
        seen = sum(count.found > 0 for count in self.classes)
        against = f"compared with the card {self.card}" if self.card else "no card to compare with"
        sizes = f"{counted(self.n, 'example')} of {counted(seen, 'class', 'classes')}"
        head = f"{self.name}: {sizes}, {counted(self.n_decoded, 'image')} decoded; {against}"
        lines = [f"  problem: {problem}" for problem in self.problems] or ["  no problem found"]
        return "\n".join([head, *lines, *(f"  note: {notice}" for notice in self.notices)])


def verify(
    source: str | Path | Benchmark,
    *,
    ids: str | Path | None = None,
    data: str | Path | None = None,
    decode: bool = True,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> VerifyReport:
    """Check a test set on disk. Every image is read and decoded once, a few at a time.

    Parameters
    ----------
    source : path, str or Benchmark
        As :func:`resit.data.load_benchmark.load_benchmark` takes it; ``NAME=PATH`` compares with what is known of NAME.
    ids : path, optional
        Table of the ids that should be there, in their order.
    data : path, optional
        Data folder.
    decode : bool, optional
        Whether images are decoded, and not only read.
    workers : int, optional
        Number of threads. Default: one for each core.
    progress : callable, optional
        Told how many images are done, and of how many.
    **options
        As `load_benchmark` takes them.

    Returns
    -------
    VerifyReport

    Raises
    ------
    InputError
        If it cannot be read at all.
    UsageError
        If there is no such path or known test set.
    """
    card = None if isinstance(source, Benchmark) else find(source, data=data).card
    benchmark = load_benchmark(source, data=data, partial=True, **options) if not isinstance(source, Benchmark) else source
    missing, extra, order = _ids(benchmark, card, ids)
    unreadable, duplicates, n_decoded = _images(benchmark, decode, workers, progress)
    expected = expected_counts(benchmark, card) if card else {}
    names = {benchmark.class_id(i): benchmark.class_name(i) for i in range(benchmark.n_classes)}
    found = counts(benchmark)
    classes = tuple(ClassCount(key, names.get(key, key), found.get(key, 0), expected.get(key)) for key in {**found, **expected})
    return VerifyReport(
        source=benchmark.name if isinstance(source, Benchmark) else str(source),
        name=benchmark.name,
        card=card.name if card else None,
        n=benchmark.n,
        n_expected=card.n if card else None,
        classes=classes,
        differences=tuple(differences(benchmark, card)) if card else (),
        missing=missing,
        extra=extra,
        order=order,
        n_decoded=n_decoded,
        unreadable=unreadable,
        duplicates=duplicates,
        notices=tuple(notice for notice in benchmark.notices if notice.code != "partial"),
    )


def _ids(
    benchmark: Benchmark, card: Card | None, expected: str | Path | None
) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    if expected is not None:
        wanted = read_labels(expected).ids
        if wanted is None:
            raise InputError("no column of ids", where=expected, fix="Call it id.")
        if benchmark.ids is None:
            raise UsageError("the images have no ids to compare", where=benchmark.name, fix="Leave ids (--ids) out.")
        want, have = wanted.tolist(), benchmark.ids.tolist()
        have_set, want_set = set(have), set(want)
        missing = tuple(key for key in want if key not in have_set)
        extra = tuple(key for key in have if key not in want_set)
        return missing, extra, None if missing or extra else ("same" if want == have else "other")
    if card is None or card.numbered is None or benchmark.ids is None or card.relabel is not None:
        return (), (), None
    numbered = card.numbered
    found = {key: re.search(numbered.pattern, key) for key in benchmark.ids.tolist()}
    numbers = {int(match[1]): match[0] for match in found.values() if match}
    want_numbers = range(numbered.first, numbered.last + 1)
    extra = tuple(key for key, match in found.items() if match is None or int(match[1]) not in want_numbers)
    return tuple(f"number {number}" for number in want_numbers if number not in numbers), extra, None


def _images(
    benchmark: Benchmark, decode: bool, workers: int | None, progress: Callable[[int, int], None] | None
) -> tuple[tuple[Unreadable, ...], tuple[Duplicates, ...], int]:
    images = benchmark.images
    if images is None:
        return (), (), 0
    unreadable, same = [], defaultdict(list)
    for index, (digest, reason) in enumerate(_examined(images, decode, workers)):
        if reason:
            unreadable.append(Unreadable(images.where(index), reason))
        if digest:
            same[digest].append(index)
        if progress and (index % 100 == 99 or index + 1 == len(images)):
            progress(index + 1, len(images))
    duplicates = tuple(
        Duplicates(tuple(images.where(index) for index in group), _same_labels(benchmark, group))
        for group in same.values()
        if len(group) > 1
    )
    return tuple(unreadable), duplicates, len(images)


def _same_labels(benchmark: Benchmark, group: list[int]) -> bool:
    return len({frozenset(benchmark.labels[index].tolist()) for index in group}) == 1


def _examined(images: Images, decode: bool, workers: int | None) -> Iterator[tuple[bytes, str]]:
    """Digest of each image's content, and why it cannot be read, in order; a bounded number is under way."""
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        for start in range(0, len(images), AT_ONCE):
            rows = range(start, min(start + AT_ONCE, len(images)))
            yield from pool.map(lambda index: _examine(images, index, decode), rows)


def _examine(images: Images, index: int, decode: bool) -> tuple[bytes, str]:
    from resit.data.decode import decode as decode_image

    try:
        raw = images[index]
    except (OSError, InputError) as error:
        return b"", str(error) or type(error).__name__
    digest = hashlib.blake2b(digest_size=16)
    if isinstance(raw, np.ndarray):
        digest.update(f"{raw.dtype}{raw.shape}".encode())
        digest.update(np.ascontiguousarray(raw).tobytes())
    else:
        digest.update(raw)
    if decode:
        try:
            decode_image(raw)
        except InputError as error:
            return digest.digest(), error.what
    return digest.digest(), ""
