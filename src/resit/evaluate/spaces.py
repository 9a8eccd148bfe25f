"""Which classes a model's answers to a benchmark are taken from: told, recorded, and the same for every model of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.class_lists import part_of
from resit.data.classes import ClassMap
from resit.data.paths import short_list
from resit.errors import InputError, UsageError
from resit.evaluate.settings import LabelSpaceChoice
from resit.models.protocol import POSITIONS, LabelSpace

Columns = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Scoring:
    """The classes that answers are taken from.

    Parameters
    ----------
    name : str
        What is recorded as the label space.
    classes : ndarray of int32
        Class indices of the benchmark.
    """

    name: str
    classes: npt.NDArray[np.int32]


def scoring_of(benchmark: Benchmark, choice: LabelSpaceChoice) -> Scoring:
    """The classes that every model's answers to a benchmark are taken from.

    Parameters
    ----------
    benchmark : Benchmark
    choice : {'auto', 'full', 'subset'}
        ``full``: all classes of the benchmark's class list. ``subset``: those of the test set's own convention, or, where it
        has none, those that have examples. ``auto``: the convention where there is one, else all.

    Raises
    ------
    UsageError
        If a class list is needed and there is none.
    """
    everything = np.arange(benchmark.n_classes, dtype=np.int32)
    whole = ClassMap(list(benchmark.classes)).label_space(0, benchmark.n_classes)
    if choice == "full" or (choice == "auto" and benchmark.subset is None):
        named = benchmark.subset is None and benchmark.label_space != "unnamed"
        return Scoring(benchmark.label_space if named else whole, everything)
    if benchmark.subset is not None:
        chosen = np.sort(benchmark.subset).astype(np.int32)
        named = benchmark.label_space not in ("unnamed", whole)
        return Scoring(benchmark.label_space if named else _part(benchmark, chosen), chosen)
    if not benchmark.classes:
        raise UsageError(
            "a subset of classes without a class list", where=benchmark.name, fix="Give the class list: --classes imagenet-1k."
        )
    present = np.unique(benchmark.labels[benchmark.labels >= 0]).astype(np.int32)
    if len(present) == len(everything):
        return Scoring(benchmark.label_space, everything)
    return Scoring(_part(benchmark, present), present)


def _part(benchmark: Benchmark, classes: npt.NDArray[np.int32]) -> str:
    return part_of(benchmark.label_space, [benchmark.class_id(int(index)) for index in classes])


def scored_as(benchmark: Benchmark, scoring: Scoring) -> Benchmark:
    """The benchmark with the label space that its answers are recorded in."""
    subset = None if len(scoring.classes) == benchmark.n_classes else scoring.classes
    return replace(benchmark, label_space=scoring.name, subset=subset)


def columns_of(space: LabelSpace, benchmark: Benchmark, scoring: Scoring, model: object) -> Columns:
    """Column of the model's scores for each class that answers are taken from.

    Classes are matched by id; where no id is known to the model, by names that are unique on both sides. Positions count only
    where the model says that its scores have no other identity, and as many as the benchmark has classes.

    Raises
    ------
    InputError
        If the model does not score all of these classes.
    """
    where = f"{model} on {benchmark.name}"
    if space.name == POSITIONS:
        return _by_position(space, benchmark, scoring, where)
    asked = [_class(benchmark, int(index)) for index in scoring.classes]
    ids = {info.id: column for column, info in enumerate(space.classes)}
    if len(ids) < len(space.classes):
        twice = [key for key, count in Counter(info.id for info in space.classes).items() if count > 1]
        what = f"the model has {short_list(twice, 3)} twice among its classes"
        raise InputError(what, where=where, fix="Each column of its scores needs an id of its own.")
    found = [ids.get(info.id) for info in asked]
    if all(column is None for column in found):
        names, wanted = _unique_names(space.classes), _unique_names([_class(benchmark, i) for i in range(benchmark.n_classes)])
        found = [names.get(info.name) if info.name in wanted else None for info in asked]
    missing = [info.id for info, column in zip(asked, found, strict=True) if column is None]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(asked)} classes are none of the model's {len(space.classes)} ({space.name}), "
            f"such as {short_list(missing, 3)}",
            where=where,
            fix=_advice(missing, len(asked)),
        )
    return np.array(found, np.intp)


def _by_position(space: LabelSpace, benchmark: Benchmark, scoring: Scoring, where: str) -> Columns:
    if len(space.classes) != benchmark.n_classes:
        raise InputError(
            f"{len(space.classes)} scores for {benchmark.n_classes} classes",
            where=where,
            fix="Tell which classes the scores are of (classes=…), in the order of the scores.",
        )
    return scoring.classes.astype(np.intp)


def _advice(missing: Sequence[str], asked: int) -> str:
    if len(missing) < asked:
        return "Ask over fewer classes (--label-space subset), or leave this model out."
    return (
        "Name the classes of the folder or file by a class list (--classes imagenet-1k or a file with label, wnid, name), "
        "or tell the model's classes."
    )


def _class(benchmark: Benchmark, index: int) -> ClassInfo:
    return benchmark.classes[index] if benchmark.classes else ClassInfo(str(index), str(index))


def _unique_names(classes: Sequence[ClassInfo]) -> dict[str, int]:
    count = Counter(info.name for info in classes)
    return {info.name: column for column, info in enumerate(classes) if count[info.name] == 1}
