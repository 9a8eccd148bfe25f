"""What the admin page shows of people and of the build. It takes long with many votes, and is kept for a while."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resit.build.steps.label import rejected_people
from resit.build.steps.people import people
from resit.build.steps.status import Status, status
from resit.store.accounts import everybody
from resit.store.work import finished
from resit.web.answers import assignment_of
from resit.web.kept import Kept
from resit.web.times import seconds_between

if TYPE_CHECKING:
    from resit.build.steps.opened import Build

LATEST = 50  # assignments that are listed
# Somebody whose accuracy on controls is surely lower than this needs a look.
LOOK_BELOW = 0.8


@dataclass(frozen=True, slots=True)
class Person:
    """One row of the people at work."""

    name: str
    role: str
    good: bool
    pages: int
    minutes: float
    per_minute: float | None
    controls: tuple[int, int]
    accuracy: float | None
    low: float | None
    high: float | None
    rejected: bool
    needs_a_look: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """One finished page."""

    assignment: str
    person: str
    class_name: str
    time: str
    seconds: float
    status: str
    reason: str


@dataclass(frozen=True)
class Overview:
    """All of it at one time."""

    people: tuple[Person, ...]
    answers: tuple[Answer, ...]
    agreement: str
    status: Status


class Figures(Kept[Overview]):
    """Computes the overview, and keeps it for a while.

    Parameters
    ----------
    build : Build
    """

    def __init__(self, build: Build) -> None:
        super().__init__(lambda: overview(build))


def overview(build: Build) -> Overview:
    """People at work, their last answers, and how far the build is.

    Parameters
    ----------
    build : Build
    """
    with build.store.reading() as connection:
        invited, pages = everybody(connection), finished(connection)
    assignments = {row["assignment"]: row for row in build.store.assignments().to_pylist()}
    quality = people(build) if len(build.store.votes()) else None
    controls = {row["person"]: row for row in quality.controls.to_pylist()} if quality else {}
    out = rejected_people(build.store.assignments())
    spent: dict[int, list[float]] = {}
    for one in pages:
        spent.setdefault(one.account_id, []).append(seconds_between(one.begun, one.time))
    rows = [
        _person(one.account.name, one.account.role, one.good, spent.get(one.account.id, []), controls, out, build)
        for one in invited
    ]
    known = {one.account.name for one in invited}
    rows += [_person(name, "", False, [], controls, out, build) for name in sorted(set(controls) - known)]
    rows.sort(key=lambda one: not one.needs_a_look)
    names = {one.account.id: one.account.name for one in invited}
    tasks = build.store.tasks()
    class_of = dict(zip(tasks["task"].to_pylist(), tasks["class_id"].to_pylist(), strict=True))
    answers = []
    for page in reversed(pages[-LATEST:]):
        name = assignment_of(page.task, names[page.account_id])
        row = assignments[name]
        shown = build.class_names.get(class_of[page.task]) or class_of[page.task]
        seconds = seconds_between(page.begun, page.time)
        answers.append(Answer(name, row["person"], shown, page.time, seconds, row["status"], row["reason"]))
    told = str(quality.agreement) if quality else "No votes yet."
    return Overview(tuple(rows), tuple(answers), told, status(build))


def _person(
    name: str, role: str, good: bool, seconds: list[float], controls: dict[str, dict[str, Any]], out: set[str], build: Build
) -> Person:
    row = controls.get(name, {})
    right = row.get("positive_right", 0) + row.get("negative_right", 0)
    shown = row.get("positive_shown", 0) + row.get("negative_shown", 0)
    pace = build.config.votes.task * 60 / max(statistics.median(seconds), 1.0) if seconds else None
    accuracy = row.get("accuracy")
    return Person(
        name=name,
        role=role,
        good=good,
        pages=row.get("assignments", 0),
        minutes=sum(seconds) / 60,
        per_minute=pace,
        controls=(right, shown),
        accuracy=accuracy,
        low=row.get("low"),
        high=row.get("high"),
        rejected=name in out,
        needs_a_look=name not in out and row.get("high") is not None and row["high"] < LOOK_BELOW,
    )
