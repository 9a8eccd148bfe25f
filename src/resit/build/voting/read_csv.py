"""Votes of a plain CSV file, a row for each image that a person was shown, read block by block."""

from __future__ import annotations

import csv
import html
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resit.build.voting.answers import LOST, Answers, Bools, Given, Ints, match_answers
from resit.build.voting.times import utc
from resit.data.guard import reading, refuse_unfit
from resit.errors import InputError, Notice
from resit.store.schemas import table

if TYPE_CHECKING:
    import pyarrow as pa

NEEDED = ("task", "person", "selected")
ONE_OF = ("position", "image")
OPTIONAL = ("assignment", "time")
YES, NO = ("1", "true", "yes", "y", "1.0"), ("0", "false", "no", "n", "0.0")
REASONS = ("", "an unknown task", "an image or position that is not in the task", "no person", "no assignment", "no answer")
LONGEST_HEAD = 2**20
BLOCK = 2**24
Column = tuple[Ints, list[str]]  # numbers, and the texts that they stand for


def read_csv_votes(
    path: Path,
    tasks: pa.Table,
    *,
    time: str,
    rejected_people: Collection[str] = (),
    earlier: pa.Table | None = None,
) -> Answers:
    """Votes of a CSV file with columns task, person, selected, and position or image; optionally assignment and time.

    Everything but ``selected`` (1 or 0, true or false, yes or no) stays text: a person called 007 keeps that name. Where both
    image and position are there, image counts. Without assignment, it is task:person. Other columns are left alone.

    Parameters
    ----------
    path : Path
    tasks : pyarrow.Table
        TASKS.
    time : str
        For votes without a time of their own: ISO 8601, UTC.
    rejected_people, earlier
        As :func:`resit.build.voting.answers.match_answers`.

    Returns
    -------
    Answers

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing, a word of ``selected`` or a time is unknown, or nothing fits the tasks.
    """
    refuse_unfit(path)
    columns, size = _columns(path)
    selected, unanswered = _selected(columns["selected"], str(path))
    place, reasons, notices = _places(columns, tasks, str(path))
    reasons[unanswered & (reasons == 0)] = REASONS.index("no answer")
    for name in ("person", *(["assignment"] if "assignment" in columns else [])):
        codes, texts = columns[name]
        nameless = np.array([*(not text.strip() for text in texts), False])[codes]
        reasons[nameless & (reasons == 0)] = REASONS.index(f"no {name}")
    keep = reasons == 0
    times, more = _times(columns.get("time"), size, time, str(path))
    assignment = columns.get("assignment") or _made_up(columns)
    given = Given(
        str(path),
        place[keep],
        (columns["person"][0][keep], _texts(columns["person"])),
        (assignment[0][keep], _texts(assignment)),
        (times[0][keep], _texts(times)),
        selected[keep],
        _lost(columns, reasons),
        (*notices, *more),
        {},
    )
    return match_answers(given, tasks, rejected_people=rejected_people, earlier=earlier)


def _columns(path: Path) -> tuple[dict[str, Column], int]:
    """The columns that are needed, each as numbers and texts, and how many rows there are."""
    names, delimiter = _head(path)
    wanted = [name for name in (*NEEDED, *ONE_OF, *OPTIONAL) if name in names]
    with reading(path):
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        kinds = {str(names.index(name)): pa.dictionary(pa.int32(), pa.string()) for name in wanted}
        reader = arrow_csv.open_csv(
            path,
            read_options=arrow_csv.ReadOptions(
                column_names=[str(at) for at in range(len(names))], skip_rows_after_names=1, block_size=BLOCK
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=kinds, include_columns=list(kinds), strings_can_be_null=False
            ),
        )
        data = pa.Table.from_batches(list(reader), reader.schema).unify_dictionaries()
    return {name: _numbered(data.column(at)) for at, name in enumerate(wanted)}, data.num_rows


def _head(path: Path) -> tuple[list[str], str]:
    with reading(path), path.open(encoding="utf-8-sig", newline="") as file:
        head = file.readline(LONGEST_HEAD)
        delimiter = next((mark for mark in (",", "\t", ";") if mark in head), ",")
        file.seek(0)
        names = [name.strip().lower() for name in next(csv.reader(file, delimiter=delimiter), [])]
    if twice := [name for name, count in Counter(names).items() if count > 1 and name]:
        raise InputError(f"column {twice[0]!r} is there more than once", where=path, fix="Remove or rename one.")
    missing = [name for name in NEEDED if name not in names]
    if not set(ONE_OF) & set(names):
        missing.append("position or image")
    if missing:
        fix = f"It has columns {', '.join(NEEDED)}, position or image and, optionally, {' and '.join(OPTIONAL)}."
        raise InputError(f"column {', '.join(missing)} is missing", where=path, fix=fix)
    return names, delimiter


def _numbered(column: pa.ChunkedArray) -> Column:
    if not column.num_chunks:
        return np.zeros(0, np.int64), []
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks]).astype(np.int64)
    return codes, column.chunk(0).dictionary.to_pylist()


def _texts(column: Column) -> pa.Array:
    import pyarrow as pa

    return pa.array(column[1], pa.string())


def _selected(column: Column, where: str) -> tuple[Bools, Bools]:
    """What was answered, and where nothing was."""
    codes, texts = column
    words = [text.strip().lower() for text in texts]
    if odd := [text for text, word in zip(texts, words, strict=True) if word and word not in (*YES, *NO)]:
        fix = "It is 1 or 0, true or false, or yes or no."
        raise InputError(f"column selected has {odd[0]!r}", where=where, fix=fix)
    yes, empty = (np.array([*found, False], bool) for found in ([word in YES for word in words], [not word for word in words]))
    return yes[codes], empty[codes]


def _places(columns: dict[str, Column], tasks: pa.Table, where: str) -> tuple[Ints, Ints, list[Notice]]:
    """The row of the tasks' table of each row, why there is none where there is none, and what was repaired."""
    by = "image" if "image" in columns else "position"
    task, asked_task, _, fixed = _matched(columns["task"], tasks["task"])
    thing, asked_thing, things, more = _matched(columns[by], tasks[by])
    own, key = asked_task * things + asked_thing, task * things + thing
    order = np.argsort(own)
    place = order[np.minimum(np.searchsorted(own, key, sorter=order), len(own) - 1)] if len(own) else np.full(len(key), -1)
    found = (task >= 0) & (thing >= 0)
    found[found] = own[place[found]] == key[found]
    notices = []
    if fixed + more:
        message = f"{fixed + more:,} names of tasks or images are escaped for HTML, and were taken for what they mean."
        notices.append(Notice("escaped-names", where, message))
    return np.where(found, place, -1), np.where(found, 0, np.where(task < 0, 1, 2)), notices


def _matched(column: Column, asked: pa.ChunkedArray) -> tuple[Ints, Ints, int, int]:
    """Numbers of a column in those of the tasks (-1 for what these don't have), theirs, how many they are, names repaired."""
    import pyarrow as pa

    known = asked.cast(pa.string()).combine_chunks().dictionary_encode()
    index = {name: at for at, name in enumerate(known.dictionary.to_pylist())}
    numbers = pa.types.is_integer(asked.type)
    found, repaired = [], 0
    for text in column[1]:
        at = index.get(text.strip().removesuffix(".0") if numbers else text, -1)
        if at < 0 and "&" in text:
            at = index.get(html.unescape(text), -1)
            repaired += at >= 0
        found.append(at)
    return np.array([*found, -1], np.int64)[column[0]], known.indices.to_numpy().astype(np.int64), len(index), repaired


def _times(column: Column | None, size: int, time: str, where: str) -> tuple[Column, list[Notice]]:
    if column is None:
        return (np.zeros(size, np.int64), [time]), []
    codes, texts = column
    empty = np.array([*(not text.strip() for text in texts), False])
    filled = [utc(text, f"{where}, column time") if text.strip() else time for text in texts]
    count = int(empty[codes].sum())
    message = f"{count:,} rows have no time: they get that of the import, {time}."
    return (codes, filled), [Notice("no-time", where, message)] if count else []


def _made_up(columns: dict[str, Column]) -> Column:
    """Assignments named after task and person."""
    (task, tasks), (person, people) = columns["task"], columns["person"]
    codes, inverse = np.unique(task * max(len(people), 1) + person, return_inverse=True)
    pairs = zip(*np.divmod(codes, max(len(people), 1)), strict=True)
    return inverse.astype(np.int64), [f"{tasks[a]}:{people[b]}" for a, b in pairs]


def _lost(columns: dict[str, Column], reasons: Ints) -> pa.Table:
    import pyarrow as pa

    rows = np.flatnonzero(reasons)
    texts = {
        name: pa.array(columns[name][1], pa.string()).take(pa.array(columns[name][0][rows])) for name in ("task", "person")
    }
    why = pa.array(REASONS).take(pa.array(reasons[rows]))
    return table(LOST, {"row": rows + 1, **texts, "reason": why})
