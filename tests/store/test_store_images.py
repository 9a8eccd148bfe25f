"""Images and tasks go in once, come out in order, and are never overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from extras import needs
from resit.errors import InputError, UsageError
from resit.store import Added
from resit.store.schemas import IMAGES, TASKS, table
from store_rows import images, rows_of, tasks

if TYPE_CHECKING:
    from resit.store import Store

needs("sqlalchemy", "alembic", "psycopg")

KEY = ("class_id", "image", "role")


def test_an_empty_store_gives_empty_tables_of_the_schemas(store: Store):
    assert store.images().equals(table(IMAGES))
    assert store.tasks().equals(table(TASKS))


def test_images_come_out_ordered_by_class_image_and_role_whatever_their_order_was(store: Store):
    given = pa.concat_tables(
        [
            images("b", "a", "é", "Z", class_id="10"),
            images("b", class_id="2"),
            images("a", class_id="10", role="original"),
        ]
    )
    assert store.add_images(given.take([3, 0, 5, 1, 4, 2])) == Added(6, 0)
    # By bytes: capitals first, letters beyond ASCII last, 10 before 2; and a candidate before an original.
    expected = [
        ("10", "Z", "candidate"),
        ("10", "a", "candidate"),
        ("10", "a", "original"),
        ("10", "b", "candidate"),
        ("10", "é", "candidate"),
        ("2", "b", "candidate"),
    ]
    assert rows_of(store.images(), *KEY) == expected
    assert rows_of(store.images("original"), *KEY) == [("10", "a", "original")]
    assert rows_of(store.images("candidate"), *KEY) == [row for row in expected if row[2] == "candidate"]


def test_every_column_comes_back_as_it_was(store: Store):
    row = {
        "path": 'images/aé/x "y".jpg',
        "source": "flickr: 'dog'; DROP TABLE image; --\t\\N",
        "url": "https://example.org/?a=1&b=%20",
        "licence": "CC BY\n4.0",
        "author": "Åsa 😀",
        "attributes": '{"keyword": "dog"}',
    }
    store.add_images(images("a", **row))
    assert store.images().to_pylist() == [{"image": "a", "class_id": "1", "role": "candidate", **row}]


def test_images_again_are_known_and_what_is_stored_stays(store: Store):
    store.add_images(images("a", "b", path="old"))
    assert store.add_images(images("b", "c", "c", path="new")) == Added(1, 2)
    assert rows_of(store.images(), "image", "path") == [("a", "old"), ("b", "old"), ("c", "new")]


def test_missing_details_become_empty_text_and_large_or_encoded_columns_are_read(store: Store):
    given = images("a", "b")
    given = given.set_column(0, "image", given.column("image").cast(pa.large_string()))
    given = given.set_column(1, "class_id", given.column("class_id").dictionary_encode())
    given = given.set_column(6, "licence", pa.array([None, "CC0"], pa.string()))
    store.add_images(given.select(list(reversed(given.column_names))))
    assert rows_of(store.images(), "image", "class_id", "licence") == [("a", "1", ""), ("b", "1", "CC0")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop_columns(["url"]), "missing or unknown columns: url"),
        (lambda t: t.append_column("more", t.column("url")), "missing or unknown columns: more"),
        (lambda t: t.rename_columns(["image", *t.column_names[:-1]]), "missing or unknown columns"),
        (lambda t: t.set_column(0, "image", pa.array(["a", None])), "empty in 1 row, first in row 2"),
        (lambda t: t.set_column(0, "image", pa.array(["a", ""])), "column image: empty in 1 row"),
        (lambda t: t.set_column(0, "image", pa.array(["a", "b\0"])), "NUL"),
        (lambda t: t.set_column(0, "image", pa.array([["a"], ["b"]])), "another type"),
        (lambda t: t.set_column(0, "image", pa.array([b"a", b"\xff"])), "another type"),
        (lambda t: t.set_column(2, "role", pa.array(["candidate", "control"])), "unknown word 'control'"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_none_is_stored(store: Store, change, message: str):
    with pytest.raises(InputError, match=message):
        store.add_images(change(images("a", "b")))
    assert store.images().num_rows == 0


def test_wrong_arguments_are_refused(store: Store):
    with pytest.raises(UsageError, match=r"pyarrow\.Table"):
        store.add_images([{"image": "a"}])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no role 'positive'"):
        store.images("positive")  # type: ignore[arg-type]


def test_tasks_come_out_in_the_order_of_their_pages(store: Store):
    store.add_images(images("a", "b", "c"))
    given = tasks(
        {"task": "t2", "image": "c", "position": 0},
        {"task": "t10", "image": "b", "position": 10, "role": "positive"},
        {"task": "t10", "image": "a", "position": 9, "role": "negative", "class_id": "7"},
    )
    assert store.add_tasks(given) == Added(3, 0)
    assert store.add_tasks(given) == Added(0, 3)
    expected = [("t10", "7", "a", "negative", 9), ("t10", "1", "b", "positive", 10), ("t2", "1", "c", "candidate", 0)]
    assert rows_of(store.tasks(), "task", "class_id", "image", "role", "position") == expected


@pytest.mark.parametrize("change", [{"image": "b"}, {"role": "positive"}, {"class_id": "2"}])
def test_a_task_never_changes(store: Store, change: dict[str, str]):
    store.add_images(images("a", "b"))
    store.add_tasks(tasks({"image": "a"}))
    with pytest.raises(InputError, match="two contents of position 0 of task t1"):
        store.add_tasks(tasks({"task": "t2", "image": "a"}, {"image": "a", **change}))
    with pytest.raises(InputError, match="two contents of position 0 of task t3"):
        store.add_tasks(tasks({"task": "t3", "image": "a"}, {"task": "t3", "image": "a", **change}))
    assert rows_of(store.tasks(), "task", "image") == [("t1", "a")]


def test_a_task_of_unknown_images_or_places_is_refused(store: Store):
    store.add_images(images("a"))
    with pytest.raises(InputError, match="unknown images, 1 of them: z"):
        store.add_tasks(tasks({"image": "a"}, {"image": "z", "position": 1}))
    with pytest.raises(InputError, match="below 0"):
        store.add_tasks(tasks({"image": "a", "position": -1}))
    assert store.tasks().num_rows == 0
