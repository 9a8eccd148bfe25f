"""Review lists: what people still have to look at as a CSV file that they fill in, and back to verdicts."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resit.build.keys import IMAGE, keys, rows_in
from resit.build.review import refuse_unknown
from resit.data.paths import short_list
from resit.errors import InputError
from resit.store.schemas import VERDICTS, table

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (
    *("kind", "image", "other", "class_id", "class", "link", "other_link", "reference", "metric", "distance"),
    *("verdict", "person"),
)
NEEDED = ("kind", "image", "verdict", "person")


@dataclass(frozen=True)
class Imported:
    """What a filled-in review list says.

    Parameters
    ----------
    verdicts : pyarrow.Table
        VERDICTS, in the order of the list.
    blank : int
        Rows without a verdict: nobody has looked yet.
    """

    verdicts: pa.Table
    blank: int


def images_list(rows: pa.Table, images: pa.Table, names: Mapping[str, str]) -> str:
    """A review list of images.

    Parameters
    ----------
    rows : pyarrow.Table
        Columns image and class_id: what to look at, in the order to look at it.
    images : pyarrow.Table
        IMAGES, for the links.
    names : mapping of str to str
        Names of classes by id.

    Returns
    -------
    str
        CSV: a header and a line for each row; verdict and person are for people to fill in.

    Raises
    ------
    InputError
        If an image is not in ``images``.
    """
    links = _links(rows, images, IMAGE)
    lines = [
        {"kind": "image", "image": image, "class_id": key, "class": names.get(key, key), "link": link}
        for image, key, link in zip(rows["image"].to_pylist(), rows["class_id"].to_pylist(), links, strict=True)
    ]
    return _written(lines)


def pairs_list(pairs: pa.Table, links: Mapping[str, str]) -> str:
    """A review list of near-duplicates.

    Parameters
    ----------
    pairs : pyarrow.Table
        PAIRS, in the order to look at them.
    links : mapping of str to str
        Where to see an image, by its id; of images in references too. Ids without one get no link.

    Returns
    -------
    str
        CSV, as of :func:`images_list`.
    """
    lines = [
        {
            "kind": "pair",
            "image": pair["image"],
            "other": pair["other"],
            "link": links.get(pair["image"], ""),
            "other_link": links.get(pair["other"], ""),
            "reference": pair["reference"],
            "metric": pair["metric"],
            "distance": repr(pair["distance"]),
        }
        for pair in pairs.to_pylist()
    ]
    return _written(lines)


def read_list(
    text: str, time: str, *, known: pa.Array | pa.ChunkedArray | None = None, where: object = "review list"
) -> Imported:
    """Verdicts of a review list that people have filled in.

    Parameters
    ----------
    text : str
        CSV with at least the columns kind, image, verdict and person; other for pairs, class_id for images and classes. Other
        columns are not read. A spreadsheet's byte order mark, semicolons, tabs and capitals in verdicts do no harm.
    time : str
        ISO 8601, UTC: when these verdicts count as given.
    known : pyarrow.Array of str, optional
        Ids of the images that there are. Default: they are not checked.
    where : object, optional
        What messages call the list.

    Returns
    -------
    Imported

    Raises
    ------
    InputError
        If a column is missing, a verdict unknown, a person or an id missing, one thing judged in two ways, or an image unknown.
        The message names the line.
    """
    events: dict[tuple[str, ...], tuple[dict[str, str], int]] = {}
    blank = 0
    for number, row in _rows(text, where):
        if not row["verdict"]:
            blank += 1
            continue
        event = _event(row, f"{where}, line {number}")
        key = (event["kind"], *sorted((event["image"], event["other"])), event["class_id"], event["person"])
        before, line = events.setdefault(key, (event, number))
        if before["verdict"] != event["verdict"]:
            what = f"{event['person']} says {event['verdict']!r}, and in line {line} {before['verdict']!r}"
            raise InputError(what, where=f"{where}, line {number}", fix="Leave the line that holds.")
    found = [event for event, _ in events.values()]
    columns: dict[str, object] = {name: [event.get(name, time) for event in found] for name in VERDICTS}
    verdicts = table(VERDICTS, columns)
    if known is not None:
        _refuse_strangers(verdicts, known, where)
    return Imported(verdicts, blank)


def _written(lines: list[dict[str, str]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return file.getvalue()


def _links(rows: pa.Table, images: pa.Table, columns: tuple[str, ...]) -> list[str]:
    found = rows_in(rows, images, columns)
    if (found < 0).any():
        missing = [key.replace("\0", " as ") for key in keys(rows.filter(found < 0), columns).to_pylist()]
        raise InputError(f"{len(missing):,} images that are not in the build: {short_list(missing, 3)}", where="review list")
    at = images.select(["path", "url"]).take(found)
    return [path or url for path, url in zip(at["path"].to_pylist(), at["url"].to_pylist(), strict=True)]


def _rows(text: str, where: object) -> list[tuple[int, dict[str, str]]]:
    text = text.removeprefix("\ufeff")
    head = text.partition("\n")[0]
    delimiter = next((mark for mark in (",", ";", "\t") if mark in head), ",")
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [(name or "").strip().lower() for name in reader.fieldnames or ()]
        missing = [name for name in NEEDED if name not in names]
        if missing:
            raise InputError(f"no column {', '.join(missing)}", where=where, fix=f"A review list has {', '.join(COLUMNS)}.")
        reader.fieldnames = names
        return [(reader.line_num, {name: (row.get(name) or "").strip() for name in COLUMNS}) for row in reader]
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", where=f"{where}, line {reader.line_num}", fix="Save it again.") from error


def _event(row: dict[str, str], where: str) -> dict[str, Any]:
    kind, verdict = row["kind"].lower(), row["verdict"].lower()
    refuse_unknown(kind, verdict, where)
    needed = {"pair": ("image", "other"), "image": ("image", "class_id"), "class": ("class_id",)}[kind]
    missing = [name for name in (*needed, "person") if not row[name]]
    if missing:
        raise InputError(f"no {missing[0]}", where=where, fix="Each verdict says on what it is, and who gave it.")
    if kind == "pair" and row["image"] == row["other"]:
        raise InputError("an image paired with itself", where=where, fix="Were the list's columns moved? Export it again.")
    kept = {name: row[name] if name in needed else "" for name in ("image", "other", "class_id")}
    return {"kind": kind, **kept, "verdict": verdict, "person": row["person"]}


def _refuse_strangers(verdicts: pa.Table, known: pa.Array | pa.ChunkedArray, where: object) -> None:
    names = {name for column in ("image", "other") for name in verdicts[column].to_pylist() if name}
    strangers = sorted(names - set(known.to_pylist()))
    if strangers:
        what = f"{len(strangers):,} images that are not in the build: {short_list(strangers, 3)}"
        raise InputError(what, where=where, fix="Is it the list of another build?")
