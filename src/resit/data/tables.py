"""CSV, JSON Lines and Parquet files as tables whose text stays text: "007" and "NA" are not numbers and not missing."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resit.data.guard import reading, refuse_unfit
from resit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

PLAIN_SUFFIXES = (".csv", ".tsv")
PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = (*PLAIN_SUFFIXES, *PARQUET_SUFFIXES)
LINES_SUFFIXES = (".jsonl", ".ndjson")
LONGEST_HEAD = 2**20
LONGEST_LINE = 2**24
UNNAMED = ("", "unnamed: 0")
MOST_CELLS = 2**31
MOST_CHARACTERS = 2**29
Texts = npt.NDArray[np.str_]


@dataclass(frozen=True)
class Table:
    """Columns of one file.

    Parameters
    ----------
    source : str
        The file.
    data : pyarrow.Table
        Its columns; of a CSV file all are text.
    metadata : mapping of str to str
        Metadata of a Parquet file's schema.
    """

    source: str
    data: pa.Table
    metadata: Mapping[str, str]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the file's order."""
        return tuple(self.data.column_names)

    def __len__(self) -> int:
        return int(self.data.num_rows)

    def column(self, name: str) -> pa.ChunkedArray:
        """One column, with dictionary encoding and large or binary strings made plain strings.

        Raises
        ------
        InputError
            If there is no such column, or bytes that are not UTF-8.
        """
        import pyarrow as pa

        if name not in self.columns:
            raise InputError(
                f"no column {name!r}; the columns are {', '.join(map(repr, self.columns))}",
                where=self.source,
                fix="Name one of these.",
            )
        column = self.data.column(name)
        with reading(self.source):
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if _is_text(column.type):
                column = column.cast(pa.string())
        return column

    @property
    def is_plain_text(self) -> bool:
        """Whether the file has no types, so that a number written as text means nothing."""
        return self.source.lower().endswith(PLAIN_SUFFIXES)

    def distinct(self, name: str) -> tuple[list[str], npt.NDArray[np.intp]]:
        """Distinct texts of a column, and which one each row has; without surrounding blanks, missing (and NaN) is ``""``."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.column(name)
        with reading(self.source):
            if pa.types.is_floating(column.type):
                column = pc.if_else(pc.is_nan(column), None, column)
            texts = pc.utf8_trim_whitespace(pc.fill_null(column.cast(pa.string()), ""))
            encoded = texts.combine_chunks().dictionary_encode()
            return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.intp)

    def texts(self, name: str) -> Texts:
        """One column as text, without surrounding blanks; what is missing is ``""``. Shape (rows,).

        Raises
        ------
        InputError
            If one text is so long that all rows would not fit in memory.
        """
        distinct, inverse = self.distinct(name)
        refuse_long_texts(max(map(len, distinct), default=0), len(self), self.source)
        return np.asarray(distinct, dtype=str)[inverse]

    def document(self, key: str) -> dict[str, Any]:
        """JSON object in the file's metadata; empty where there is none.

        Raises
        ------
        InputError
            If it is not valid.
        """
        with reading(self.source):
            return dict(json.loads(self.metadata.get(key, "{}")))

    def where(self, name: str, value: str) -> Table:
        """Keep the rows whose column has this text."""
        return Table(self.source, self.data.filter(self.texts(name) == value), self.metadata)


def refuse_long_texts(longest: int, rows: int, where: object) -> None:
    """Refuse texts of which one is so long that an array of all rows would not fit in memory.

    Raises
    ------
    InputError
        If it is.
    """
    if longest * rows > MOST_CHARACTERS:
        raise InputError(
            f"a text of {longest:,} characters among {rows:,}",
            where=where,
            fix="Is a closing quote missing? Else leave it out.",
        )


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    tests = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_string_view,
    )
    return any(test(kind) for test in tests)


def read_table(path: Path, columns: Sequence[str] | None = None) -> Table:
    """Read a CSV (comma, semicolon or tab; a byte-order mark is fine), Parquet or JSON Lines (an object a row) file.

    Parameters
    ----------
    path : Path
    columns : sequence of str, optional
        Columns to read of a Parquet file.

    Raises
    ------
    InputError
        If it cannot be read, has no rows, or has a column name twice.
    """
    refuse_unfit(path)
    suffix = path.suffix.lower()
    if suffix in PARQUET_SUFFIXES:
        table = _read_parquet(path, columns)
    else:
        table = _read_lines(path) if suffix in LINES_SUFFIXES else _read_csv(path)
    twice = [name for name, count in Counter(table.columns).items() if count > 1]
    if twice:
        raise InputError(
            f"column {', '.join(map(repr, twice))} is there more than once",
            where=path,
            fix="The same value written twice cannot be told apart: remove or rename one.",
        )
    if len(table) == 0:
        raise InputError("a table without rows: only the columns' names", where=path, fix="Write the rows, or remove the file.")
    return table


def parquet_schema(path: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """Names of the columns of a Parquet file and its metadata, without its content.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    refuse_unfit(path)
    with reading(path):
        import pyarrow.parquet as pq

        schema = pq.read_schema(path)
    return tuple(schema.names), _metadata(schema)


def _metadata(schema: pa.Schema) -> dict[str, str]:
    return {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in (schema.metadata or {}).items()}


def _read_parquet(path: Path, columns: Sequence[str] | None) -> Table:
    with reading(path):
        import pyarrow.parquet as pq

        found = pq.read_metadata(path)
        if found.num_rows * found.num_columns > MOST_CELLS:
            what = f"{found.num_rows:,} rows of {found.num_columns:,} columns"
            raise InputError(what, where=path, fix="Split it into one file a model.")
        data = pq.read_table(path, columns=columns, partitioning=None)
    return Table(str(path), data, _metadata(data.schema))


def _read_csv(path: Path) -> Table:
    with reading(path):
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.readline(LONGEST_HEAD)
            delimiter = next((d for d in (",", "\t", ";") if d in head), ",")
            file.seek(0)
            names = [name.strip() for name in next(csv.reader(file, delimiter=delimiter), [])]
        if not names:
            raise InputError("a table without a first row of column names", where=path, fix="Write the columns' names on top.")
        data = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(column_names=[str(i) for i in range(len(names))], skip_rows_after_names=1),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types={str(i): pa.string() for i in range(len(names))}, strings_can_be_null=False
            ),
        )
    return Table(str(path), _without_index(data.rename_columns(names)), {})


def _read_lines(path: Path) -> Table:
    """Read objects, one a line; texts stay texts, also those that look like dates."""
    with reading(path):
        import pyarrow as pa
        from pyarrow import json as arrow_json

        options = arrow_json.ReadOptions(block_size=LONGEST_LINE)
        data = arrow_json.read_json(path, read_options=options)
        dates = [(column.name, pa.string()) for column in data.schema if pa.types.is_timestamp(column.type)]
        if dates:
            as_text = arrow_json.ParseOptions(explicit_schema=pa.schema(dates))
            data = arrow_json.read_json(path, read_options=options, parse_options=as_text).select(data.column_names)
        data.validate(full=True)
    return Table(str(path), data, {})


def _without_index(data: pa.Table) -> pa.Table:
    """Leave out the row numbers that pandas and R write under no name: they are no models, answers or ids."""
    name = data.column_names[0]
    if name.lower() not in UNNAMED or data.num_columns == 1 or not data.num_rows:
        return data
    texts = data.column(0).to_pylist()
    for start in (0, 1):
        if texts[0].strip().isdecimal() and {text.strip() for text in texts} == set(map(str, range(start, start + len(texts)))):
            return data.drop_columns([name])
    return data
