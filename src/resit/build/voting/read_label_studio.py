"""Votes of what Label Studio exports as JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.build.voting.answers import Answers, match_answers
from resit.build.voting.sheets import Lost, Sheet, given_by
from resit.build.voting.times import utc
from resit.data.guard import reading, refuse_unfit
from resit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

SKIPPED, NOBODY, OTHER = "skipped by the person", "no person", "another kind of answer than resit has asked for"
EXPORT = "Export from Label Studio in the format JSON (not JSON-MIN or CSV)."


def read_label_studio_votes(
    path: Path,
    tasks: pa.Table,
    *,
    time: str,
    rejected_people: Collection[str] = (),
    earlier: pa.Table | None = None,
) -> Answers:
    """Votes of an export of Label Studio in its format JSON.

    A person is the e-mail address where the file has it, else the number in ``completed_by``. An annotation is an assignment.
    One that was skipped is no vote; predictions and drafts are left alone.

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
        If the file is cut off or another kind of JSON, or nothing fits the tasks.
    """
    refuse_unfit(path)
    with reading(path):
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    sheets: list[Sheet] = []
    lost: Lost = []
    for at, (task, annotation) in enumerate(_annotations(document, path), start=1):
        found = _sheet(at, task, annotation, time, f"{path}, annotation {at}")
        if isinstance(found, Sheet):
            sheets.append(found)
        else:
            lost.append((at, task, _person(annotation), found))
    return match_answers(given_by(sheets, lost, tasks, str(path)), tasks, rejected_people=rejected_people, earlier=earlier)


def _annotations(document: object, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(document, list):
        raise InputError("no list of tasks", where=path, fix=EXPORT)
    for number, entry in enumerate(document, start=1):
        data = entry.get("data") if isinstance(entry, dict) else None
        annotations = entry.get("annotations") if isinstance(entry, dict) else None
        if not isinstance(data, dict) or not isinstance(annotations, list):
            raise InputError(f"entry {number} is no task with data and annotations", where=path, fix=EXPORT)
        for annotation in annotations:
            if not isinstance(annotation, dict):
                raise InputError(f"task {number} has the numbers of annotations in place of these", where=path, fix=EXPORT)
            yield str(data.get("task") or ""), annotation


def _person(annotation: Mapping[str, Any]) -> str:
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return "" if who is None else str(who)


def _sheet(at: int, task: str, annotation: Mapping[str, Any], time: str, where: str) -> Sheet | str:
    if annotation.get("was_cancelled"):
        return SKIPPED
    person = _person(annotation)
    if not person:
        return NOBODY
    selected = _selected(annotation.get("result"))
    if selected is None:
        return OTHER
    name = annotation.get("unique_id") or f"{task}:{annotation.get('id', person)}"
    created = annotation.get("created_at")
    return Sheet(at, task, person, str(name), selected, (), utc(str(created), where) if created else time)


def _selected(result: object) -> tuple[int, ...] | None:
    """Positions that were chosen; none where the list of results is empty; None where it is of something else."""
    if not isinstance(result, list):
        return None
    found: list[int] = []
    for part in result:
        value = part.get("value") if isinstance(part, dict) and part.get("from_name") == "selected" else None
        choices = value.get("choices") if isinstance(value, dict) else None
        if not isinstance(choices, list) or not all(str(choice).isdecimal() for choice in choices):
            return None
        found += [int(choice) for choice in choices]
    return tuple(found)
