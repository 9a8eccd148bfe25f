"""From what a layout holds to a Benchmark: labels are joined and classes are matched in one place for all layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.assemble import accepted_labels
from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.classes import ClassMap, by_labels
from resit.data.columns import ROLES
from resit.data.entries import Entries
from resit.data.images import Images
from resit.data.labels import LabelSheet
from resit.data.layouts.given_labels import join_labels, read_given
from resit.data.layouts.request import Request
from resit.data.paths import default_name, short_list
from resit.errors import InputError, Notice


@dataclass
class Found:
    """What a layout holds.

    Parameters
    ----------
    place : str
        For messages.
    images : Images
    sheet : LabelSheet, optional
        Its labels, ids and group columns. None: no labels.
    ids : ndarray of str, shape (n,), optional
        Identities of the images, where there is no sheet.
    listed : sequence of ClassInfo
        The classes of label values 0, 1, … that the layout itself lists; empty where it lists none.
    classes : ClassMap, optional
        A class map that the labels were made with.
    notices : list of Notice
    name : str
        Name of the test set where none was asked for.
    """

    place: str
    images: Images
    sheet: LabelSheet | None = None
    ids: npt.NDArray[np.str_] | None = None
    listed: Sequence[ClassInfo] = ()
    classes: ClassMap | None = None
    notices: list[Notice] = field(default_factory=list)
    name: str = ""


def no_labels(place: str, also: str = "") -> InputError:
    """Error for images without labels, with the ways to give them."""
    ways = "Give labels=… (--labels): a table with the columns id and label, or a list or array with one an image."
    return InputError("images without labels", where=place, fix=f"{ways} {also.strip()}".strip())


def benchmark_of(found: Found, request: Request) -> Benchmark:
    """The benchmark of what a layout holds, with the labels and classes that were asked for.

    Raises
    ------
    InputError
        If there are no labels, or labels, classes and images do not fit together.
    """
    notices = list(found.notices)
    sheet = found.sheet
    if request.labels is not None:
        sheet = _given(found, request, notices)
    if sheet is None:
        raise no_labels(found.place)
    if sheet.n != len(found.images):
        raise InputError(
            f"{sheet.n} labels, but {len(found.images)} images", where=found.place, fix="Each image needs a label."
        )
    _refuse_twice(sheet.ids, found.place)
    classes, sheet = _classes(found, sheet, request, notices)
    accepted = _to_the_left(accepted_labels(sheet, classes, notices))
    stored = str(sheet.manifest.get("label_space") or "")
    groups = {key: column for key, column in sheet.groups.items() if key not in ROLES["label"]}
    return Benchmark(
        name=request.name or found.name or default_name(Path(found.place)),
        labels=accepted,
        ids=sheet.ids,
        classes=tuple(classes.classes),
        label_space=stored or classes.label_space(0, int(accepted.max(initial=-1)) + 1),
        version=request.version or str(sheet.manifest.get("version") or ""),
        groups=groups,
        images=found.images,
        notices=tuple(notices),
    )


def _given(found: Found, request: Request, notices: list[Notice]) -> LabelSheet:
    own = found.sheet
    ids = own.ids if own is not None else found.ids
    given = join_labels(read_given(request.labels), ids, len(found.images), found.place, notices)
    groups: Mapping[str, npt.NDArray[np.str_]] = {} if own is None else own.groups
    return replace(given, groups={**groups, **given.groups})


def _refuse_twice(ids: npt.NDArray[np.str_] | None, place: str) -> None:
    if ids is None:
        return
    distinct, counts = np.unique(ids, return_counts=True)
    if len(distinct) < len(ids):
        raise InputError(
            f"ids that are there twice: {short_list(distinct[counts > 1])}",
            where=place,
            fix="Each image needs an id of its own: name another column of ids, or remove the rows that do not hold.",
        )


def _classes(found: Found, sheet: LabelSheet, request: Request, notices: list[Notice]) -> tuple[ClassMap, LabelSheet]:
    """The class map, and the labels as it is to read them."""
    own_labels = request.labels is None
    if request.classes is not None and request.classes.classes:
        by_number = found.classes is None and not (found.listed and own_labels)  # folders have told their own doubts
        notices += request.classes.doubts(sheet.entries if by_number else Entries(np.empty((0, 1), str)))
        if found.classes is not None and own_labels:
            return found.classes, sheet
        if found.listed and own_labels and sheet.entries.kind == "ids":
            sheet = replace(sheet, entries=_by_list(sheet.entries, found, request.classes, notices))
        return request.classes, sheet
    stored = sheet.manifest.get("classes")
    if stored:
        return ClassMap([ClassInfo(*item) for item in stored], source=sheet.source), sheet
    if found.listed:
        return _own_list(found, notices), sheet
    if found.classes is not None and own_labels:
        return found.classes, sheet
    classes, seen = by_labels(sheet.entries, sheet.source)
    notices += seen
    return classes, sheet


def _own_list(found: Found, notices: list[Notice]) -> ClassMap:
    ids = [info.id for info in found.listed]
    if len(set(ids)) == len(ids):
        return ClassMap(list(found.listed), source=found.place)
    twice = sorted(one for one, count in Counter(ids).items() if count > 1)
    message = f"More than one class is called {short_list(twice)}; classes are told apart by their numbers."
    notices.append(Notice("class-names-twice", found.place, message))
    return ClassMap([ClassInfo(str(i), info.name) for i, info in enumerate(found.listed)], source=found.place)


def _by_list(entries: Entries, found: Found, classes: ClassMap, notices: list[Notice]) -> Entries:
    """Label values of a layout that lists its classes, in the numbers of the class list that was given."""
    ids = {info.id: i for i, info in enumerate(classes.classes)}
    names = [info.name for info in classes.classes]
    counts = Counter(names)
    alone = {name: i for i, name in enumerate(names) if counts[name] == 1}
    numbers = [ids.get(info.id, alone.get(info.id, alone.get(info.name))) for info in found.listed]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers):
        if known != list(range(len(known))):
            message = (
                f"Labels are numbered otherwise than in {classes.source or 'the class list'}; classes were matched by name."
            )
            notices.append(Notice("classes-by-name", found.place, message))
        table = np.array([*known, -1], np.int64)
        values = entries.values
        if values.size and values.max() >= len(known):
            raise InputError(
                f"label {values.max()}, while there are {len(known)} classes", where=found.place, fix="Is the file damaged?"
            )
        return Entries(table[np.where(values < 0, -1, values)], entries.was_text)
    agree = all(number is None or number == i for i, number in enumerate(numbers))
    if not agree or len(numbers) != len(classes.classes):
        unknown = [info.name for info, number in zip(found.listed, numbers, strict=True) if number is None]
        raise InputError(
            f"its {len(numbers)} classes are not those of the class list or in another order: {short_list(map(repr, unknown))}",
            where=found.place,
            fix=f"Give the class list of these labels; see {classes.source or 'classes=…'}.",
        )
    message = (
        f"Classes have other names than in {classes.source or 'the class list'}, such as {found.listed[0].name!r} and "
        f"{names[0]!r}; they were matched by their numbers."
    )
    notices.append(Notice("classes-by-number", found.place, message))
    return entries


def _to_the_left(accepted: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Accepted classes first, then -1, without columns that are empty."""
    order = np.argsort(accepted < 0, axis=1, kind="stable")
    packed: npt.NDArray[Any] = np.take_along_axis(accepted, order, axis=1)
    width = max(1, int((packed >= 0).sum(axis=1).max(initial=1)))
    return np.ascontiguousarray(packed[:, :width], np.int32)
