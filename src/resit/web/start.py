"""What waits: for whoever comes, in numbers that are quick to have, and for the build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resit.build.funnel import REVIEW
from resit.errors import ResitError
from resit.store.exams import exams, handed_in, last_answers
from resit.web.review_marks import images_judged, judged_as
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.build.steps.status import Status
    from resit.store.accounts import Account
    from resit.web.office import Office

PATIENCE = 0.5  # seconds that the page waits for the list of pairs
# Where that is done which a build needs next, by how the sentence on it begins; the first that fits holds.
NEXT = {
    "Get votes": "/admin#invite",
    "Find near-duplicates": "/build#dedupe",
    REVIEW: "/pairs",
    "Make": "/build#revision",
    "Look at": "/review",
    "Nothing is short": "/review",
    "Release it": "/build#release",
}


@dataclass(frozen=True, slots=True)
class OwnExam:
    """How far somebody is in an exam.

    Parameters
    ----------
    id : int
        In the database.
    name : str
    n : int
        Images.
    answered : int
        Images that have an answer.
    handed_in : bool
    """

    id: int
    name: str
    n: int
    answered: int
    handed_in: bool


def own_exams(desk: Office, account: Account) -> list[OwnExam]:
    """All exams, first to last, and how far somebody is in each."""
    with desk.build.store.reading() as connection:
        return [
            OwnExam(
                id=one.id,
                name=one.name,
                n=2 * one.record["n"],
                answered=len(last_answers(connection, account.id, one.id)),
                handed_in=handed_in(connection, account.id, one.id) is not None,
            )
            for one in exams(connection)
        ]


def next_place(state: Status) -> str:
    """Where that is done which a build needs next; empty where no page does it."""
    if state.next.startswith("Look at") and "image" not in state.next:
        return "/pairs"
    return next((place for start, place in NEXT.items() if state.next.startswith(start)), "")


def state_now(desk: Office, waiting: int, wrong: int) -> Status:
    """How far the build is, computed anew where all was looked at and what is kept does not know of it.

    Parameters
    ----------
    desk : Office
    waiting, wrong : int
        Images of the last revision that were not looked at, and that were judged wrong.
    """
    state = desk.state.get()
    if not waiting and (waiting, wrong) != (state.review.images.num_rows, state.review.wrong.num_rows):
        desk.state.forget()
        state = desk.state.get()
    return state


def judgements(desk: Office, revision: int | None) -> list[list[str]]:
    """The verdict on each image of a revision, empty where nobody gave one, class by class."""
    if revision is None:
        return []
    held = images_judged(desk.build.store.verdicts())
    chosen = desk.reviews.revision(revision).chosen
    return [[judged_as(held, one.image, key) for one in images] for key, images in chosen.items()]


def told(desk: Office, account: Account) -> dict[str, Any]:
    """What the first page of a reviewer is given.

    Returns
    -------
    dict
        ``pairs``: how many wait for them, None while they are being counted; ``elsewhere``: how many others have now;
        ``fault``: why they cannot be counted; ``revision``: the last one, None where there is no selection;
        ``images``: images of it that were not looked at, in ``classes`` of ``all_classes``; ``wrong``: those judged wrong;
        ``next``: what comes next where no image waits, and ``place``: where that is done; ``converged``: whether all is.
    """
    found: dict[str, Any] = {"pairs": None, "elsewhere": 0, "fault": "", "revision": desk.reviews.last()}
    try:
        if given := desk.pairs.give(account, 0, patience=PATIENCE):
            found |= {"pairs": given.left - given.elsewhere, "elsewhere": given.elsewhere}
    except Stop as stop:
        found["fault"] = stop.message
    said = judgements(desk, found["revision"])
    left = [marks.count("") for marks in said]
    wrong = sum(marks.count("wrong") for marks in said)
    found |= {"images": sum(left), "classes": sum(map(bool, left)), "all_classes": len(left), "wrong": wrong}
    return found | {"build": desk.build} | _next(desk, sum(left), wrong)


def _next(desk: Office, waiting: int, wrong: int) -> dict[str, Any]:
    """What the page of the review says of what comes next; nothing where images wait, which says enough."""
    nothing = {"next": "", "place": "", "converged": False}
    if waiting:
        return nothing
    try:
        state = state_now(desk, waiting, wrong)
    except ResitError:  # the list of pairs, which tells why, cannot be made either
        return nothing
    place = "/pairs" if next_place(state) == "/pairs" else "/review"
    return {"next": state.next, "place": place, "converged": state.review.converged}
