"""Near neighbours, which can be computed again, and the verdicts of people, which cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import bindparam, func, or_, select, update

from resit.errors import InputError
from resit.store.bulk import insert, next_number, read, read_where
from resit.store.checks import checked
from resit.store.layout import IMAGE_NAME, PAIR, VERDICT, WORD
from resit.store.names import Names, in_order, number, number_known
from resit.store.records import Added
from resit.store.schemas import PAIRS, VERDICTS, table
from resit.store.sift import Sifted, refuse_contradictions, sift, store_fresh

if TYPE_CHECKING:
    from typing import NoReturn

    from sqlalchemy import Connection

KEYS = ("image_id", "metric_id", "other_id", "reference_id")
FIGURES = ("distance", "rank")
WORDS = {
    "pair": ("same", "near", "different", "unsure"),
    "image": ("wrong", "right"),
    "class": ("problematic", "fine"),
}


def add_pairs(connection: Connection, given: pa.Table, where: str) -> Added:
    """Add neighbours; see :meth:`resit.store.Store.add_pairs`."""
    where = f"{where}, pairs"
    given = checked(given, PAIRS, where, filled=("metric", "image", "other"))
    columns: dict[str, npt.NDArray[Any]] = {
        "image_id": number_known(connection, given.column("image"), where),
        "metric_id": number(connection, WORD, given.column("metric")),
        "other_id": number(connection, IMAGE_NAME, given.column("other")),
        "reference_id": number(connection, WORD, given.column("reference")),
        "distance": given.column("distance").to_numpy(),
        "rank": given.column("rank").to_numpy(),
    }

    def refuse(row: int) -> NoReturn:
        image, other = given.column("image")[row].as_py(), given.column("other")[row].as_py()
        fix = "Give each pair once for each metric and reference set. Nothing was stored."
        raise InputError(f"two distances or ranks of {image} and {other}", where=where, fix=fix)

    sifted = sift(connection, PAIR, columns, KEYS, compared=FIGURES)
    nothing = Sifted(sifted.fresh, sifted.met[:0], {name: values[:0] for name, values in sifted.stored.items()}, sifted.n)
    refuse_contradictions(columns, KEYS, FIGURES, nothing, refuse)
    store_fresh(connection, PAIR, columns, sifted)
    differ = np.zeros(len(sifted.met), bool)
    for name in FIGURES:
        differ |= columns[name][sifted.met] != sifted.stored[name]
    rows = sifted.met[differ]
    _renew(connection, {name: values[rows].tolist() for name, values in columns.items()})
    return sifted.added(changed=len(rows))


def _renew(connection: Connection, columns: dict[str, list[Any]]) -> None:
    if not columns["rank"]:
        return
    statement = update(PAIR).values({name: bindparam(f"new_{name}") for name in FIGURES})
    for name in KEYS:
        statement = statement.where(PAIR.c[name] == bindparam(f"new_{name}"))
    rows = zip(*columns.values(), strict=True)
    connection.execute(statement, [dict(zip((f"new_{name}" for name in columns), row, strict=True)) for row in rows])


def pairs(connection: Connection, metric: str | None, within: float | None) -> pa.Table:
    """Neighbours, of one metric or all; see :meth:`resit.store.Store.pairs`."""
    places = {"metric": WORD, "image": IMAGE_NAME, "other": IMAGE_NAME, "reference": WORD}
    statement = select(*(PAIR.c[f"{name}_id"] for name in places), PAIR.c.distance, PAIR.c.rank)
    if metric is not None:
        statement = statement.where(PAIR.c.metric_id == select(WORD.c.id).where(WORD.c.name == metric).scalar_subquery())
    if within is not None:
        statement = statement.where(or_(PAIR.c.distance <= within, PAIR.c.rank == 1))
    found = read(connection, statement, {**PAIRS, **dict.fromkeys(places, "int64")})
    words, images = Names(connection, WORD), Names(connection, IMAGE_NAME)
    names = {"metric": words, "image": images, "other": images, "reference": words}
    ranks = {column: names[column].ranks(found.column(column)) for column in places}
    order = [ranks["metric"], ranks["image"], found.column("rank").to_numpy(), ranks["reference"], ranks["other"]]
    found = in_order(found, order)
    columns = {column: names[column].of(found.column(column)) for column in places}
    return table(PAIRS, {**columns, **{name: found.column(name) for name in FIGURES}})


def references(connection: Connection) -> pa.Array:
    """Images of reference sets; see :meth:`resit.store.Store.references`."""
    none = select(WORD.c.id).where(WORD.c.name == "").scalar_subquery()
    met = select(PAIR.c.other_id).where(PAIR.c.reference_id != func.coalesce(none, -1)).distinct()
    found = read(connection, met, {"other": "int64"})
    return Names(connection, IMAGE_NAME).of(found.column("other"))


def add_verdicts(connection: Connection, given: pa.Table, where: str) -> Added:
    """Add verdicts; see :meth:`resit.store.Store.add_verdicts`."""
    where = f"{where}, verdicts"
    all_words = tuple(word for words in WORDS.values() for word in words)
    choices = {"kind": tuple(WORDS), "verdict": all_words}
    given = checked(given, VERDICTS, where, filled=("person",), choices=choices)
    seen = set(_rows(_verdicts_of(connection, given.column("time").unique().to_pylist())))
    fresh = []
    for at, row in enumerate(_rows(given)):
        _check_verdict(dict(zip(VERDICTS, row, strict=True)), f"{where}, row {at + 1}")
        if row not in seen:
            fresh.append(at)
            seen.add(row)
    if fresh:
        taken = given.take(pa.array(fresh))
        ids = np.arange(len(fresh)) + next_number(connection, VERDICT.c.id)
        insert(connection, VERDICT, {"id": ids, **{name: taken.column(name) for name in VERDICTS}})
    return Added(len(fresh), given.num_rows - len(fresh))


def verdicts(connection: Connection) -> pa.Table:
    """All verdicts as they came; see :meth:`resit.store.Store.verdicts`."""
    statement = select(*(VERDICT.c[name] for name in VERDICTS)).order_by(VERDICT.c.id)
    return read(connection, statement, VERDICTS)


def _verdicts_of(connection: Connection, times: list[str]) -> pa.Table:
    """Verdicts of some times: only these can be the same as one that is given."""
    statement = select(*(VERDICT.c[name] for name in VERDICTS))
    return read_where(connection, statement, VERDICT.c.time, times, VERDICTS)


def _rows(verdicts: pa.Table) -> list[tuple[str, ...]]:
    return list(zip(*(column.to_pylist() for column in verdicts.columns), strict=True))


def _check_verdict(verdict: dict[str, str], where: str) -> None:
    kind, words = verdict["kind"], WORDS[verdict["kind"]]
    if verdict["verdict"] not in words:
        fix = f"On {kind} they are {', '.join(words)}."
        raise InputError(f"no verdict on {kind}: {verdict['verdict']}", where=where, fix=fix)
    needed = {"pair": ("image", "other"), "image": ("image",), "class": ("class_id",)}[kind]
    if missing := [name for name in needed if not verdict[name]]:
        raise InputError(f"a verdict on {kind} without {missing[0]}", where=where, fix="Say what it is on.")


def has_judged(connection: Connection, person: str, *kinds: str) -> bool:
    """Whether somebody has given a verdict of some kinds."""
    said = select(VERDICT.c.id).where(VERDICT.c.kind.in_(kinds) & (VERDICT.c.person == person)).limit(1)
    return connection.execute(said).first() is not None
