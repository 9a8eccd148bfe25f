"""Other labels for a test set's images: better ones from a file, or those that a mapping of classes gives."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark
from resit.data.card import Relabel
from resit.data.class_lists import objectnet_classes
from resit.data.classes import ClassMap
from resit.data.images import Images, Raw
from resit.data.labels import LabelSheet
from resit.data.paths import counted, short_list
from resit.errors import InputError, Notice

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ChosenImages:
    """Some of the images of a source.

    Parameters
    ----------
    source : Images
    rows : ndarray of int, shape (n,)
        Which ones, in this order.
    """

    source: Images
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Raw:
        return self.source[int(self.rows[index])]

    def where(self, index: int) -> str:
        """Where an image lies."""
        return self.source.where(int(self.rows[index]))

    @property
    def fingerprint(self) -> str:
        """Digest of the source and of which of its images were chosen."""
        return chosen_fingerprint(self.source.fingerprint, self.rows)


def chosen_fingerprint(fingerprint: str, rows: Rows) -> str:
    """Digest of some of the images whose digest is given."""
    chosen = np.ascontiguousarray(rows, np.int64).tobytes()
    return hashlib.sha256(fingerprint.encode() + chosen).hexdigest()[:16]


def take(benchmark: Benchmark, rows: Rows) -> Benchmark:
    """Some of the examples of a benchmark, with their images and groups.

    Parameters
    ----------
    benchmark : Benchmark
    rows : ndarray of int, shape (k,)
        Which examples, in this order.

    Returns
    -------
    Benchmark
    """
    return replace(
        benchmark,
        labels=benchmark.labels[rows],
        ids=None if benchmark.ids is None else benchmark.ids[rows],
        groups={name: column[rows] for name, column in benchmark.groups.items()},
        images=None if benchmark.images is None else ChosenImages(benchmark.images, rows),
        images_fingerprint=chosen_fingerprint(benchmark.images_fingerprint, rows) if benchmark.images_fingerprint else "",
    )


def relabel(benchmark: Benchmark, how: Relabel, file: object, classes: ClassMap | None) -> Benchmark:
    """A benchmark with other labels; examples without an accepted one are left out and counted in a notice.

    Parameters
    ----------
    benchmark : Benchmark
    how : Relabel
        How labels are joined to images.
    file : path
        The file of labels; ignored where ``how`` names a mapping.
    classes : ClassMap or None
        What the new labels mean.

    Raises
    ------
    InputError
        If labels cannot be joined to images, or are no classes of the list.
    """
    labels = _by_class(benchmark, classes) if how.by == "class" else _from_file(benchmark, how, file, classes)
    accepted = (labels >= 0).any(axis=1)
    new = replace(benchmark, labels=labels, classes=tuple(classes.classes) if classes else benchmark.classes)
    if accepted.all():
        return new
    message = f"{int((~accepted).sum()):,} of {benchmark.n:,} images have no accepted label and were left out."
    notices = (*benchmark.notices, Notice("no-accepted-label", benchmark.name, message))
    return replace(take(new, np.flatnonzero(accepted)), notices=notices)


def padded(lists: Sequence[Sequence[int]]) -> npt.NDArray[np.int32]:
    """Lists of accepted classes as an array, padded on the right with -1. Shape (n, longest)."""
    labels = np.full((len(lists), max((len(item) for item in lists), default=1) or 1), -1, np.int32)
    for row, item in enumerate(lists):
        labels[row, : len(item)] = item
    return labels


def _by_class(benchmark: Benchmark, classes: ClassMap | None) -> npt.NDArray[np.int32]:
    mapping: Mapping[str, tuple[str, ...]] = objectnet_classes()
    known = {} if classes is None else {info.id: place for place, info in enumerate(classes.classes)}
    found = {i: [known[wnid] for wnid in mapping.get(benchmark.class_id(i), ())] for i in range(benchmark.n_classes)}
    if not any(found.values()):
        names = short_list(benchmark.class_id(i) for i in range(benchmark.n_classes))
        raise InputError(
            f"none of the classes has an ImageNet class: {names}",
            where=benchmark.name,
            fix="Give the folder that has one folder for each object, such as objectnet-1.0/images.",
        )
    return padded([found[int(label)] for label in benchmark.labels[:, 0]])


def _from_file(benchmark: Benchmark, how: Relabel, file: object, classes: ClassMap | None) -> npt.NDArray[np.int32]:
    from resit.data.layouts.given_labels import read_given

    sheet = read_given(file)
    rows = _rows(benchmark, how, sheet, file)
    entries = sheet.take(rows).entries
    return np.asarray((classes or ClassMap()).indices(entries, sheet.source), np.int32)


def _rows(benchmark: Benchmark, how: Relabel, sheet: LabelSheet, file: object) -> Rows:
    """Row of the label file that each image has."""
    where = file if isinstance(file, (str, Path)) else benchmark.name
    if how.by == "position":
        if sheet.n != benchmark.n:
            what = f"{sheet.n:,} labels for {benchmark.n:,} images, joined by position"
            raise InputError(what, where=where, fix="Is it the file of this test set, and are all images there?")
        return np.arange(sheet.n)
    if benchmark.ids is None:
        raise InputError(
            f"the images have no ids, and the labels of {where} are joined by them",
            where=benchmark.name,
            fix="Give the images in files with their original names.",
        )
    if how.by == "number":
        return _numbered(benchmark.ids, how, sheet.n, benchmark.name)
    if sheet.ids is None:
        raise InputError("labels without ids, to be joined by them", where=where, fix="Give a table with columns id and label.")
    place = {key: row for row, key in enumerate(sheet.ids.tolist())}
    if len(place) < sheet.n:
        twice = counted(sheet.n - len(place), "id is", "ids are")
        raise InputError(f"{twice} there twice", where=where, fix="Each image has one row.")
    missing = [key for key in benchmark.ids.tolist() if key not in place]
    if missing:
        raise InputError(f"no label for {counted(len(missing), 'image')}: {short_list(missing)}", where=where)
    return np.array([place[key] for key in benchmark.ids.tolist()], np.intp)


def _numbered(ids: npt.NDArray[np.str_], how: Relabel, n: int, name: str) -> Rows:
    found = [re.search(how.pattern, key) for key in ids.tolist()]
    without = [key for key, match in zip(ids.tolist(), found, strict=True) if match is None]
    if without:
        raise InputError(
            f"{len(without)} image names without the number that labels are joined by: {short_list(without)}",
            where=name,
            fix=f"Give the images with their original names, which match {how.pattern}.",
        )
    rows = np.array([int(match[1]) for match in found if match], np.intp) - how.first
    outside = [key for key, row in zip(ids.tolist(), rows.tolist(), strict=True) if not 0 <= row < n]
    if outside:
        raise InputError(f"images whose number is beyond the {n:,} labels: {short_list(outside)}", where=name)
    if len(np.unique(rows)) < len(rows):
        raise InputError("several images have one number", where=name, fix="Give each image once.")
    return rows
