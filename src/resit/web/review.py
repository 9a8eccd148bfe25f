"""The review of a set: for each class the images that are selected, above a sample of the original's."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from resit.build.keys import votes_of
from resit.build.review import blacklist
from resit.store.pairs import has_judged
from resit.web.class_texts import ClassText
from resit.web.identity import visitor
from resit.web.office import Office, office
from resit.web.pictures import SIZES
from resit.web.render import shown
from resit.web.replies import SavedNew, Standing, Votes
from resit.web.review_marks import MarksSent, images_judged, judged_as, rows_of, save_marks, standing
from resit.web.review_sets import PAGE as IMAGES_A_PAGE
from resit.web.review_sets import Chosen, Revised
from resit.web.routing import IMAGE, PAGE, REDIRECT, REVIEWERS, Route
from resit.web.sent import as_number, sent
from resit.web.start import state_now
from resit.web.stop import Stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FIFTH = 20  # percent


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class in the list; ``first`` is the place of the first image that waits, -1 where none does."""

    place: int
    name: str
    images: int
    waiting: int
    first: int
    wrong: int
    short: str
    problematic: bool


def overview(request: Request) -> Response:
    """All classes: what is looked at, what waits, and what to do next."""
    desk = office(request)
    last = desk.reviews.last()
    values: dict[str, Any] = {"build": desk.build, "revision": last, "event": secrets.token_hex(16)}
    rows = _rows(desk, desk.reviews.revision(last)) if last else []
    waiting, wrong = sum(row.waiting for row in rows), sum(row.wrong for row in rows)
    return shown(
        request,
        "review",
        **values,
        rows=rows,
        waiting=waiting,
        wrong=wrong,
        state=state_now(desk, waiting, wrong),
        job=desk.jobs.last("sample"),
        busy=desk.jobs.running(),
        parent=desk.reviews.revision(last).parent if last else None,
    )


def _rows(desk: Office, revised: Revised) -> list[ClassRow]:
    found = desk.build.store.verdicts()
    held, problematic = images_judged(found), set(blacklist(found).problematic)
    rows = []
    for place, info in enumerate(desk.build.classes, 1):
        said = [judged_as(held, image, info.id) for image in revised.images(info.id)]
        rows.append(
            ClassRow(
                place=place,
                name=info.name,
                images=len(said),
                waiting=said.count(""),
                first=said.index("") if "" in said else -1,
                wrong=said.count("wrong"),
                short=revised.short.get(info.id, ""),
                problematic=info.id in problematic,
            )
        )
    return rows


def next_class(request: Request) -> Response:
    """The next class in which an image waits to be looked at, at its first page with one; where there is none, the list."""
    desk = office(request)
    last = desk.reviews.last()
    if last is None:
        return RedirectResponse("/review", 303)
    after = as_number(request.query_params.get("after", "0"))
    waiting = [row for row in _rows(desk, desk.reviews.revision(last)) if row.waiting]
    if not waiting:
        return RedirectResponse("/review", 303)
    row = min(waiting, key=lambda row: (row.place <= after, row.place))
    page = row.first // IMAGES_A_PAGE + 1
    return RedirectResponse(f"/review/{row.place}" + (f"?page={page}" if page > 1 else ""), 303)


def one_class(request: Request, place: str) -> Response:
    """A class: what is selected for it, and a sample of the original's images of it."""
    desk, last = office(request), office(request).reviews.last()
    class_id = class_at(desk, place)
    if last is None:
        return RedirectResponse("/review", 303)
    images = desk.reviews.revision(last).images(class_id)
    names = desk.reviews.known(last, class_id)
    pages = max(1, -(-len(images) // IMAGES_A_PAGE))
    page = min(max(1, as_number(request.query_params.get("page", "1"))), pages)
    new, old = images[(page - 1) * IMAGES_A_PAGE : page * IMAGES_A_PAGE], desk.reviews.beside(class_id, page - 1)
    number, n = int(place), len(desk.build.classes)
    return shown(
        request,
        "review_class",
        text=desk.texts.get(class_id, ClassText(desk.build.class_names[class_id])),
        place=number,
        classes=n,
        revision=last,
        page=page,
        pages=pages,
        new=[(image_key(desk, request, image), names[image]) for image in new],
        old=[(image_key(desk, request, image), names[image]) for image in old],
        images=len(images),
        originals=len(desk.reviews.originals(class_id)),
        short=desk.reviews.revision(last).short.get(class_id, ""),
        before=number - 1 or n,
        after=number % n + 1,
        has_runs=bool(desk.runs),
        begun=_has_judged(desk, request),
    )


def _has_judged(desk: Office, request: Request) -> bool:
    with desk.build.store.reading() as connection:
        return has_judged(connection, visitor(request).account.name, "image", "class")


def class_at(desk: Office, place: str) -> str:
    """Id of the class at a place in the list, from 1."""
    number = as_number(place)
    if not 1 <= number <= len(desk.build.classes):
        raise Stop(404, "There is no such class.")
    return desk.build.classes[number - 1].id


def image_key(desk: Office, request: Request, image: str) -> str:
    """Name of an image for one person: it tells nothing, and is of no use to anybody else."""
    return desk.derived("review", f"{visitor(request).account.id}\0{image}")


def _keys(desk: Office, request: Request, images: Iterable[str]) -> dict[str, str]:
    return {image: image_key(desk, request, image) for image in images}


def picture(request: Request, place: str, revision: str, image: str, size: str) -> Response:
    """An image of a class."""
    desk = office(request)
    class_id = class_at(desk, place)
    keys = _keys(desk, request, desk.reviews.known(as_number(revision), class_id))
    found = next((digest for digest, key in keys.items() if key == image), None)
    if found is None or size not in SIZES:
        raise Stop(404, "There is no such image.")
    desk.reviews.bring(class_id, found)
    return desk.pictures.answer(found, size)


def marks(request: Request, place: str) -> Response:
    """Save what a reviewer says. When this is answered it is on the disk."""
    desk, account = office(request), visitor(request).account
    body: MarksSent = sent(request)
    class_id = class_at(desk, place)
    known = {number: desk.reviews.known(number, class_id) for number in {mark.revision for mark in body.marks}}
    images = {key: digest for names in known.values() for digest, key in _keys(desk, request, names).items()}
    rows = [(mark, rows_of(mark, class_id, images, known[mark.revision])) for mark in body.marks]
    with desk.writer.writing() as connection:
        new = save_marks(connection, account, rows, desk.reviews.moments, desk.build.store.where)
    if any(mark.kind == "pair" for mark in body.marks):
        desk.state.forget()
    return JSONResponse({"saved": len(rows), "new": new})


def state(request: Request, place: str, revision: str) -> Response:
    """What holds on a class, and who said what."""
    desk = office(request)
    class_id, number = class_at(desk, place), as_number(revision)
    names = desk.reviews.known(number, class_id)
    told = standing(desk.build.store.verdicts(), class_id, _keys(desk, request, names), names)
    return JSONResponse({**told, "last": desk.reviews.last()})


def votes(request: Request, place: str, revision: str) -> Response:
    """How often each image was selected, and what models say of it: shown only where a reviewer asks."""
    desk = office(request)
    class_id, number = class_at(desk, place), as_number(revision)
    revised = desk.reviews.revision(number)
    counted = [*_votes_on_originals(desk, class_id), *revised.chosen.get(class_id, ())]
    found = {one.image: _votes(one, desk.build.config.sampling.edges) for one in counted}
    told = {
        key: [text for text in (found.get(image, ""), desk.runs.told(image)) if text]
        for image, key in _keys(desk, request, desk.reviews.known(number, class_id)).items()
    }
    return JSONResponse({"told": told})


def _votes_on_originals(desk: Office, class_id: str) -> list[Chosen]:
    import pyarrow as pa

    images = desk.reviews.originals(class_id)
    rows = pa.table({"image": pa.array(images, pa.string()), "class_id": pa.array([class_id] * len(images), pa.string())})
    counted = votes_of(rows, desk.build.store.counts())
    return [Chosen(*row) for row in zip(images, counted["selected"].tolist(), counted["shown"].tolist(), strict=True)]


def _votes(one: Chosen, edges: Sequence[int]) -> str:
    """Votes on an image and its bin of frequency, in words."""
    if not one.shown:
        return "no votes"
    fifth = 5 * one.selected // one.shown
    low = max((edge for edge in edges if edge <= fifth), default=0)
    high = min((edge for edge in edges if edge > fifth), default=5)
    return f"{one.selected} of {one.shown} said yes; bin {low * FIFTH} to {high * FIFTH} %"


ROUTES = (
    Route("GET", "/review", overview, REVIEWERS),
    Route("GET", "/review/next", next_class, REVIEWERS, gives=(REDIRECT,), query=("after",)),
    Route("GET", "/review/{place}", one_class, REVIEWERS, gives=(PAGE, REDIRECT), query=("page",)),
    Route("GET", "/review/{place}/{revision}/state", state, REVIEWERS, gives=(Standing,)),
    Route("GET", "/review/{place}/{revision}/votes", votes, REVIEWERS, gives=(Votes,)),
    Route("GET", "/review/{place}/{revision}/{image}/{size}", picture, REVIEWERS, gives=(IMAGE,)),
    Route("POST", "/review/{place}/marks", marks, REVIEWERS, MarksSent, (SavedNew,)),
)
