"""What one person answered, page by page and image by image, so that an admin sees what is rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

from pydantic import Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from resit.build.steps.label import decide
from resit.store.answers import answers_of, person_of, votes_of
from resit.web.identity import visitor
from resit.web.office import office
from resit.web.pictures import SIZES
from resit.web.render import shown
from resit.web.routing import ADMINS, IMAGE, REDIRECT, Route
from resit.web.sealed import seal, unseal
from resit.web.sent import Sent, as_number, sent
from resit.web.stop import Stop
from resit.web.vote import image_id

if TYPE_CHECKING:
    from resit.store.answers import Answer, Given
    from resit.web.office import Office

A_PAGE = 100  # answers that are listed at once


class DecisionSent(Sent):
    """Whether an answer counts."""

    assignment: str
    status: Literal["accepted", "rejected"] = Field(description="An answer is accepted or rejected.")
    reason: str = Field(default="", max_length=500, description="A reason has 500 characters at most.")
    back: Literal["admin", "person", "answer"] = Field(default="admin", description="Where to go on: admin, person or answer.")


class PersonDecisionSent(Sent):
    """Whether all answers of somebody count."""

    name: str
    status: Literal["accepted", "rejected"] = Field(description="Answers are accepted or rejected.")
    reason: str = Field(default="", max_length=500, description="A reason has 500 characters at most.")


def person(request: Request) -> Response:
    """All answers of one person, the newest first."""
    desk, name = office(request), request.query_params.get("name", "")
    found = _answers(desk, name)
    pages = max(1, -(-len(found) // A_PAGE))
    page = min(max(1, as_number(request.query_params.get("page", ""))), pages)
    return shown(
        request,
        "person",
        name=name,
        answers=[
            (one, class_name(desk, one.class_id), answer_place(desk, name, one.assignment))
            for one in found[(page - 1) * A_PAGE : page * A_PAGE]
        ],
        total=len(found),
        right=sum(one.right for one in found),
        controls=sum(one.controls for one in found),
        counting=sum(one.status == "accepted" for one in found),
        before=person_place(name, page - 1) if page > 1 else "",
        after=person_place(name, page + 1) if page < pages else "",
    )


def decision(request: Request) -> Response:
    """Take the votes of an answer out, or back in."""
    desk = office(request)
    body: DecisionSent = sent(request)
    with desk.build.store.reading() as connection:
        name = person_of(connection, body.assignment)
    if name is None:
        raise Stop(422, f"There is no answer {body.assignment}.")
    _decide(request, [body.assignment], body.status, body.reason)
    places = {"admin": "/admin", "person": person_place(name), "answer": answer_place(desk, name, body.assignment)}
    return RedirectResponse(places[body.back], 303)


def decide_on_all(request: Request) -> Response:
    """Take the votes of all answers of somebody out, or back in."""
    desk = office(request)
    body: PersonDecisionSent = sent(request)
    changed = [one.assignment for one in _answers(desk, body.name) if one.status != body.status]
    if changed:
        _decide(request, changed, body.status, body.reason)
    return RedirectResponse(person_place(body.name), 303)


def answer(request: Request, answer: str) -> Response:
    """One answer: the images that were marked and those that were not, controls first."""
    desk = office(request)
    name, assignment = _opened(desk, answer)
    found = _answers(desk, name)
    at = next(at for at, one in enumerate(found) if one.assignment == assignment)
    votes = sorted(_votes(desk, assignment), key=lambda vote: vote.role == "candidate")
    images = [(vote, f"{answer_place(desk, name, assignment)}/{image_id(desk, request, vote.image)}") for vote in votes]
    return shown(
        request,
        "answer",
        name=name,
        one=found[at],
        class_name=class_name(desk, found[at].class_id),
        groups=(
            ("Marked", [pair for pair in images if pair[0].selected]),
            ("Not marked", [pair for pair in images if not pair[0].selected]),
        ),
        person=person_place(name, at // A_PAGE + 1),
        newer=answer_place(desk, name, found[at - 1].assignment) if at else "",
        older=answer_place(desk, name, found[at + 1].assignment) if at + 1 < len(found) else "",
    )


def picture(request: Request, answer: str, image: str, size: str) -> Response:
    """An image of an answer."""
    desk = office(request)
    if size not in SIZES:
        raise Stop(404, "There is no such size.")
    _, assignment = _opened(desk, answer)
    found = next((vote.image for vote in _votes(desk, assignment) if image_id(desk, request, vote.image) == image), None)
    if found is None:
        raise Stop(404, "There is no such image.")
    return desk.pictures.answer(found, size)


def class_name(desk: Office, class_id: str) -> str:
    """What a class is called."""
    return desk.build.class_names.get(class_id) or class_id


def person_place(name: str, page: int = 1) -> str:
    """Address of the answers of somebody."""
    return "/admin/person?" + urlencode({"name": name} | ({"page": page} if page > 1 else {}))


def answer_place(desk: Office, name: str, assignment: str) -> str:
    """Address of one answer of somebody; the names may hold whatever an address may not."""
    return "/admin/answers/" + seal(_key(desk), f"{name}\0{assignment}")


def _opened(desk: Office, sealed: str) -> tuple[str, str]:
    """The person and the assignment in the address of an answer."""
    text = unseal(_key(desk), sealed)
    if text is None:
        raise Stop(404, "There is no such answer.")
    name, _, assignment = text.partition("\0")
    return name, assignment


def _key(desk: Office) -> bytes:
    return desk.derived("answers", "").encode()


def _decide(request: Request, assignments: list[str], status: Literal["accepted", "rejected"], reason: str) -> None:
    desk = office(request)
    decide(desk.build, assignments, status, by=visitor(request).account.name, reason=reason)
    desk.demands.forget()
    desk.figures.forget()


def _answers(desk: Office, name: str) -> list[Answer]:
    """Newest first; a name with a NUL, which PostgreSQL refuses, is nobody's."""
    with desk.build.store.reading() as connection:
        return [] if "\0" in name else answers_of(connection, name)


def _votes(desk: Office, assignment: str) -> list[Given]:
    with desk.build.store.reading() as connection:
        return votes_of(connection, assignment)


ROUTES = (
    Route("GET", "/admin/person", person, ADMINS, query=("name", "page")),
    Route("POST", "/admin/person", decide_on_all, ADMINS, PersonDecisionSent, (REDIRECT,)),
    Route("POST", "/admin/answers", decision, ADMINS, DecisionSent, (REDIRECT,)),
    Route("GET", "/admin/answers/{answer}", answer, ADMINS),
    Route("GET", "/admin/answers/{answer}/{image}/{size}", picture, ADMINS, gives=(IMAGE,)),
)
