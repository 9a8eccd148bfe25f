"""Selections, revision after revision, and the log of steps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlalchemy import func, insert, select, union_all

from resit.errors import InputError, UsageError
from resit.store.bulk import insert as insert_many
from resit.store.bulk import next_number, read
from resit.store.checks import checked, checked_time
from resit.store.layout import CHOSEN, CLASS_NAME, IMAGE_NAME, LEFT_OUT, NOTE, SELECTION, STATUS, VERDICT, VOTE, WORD
from resit.store.names import Names, number, number_known
from resit.store.records import Note, Revision, Selection
from resit.store.schemas import EXCLUDED, SELECTED, table

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

COUNTED = ("selected", "shown", "bin")


def add_selection(
    connection: Connection, record: dict[str, Any], selected: pa.Table, excluded: pa.Table, parent: int | None, where: str
) -> int:
    """Add a selection; see :meth:`resit.store.Store.add_selection`."""
    where = f"{where}, selection"
    fates = ("kept", "drawn", "upward")
    selected = checked(selected, SELECTED, where, filled=("image", "class_id"), choices={"fate": fates})
    excluded = checked(excluded, EXCLUDED, where, filled=("image", "class_id", "reason"))
    text, time = _json(record, where), record.get("time", "")
    time = checked_time(time, where) if time else ""
    if parent is not None and parent not in _revisions(connection):
        raise InputError(f"no revision {parent} to go on from", where=where, fix="Name one that is there, or none.")
    revision = next_number(connection, SELECTION.c.revision)
    connection.execute(insert(SELECTION).values(revision=revision, parent=parent, record=text, time=time))
    counted = {name: selected.column(name) for name in COUNTED}
    fate = number(connection, WORD, selected.column("fate"))
    _insert(connection, CHOSEN, revision, selected, {**counted, "fate_id": fate}, where)
    reason = number(connection, WORD, excluded.column("reason"))
    _insert(connection, LEFT_OUT, revision, excluded, {"reason_id": reason}, where)
    return revision


def _insert(connection: Connection, target: Table, revision: int, rows: pa.Table, more: dict[str, Any], where: str) -> None:
    columns = {
        "revision": np.full(rows.num_rows, revision),
        "place": np.arange(rows.num_rows),
        "image_id": number_known(connection, rows.column("image"), where),
        "class_id": number(connection, CLASS_NAME, rows.column("class_id")),
        **more,
    }
    insert_many(connection, target, columns)


def _revisions(connection: Connection) -> list[int]:
    return [row[0] for row in connection.execute(select(SELECTION.c.revision).order_by(SELECTION.c.revision))]


def revisions(connection: Connection) -> list[Revision]:
    """All revisions, first to last; see :meth:`resit.store.Store.revisions`."""
    statement = select(SELECTION.c.revision, SELECTION.c.parent, SELECTION.c.record).order_by(SELECTION.c.revision)
    return [Revision(number, parent, json.loads(record)) for number, parent, record in connection.execute(statement)]


def selection(connection: Connection, revision: int | None, where: str) -> Selection:
    """One selection; see :meth:`resit.store.Store.selection`."""
    known = revisions(connection)
    found = [one for one in known if one.revision == (known[-1].revision if revision is None else revision)]
    if not found:
        what = "no selection yet" if revision is None else f"no revision {revision}"
        fix = f"There are 1 to {known[-1].revision}." if known else "Sample first, with `resit build sample`."
        raise InputError(what, where=where, fix=fix)
    images, classes, words = (Names(connection, place) for place in (IMAGE_NAME, CLASS_NAME, WORD))
    kept = _read(connection, CHOSEN, found[0].revision, SELECTED)
    left = _read(connection, LEFT_OUT, found[0].revision, EXCLUDED)
    places = {"image": images, "class_id": classes, "fate": words, "reason": words}
    tables = (
        table(schema, {c: places[c].of(rows.column(c)) if c in places else rows.column(c) for c in schema})
        for schema, rows in ((SELECTED, kept), (EXCLUDED, left))
    )
    return Selection(*found[0], *tables)


def _read(connection: Connection, source: Table, revision: int, schema: dict[str, str]) -> pa.Table:
    names = {"image": "image_id", "fate": "fate_id", "reason": "reason_id"}
    statement = select(*(source.c[names.get(name, name)] for name in schema))
    statement = statement.where(source.c.revision == revision).order_by(source.c.place)
    return read(connection, statement, dict.fromkeys(schema, "int64"))


def add_note(connection: Connection, step: str, record: dict[str, Any], time: str, where: str) -> None:
    """Log a step; see :meth:`resit.store.Store.note`."""
    where = f"{where}, note on {step}"
    values = {"step": step, "record": _json(record, where), "time": checked_time(time, where)}
    connection.execute(insert(NOTE).values(id=next_number(connection, NOTE.c.id), **values))


def notes(connection: Connection) -> list[Note]:
    """All notes as they came; see :meth:`resit.store.Store.notes`."""
    rows = connection.execute(select(NOTE.c.step, NOTE.c.record, NOTE.c.time).order_by(NOTE.c.id))
    return [Note(step, json.loads(record), time) for step, record, time in rows]


def last_time(connection: Connection) -> str | None:
    """Time of the last event; see :meth:`resit.store.Store.last_time`."""
    # Without the Z, 12:00:00 stands before 12:00:00.5.
    parts = [select(func.max(func.rtrim(source.c.time, "Z")).label("time")) for source in (VOTE, STATUS, VERDICT, SELECTION)]
    found = connection.execute(select(func.max(union_all(*parts).subquery().c.time))).scalar()
    return f"{found}Z" if found else None


def _json(record: dict[str, Any], where: str) -> str:
    try:
        return json.dumps(record, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        fix = "Put only text, finite numbers, lists and dictionaries in it."
        raise UsageError(f"a record that is no JSON: {error}", where=where, fix=fix) from error
