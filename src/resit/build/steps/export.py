"""All that is known of a build in one file, for other programs and for safe keeping."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resit.build.config import config_text
from resit.build.folder import CONFIG_NAME
from resit.build.release.stage import writing
from resit.build.release.tables import write_table
from resit.build.steps.opened import Build, Tell, silent

if TYPE_CHECKING:
    import pyarrow as pa

# Finished on the pages of the web; the votes are in the other tables.
PAGES = {"task": "string", "person": "string", "begun": "string", "time": "string"}
ANSWERS = {
    "exam": "string",
    "person": "string",
    "handed_in": "string",  # when; empty where it is not
    "position": "int64",
    "image": "string",
    "origin": "string",
    "class_ids": "string",  # JSON: all that are right
    "answer": "string",  # empty for "I do not know"
}


OLD = 3600  # seconds after which nobody writes an export any more


@dataclass(frozen=True)
class Everything:
    """A file with all that is known of a build.

    Parameters
    ----------
    path : Path
    rows : dict of str to int
        By table.
    """

    path: Path
    rows: dict[str, int]

    def __str__(self) -> str:
        lines = [f"  {name}: {rows:,} rows" for name, rows in self.rows.items()]
        return "\n".join([f"wrote {self.path}", *lines])


def export_everything(build: Build, path: str | Path, *, tell: Tell = silent) -> Everything:
    """Write all that is known of a build as a ZIP of Parquet tables and JSON; what was at the path before is replaced.

    Images are not in it: the table ``images`` has their paths in the build's folder. Names of people are, so it is not
    for the public, as a release is.

    Parameters
    ----------
    build : Build
    path : path
    tell : callable, optional
        Told what is being done.

    Returns
    -------
    Everything

    Raises
    ------
    OutputError
        If the file cannot be written. What was there before is intact then.
    """
    path = Path(path)
    rows = {}
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_left(path)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as stage:
            part, packed = Path(stage) / "table", Path(stage) / "all.zip"
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
                for name, table in _tables(build):
                    tell(f"Writing {name}")
                    write_table(table, part)
                    file.write(part, f"{name}.parquet")
                    rows[name] = len(table)
                # The address of a database may have a password in it.
                file.writestr(CONFIG_NAME, config_text(build.config.model_copy(update={"database": None})))
                file.writestr("notes.json", json.dumps(_notes(build), indent=1, ensure_ascii=False))
            with packed.open("rb") as done:
                os.fsync(done.fileno())
            packed.replace(path)
    return Everything(path, rows)


def _remove_left(path: Path) -> None:
    """Remove what exports that were killed left beside the file; a young one may be of an export that runs."""
    for left in path.parent.glob(f".{path.name}.*"):
        if left.stat().st_mtime < time.time() - OLD:
            shutil.rmtree(left, ignore_errors=True)


def _tables(build: Build) -> Iterator[tuple[str, pa.Table]]:
    """All tables by name, one at a time: together they may not fit into memory."""
    store = build.store
    yield "images", store.images()
    yield "tasks", store.tasks()
    yield "votes", store.votes(accepted=False)
    yield "assignments", store.assignments()
    yield "counts", store.counts()
    yield "pairs", store.pairs()
    yield "verdicts", store.verdicts()
    yield from _selections(build)
    yield "pages", _pages(build)
    yield "exam-answers", _answers(build)


def _selections(build: Build) -> Iterator[tuple[str, pa.Table]]:
    import pyarrow as pa

    from resit.store.schemas import EXCLUDED, SELECTED, table

    found = [build.store.selection(one.revision) for one in build.store.revisions()]
    for name, schema in (("selected", SELECTED), ("excluded", EXCLUDED)):
        parts = [(one.revision, getattr(one, name)) for one in found]
        numbered = [part.add_column(0, "revision", [pa.array([number] * len(part), "int64")]) for number, part in parts]
        yield name, pa.concat_tables([table({"revision": "int64", **schema}), *numbered])


def _pages(build: Build) -> pa.Table:
    from resit.store.accounts import everybody
    from resit.store.schemas import table
    from resit.store.work import finished

    with build.store.reading() as connection:
        names = {one.account.id: one.account.name for one in everybody(connection)}
        done = finished(connection)
    rows = [(one.task, names[one.account_id], one.begun, one.time) for one in done]
    return table(PAGES, {name: [row[at] for row in rows] for at, name in enumerate(PAGES)})


def _answers(build: Build) -> pa.Table:
    from resit.store.exams import exams, questions, sittings
    from resit.store.schemas import table

    rows = []
    with build.store.reading() as connection:
        for exam in exams(connection):
            asked = {one.position: one for one in questions(connection, exam.id)}
            for sitting in sittings(connection, exam.id):
                for position, answer in sorted(sitting.answers.items()):
                    one = asked[position]
                    asked_as = (position, one.image, one.origin, json.dumps(one.class_ids))
                    rows.append((exam.name, sitting.person, sitting.handed_in or "", *asked_as, answer))
    return table(ANSWERS, {name: [row[at] for row in rows] for at, name in enumerate(ANSWERS)})


def _notes(build: Build) -> dict[str, object]:
    """What the steps, the revisions and the exams tell of themselves."""
    from resit.store.exams import exams

    with build.store.reading() as connection:
        sat = [{"exam": one.name, "time": one.time, "record": one.record} for one in exams(connection)]
    return {
        "steps": [note._asdict() for note in build.store.notes()],
        "revisions": [one._asdict() for one in build.store.revisions()],
        "exams": sat,
    }
