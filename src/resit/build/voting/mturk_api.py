"""Mechanical Turk through its API: tasks are published, answers fetched, decisions told, people qualified."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from resit.build.voting.answers import REJECTED, Answers, match_answers
from resit.build.voting.export import check_web, filled
from resit.build.voting.pages import Page, Pages
from resit.build.voting.read_mturk import sheet_of
from resit.build.voting.sheets import Lost, Sheet, given_by
from resit.build.voting.times import in_utc
from resit.errors import InputError, UsageError
from resit.models.library import library

if TYPE_CHECKING:
    import pyarrow as pa

SANDBOX = "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
PRODUCTION = "https://mturk-requester.us-east-1.amazonaws.com"
REGION = "us-east-1"
QUESTION = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd">'
    "<HTMLContent><![CDATA[<!DOCTYPE html><html><head><meta charset='utf-8'></head><body>{page}</body></html>]]></HTMLContent>"
    "<FrameHeight>0</FrameHeight></HTMLQuestion>"
)
PER_CALL = 100
WHERE = "Mechanical Turk"


@dataclass(frozen=True)
class HitSettings:
    """How tasks are offered to people.

    Parameters
    ----------
    reward : str
        In dollars for one task, such as ``0.40``.
    title, description, keywords : str, optional
    minutes : int, optional
        Time that a person has for a task.
    days : int, optional
        How long tasks are offered.
    approve_after_days : int, optional
        After so long answers are approved by themselves.
    qualification : str, optional
        Id of a qualification type that people need with a score of 1; see `qualify_people`.
    """

    reward: str
    title: str = "Select images that show an object"
    description: str = "Look at a page of images, and click those that show one kind of thing."
    keywords: str = "image, label, select, quick"
    minutes: int = 20
    days: int = 7
    approve_after_days: int = 7
    qualification: str = ""


@dataclass(frozen=True)
class Published:
    """Tasks that were newly offered, tasks that were offered to more people, and tasks that enough people have open."""

    new: tuple[str, ...]
    extended: tuple[str, ...]
    open: tuple[str, ...]


def connect(*, production: bool = False) -> Any:
    """A client of Mechanical Turk, of the sandbox unless said otherwise; credentials as boto3 finds them.

    Parameters
    ----------
    production : bool, optional
        Where people are paid.

    Raises
    ------
    UsageError
        If boto3 is not installed.
    """
    boto3 = library("boto3", "mturk")
    return boto3.Session().client("mturk", region_name=REGION, endpoint_url=PRODUCTION if production else SANDBOX)


def publish(client: Any, pages: Pages, settings: HitSettings, *, time: str) -> Published:
    """Offer tasks to as many more people as they need.

    A task that was offered before gets more assignments and more days, so that nobody gets it twice. Assignments that are
    offered, at work, or handed in and not decided on yet are taken off what is needed: doing it again offers nothing twice.

    Parameters
    ----------
    client
        From :func:`connect`.
    pages : Pages
    settings : HitSettings
    time : str
        It is now: ISO 8601, UTC.

    Returns
    -------
    Published

    Raises
    ------
    InputError
        If an address is not one of the web, or Mechanical Turk refuses. What was offered before that stays.
    """
    check_web(pages.pages)
    known = {hit["RequesterAnnotation"]: hit for hit in _hits(client)}
    until = datetime.fromisoformat(time) + timedelta(days=settings.days)
    new, extended, still_open = [], [], []
    for page in pages.pages:
        hit = known.get(page.task)
        if hit is None:
            with _asking(f"task {page.task}"):
                client.create_hit(**_request(page, settings))
            new.append(page.task)
            continue
        running = hit["MaxAssignments"] - hit["NumberOfAssignmentsCompleted"]
        if page.people <= running:
            still_open.append(page.task)
            continue
        more, wanted = page.people - running, hit["MaxAssignments"] + page.people - running
        with _asking(f"task {page.task}"):
            client.create_additional_assignments_for_hit(
                HITId=hit["HITId"], NumberOfAdditionalAssignments=more, UniqueRequestToken=f"{page.task}-{wanted}"
            )
            client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=until)
        extended.append(page.task)
    return Published(tuple(new), tuple(extended), tuple(still_open))


def fetch_answers(
    client: Any, tasks: pa.Table, *, time: str, rejected_people: Collection[str] = (), earlier: pa.Table | None = None
) -> Answers:
    """Votes of all assignments of these tasks that were handed in.

    Parameters
    ----------
    client
        From :func:`connect`.
    tasks : pyarrow.Table
        TASKS.
    time, rejected_people, earlier
        As :func:`resit.build.voting.read_mturk.read_mturk_votes`.

    Returns
    -------
    Answers

    Raises
    ------
    InputError
        If Mechanical Turk refuses, or nothing fits the tasks.
    """
    names = set(tasks["task"].to_pylist())
    sheets: list[Sheet] = []
    lost: Lost = []
    at = 0
    for hit in _hits(client):
        task = str(hit["RequesterAnnotation"])
        if task not in names:
            continue
        for assignment in _all(client, "list_assignments_for_hit", "Assignments", HITId=hit["HITId"]):
            at += 1
            found = sheet_of(at, _row(assignment, task), time, f"{WHERE}, assignment {assignment['AssignmentId']}")
            if isinstance(found, Sheet):
                sheets.append(found)
            else:
                lost.append((at, task, assignment["WorkerId"], found))
    return match_answers(given_by(sheets, lost, tasks, WHERE), tasks, rejected_people=rejected_people, earlier=earlier)


def tell_decisions(client: Any, statuses: pa.Table) -> int:
    """Approve and reject assignments there as they were here.

    Parameters
    ----------
    client
        From :func:`connect`.
    statuses : pyarrow.Table
        STATUSES. A rejected person reads the reason.

    Returns
    -------
    int
        How many were told; what had been decided so before is not.

    Raises
    ------
    InputError
        If Mechanical Turk refuses. What was told before that stays.
    """
    told = 0
    for row in statuses.to_pylist():
        name, rejected = row["assignment"], row["status"] == REJECTED
        with _asking(f"assignment {name}"):
            before = client.get_assignment(AssignmentId=name)["Assignment"]["AssignmentStatus"]
            if before == ("Rejected" if rejected else "Approved"):
                continue
            if rejected:
                client.reject_assignment(AssignmentId=name, RequesterFeedback=row["reason"][:1024] or "rejected")
            else:
                client.approve_assignment(AssignmentId=name, OverrideRejection=before == "Rejected")
        told += 1
    return told


def qualify_people(client: Any, qualification: str, grades: pa.Table) -> int:
    """Give people who passed a test the score 1 of a qualification type, and others 0.

    Parameters
    ----------
    client
        From :func:`connect`.
    qualification : str
        Id of the qualification type.
    grades : pyarrow.Table
        GRADES, of `resit.build.voting.qualify.grade`.

    Returns
    -------
    int
        How many passed.

    Raises
    ------
    InputError
        If Mechanical Turk refuses.
    """
    rows = grades.to_pylist()
    for row in rows:
        with _asking(f"person {row['person']}"):
            client.associate_qualification_with_worker(
                QualificationTypeId=qualification,
                WorkerId=row["person"],
                IntegerValue=int(row["passed"]),
                SendNotification=row["passed"],
            )
    return sum(row["passed"] for row in rows)


def _request(page: Page, settings: HitSettings) -> dict[str, Any]:
    day = 24 * 60 * 60
    found: dict[str, Any] = {
        "Title": settings.title,
        "Description": settings.description,
        "Keywords": settings.keywords,
        "Reward": settings.reward,
        "MaxAssignments": page.people,
        "AssignmentDurationInSeconds": 60 * settings.minutes,
        "LifetimeInSeconds": day * settings.days,
        "AutoApprovalDelayInSeconds": day * settings.approve_after_days,
        "Question": QUESTION.format(page=filled(page)),
        "RequesterAnnotation": page.task,
        "UniqueRequestToken": page.task,
    }
    if settings.qualification:
        wanted = {"QualificationTypeId": settings.qualification, "Comparator": "EqualTo", "IntegerValues": [1]}
        found["QualificationRequirements"] = [{**wanted, "ActionsGuarded": "DiscoverPreviewAndAccept"}]
    return found


def _hits(client: Any) -> Iterator[dict[str, Any]]:
    """All tasks that were offered and are of resit's kind."""
    return (hit for hit in _all(client, "list_hits", "HITs") if hit.get("RequesterAnnotation"))


def _all(client: Any, call: str, key: str, **more: Any) -> Iterator[dict[str, Any]]:
    token: dict[str, str] = {}
    while True:
        with _asking(WHERE):
            answer = getattr(client, call)(MaxResults=PER_CALL, **token, **more)
        yield from answer.get(key, [])
        if not answer.get("NextToken") or not answer.get(key):
            return
        token = {"NextToken": answer["NextToken"]}


def _row(assignment: dict[str, Any], task: str) -> dict[str, str]:
    """An assignment as a row of the results that are downloaded."""
    row = {"Input.task": task}
    for name, value in assignment.items():
        row[name] = in_utc(value) if isinstance(value, datetime) else str(value)
    return {**row, **_fields(assignment.get("Answer", ""))}


def _fields(xml: str) -> dict[str, str]:
    if "<!DOCTYPE" in xml:
        return {}
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError:
        return {}
    found = {}
    for answer in root.iterfind("{*}Answer"):
        name, text = (answer.findtext(f"{{*}}{tag}") or "" for tag in ("QuestionIdentifier", "FreeText"))
        found[f"Answer.{name}"] = text
    return found


@contextmanager
def _asking(where: str) -> Iterator[None]:
    errors = library("botocore.exceptions", "mturk")
    try:
        yield
    except (errors.NoCredentialsError, errors.PartialCredentialsError) as error:
        fix = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile of boto3."
        raise UsageError("no credentials for Mechanical Turk", where=where, fix=fix) from error
    except errors.ClientError as error:
        told = error.response.get("Error", {})
        fix = "What was done before this stays; put it right, and do the same again."
        raise InputError(f"Mechanical Turk refuses: {told.get('Message') or told.get('Code')}", where=where, fix=fix) from error
    except errors.BotoCoreError as error:
        raise InputError(f"Mechanical Turk cannot be asked: {error}", where=where, fix="Do the same again.") from error
