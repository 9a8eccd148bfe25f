"""Candidates and originals, and the tasks in which people saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from sqlalchemy import select

from resit.errors import InputError
from resit.store.bulk import read
from resit.store.checks import check_word, checked
from resit.store.layout import CLASS_NAME, IMAGE, IMAGE_NAME, TASK, TASK_NAME, WORD
from resit.store.names import Names, in_order, number, number_known
from resit.store.schemas import IMAGES, TASKS, table
from resit.store.sift import refuse_contradictions, sift, store_fresh

if TYPE_CHECKING:
    from typing import NoReturn

    from sqlalchemy import Connection

    from resit.store.records import Added

ROLES = ("candidate", "original")
SHOWN_AS = ("candidate", "positive", "negative")
DETAILS = ("path", "source", "url", "licence", "author", "attributes")


def add_images(connection: Connection, given: pa.Table, where: str) -> Added:
    """Add images; see :meth:`resit.store.Store.add_images`."""
    given = checked(given, IMAGES, f"{where}, images", filled=("image", "class_id"), choices={"role": ROLES})
    keys = {
        "image_id": number(connection, IMAGE_NAME, given.column("image")),
        "class_id": number(connection, CLASS_NAME, given.column("class_id")),
        "role_id": number(connection, WORD, given.column("role")),
    }
    sifted = sift(connection, IMAGE, keys, tuple(keys))
    return store_fresh(connection, IMAGE, {**keys, **{name: given.column(name) for name in DETAILS}}, sifted)


def images(connection: Connection, role: str | None) -> pa.Table:
    """All images, or those of a role; see :meth:`resit.store.Store.images`."""
    check_word(role, ROLES, "role")
    statement = select(IMAGE.c.image_id, IMAGE.c.class_id, WORD.c.name, *(IMAGE.c[name] for name in DETAILS))
    statement = statement.join(WORD, IMAGE.c.role_id == WORD.c.id)
    if role is not None:
        statement = statement.where(WORD.c.name == role)
    found = read(connection, statement, {**IMAGES, "image": "int64", "class_id": "int64"})
    names, classes = Names(connection, IMAGE_NAME), Names(connection, CLASS_NAME)
    numbers, kinds = found.column("image"), found.column("class_id")
    later = found.column("role").to_numpy() == ROLES[1]
    columns = {**dict(zip(IMAGES, found.columns, strict=True)), "image": names.of(numbers), "class_id": classes.of(kinds)}
    return in_order(table(IMAGES, columns), [classes.ranks(kinds), names.ranks(numbers), later])


def add_tasks(connection: Connection, given: pa.Table, where: str) -> Added:
    """Add tasks; see :meth:`resit.store.Store.add_tasks`."""
    where = f"{where}, tasks"
    given = checked(given, TASKS, where, filled=("task", "class_id", "image"), choices={"role": SHOWN_AS})
    positions = given.column("position").to_numpy()
    if len(positions) and positions.min() < 0:
        raise InputError("a position below 0", where=where, fix="Count from 0.")
    columns = {
        "task_id": number(connection, TASK_NAME, given.column("task")),
        "position": positions,
        "image_id": number_known(connection, given.column("image"), where),
        "class_id": number(connection, CLASS_NAME, given.column("class_id")),
        "role_id": number(connection, WORD, given.column("role")),
    }

    def refuse(row: int) -> NoReturn:
        task, position = given.column("task")[row].as_py(), positions[row]
        fix = "A task never changes: give a changed one another name. Nothing was stored."
        raise InputError(f"two contents of position {position} of task {task}", where=where, fix=fix)

    keys, compared = ("task_id", "position"), ("image_id", "class_id", "role_id")
    sifted = sift(connection, TASK, columns, keys, compared=compared)
    refuse_contradictions(columns, keys, compared, sifted, refuse)
    return store_fresh(connection, TASK, columns, sifted)


def tasks(connection: Connection) -> pa.Table:
    """All tasks; see :meth:`resit.store.Store.tasks`."""
    statement = select(TASK.c.task_id, TASK.c.class_id, TASK.c.image_id, TASK.c.role_id, TASK.c.position)
    found = read(connection, statement, dict.fromkeys(TASKS, "int64"))
    places = {"task": TASK_NAME, "class_id": CLASS_NAME, "image": IMAGE_NAME, "role": WORD}
    names = {column: Names(connection, place) for column, place in places.items()}
    columns = {column: names[column].of(found.column(column)) for column in places}
    done = table(TASKS, {**columns, "position": found.column("position")})
    return in_order(done, [names["task"].ranks(found.column("task")), found.column("position").to_numpy()])
