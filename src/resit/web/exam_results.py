"""What an admin is told of the exams: who sat them, and how often they were right. Of no single image anything is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resit.build.steps.exam import answers_of, list_exams
from resit.study.human import human_accuracy
from resit.study.human_summary import rows

if TYPE_CHECKING:
    from resit.build.steps.exam import ListedExam
    from resit.build.steps.opened import Build
    from resit.web.office import Office

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """An exam that somebody handed in.

    Parameters
    ----------
    handed_in : int
        By how many, when this was computed.
    rows : tuple
        Of a table: everybody, all together and the models.
    verdict, warnings : tuple of str
        Sentences.
    level : float
        Of the intervals.
    """

    handed_in: int
    rows: tuple[Row, ...]
    verdict: tuple[str, ...]
    warnings: tuple[str, ...]
    level: float


@dataclass(frozen=True, slots=True)
class Sat:
    """How many are at an exam, and what came out; None where nobody has handed it in."""

    listed: ListedExam
    marked: Marked | None


def marked_exams(build: Build) -> dict[str, Marked]:
    """What came out of each exam that somebody handed in, by its name, as ``resit build exam … results`` has it."""
    return {one.name: _marked(build, one.name) for one in list_exams(build) if one.handed_in}


def _marked(build: Build, name: str) -> Marked:
    found = human_accuracy(answers_of(build, name))
    warnings = tuple(f"{one.where}: {one.message}" for one in found.warnings)
    return Marked(len(found.people), tuple(rows(found)), found.verdict, warnings, found.level)


def exams_sat(desk: Office) -> list[Sat]:
    """All exams, first to last, as the admin sees them."""
    listed = list_exams(desk.build)
    marked = desk.marked.get()
    if any(one.handed_in != (marked[one.name].handed_in if one.name in marked else 0) for one in listed):
        desk.marked.forget()
        marked = desk.marked.get()
    return [Sat(one, marked.get(one.name)) for one in listed]
