"""What a table must be before it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from resit.errors import InputError, UsageError

TIME = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|\+00:00)$"


def checked(
    table: pa.Table,
    schema: Mapping[str, str],
    where: str,
    *,
    filled: Sequence[str],
    choices: Mapping[str, Sequence[str]] | None = None,
) -> pa.Table:
    """A table in the columns and types of a schema, times with Z at their end, and no nulls: empty text in their place.

    Parameters
    ----------
    table : pyarrow.Table
    schema : mapping of str to str
        Arrow types by column, of `resit.store.schemas`.
    where : str
        What it is, for messages.
    filled : sequence of str
        Text columns that may not be empty.
    choices : mapping of str to sequence of str, optional
        The only words of some columns.

    Raises
    ------
    InputError
        If columns are missing or unknown, or values do not fit.
    UsageError
        If it is no Arrow table.
    """
    if not isinstance(table, pa.Table):
        raise UsageError(f"{type(table).__name__} in place of a table", where=where, fix="Give a pyarrow.Table.")
    given, wanted = set(table.column_names), set(schema)
    if given != wanted or len(table.column_names) != len(wanted):
        odd = ", ".join(sorted(given ^ wanted)) or "one twice"
        raise InputError(f"missing or unknown columns: {odd}", where=where, fix=f"The columns are {', '.join(schema)}.")
    columns = [_fit(table.column(name), name, kind, f"{where}, column {name}") for name, kind in schema.items()]
    done = pa.table(columns, names=list(schema))
    for name in filled:
        _refuse(pc.equal(done.column(name), ""), f"{where}, column {name}", "empty", "Give each row its own.")
    for name, words in (choices or {}).items():
        _refuse_other_words(done.column(name), words, f"{where}, column {name}")
    return done


def checked_time(time: str, where: str) -> str:
    """A time with Z at its end.

    Raises
    ------
    InputError
        If it is not ISO 8601 in UTC.
    """
    return str(_times(pa.chunked_array([pa.array([time], pa.string())]), where)[0].as_py())


def check_word(word: str | None, words: Sequence[str], where: str) -> None:
    """Refuse what is none of some words; None stands for all of them.

    Raises
    ------
    UsageError
        If it is another.
    """
    if word is not None and word not in words:
        raise UsageError(f"no {where} {word!r}", where=where, fix=f"It is one of {', '.join(words)}.")


def _fit(column: pa.ChunkedArray, name: str, kind: str, where: str) -> pa.ChunkedArray:
    try:
        fitted = column.cast(pa.type_for_alias(kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        fix = f"It must be {kind}."
        raise InputError(f"values of another type ({str(error).splitlines()[0]})", where=where, fix=fix) from error
    if kind == "double":
        _refuse(pc.invert(pc.is_finite(fitted)), where, "not a number", "Leave such rows out.")
    if kind != "string":
        _refuse(pc.is_null(fitted), where, "missing", "Fill it in.")
        return fitted
    if fitted.null_count:
        fitted = pc.fill_null(fitted, "")
    _refuse(pc.match_substring(fitted, "\0"), where, "text with a NUL character", "PostgreSQL cannot store it: leave it out.")
    return _times(fitted, where) if name == "time" else fitted


def _times(column: pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    fix = "Write it like 2026-01-31T12:00:00Z."
    _refuse(pc.invert(pc.match_substring_regex(column, TIME)), where, "not a time in UTC", fix, column)
    with_offset = pc.ends_with(column, "+00:00")
    if pc.any(with_offset).as_py():
        return pc.if_else(with_offset, pc.replace_substring(column, "+00:00", "Z"), column)
    return column


def _refuse_other_words(column: pa.ChunkedArray, words: Sequence[str], where: str) -> None:
    if other := sorted(set(pc.unique(column).to_pylist()) - set(words)):
        raise InputError(f"unknown word {other[0]!r}", where=where, fix=f"The words are {', '.join(words)}.")


def _refuse(bad: pa.ChunkedArray, where: str, what: str, fix: str, shown: pa.ChunkedArray | None = None) -> None:
    if not (count := pc.sum(bad).as_py()):
        return
    first = int(np.flatnonzero(bad.to_numpy())[0])
    example = "" if shown is None else f" ({shown[first].as_py()!r})"
    rows = "1 row" if count == 1 else f"{count:,} rows"
    raise InputError(f"{what} in {rows}, first in row {first + 1}{example}", where=where, fix=fix)
