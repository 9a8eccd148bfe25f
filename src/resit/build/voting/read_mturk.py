"""Votes of the results that Mechanical Turk gives for a batch, as a CSV file."""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resit.build.voting.answers import ACCEPTED, REJECTED, Answers, match_answers
from resit.build.voting.sheets import Lost, Sheet, given_by, positions
from resit.build.voting.times import utc
from resit.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

NEEDED = ("AssignmentId", "WorkerId", "AssignmentStatus")
STATUSES = {"Submitted": "", "Approved": ACCEPTED, "Rejected": REJECTED}
DECIDER = "mturk"
FORM = "Answer.taskAnswers"  # where crowd-form puts all fields, as JSON
NOT_ANSWERED, NO_LIST, TWO_TASKS = "not answered", "no list of selected images", "an answer to another task than was asked"
NOBODY = "no person or assignment"


def read_mturk_votes(
    path: Path,
    tasks: pa.Table,
    *,
    time: str,
    rejected_people: Collection[str] = (),
    earlier: pa.Table | None = None,
) -> Answers:
    """Votes of a results file of Mechanical Turk, with AssignmentStatus.

    Rejected assignments are kept, and rejected here too; approved ones are accepted. Of those that nobody has decided on
    nothing is said, and they count.

    Parameters
    ----------
    path : Path
        As downloaded: columns AssignmentId, WorkerId, AssignmentStatus, SubmitTime, Input.task, and Answer.taskAnswers or
        Answer.selected and Answer.broken.
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
        If the file cannot be read, a column is missing, a status is unknown, or nothing fits the tasks.
    """
    from resit.data.tables import read_table

    data = read_table(path).data
    names = set(data.column_names)
    missing = [name for name in NEEDED if name not in names]
    if not {FORM, "Answer.selected"} & names:
        missing.append(f"{FORM} or Answer.selected")
    if missing:
        fix = "Take the results as they were downloaded, of a project with the layout that resit has written."
        raise InputError(f"column {', '.join(missing)} is missing", where=path, fix=fix)
    sheets: list[Sheet] = []
    lost: Lost = []
    for at, row in enumerate(data.to_pylist(), start=1):
        found = sheet_of(at, row, time, f"{path}, row {at}")
        if isinstance(found, Sheet):
            sheets.append(found)
        else:
            lost.append((at, _plain(row, "Input.task"), row["WorkerId"], found))
    return match_answers(given_by(sheets, lost, tasks, str(path)), tasks, rejected_people=rejected_people, earlier=earlier)


def sheet_of(at: int, row: Mapping[str, str], time: str, where: str) -> Sheet | str:
    """The answer in a row, or why there is none.

    Raises
    ------
    InputError
        If a status or a time is unknown.
    """
    status = row["AssignmentStatus"].strip()
    if not status and not row["WorkerId"].strip():
        return NOT_ANSWERED
    if status not in STATUSES:
        raise InputError(f"unknown AssignmentStatus {status!r}", where=where, fix=f"It is one of {', '.join(STATUSES)}.")
    person, assignment = row["WorkerId"].strip(), row["AssignmentId"].strip()
    if not person or not assignment:
        return NOBODY
    fields = _fields(row)
    if fields is None or "selected" not in fields:
        return NO_LIST
    answered, asked = html.unescape(str(fields.get("task") or "")), _plain(row, "Input.task")
    if answered and asked and answered != asked:
        return TWO_TASKS
    try:
        selected, broken = (positions(fields.get(name, ""), where) for name in ("selected", "broken"))
    except InputError:
        return NO_LIST
    moment = utc(row["SubmitTime"], where) if row.get("SubmitTime") else time
    decision = None
    if STATUSES[status]:
        decided = row.get("RejectionTime" if STATUSES[status] == REJECTED else "ApprovalTime")
        reason = html.unescape(row.get("RequesterFeedback") or "")
        decision = (STATUSES[status], DECIDER, reason, utc(decided, where) if decided else moment)
    return Sheet(at, answered or asked, person, assignment, selected, broken, moment, decision)


def _plain(row: Mapping[str, str], name: str) -> str:
    return html.unescape(row.get(name) or "").strip()


def _fields(row: Mapping[str, str]) -> Mapping[str, Any] | None:
    """The fields of the form: of crowd-form as JSON, of a plain form in a column each."""
    if not row.get(FORM):
        plain = {
            name.removeprefix("Answer."): value for name, value in row.items() if name.startswith("Answer.") and name != FORM
        }
        return plain or None
    for text in (row[FORM], html.unescape(row[FORM])):
        try:
            found = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            continue
        first = found[0] if isinstance(found, list) and found else found
        return first if isinstance(first, dict) else None
    return None
