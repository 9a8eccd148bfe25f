"""Reads the model table: family, kind, date, training data and any other column of each model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from resit.data.columns import find_column, plain
from resit.data.models import ModelId, ModelTable
from resit.data.paths import short_list
from resit.data.published import published, published_names
from resit.data.tables import Table, read_table
from resit.errors import InputError

DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
SAME = {"year": "date", "release_date": "date", "released": "date", "model_family": "family", "type": "kind"}


def load_model_table(path: str | Path) -> ModelTable:
    """Read what is known of each model.

    Parameters
    ----------
    path : path or str
        CSV or Parquet with a column model, optionally variant, and any others, such as family, kind, date (ISO or year) and
        training_data; or the name of published figures, such as ``imagenetv2``.

    Returns
    -------
    ModelTable

    Raises
    ------
    InputError
        If there is no such file, no column of models, a model twice, or a date that is none.
    """
    if str(path) in published_names() and not Path(path).exists():
        return published(str(path)).table
    return model_table_of(read_table(Path(path)))


def model_table_of(table: Table) -> ModelTable:
    """The model table that the columns of a file give.

    Raises
    ------
    InputError
        If there is no column of models, a model twice, or a date that is none.
    """
    model_column = find_column(table.columns, "model")
    if model_column is None:
        raise InputError(f"no column of models among {', '.join(table.columns)}", where=table.source, fix="Call it model.")
    variant_column = find_column(table.columns, "variant")
    others = [column for column in table.columns if column not in (model_column, variant_column)]
    names = table.texts(model_column).tolist()
    variants = table.texts(variant_column).tolist() if variant_column else [""] * len(names)
    columns = {name: table.texts(column).tolist() for name, column in _names(others, table.source).items()}
    rows: dict[ModelId, dict[str, str]] = {}
    twice = []
    for i, model in enumerate(map(ModelId, names, variants)):
        row = {column: values[i] for column, values in columns.items() if values[i]}
        if model in rows and rows[model] != row:
            twice.append(model)
        rows[model] = row
    if twice:
        raise InputError(f"models there twice: {short_list(twice)}", where=table.source, fix="Keep one row for each model.")
    _check_dates(rows, table.source)
    return ModelTable(rows, table.source)


def _names(columns: Sequence[str], where: str) -> dict[str, str]:
    """Column of each name; a usual name such as ``year`` stands for ``date`` only where there is no such column."""
    found = {plain(column): column for column in columns}
    names = [SAME.get(name, name) if SAME.get(name) not in found else name for name in found]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice or len(found) < len(columns):
        raise InputError(f"two columns mean {', '.join(twice) or 'the same'}", where=where, fix="Keep one of them.")
    return dict(zip(names, found.values(), strict=True))


def _check_dates(rows: dict[ModelId, dict[str, str]], where: str) -> None:
    wrong = [f"{model}: {row['date']}" for model, row in rows.items() if "date" in row and not DATE.fullmatch(row["date"])]
    if wrong:
        raise InputError(f"dates that are none: {short_list(wrong)}", where=where, fix="Write 2019, 2019-06 or 2019-06-11.")
