"""Answers in a CSV or Parquet table: of one model, of all models long (a row each), or of all models wide (a column each)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from resit.data import entries
from resit.data.answer_long import long_source
from resit.data.columns import ROLES, answer_columns, find_column, is_truth, plain
from resit.data.confidence import from_column
from resit.data.entries import Entries
from resit.data.labels import MANIFEST, embedded_labels
from resit.data.models import ModelId
from resit.data.paths import match_names, short_list
from resit.data.sheets import AnswerSheet, Source
from resit.data.tables import Table
from resit.data.testsets import rows_of_set
from resit.errors import InputError, Notice

MODEL, VARIANT, PROVENANCE, CONTENT = "resit.model", "resit.variant", "resit.provenance", "resit.content"
SPACE = "label_space"
NO_MODEL = re.compile(r"width|height|confidence|conf|(?:prob|probability|score|scores|n|num)(?:_.*)?|score\d+")


def one_model(table: Table, name: str) -> AnswerSheet:
    """The sheet of a table that holds the answers of one model.

    Raises
    ------
    InputError
        If no column is known to hold answers.
    """
    id_column = find_column(table.columns, "id")
    columns = answer_columns(table.columns, table.source)
    told = find_column(table.columns, "confidence")
    others = [column for column in table.columns if column != id_column]
    others = [column for column in others if column != told] or others
    embedded = embedded_labels(table) if columns else None
    if not columns and len(others) == 1:
        columns = others
    if not columns:
        raise InputError(
            f"no column of answers among {', '.join(table.columns)}",
            where=table.source,
            fix="Call it pred, or pred_1, pred_2, … best first (and the examples' ids id).",
        )
    confidence, notices = (None, ()) if told is None or told in columns else from_column(table, told)
    metadata, own_labels = table.metadata, None if embedded is None else embedded.entries
    return AnswerSheet(
        ModelId(metadata.get(MODEL, name), metadata.get(VARIANT, "")),
        entries.from_columns(table, columns),
        None if id_column is None else table.texts(id_column),
        table.source,
        {"source": table.source} | table.document(PROVENANCE),
        metadata.get(CONTENT, ""),
        str(table.document(MANIFEST).get("images", "")),
        str(table.document(MANIFEST).get("labels", "")),
        str(table.document(MANIFEST).get(SPACE, "")),
        labels=own_labels,
        notices=notices,
        confidence=confidence,
    )


def all_models(table: Table, name: str, globs: Sequence[str], test_set: str | None, *, labelled: bool) -> Source:
    """The sheets of a table of one or of many models; which it is, the columns say.

    Parameters
    ----------
    table : Table
    name : str
        Name of the model, where the table is of one and does not tell it.
    globs : sequence of str
        Only these models are read; none: all.
    test_set : str or None
        Test set to take, where a column tells several apart.
    labelled : bool
        Whether labels are known from elsewhere; without any, 0 and 1 in a wide table mean wrong and right.

    Raises
    ------
    InputError
        If the columns do not say it.
    UsageError
        If a glob matches no model.
    """
    table = rows_of_set(table, find_column(table.columns, "test_set"), test_set)
    answers = answer_columns(table.columns, table.source)
    model_column = find_column(table.columns, "model")
    right = find_column(table.columns, "correct")
    if model_column is not None and (answers or right):
        return long_source(table, model_column, answers, right, globs)
    if answers:
        return Source(1, iter([one_model(table, name)]), embedded_labels(table))
    return _wide(table, globs, labelled)


def _wide(table: Table, globs: Sequence[str], labelled: bool) -> Source:
    id_column = find_column(table.columns, "id")
    names = [column for column in table.columns if column != id_column and plain(column) not in ROLES["label"]]
    aside = [name for name in names if NO_MODEL.fullmatch(plain(name))]
    names = [name for name in names if name not in aside]
    if not names or "" in names:
        raise InputError(
            f"no column of answers among {', '.join(map(repr, table.columns))}",
            where=table.source,
            fix="Write one column for each model, with its name on top.",
        )
    chosen = match_names(names, globs, table.source) if globs else set(names)
    ids = None if id_column is None else table.texts(id_column)
    labels = embedded_labels(table)
    told = find_column(aside, "confidence") if len(names) == 1 else None
    confidence, seen = (None, ()) if told is None else from_column(table, told)
    aside = [name for name in aside if name != told]
    read = entries.from_columns if labelled or labels is not None else _right_and_wrong
    truth = is_truth(Path(table.source).stem)
    sheets = (
        AnswerSheet(
            ModelId(name),
            (_right_and_wrong if truth or is_truth(name) else read)(table, [name]),
            ids,
            f"{table.source} ({name})",
            {"source": table.source, "column": name},
            is_truth=truth or is_truth(name),
            notices=seen,
            confidence=confidence,
        )
        for name in names
        if name in chosen
    )
    message = f"Columns that are no answers, by their names, were ignored: {short_list(aside)}."
    notices = (Notice("columns-ignored", table.source, message),) if aside else ()
    return Source(len(chosen), sheets, labels, notices)


def _right_and_wrong(table: Table, names: Sequence[str]) -> Entries:
    """Entries of a table without labels: 0 and 1 are wrong and right, and anything else stays what it is."""
    found = entries.from_columns(table, names)
    return Entries(found.values == 1) if found.kind == "ids" and np.isin(found.values, (0, 1)).all() else found
