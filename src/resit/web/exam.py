"""The exam: one image, and the question which class it is of. Nothing tells where an image is from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from resit.build.exam.choose import own_order
from resit.build.exam.record import UNKNOWN
from resit.store.exams import Answer, add_answers, hand_in, handed_in, last_answers, unknown_events
from resit.study.human_summary import COLUMNS
from resit.web.class_texts import ClassText
from resit.web.exam_results import exams_sat
from resit.web.identity import visitor
from resit.web.office import office
from resit.web.pictures import SIZES
from resit.web.render import shown
from resit.web.replies import Finished, Saved
from resit.web.routing import EVERYBODY, IMAGE, PAGE, REDIRECT, Route
from resit.web.sent import EVENT, Sent, sent
from resit.web.start import own_exams
from resit.web.stop import Stop
from resit.web.times import moment

if TYPE_CHECKING:
    from resit.web.office import Office
    from resit.web.papers import Paper


class AnswerSent(Sent):
    """One answer, as the page sends it; no class stands for "I do not know"."""

    event: str = Field(pattern=EVENT)
    place: int = Field(ge=0)
    class_id: str | None = Field(max_length=1_000)


class AnswersSent(Sent):
    """Answers that wait to be saved, in order."""

    answers: list[AnswerSent] = Field(min_length=1, max_length=200)


class HandInSent(Sent):
    """How many images have an answer on the page that is handed in."""

    answered: int = Field(ge=0)


@dataclass(frozen=True, slots=True)
class Kind:
    """One class to pick."""

    id: str
    text: ClassText
    twin: bool
    first: int
    examples: int

    @property
    def find(self) -> str:
        """What is looked through when somebody types."""
        return f"{self.text.name}\n{self.text.synonyms}\n{self.id}"


def overview(request: Request) -> Response:
    """The exam, or where there are several a list of them; an admin always gets the list, with what came out."""
    desk, account = office(request), visitor(request).account
    found = own_exams(desk, account)
    if account.role != "admin":
        return RedirectResponse(f"/exam/{found[0].id}", 303) if len(found) == 1 else shown(request, "exams", exams=found)
    sat = {one.listed.name: one for one in exams_sat(desk)} if found else {}
    return shown(request, "exams_sat", exams=[(one, sat[one.name]) for one in found if one.name in sat], columns=COLUMNS)


def sitting(request: Request, exam: str) -> Response:
    """The exam of who asks, or after it is handed in a thank-you."""
    desk, account = office(request), visitor(request).account
    paper = desk.papers.get(exam)
    with desk.build.store.reading() as connection:
        answers = last_answers(connection, account.id, paper.number)
        ended = handed_in(connection, account.id, paper.number)
    if ended is not None:
        return shown(request, "exam_done", **_ended(request, paper, answers))
    images = [
        {"id": image_id(desk, request, paper.questions[at].image), "answer": answers.get(at)} for at in _order(paper, request)
    ]
    kinds = _kinds(desk, paper)
    return shown(request, "exam", paper=paper, images=images, groups=_groups(kinds), kinds=len(kinds), begun=bool(answers))


def _ended(request: Request, paper: Paper, answers: dict[int, str]) -> dict[str, Any]:
    """What somebody sees who has handed in: how many answers, and what was right only where the exam says so."""
    desk = office(request)
    values: dict[str, Any] = {"paper": paper, "answered": len(answers), "n": len(paper.questions), "rows": None}
    if paper.record["show_answers"]:
        names = desk.build.class_names
        values["rows"] = [
            {
                "id": image_id(desk, request, asked.image),
                "said": names.get(answers[at], "I do not know") if at in answers else None,
                "truth": " or ".join(names.get(key, key) for key in asked.class_ids),
                "right": answers.get(at) in asked.class_ids,
            }
            for at in _order(paper, request)
            for asked in (paper.questions[at],)
        ]
    return values


def _order(paper: Paper, request: Request) -> list[int]:
    """Positions of the exam's images in the order in which who asks sees them."""
    return own_order(paper.record["seed"], paper.name, visitor(request).account.name, len(paper.questions))


def image_id(desk: Office, request: Request, image: str) -> str:
    """Name of an image in one session: it tells nothing, and is of no use to anybody else."""
    return desk.derived("exam", f"{visitor(request).session}\0{image}")


def _kinds(desk: Office, paper: Paper) -> list[Kind]:
    """All classes, with where their examples are: a number for each, counted through."""
    examples, first, found = paper.record["examples"], 0, []
    often = Counter(info.name for info in desk.build.classes)
    for info in desk.build.classes:
        own = len(examples.get(info.id, ()))
        text = desk.texts.get(info.id, ClassText(info.name or info.id))
        found.append(Kind(info.id, text, often[info.name] > 1, first, own))
        first += own
    return sorted(found, key=lambda kind: (kind.text.name.casefold(), kind.id))


def _groups(kinds: Sequence[Kind]) -> list[tuple[str, list[Kind]]]:
    """Classes by parent where a table of texts names any, else by the first letter of their names."""
    by_parent = any(kind.text.parent for kind in kinds)
    found: dict[str, list[Kind]] = {}
    for kind in kinds:
        title = (kind.text.parent or "Others") if by_parent else kind.text.name[:1].upper()
        found.setdefault(title, []).append(kind)
    return sorted(found.items(), key=lambda pair: (by_parent and pair[0] == "Others", pair[0].casefold()))


def picture(request: Request, exam: str, image: str, size: str) -> Response:
    """An image of the exam."""
    desk = office(request)
    asked = desk.papers.get(exam).questions
    return _file(desk, next((one.image for one in asked if image_id(desk, request, one.image) == image), None), size)


def example(request: Request, exam: str, place: str, size: str) -> Response:
    """An original image that shows what a class looks like; it is in no question."""
    desk = office(request)
    paper = desk.papers.get(exam)
    every = [image for info in desk.build.classes for image in paper.record["examples"].get(info.id, ())]
    at = int(place) if place.isascii() and place.isdigit() and len(place) < 10 else len(every)
    return _file(desk, every[at] if at < len(every) else None, size)


def _file(desk: Office, image: str | None, size: str) -> Response:
    if image is None or size not in SIZES:
        raise Stop(404, "There is no such image.")
    return desk.pictures.answer(image, size)


def answers(request: Request, exam: str) -> Response:
    """Save answers. When this is answered they are on the disk."""
    desk, account = office(request), visitor(request).account
    body: AnswersSent = sent(request)
    paper = desk.papers.get(exam)
    known, order = desk.build.class_names, _order(paper, request)
    for one in body.answers:
        if one.place >= len(order) or (one.class_id is not None and one.class_id not in known):
            raise Stop(422, "An answer to an image that the exam does not have, or with a class that there is not.")
    rows = [Answer(one.event, order[one.place], UNKNOWN if one.class_id is None else one.class_id) for one in body.answers]
    with desk.writer.writing() as connection:
        late = handed_in(connection, account.id, paper.number) is not None
        if late and unknown_events(connection, account.id, [one.event for one in rows]):
            raise Stop(409, "You have handed this exam in.")
        add_answers(connection, account.id, paper.number, rows, moment())
    return JSONResponse({"saved": len(rows)})


def finish(request: Request, exam: str) -> Response:
    """Hand the exam in. Asked again, it changes nothing."""
    desk, account = office(request), visitor(request).account
    body: HandInSent = sent(request)
    paper = desk.papers.get(exam)
    with desk.writer.writing() as connection:
        if handed_in(connection, account.id, paper.number) is not None:
            return JSONResponse({"finished": True, "new": False})
        if len(last_answers(connection, account.id, paper.number)) != body.answered:
            raise Stop(412, "Answers were given on another device or in another window. Reload the page, then hand in.")
        hand_in(connection, account.id, paper.number, moment())
    return JSONResponse({"finished": True, "new": True})


ROUTES = (
    Route("GET", "/exam", overview, EVERYBODY, gives=(PAGE, REDIRECT)),
    Route("GET", "/exam/{exam}", sitting, EVERYBODY),
    Route("GET", "/exam/{exam}/{image}/{size}", picture, EVERYBODY, gives=(IMAGE,)),
    Route("GET", "/exam/{exam}/example/{place}/{size}", example, EVERYBODY, gives=(IMAGE,)),
    Route("POST", "/exam/{exam}/answers", answers, EVERYBODY, AnswersSent, (Saved,), (409,)),
    Route("POST", "/exam/{exam}/finish", finish, EVERYBODY, HandInSent, (Finished,), (412,)),
)
