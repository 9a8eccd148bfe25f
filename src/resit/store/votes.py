"""Votes, what became of assignments, and how often each image was selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import bindparam, func, select, union_all

from resit.errors import InputError
from resit.store.bulk import insert, next_number, read, read_where
from resit.store.checks import check_word, checked
from resit.store.images import SHOWN_AS
from resit.store.layout import ASSIGNMENT, CLASS_NAME, COUNT, IMAGE_NAME, PERSON_NAME, STATUS, VOTE, WORD
from resit.store.names import Names, Numbers, encode, find, first_few, in_order, number, number_known, numbers_of
from resit.store.records import Added
from resit.store.schemas import ASSIGNMENTS, COUNTS, STATUSES, VOTES, table
from resit.store.sift import refuse_contradictions, sift, store_fresh

if TYPE_CHECKING:
    from sqlalchemy import Connection, ScalarSelect, Select

DECISIONS = ("accepted", "rejected")
NOTHING = "Nothing was stored."


def add_votes(connection: Connection, given: pa.Table, where: str) -> Added:
    """Add votes; see :meth:`resit.store.Store.add_votes`."""
    where = f"{where}, votes"
    given = checked(given, VOTES, where, filled=("image", "class_id", "person", "assignment"), choices={"role": SHOWN_AS})
    image_id = number_known(connection, given.column("image"), where)
    assignment_id, old = _assignments_of(connection, given, where)
    columns: dict[str, npt.NDArray[Any]] = {
        "assignment_id": assignment_id,
        "class_id": number(connection, CLASS_NAME, given.column("class_id")),
        "image_id": image_id,
        "role_id": number(connection, WORD, given.column("role")),
        "selected": given.column("selected").to_numpy().astype(np.int8),
    }

    def refuse(row: int) -> NoReturn:
        image, class_id, assignment = (given.column(name)[row].as_py() for name in ("image", "class_id", "assignment"))
        fix = f"A vote never changes: find out which one is right. {NOTHING}"
        raise InputError(f"two votes on image {image} for class {class_id} in assignment {assignment}", where=where, fix=fix)

    keys, compared = ("assignment_id", "class_id", "image_id"), ("selected", "role_id")
    sifted = sift(connection, VOTE, columns, keys, compared=compared, old=old, first=_ranks(given.column("time")))
    refuse_contradictions(columns, keys, compared, sifted, refuse)
    return store_fresh(connection, VOTE, {**columns, "time": given.column("time")}, sifted)


# Images that somebody voted on for a class.
ANSWERED = (
    select(IMAGE_NAME.c.name)
    .join(VOTE, VOTE.c.image_id == IMAGE_NAME.c.id)
    .join(ASSIGNMENT, ASSIGNMENT.c.id == VOTE.c.assignment_id)
    .where(
        ASSIGNMENT.c.person_id == select(PERSON_NAME.c.id).where(PERSON_NAME.c.name == bindparam("person")).scalar_subquery(),
        VOTE.c.class_id == select(CLASS_NAME.c.id).where(CLASS_NAME.c.name == bindparam("class_id")).scalar_subquery(),
    )
)


def answered(connection: Connection, person: str, class_id: str) -> frozenset[str]:
    """Images that a person voted on for a class, on whatever page."""
    return frozenset(connection.scalars(ANSWERED, {"person": person, "class_id": class_id}))


def _ranks(column: pa.ChunkedArray) -> Numbers:
    codes, values = encode(column)
    ranks = np.empty(len(values), np.int64)
    ranks[pc.sort_indices(values).to_numpy()] = np.arange(len(values))
    return ranks[codes]


def _assignments_of(connection: Connection, given: pa.Table, where: str) -> tuple[Numbers, Numbers]:
    """The number of each row's assignment, and the numbers of those that were there before."""
    codes, names = encode(given.column("assignment"))
    person = number(connection, PERSON_NAME, given.column("person"))
    whose = np.zeros(len(names), np.int64)
    whose[codes] = person
    before = find(connection, ASSIGNMENT, names)
    kinds = {"id": "int64", "person": "int64"}
    statement = select(ASSIGNMENT.c.id, ASSIGNMENT.c.person_id)
    stored = read_where(connection, statement, ASSIGNMENT.c.id, before[before > 0].tolist(), kinds)
    at = pc.index_in(pa.array(before), stored.column("id").combine_chunks())
    stored_person = pc.fill_null(pc.take(stored.column("person"), at), 0).to_numpy()
    wrong = (person != whose[codes]) | ((before > 0) & (stored_person != whose))[codes]
    if wrong.any():
        name = given.column("assignment")[int(np.argmax(wrong))].as_py()
        fix = f"An assignment is one person's answer to one task: give each its own. {NOTHING}"
        raise InputError(f"votes of two persons in assignment {name}", where=where, fix=fix)
    return numbers_of(connection, ASSIGNMENT, names, person_id=whose)[codes], before[before > 0]


def votes(connection: Connection, accepted: bool) -> pa.Table:
    """Votes as they were given; see :meth:`resit.store.Store.votes`."""
    statement = select(
        *(VOTE.c[name] for name in ("image_id", "class_id")),
        ASSIGNMENT.c.person_id,
        *(VOTE.c[name] for name in ("assignment_id", "role_id", "selected", "time")),
    ).join(ASSIGNMENT, VOTE.c.assignment_id == ASSIGNMENT.c.id)
    if accepted:
        statement = statement.where(VOTE.c.assignment_id.not_in(_rejected()))
    found = read(connection, statement, {**dict.fromkeys(VOTES, "int64"), "time": "string"})
    places = {"image": IMAGE_NAME, "class_id": CLASS_NAME, "person": PERSON_NAME, "assignment": ASSIGNMENT, "role": WORD}
    names = {column: Names(connection, place) for column, place in places.items()}
    order = ("assignment", "class_id", "image")
    found = in_order(found, [names[column].ranks(found.column(column)) for column in order])
    columns = {column: names[column].of(found.column(column)) for column in places}
    return table(VOTES, {**columns, "selected": found.column("selected").cast("bool"), "time": found.column("time")})


def last_status() -> Select[Any]:
    """What was decided last on each assignment that was decided on."""
    last = select(func.max(STATUS.c.id)).group_by(STATUS.c.assignment_id)
    return select(STATUS).where(STATUS.c.id.in_(last))


def _rejected() -> ScalarSelect[Any]:
    last = last_status().subquery()
    return select(last.c.assignment_id).where(last.c.status == DECISIONS[1]).scalar_subquery()


def add_statuses(connection: Connection, given: pa.Table, where: str) -> Added:
    """Accept or reject assignments; see :meth:`resit.store.Store.set_assignments`."""
    where = f"{where}, assignments"
    given = checked(given, STATUSES, where, filled=("assignment", "person"), choices={"status": DECISIONS})
    codes, names = encode(given.column("assignment"))
    numbers = find(connection, ASSIGNMENT, names)
    if (numbers == 0).any():
        unknown = sorted(names.filter(pa.array(numbers == 0)).to_pylist())
        what = f"unknown assignments, {len(unknown):,} of them: {first_few(unknown)}"
        raise InputError(what, where=where, fix=f"Add their votes first. {NOTHING}")
    texts = ("status", "person", "reason", "time")
    kinds = {"assignment": "int64", **dict.fromkeys(texts, "string")}
    statement = select(STATUS.c.assignment_id, *(STATUS.c[name] for name in texts))
    stored = read_where(connection, statement, STATUS.c.assignment_id, numbers.tolist(), kinds)
    seen = set(zip(*(column.to_pylist() for column in stored.columns), strict=True))
    fresh = []
    rows = zip(numbers[codes].tolist(), *(given.column(name).to_pylist() for name in texts), strict=True)
    for at, row in enumerate(rows):
        if row not in seen:
            fresh.append(at)
            seen.add(row)
    if fresh:
        ids = np.arange(len(fresh)) + next_number(connection, STATUS.c.id)
        taken = given.take(pa.array(fresh))
        insert(connection, STATUS, {"id": ids, "assignment_id": numbers[codes[fresh]], **{t: taken.column(t) for t in texts}})
    return Added(len(fresh), given.num_rows - len(fresh))


def assignments(connection: Connection) -> pa.Table:
    """All assignments; see :meth:`resit.store.Store.assignments`."""
    size = select(VOTE.c.assignment_id, func.count().label("votes")).group_by(VOTE.c.assignment_id).subquery()
    last = last_status().subquery()
    statement = (
        select(
            *(ASSIGNMENT.c.id, ASSIGNMENT.c.person_id, size.c.votes),
            func.coalesce(last.c.status, DECISIONS[0]),
            *(func.coalesce(last.c[name], "") for name in ("reason", "time")),
        )
        .join(size, size.c.assignment_id == ASSIGNMENT.c.id)
        .outerjoin(last, last.c.assignment_id == ASSIGNMENT.c.id)
    )
    found = read(connection, statement, {**ASSIGNMENTS, "assignment": "int64", "person": "int64"})
    names, people = Names(connection, ASSIGNMENT), Names(connection, PERSON_NAME)
    numbers = found.column("assignment")
    columns = {
        **dict(zip(ASSIGNMENTS, found.columns, strict=True)),
        "assignment": names.of(numbers),
        "person": people.of(found.column("person")),
    }
    return in_order(table(ASSIGNMENTS, columns), [names.ranks(numbers)])


def add_counts(connection: Connection, given: pa.Table, where: str) -> Added:
    """Add aggregates; see :meth:`resit.store.Store.add_counts`."""
    where = f"{where}, counts"
    given = checked(given, COUNTS, where, filled=("image", "class_id"))
    columns = {
        "image_id": number_known(connection, given.column("image"), where),
        "class_id": number(connection, CLASS_NAME, given.column("class_id")),
        "selected": given.column("selected").to_numpy(),
        "shown": given.column("shown").to_numpy(),
    }
    if ((columns["selected"] < 0) | (columns["shown"] < columns["selected"])).any():
        raise InputError("an image selected more often than shown, or less than never", where=where, fix="Correct the counts.")

    def refuse(row: int) -> NoReturn:
        image, class_id = given.column("image")[row].as_py(), given.column("class_id")[row].as_py()
        fix = f"Counts are final: find out which ones are right. {NOTHING}"
        raise InputError(f"two counts of image {image} for class {class_id}", where=where, fix=fix)

    keys, compared = ("image_id", "class_id"), ("selected", "shown")
    sifted = sift(connection, COUNT, columns, keys, compared=compared)
    refuse_contradictions(columns, keys, compared, sifted, refuse)
    return store_fresh(connection, COUNT, columns, sifted)


def counts(connection: Connection, role: str | None) -> pa.Table:
    """Selected and shown by image and class; see :meth:`resit.store.Store.counts`."""
    check_word(role, SHOWN_AS, "role")
    key = (VOTE.c.image_id, VOTE.c.class_id)
    events = select(*key, func.sum(VOTE.c.selected).label("selected"), func.count().label("shown")).group_by(*key)
    events = events.where(VOTE.c.assignment_id.not_in(_rejected()))
    if role is None:
        aggregates = select(COUNT.c.image_id, COUNT.c.class_id, COUNT.c.selected, COUNT.c.shown)
        both = union_all(events, aggregates).subquery()
        sums = (func.sum(both.c.selected), func.sum(both.c.shown))
        statement = select(both.c.image_id, both.c.class_id, *sums).group_by(both.c.image_id, both.c.class_id)
    else:
        statement = events.where(VOTE.c.role_id == select(WORD.c.id).where(WORD.c.name == role).scalar_subquery())
    found = read(connection, statement, dict.fromkeys(COUNTS, "int64"))
    names, classes = Names(connection, IMAGE_NAME), Names(connection, CLASS_NAME)
    numbers, kinds = found.column("image"), found.column("class_id")
    found = in_order(found, [classes.ranks(kinds), names.ranks(numbers)])
    columns = {"image": names.of(found.column("image")), "class_id": classes.of(found.column("class_id"))}
    return table(COUNTS, {**columns, **{name: found.column(name) for name in ("selected", "shown")}})
