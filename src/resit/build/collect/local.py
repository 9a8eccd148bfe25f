"""Candidates of whatever is read as a test set: folders of images, Parquet files with images, data sets of Hugging Face."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from resit.build.collect.class_rules import ClassRules
from resit.build.collect.columns import told
from resit.build.collect.found import Found, Lost, Query
from resit.build.collect.images import encoded
from resit.build.collect.widening import ALL
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.image_sources.files import FileImages
from resit.data.image_sources.places import HTTP
from resit.data.paths import short_list
from resit.errors import InputError, Notice


class BenchmarkSource:
    """Images of a test set as candidates, in its order.

    Parameters
    ----------
    benchmark : Benchmark
        With its images.
    rules : ClassRules
        Which class its labels mean. An image with several labels is a candidate of each.
    kind : str
        What it is called, such as ``folder``.

    Raises
    ------
    InputError
        If it has no images, or a label means no class.
    """

    stages = (ALL,)

    def __init__(self, benchmark: Benchmark, rules: ClassRules, kind: str = "folder") -> None:
        if benchmark.images is None:
            raise InputError("no images, only labels", where=benchmark.name, fix="Give the folder or file that has them.")
        self.name = f"{kind}:{benchmark.name}/"
        self._benchmark, self._images = benchmark, benchmark.images
        used = np.unique(benchmark.labels[benchmark.labels >= 0]).tolist()
        labels = [ClassInfo(benchmark.class_id(index), benchmark.class_name(index)) for index in used]
        ids, notices = rules.match(labels, benchmark.name)
        self._class_of = dict(zip(used, ids, strict=True))
        self.notices = [*benchmark.notices, *notices, *self._left_out(labels, ids)]

    def _left_out(self, labels: Sequence[ClassInfo], ids: Sequence[str]) -> list[Notice]:
        gone = [index for index, key in self._class_of.items() if not key]
        if not gone:
            return []
        names = [label.id for label, key in zip(labels, ids, strict=True) if not key]
        count = int(np.isin(self._benchmark.labels, gone).sum())
        return [left_out(count, names, self._benchmark.name)]

    def found(self, queries: Sequence[Query]) -> Iterator[Found | Lost]:
        """Images of the classes that are asked for."""
        wanted = {query.class_id for query in queries}
        for row, labels in enumerate(self._benchmark.labels.tolist()):
            keys = dict.fromkeys(self._class_of.get(label, "") for label in labels)
            for key in keys:
                if key and key in wanted:
                    yield self._one(row, key)

    def _one(self, row: int, class_id: str) -> Found | Lost:
        place = self._images.where(row)
        ids = self._benchmark.ids
        key = str(row) if ids is None else str(ids[row])
        columns = {name: str(column[row]) for name, column in self._benchmark.groups.items()}
        found = told(Found(class_id, self.name + key, place=place), columns)
        if isinstance(self._images, FileImages):
            return found_at(found, place)
        try:
            raw = self._images[row]
            data = raw if isinstance(raw, bytes) else encoded(raw)
        except (OSError, InputError) as error:
            reason = error.what if isinstance(error, InputError) else f"cannot be read: {error}"
            return Lost(class_id, place, reason)
        return replace(found, data=data)


def found_at(found: Found, place: str) -> Found:
    """A candidate with its path, or with its address where that is one of the web."""
    return replace(found, url=place) if HTTP.match(place) else replace(found, path=place)


def left_out(count: int, labels: Sequence[str], where: str) -> Notice:
    """Notice of candidates whose labels are none of the classes."""
    message = f"The class map leaves out {short_list(map(repr, labels))}; candidates with these labels: {count:,}."
    return Notice("labels-left-out", where, message)
