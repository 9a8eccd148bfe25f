"""Answers of all models in one long table: a row for each model and example, or for each model, example and rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from resit.data import entries
from resit.data.columns import find_column
from resit.data.confidence import Confidence, from_column
from resit.data.entries import Entries
from resit.data.labels import LabelSheet, embedded_labels
from resit.data.models import ModelId
from resit.data.paths import match_names, short_list
from resit.data.sheets import AnswerSheet, Source
from resit.data.tables import Table
from resit.errors import InputError

Codes = npt.NDArray[np.int32]


def long_source(table: Table, model_column: str, answers: Sequence[str], right: str | None, globs: Sequence[str]) -> Source:
    """The sheets of a long table.

    Parameters
    ----------
    table : Table
    model_column : str
        Column of models.
    answers : sequence of str
        Columns of answers, best first; empty where only right and wrong is known.
    right : str or None
        Column of right and wrong, read where there are no answers.
    globs : sequence of str
        Only these models are read; none: all.

    Raises
    ------
    InputError
        If columns hold something else, or an example has two labels.
    UsageError
        If a glob matches no model.
    """
    models, model = _models(table, model_column)
    id_column, rank_column = (find_column(table.columns, role) for role in ("id", "rank"))
    examples, example = _codes(table, id_column) if id_column else ([], None)
    values = entries.from_columns(table, answers) if answers else _truth(table, str(right))
    rank = _ranks(table, rank_column) if rank_column and len(answers) == 1 else None
    told = find_column(table.columns, "confidence")
    confidence, notices = (None, ()) if told is None else from_column(table, told)
    by_model = np.argsort(model, kind="stable")
    bounds = np.searchsorted(model[by_model], np.arange(len(models) + 1))
    chosen = match_names([known.model for known in models], globs, table.source) if globs else {known.model for known in models}
    ids = np.array(examples, str)

    def sheets() -> Iterator[AnswerSheet]:
        for code, known in enumerate(models):
            if known.model not in chosen:
                continue
            rows, where = by_model[bounds[code] : bounds[code + 1]], f"{table.source} ({known})"
            own, own_example = values.values[rows], None if example is None else example[rows]
            sure = None if confidence is None else confidence[rows]
            if rank is not None and own_example is not None:
                sure = None if sure is None else _of_first(sure, own_example, rank[rows])
                own, own_example = _by_rank(own[:, 0], own_example, rank[rows], where)
            own_ids = None if own_example is None else ids[own_example]
            made = Entries(own, values.was_text)
            yield AnswerSheet(known, made, own_ids, where, {"source": table.source}, is_truth=not answers, confidence=sure)

    return Source(sum(known.model in chosen for known in models), sheets(), _labels(table, example), notices)


def _models(table: Table, column: str) -> tuple[list[ModelId], Codes]:
    names, name = _codes(table, column)
    variant_column = find_column(table.columns, "variant")
    if variant_column is None:
        return [ModelId(known) for known in names], name
    variants, variant = _codes(table, variant_column)
    pairs, code = np.unique(name.astype(np.int64) * len(variants) + variant, return_inverse=True)
    found = [ModelId(names[pair // len(variants)], variants[pair % len(variants)]) for pair in pairs.tolist()]
    return found, code.astype(np.int32)


def _codes(table: Table, column: str) -> tuple[list[str], Codes]:
    """Distinct texts of a column in order of appearance, and which one each row has."""
    names, code = table.distinct(column)
    if "" in names:
        raise InputError(f"rows without {column or 'a name'}", where=table.source, fix="Fill the column in.")
    return names, code.astype(np.int32)


def _truth(table: Table, column: str) -> Entries:
    found = entries.from_columns(table, [column])
    if found.kind == "correctness":
        return found
    if found.kind != "ids" or not np.isin(found.values, (0, 1)).all():
        raise InputError(f"column {column!r} holds other values than 0 and 1", where=table.source, fix="Write 1 for right.")
    return Entries(found.values == 1)


def _ranks(table: Table, column: str) -> npt.NDArray[np.int64]:
    ranks: npt.NDArray[np.int64] = entries.from_columns(table, [column]).values[:, 0]
    if ranks.dtype.kind != "i" or ranks.min() < 0:
        raise InputError(
            f"column {column!r} holds other values than ranks 1, 2, …", where=table.source, fix="Write 1 for the best."
        )
    return np.asarray(ranks - ranks.min())


def _by_rank(
    values: npt.NDArray[Any], example: Codes, rank: npt.NDArray[np.int64], where: str
) -> tuple[npt.NDArray[Any], Codes]:
    """Put one row an answer into one row an example, best first; rows that say the same twice are one."""
    distinct, row = np.unique(example, return_inverse=True)
    blank = "" if values.dtype.kind == "U" else -1
    answers = np.full((len(distinct), int(rank.max()) + 1), blank, values.dtype)
    answers[row, rank] = values
    if np.any(answers[row, rank] != values):
        raise InputError("two answers of the same rank for one example", where=where, fix="Write each rank once an example.")
    return answers, distinct


def _of_first(confidence: Confidence, example: Codes, rank: npt.NDArray[np.int64]) -> Confidence:
    """Confidences of the best answers, one an example in the order of :func:`_by_rank`."""
    distinct, row = np.unique(example, return_inverse=True)
    found = np.full(len(distinct), np.nan, np.float32)
    found[row[rank == 0]] = confidence[rank == 0]
    return found


def _labels(table: Table, example: Codes | None) -> LabelSheet | None:
    sheet = embedded_labels(table)
    if sheet is None or example is None:
        return None
    _, first = np.unique(example, return_index=True)
    differs = np.any(sheet.entries.values[first][example] != sheet.entries.values, axis=1)
    if differs.any():
        where, ids = table.source, [] if sheet.ids is None else sheet.ids[differs].tolist()
        raise InputError(
            f"examples with two different labels: {short_list(ids)}", where=where, fix="Give each example one label."
        )
    return sheet.take(first)
