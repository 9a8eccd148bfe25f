"""The tables of a build, as Arrow tables: what steps are given and what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Column names and Arrow types; `table` makes tables of them.
IMAGES = {
    "image": "string",  # digest of the image's bytes
    "class_id": "string",  # the class that it is a candidate or an original of; an image may have several rows
    "role": "string",  # candidate or original
    "path": "string",  # in the build's folder, or the place in the original benchmark
    "source": "string",  # where it was found: folder, csv, flickr …, with the query
    "url": "string",
    "licence": "string",
    "author": "string",
    "attributes": "string",  # JSON of any other columns, such as keyword or taken
}
VOTES = {
    "image": "string",
    "class_id": "string",
    "person": "string",
    "assignment": "string",  # one person's answer to one task
    "role": "string",  # of the image in the task: candidate, positive or negative (controls)
    "selected": "bool",
    "time": "string",  # ISO 8601, UTC
}
TASKS = {
    "task": "string",
    "class_id": "string",  # the class that is asked about
    "image": "string",
    "role": "string",  # candidate, positive or negative
    "position": "int64",  # on the page, from 0
}
STATUSES = {
    "assignment": "string",
    "status": "string",  # accepted or rejected; the one added last counts
    "person": "string",  # who decided
    "reason": "string",
    "time": "string",
}
ASSIGNMENTS = {
    "assignment": "string",
    "person": "string",  # who voted
    "votes": "int64",
    "status": "string",
    "reason": "string",  # of the status; empty where nobody decided
    "time": "string",
}
COUNTS = {"image": "string", "class_id": "string", "selected": "int64", "shown": "int64"}
PAIRS = {
    "metric": "string",
    "image": "string",  # a candidate
    "other": "string",  # its neighbour: a candidate, or an image of a reference set
    "reference": "string",  # name of the reference set; empty for another candidate
    "distance": "double",
    "rank": "int64",  # among the image's neighbours by this metric, from 1
}
VERDICTS = {
    "kind": "string",  # pair, image or class
    "image": "string",  # empty where the verdict is on a class
    "other": "string",  # only of a pair
    "class_id": "string",
    "verdict": "string",  # pair: same, near, different, unsure; image: wrong, right; class: problematic, fine
    "person": "string",
    "time": "string",
}
SELECTED = {
    "image": "string",
    "class_id": "string",
    "selected": "int64",
    "shown": "int64",
    "bin": "int64",  # of the image's own frequency, from 0
    "fate": "string",  # kept from the parent revision, drawn, or upward (drawn for a lower bin that was short)
}
EXCLUDED = {"image": "string", "class_id": "string", "reason": "string"}


def table(schema: dict[str, str], columns: dict[str, object] | None = None) -> pa.Table:
    """An Arrow table of a schema; without columns an empty one.

    Parameters
    ----------
    schema : dict of str to str
        One of this module.
    columns : dict of str to array or list, optional
        All columns of the schema.
    """
    import pyarrow as pa

    kinds = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in schema.items()])
    return kinds.empty_table() if columns is None else pa.table({name: columns[name] for name in schema}, schema=kinds)
