"""Joins the sheets of all models to the labels: one array of answers in the benchmark's order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data.benchmark import Benchmark, ClassInfo
from resit.data.classes import ClassMap, by_labels
from resit.data.columns import ROLES, is_truth
from resit.data.confidence import Confidence, told_once
from resit.data.entries import Entries
from resit.data.joins import Joiner, collapse_labels, ids_from_answers
from resit.data.labels import LabelSheet, no_labels
from resit.data.models import ModelId
from resit.data.paths import counted, short_list
from resit.data.predictions import CORRECTNESS, Predictions
from resit.data.sheets import AnswerSheet, Source
from resit.errors import InputError, Notice

INT16 = np.iinfo(np.int16).max


class AnswerBlock:
    """Answers of all models, filled a model at a time; wider or deeper only when a model needs it.

    Parameters
    ----------
    models, examples, depth : int
        Shape to start with.
    """

    def __init__(self, models: int, examples: int, depth: int) -> None:
        self.answers: npt.NDArray[Any] = np.full((models, examples, depth), -1, np.int16)
        self.depth = np.zeros(models, int)
        self.confidence: Confidence | None = None

    def put(self, row: int, indices: npt.NDArray[np.int64], confidence: Confidence | None = None) -> None:
        """Set the answers of one model, shape (examples, k), and how sure it is of the first ones, shape (examples,)."""
        models, examples, width = self.answers.shape
        depth = indices.shape[1]
        dtype: Any = np.int32 if indices.size and indices.max() > INT16 else self.answers.dtype
        if depth > width or dtype != self.answers.dtype:
            grown = np.full((models, examples, max(depth, width)), -1, dtype)
            grown[:row, :, :width] = self.answers[:row]
            self.answers = grown
        self.answers[row, :, :depth] = indices
        self.depth[row] = depth
        if confidence is None:
            return
        if self.confidence is None:
            self.confidence = np.full((models, examples), np.nan, np.float32)
        self.confidence[row] = np.where(indices[:, 0] < 0, np.nan, confidence)


def assemble(
    source: Source, labels: LabelSheet | None, classes: ClassMap | None, name: str, where: Path, *, relabelled: bool = False
) -> Predictions:
    """Read all sheets and join them to the labels.

    Parameters
    ----------
    source : Source
        The sheets.
    labels : LabelSheet or None
        The labels; only right and wrong can do without.
    classes : ClassMap or None
        The class list, where there is one.
    name : str
        Name of the test set.
    where : Path
        Folder or file of the answers, for messages.
    relabelled : bool
        Whether the labels were given, so that they need not agree with labels in the files of answers.

    Raises
    ------
    InputError
        If sheets and labels do not fit together.
    """
    first = next(source.sheets)
    notices = list(source.notices)
    if first.entries.kind == "correctness":
        labels, classes = _right_is_one(first, labels), ClassMap()
    if labels is None:
        raise no_labels(where)
    labels = _with_ids_of(first, labels, notices)
    labels, listing = collapse_labels(labels, notices)
    if classes is None:
        classes, seen = _stored_classes(labels) or by_labels(labels.entries, labels.source)
        notices += seen
    elif classes.source:
        notices += classes.doubts(labels.entries)
    accepted = accepted_labels(labels, classes, notices)
    joiner = Joiner(labels.ids, labels.n, listing, labels.source)
    filler = _Filler(joiner, classes, accepted, notices, first.entries.kind, relabelled=relabelled)
    block = AnswerBlock(source.count, labels.n, first.entries.values.shape[1])
    sheets = list(filler.fill(block, chain([first], source.sheets)))
    n_seen = int(max(accepted.max(initial=-1), block.answers.max(initial=-1))) + 1
    labels = replace(labels, ids=joiner.ids)
    images = str(labels.manifest.get("images", "")) or first.images_fingerprint
    benchmark = replace(_benchmark(labels, accepted, classes, name, filler, n_seen), images_fingerprint=images)
    _check_fingerprints(sheets, benchmark, labels)
    _check_models(sheets, where)
    _check_spaces(sheets, labels)
    origin = labels.manifest.get("origin")
    return Predictions(
        benchmark=replace(benchmark, origin=(origin[0], origin[1]) if origin else None),
        models=tuple(sheet.model for sheet in sheets),
        answers=block.answers,
        depth=block.depth,
        provenance={sheet.model: sheet.provenance for sheet in sheets},
        notices=tuple(dict.fromkeys(told_once([*notices, *joiner.notices()], where))),
        confidence=block.confidence,
    )


@dataclass
class _Filler:
    """Puts sheets into a block of answers, in the order and class indices of the labels."""

    joiner: Joiner
    classes: ClassMap
    accepted: npt.NDArray[np.int32]
    notices: list[Notice]
    kind: str
    relabelled: bool
    n_scored: int = 0

    def fill(self, block: AnswerBlock, sheets: Iterator[AnswerSheet]) -> Iterator[AnswerSheet]:
        """Put each sheet into the block; what comes out no longer holds its answers."""
        for row, sheet in enumerate(sheets):
            self._check_scored(sheet)
            indices = self._indices(sheet)
            self.notices += sheet.notices
            invalid = int(np.count_nonzero(indices[:, 0] < 0))
            if invalid and not any(notice.code == "invalid-scores" for notice in sheet.notices):
                message = f"{invalid} of {len(indices)} examples have no valid answer; they are counted wrong."
                self.notices.append(Notice("invalid-answers", sheet.source, message))
            sure = None if sheet.confidence is None else self.joiner.follow(sheet.confidence, sheet.ids)
            block.put(row, indices, sure)
            yield replace(sheet, entries=Entries(np.empty((0, 1), bool)), ids=None, labels=None, confidence=None)

    def _indices(self, sheet: AnswerSheet) -> npt.NDArray[np.int64]:
        """Class indices of the answers in the benchmark's order."""
        if "correctness" in (self.kind, sheet.entries.kind) and sheet.entries.kind != self.kind:
            raise InputError(
                "right and wrong among files of classes, or the other way round",
                where=sheet.source,
                fix="Keep them in two folders.",
            )
        if self.kind == "correctness":
            return self.joiner.join(sheet.entries.values.astype(np.int64), sheet.ids, sheet.source)
        known = len(self.classes.classes)
        indices = self.classes.indices(sheet.entries, sheet.source)
        if self.classes.by_name and len(self.classes.classes) > known:
            new = short_list(info.name for info in self.classes.classes[known:])
            self.notices.append(
                Notice("classes-without-label", sheet.source, f"Answers name classes that no label has: {new}.")
            )
        if sheet.labels is None or self.relabelled:
            return self.joiner.join(indices, sheet.ids, sheet.source)
        labels = self.classes.indices(sheet.labels, sheet.source)
        joined = self.joiner.join(np.concatenate([indices, labels], axis=1), sheet.ids, sheet.source)
        self._check_labels(joined[:, indices.shape[1] :], sheet.source)
        return joined[:, : indices.shape[1]]

    def _check_labels(self, labels: npt.NDArray[np.int64], where: str) -> None:
        """Refuse answers that were written beside other labels: they are in another order, or on another set."""
        width = max(labels.shape[1], self.accepted.shape[1])
        own, ours = (
            np.sort(np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values=-1), axis=1)
            for each in (labels, self.accepted)
        )
        wrong = np.flatnonzero(np.any(own != ours, axis=1))
        if wrong.size:
            raise InputError(
                f"its labels differ from the others' in {wrong.size} of {len(ours)} examples, the first is example {wrong[0]}",
                where=where,
                fix="Are its rows in another order? Add the examples' ids, or give the labels that hold: labels=… (--labels).",
            )

    def _check_scored(self, sheet: AnswerSheet) -> None:
        """Refuse scores over other classes than those of the class list, of the labels or of the models before."""
        if not sheet.n_scored:
            return
        listed = len(self.classes.classes) if self.classes.source else 0
        expected, of = (listed, self.classes.source) if listed else (self.n_scored, "the files before")
        if not expected and self.accepted.max(initial=-1) >= sheet.n_scored:
            expected, of = int(self.accepted.max()) + 1, "the labels"
        if expected and sheet.n_scored != expected:
            raise InputError(
                f"scores over {sheet.n_scored} classes, while there are {expected} in {of}",
                where=sheet.source,
                fix="Accuracies over different sets of classes are not comparable: score all models over the same classes.",
            )
        self.n_scored = sheet.n_scored


def _right_is_one(first: AnswerSheet, labels: LabelSheet | None) -> LabelSheet:
    """Make labels of a matrix of right and wrong: right (1) is accepted for every example."""
    if labels is None:
        return LabelSheet(Entries(np.ones((len(first.entries.values), 1), np.int64)), first.ids, source=first.source)
    values = labels.entries.values
    known = np.unique(values[values != ""] if labels.entries.kind == "names" else values[values >= 0])
    if len(known) <= 2 and not first.is_truth and not is_truth(first.model.model):
        _refuse_truths(first)
    return replace(labels, entries=Entries(np.ones((labels.n, 1), np.int64)))


def _refuse_truths(sheet: AnswerSheet) -> None:
    raise InputError(
        "true or false may mean the class or whether it was right, as the labels have two classes",
        where=sheet.source,
        fix="Store class ids 0 and 1 in a file not called correct; if they mean right and wrong, call the file or column "
        "correct, or leave the labels out.",
    )


def _with_ids_of(first: AnswerSheet, labels: LabelSheet, notices: list[Notice]) -> LabelSheet:
    """Labels without ids take those of the first file of answers, in its order."""
    if labels.ids is not None or first.ids is None or len(first.ids) != labels.n:
        return labels
    if labels.source != first.source:
        notices.append(ids_from_answers(labels.source, first.source))
    return replace(labels, ids=first.ids)


def _stored_classes(labels: LabelSheet) -> tuple[ClassMap, list[Notice]] | None:
    stored = labels.manifest.get("classes")
    return (ClassMap([ClassInfo(*item) for item in stored], source=labels.source), []) if stored else None


def accepted_labels(labels: LabelSheet, classes: ClassMap, notices: list[Notice]) -> npt.NDArray[np.int32]:
    """Accepted class indices of each example, each once; -1 for none. Shape (n, m).

    Raises
    ------
    InputError
        If an example has no label, or the labels are of no class or one-hot.
    """
    if labels.entries.kind == "correctness":
        raise InputError("labels that are true or false", where=labels.source, fix="Labels are classes: ids or names.")
    accepted = _once(classes.indices(labels.entries, labels.source), labels, notices)
    missing = np.flatnonzero((accepted < 0).all(axis=1))
    if missing.size and accepted.shape[1] == 1:
        raise InputError(
            f"{missing.size} negative or missing labels, the first in row {missing[0]}",
            where=labels.source,
            fix="Class ids start at 0. Leave examples without a label out, of the answers too.",
        )
    if missing.size:
        message = f"{missing.size} examples accept no class at all; every model is counted wrong on them."
        notices.append(Notice("no-accepted-class", labels.source, message))
    wnids = labels.groups.get("wnid")
    if wnids is not None and classes.source:
        ids = np.array([info.id for info in classes.classes], str)
        wrong = np.flatnonzero(ids[accepted[:, 0]] != wnids)
        if wrong.size:
            raise InputError(
                f"label and wnid disagree in {wrong.size} rows, the first is row {wrong[0]}",
                where=labels.source,
                fix=f"See the class list {classes.source}: is it the one that the labels mean?",
            )
    return accepted.astype(np.int32)


def _once(accepted: npt.NDArray[np.int64], labels: LabelSheet, notices: list[Notice]) -> npt.NDArray[np.int64]:
    """Accepted classes, each once an example; one-hot rows are refused, as they would accept classes 0 and 1 everywhere."""
    width = accepted.shape[1]
    if width == 1:
        return accepted
    if labels.entries.kind == "ids" and np.isin(accepted, (0, 1)).all() and np.all(accepted.sum(axis=1) == 1):
        raise InputError(
            f"labels of shape {accepted.shape} look one-hot",
            where=labels.source,
            fix="Give class ids, with NumPy labels.argmax(1).",
        )
    again = np.zeros(accepted.shape, bool)
    for column in range(1, width):
        mine = accepted[:, column]
        again[:, column] = np.any(accepted[:, :column] == mine[:, None], axis=1) & (mine >= 0)
    if not again.any():
        return accepted
    found = counted(int(again.any(axis=1).sum()), "example accepts", "examples accept")
    message = f"{found} one class more than once; it was counted once."
    notices.append(Notice("repeated-labels", labels.source, message))
    return np.where(again, -1, accepted)


def _benchmark(
    labels: LabelSheet, accepted: npt.NDArray[np.int32], classes: ClassMap, name: str, filler: _Filler, n_seen: int
) -> Benchmark:
    known = CORRECTNESS if filler.kind == "correctness" else labels.manifest.get("label_space")
    return Benchmark(
        name=name,
        labels=accepted,
        ids=labels.ids,
        classes=tuple(classes.classes),
        label_space=known or classes.label_space(filler.n_scored, n_seen),
        version=labels.manifest.get("version", ""),
        groups={key: column for key, column in labels.groups.items() if key not in ROLES["label"]},
    )


def _check_fingerprints(sheets: list[AnswerSheet], benchmark: Benchmark, labels: LabelSheet) -> None:
    told_apart = benchmark.ids is not None or benchmark.images_fingerprint
    stored = "" if told_apart else str(labels.manifest.get("labels", ""))
    for sheet in sheets:
        if stored and sheet.labels_fingerprint and sheet.labels_fingerprint != stored:
            raise InputError(
                f"answers on other labels ({sheet.labels_fingerprint}) than those beside them ({stored})",
                where=sheet.source,
                fix="Keep the answers of each benchmark in a folder of its own, with its labels.",
            )
        if sheet.fingerprint and sheet.fingerprint != benchmark.content_fingerprint:
            raise InputError(
                f"answers on other examples ({sheet.fingerprint}) than the labels ({benchmark.content_fingerprint})",
                where=sheet.source,
                fix="Keep the answers of each benchmark in a folder of its own, with its labels.",
            )


def _check_models(sheets: list[AnswerSheet], where: Path) -> None:
    sources: dict[ModelId, str] = {}
    for sheet in sheets:
        if sheet.model in sources:
            raise InputError(
                f"model {sheet.model} is there twice: {sources[sheet.model]} and {sheet.source}", where=where, fix="Remove one."
            )
        sources[sheet.model] = sheet.source


def _check_spaces(sheets: list[AnswerSheet], labels: LabelSheet) -> None:
    """Refuse models whose answers were chosen from different sets of classes, as far as the files tell it."""
    spaces: dict[str, str] = {}
    stored = labels.manifest.get("label_space")
    for space, source in [(stored, labels.source), *((sheet.label_space, sheet.source) for sheet in sheets)]:
        if space:
            spaces.setdefault(space, source)
    if len(spaces) > 1:
        told = ", ".join(f"{space} ({source})" for space, source in spaces.items())
        raise InputError(
            f"answers out of different sets of classes: {told}",
            where=sheets[0].source,
            fix="They are not comparable; keep each in a folder of its own.",
        )
