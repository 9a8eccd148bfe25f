"""The tables beside the images: pool, votes, pairs, verdicts, selection and attribution, so that others can sample again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from resit.build.funnel import Funnel, FunnelRow
from resit.build.keys import among, rows_in, votes_of
from resit.build.release.examples import attributes_of
from resit.build.release.pseudonyms import pseudonyms, renamed
from resit.build.release.record import Material
from resit.build.review import in_time
from resit.data.benchmark import ClassInfo

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 100_000
UNKNOWN = "not stated"


@dataclass(frozen=True)
class Names:
    """Pseudonyms of people and of assignments."""

    people: dict[str, str]
    assignments: dict[str, str]


def names_of(material: Material, salt: str) -> Names:
    """Pseudonyms of all people and assignments of a build."""
    import pyarrow.compute as pc

    people = [*pc.unique(material.votes["person"]).to_pylist(), *pc.unique(material.verdicts["person"]).to_pylist()]
    return Names(pseudonyms(people, salt, "p"), pseudonyms(pc.unique(material.votes["assignment"]).to_pylist(), salt, "a"))


def pool(material: Material, whole: pa.Table, leave_out: tuple[str, ...]) -> pa.Table:
    """All candidates with their votes, and what became of each.

    Parameters
    ----------
    material : Material
    whole : pyarrow.Table
        SELECTED of all releases of this selection.
    leave_out : tuple of str
        Attributes that are not released.

    Returns
    -------
    pyarrow.Table
        Columns image, class_id, source, url, licence, author, attributes, selected, shown, fate (selected; elsewhere: in the
        other release; eligible; excluded) and reason (why it was excluded, else empty). Sorted by class and image.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = _sorted(material.images.filter(pc.equal(material.images["role"], "candidate")), "class_id", "image")
    places = rows_in(rows, material.selection.excluded)
    reasons = material.selection.excluded["reason"].take(pa.array(places, mask=places < 0))
    fate = np.where(places >= 0, "excluded", "eligible")
    fate = np.where(among(rows, whole), "elsewhere", fate)
    fate = np.where(among(rows, material.selection.selected), "selected", fate)
    kept = rows.select(["image", "class_id", "source", "url", "licence", "author"])
    kept = kept.append_column("attributes", pa.array(_attributes(rows["attributes"], leave_out), pa.string()))
    for name, column in votes_of(rows, material.counts).items():
        kept = kept.append_column(name, pa.array(column))
    kept = kept.append_column("fate", pa.array(fate.tolist(), pa.string()))
    return kept.append_column("reason", pc.fill_null(reasons, ""))


def originals(material: Material) -> pa.Table:
    """Votes on images of the original test set, by class and image."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = _sorted(material.images.filter(pc.equal(material.images["role"], "original")), "class_id", "image")
    kept = rows.select(["image", "class_id"])
    for name, column in votes_of(rows, material.counts).items():
        kept = kept.append_column(name, pa.array(column))
    return kept


def votes(material: Material, names: Names) -> pa.Table:
    """All votes under pseudonyms, by class, image and assignment; of the time only the day."""
    import pyarrow.compute as pc

    table = material.votes
    table = _with(table, "person", renamed(table["person"], names.people))
    table = _with(table, "assignment", renamed(table["assignment"], names.assignments))
    table = _sorted(table, "class_id", "image", "assignment", "role")
    return _with(table, "time", pc.utf8_slice_codeunits(table["time"], 0, 10)).rename_columns({"time": "day"})


def verdicts(material: Material, names: Names) -> pa.Table:
    """All verdicts under pseudonyms; of two on the same thing the later one is further down."""
    import pyarrow.compute as pc

    table = _sorted(in_time(material.verdicts), "kind", "class_id", "image", "other")
    table = _with(table, "person", renamed(table["person"], names.people))
    return _with(table, "time", pc.utf8_slice_codeunits(table["time"], 0, 10)).rename_columns({"time": "day"})


def pairs(material: Material) -> pa.Table:
    """The nearest images of each candidate, nearest first for each metric."""
    return _sorted(material.pairs, "metric", "distance", "image", "other")


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet, always in the same way."""
    import pyarrow.parquet as pq

    pq.write_table(table.replace_schema_metadata(None), path, compression="zstd", row_group_size=ROWS)


def record_json(material: Material) -> str:
    """The record of the selection as JSON."""
    selection = material.selection
    record = {"revision": selection.revision, "parent": selection.parent, "record": selection.record}
    return json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True, default=str) + "\n"


def classes_csv(classes: Sequence[ClassInfo]) -> str:
    """The class list."""
    return as_csv(("label", "id", "name"), ((place, info.id, info.name) for place, info in enumerate(classes)))


def attribution_csv(material: Material) -> str:
    """Licence, author and address of each selected image."""
    columns = ("image", "class_id", "licence", "author", "url", "source")
    rows = selected_images(material).select(list(columns)).to_pylist()
    return as_csv(("id", *columns[1:]), ([row[name] for name in columns] for row in rows))


def funnel_csv(funnel: Funnel) -> str:
    """The funnel, class by class."""
    return as_csv([field.name for field in fields(FunnelRow)][:-1], (astuple(row)[:-1] for row in funnel.rows))


def licences(material: Material) -> list[tuple[str, int]]:
    """Licences of the selected images and how many have each, most frequent first."""
    import pyarrow.compute as pc

    found = pc.value_counts(selected_images(material)["licence"]).to_pylist()
    return sorted(((one["values"] or UNKNOWN, one["counts"]) for one in found), key=lambda item: (-item[1], item[0]))


def selected_images(material: Material) -> pa.Table:
    """IMAGES of the selected images, sorted by id."""
    import pyarrow as pa
    import pyarrow.compute as pc

    candidates = material.images.filter(pc.equal(material.images["role"], "candidate"))
    return _sorted(candidates.filter(pa.array(among(candidates, material.selection.selected))), "image")


def as_csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return file.getvalue()


def _attributes(column: pa.ChunkedArray, leave_out: tuple[str, ...]) -> list[str]:
    return [
        json.dumps(attributes_of(text, leave_out), ensure_ascii=False, separators=(",", ":")) for text in column.to_pylist()
    ]


def _with(table: pa.Table, name: str, column: Any) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, column)


def _sorted(table: pa.Table, *columns: str) -> pa.Table:
    """Rows in the order of some columns of text or numbers; texts are ranked first, which is quicker than comparing them."""
    import pyarrow.compute as pc

    ranks = []
    for name in reversed(columns):
        column = table[name].combine_chunks()
        ranks.append(np.asarray(pc.rank(column, tiebreaker="dense")))
    return table.take(np.lexsort(ranks)) if ranks else table
