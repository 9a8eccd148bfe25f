"""The review of near-duplicates: one pair of images after another, nearest first; every verdict saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field
from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from resit.store.layout import CLASS_NAME, IMAGE_NAME, WORD
from resit.store.layout import IMAGE as ROW
from resit.store.pairs import add_verdicts
from resit.store.schemas import VERDICTS, table
from resit.store.work import once
from resit.web.identity import visitor
from resit.web.office import Office, office
from resit.web.pair_list import Key, Pair, key_of
from resit.web.pictures import SIZES
from resit.web.render import shown
from resit.web.replies import Pairs, SavedNew
from resit.web.routing import IMAGE, REVIEWERS, Route
from resit.web.sealed import seal, unseal
from resit.web.sent import EVENT, Sent, sent
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.web.pair_queue import Given

AHEAD = 8  # pairs that a page has at once; the images of those to come are loaded
BACK = 20  # pairs that one can go back to after a page was opened anew
PATIENCE = 2.0  # seconds that a request waits for the list
SIDES = ("one", "two")
CANDIDATE = "candidate"


class VerdictSent(Sent):
    """What somebody said of a pair, as the page sends it."""

    event: str = Field(pattern=EVENT)
    pair: str = Field(max_length=1_000)
    verdict: Literal["same", "near", "different", "unsure"]


class VerdictsSent(Sent):
    """Verdicts that wait to be saved, in order."""

    verdicts: list[VerdictSent] = Field(min_length=1, max_length=200)


class NextSent(Sent):
    """Pairs that the page has, and those that were put off."""

    held: list[str] = Field(default=[], max_length=200)
    skip: list[str] = Field(default=[], max_length=50)
    again: bool = False


def reviewing(request: Request) -> Response:
    """The page with its first pairs, and those that were judged last."""
    desk, account = office(request), visitor(request).account
    given = desk.pairs.give(account, AHEAD, patience=PATIENCE)
    before = desk.pairs.before(account, BACK) if given else []
    told = [(pair, {"verdict": verdict}) for pair, verdict in before]
    first = {**_told(request, given), "before": _pairs(request, told)}
    return shown(request, "pairs", first=first, is_new=not desk.pairs.has_judged(account))


def next_pairs(request: Request) -> Response:
    """The next pairs."""
    desk, account = office(request), visitor(request).account
    body: NextSent = sent(request)
    held = {key_of(*_opened(request, one)) for one in body.held}
    skip = [key_of(*_opened(request, one)) for one in body.skip]
    n = max(0, AHEAD - len(held))
    given = desk.pairs.give(account, n, held=held, skip=skip, again=body.again, patience=PATIENCE)
    return JSONResponse(_told(request, given))


def verdicts(request: Request) -> Response:
    """Save verdicts. When this is answered they are on the disk."""
    desk, account = office(request), visitor(request).account
    body: VerdictsSent = sent(request)
    found = [(one, _opened(request, one.pair)) for one in body.verdicts]
    moments, rows = desk.reviews.moments, []
    with desk.writer.writing() as connection:
        for one, (image, other) in found:
            time = moments.next()
            if once(connection, account.id, one.event, time):
                rows.append(("pair", image, other, "", one.verdict, account.name, time))
        if rows:
            columns: dict[str, object] = dict(zip(VERDICTS, map(list, zip(*rows, strict=True)), strict=True))
            add_verdicts(connection, table(VERDICTS, columns), desk.build.store.where)
    return JSONResponse({"saved": len(found), "new": len(rows)})


def picture(request: Request, pair: str, side: str, size: str) -> Response:
    """An image of a pair that was given to who asks."""
    desk = office(request)
    images = _opened(request, pair)
    if size not in SIZES or side not in SIDES:
        raise Stop(404, "There is no such image.")
    image = images[SIDES.index(side)]
    _bring(desk, image)
    return desk.pictures.answer(image, size)


def _bring(desk: Office, image: str) -> None:
    """Have an image in the build's folder: candidates are there; originals and other references are read where they lie."""
    for class_id, role in _known(desk, [image]).get(image, ()):
        if role != CANDIDATE:
            desk.reviews.bring(class_id, image)
            return
    desk.references.bring(image)


def _key(request: Request) -> bytes:
    """What the names of pairs are sealed with: it is of one person, and the same after the server was started again."""
    return office(request).derived("pairs", str(visitor(request).account.id)).encode()


def _opened(request: Request, name: str) -> Key:
    """The image and the other image of a pair, by its name on the page."""
    text = unseal(_key(request), name)
    if text is None:
        raise Stop(404, "There is no such pair.")
    image, _, other = text.partition("\0")
    return image, other


def _known(desk: Office, images: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Class and role of each row of some images; images that are only in reference sets have none."""
    statement = select(IMAGE_NAME.c.name, CLASS_NAME.c.name, WORD.c.name)
    statement = statement.join(ROW, ROW.c.image_id == IMAGE_NAME.c.id)
    statement = statement.join(CLASS_NAME, CLASS_NAME.c.id == ROW.c.class_id).join(WORD, WORD.c.id == ROW.c.role_id)
    statement = statement.where(IMAGE_NAME.c.name.in_(sorted(set(images)))).order_by(WORD.c.name, CLASS_NAME.c.name)
    found: dict[str, list[tuple[str, str]]] = {}
    with desk.build.store.reading() as connection:
        for image, class_id, role in connection.execute(statement):
            found.setdefault(image, []).append((class_id, role))
    return found


def _told(request: Request, given: Given | None) -> dict[str, Any]:
    """What was given, as the page takes it."""
    if given is None:
        return {"ready": False, "pairs": [], "left": 0, "elsewhere": 0, "doubted": 0, "progress": [], "message": ""}
    return {
        "ready": True,
        "pairs": _pairs(request, [(pair, {"doubted": doubted}) for pair, doubted in given.pairs]),
        "left": given.left,
        "elsewhere": given.elsewhere,
        "doubted": given.doubted,
        "progress": [
            {"metric": one.metric, "target": one.target, "pairs": one.pairs, "judged": one.judged} for one in given.progress
        ],
        "message": given.message,
    }


def _pairs(request: Request, given: Sequence[tuple[Pair, dict[str, Any]]]) -> list[dict[str, Any]]:
    desk, key = office(request), _key(request)
    known = _known(desk, [image for pair, _ in given for image in pair.key])
    names = desk.build.class_names

    def classes(image: str) -> list[str]:
        ids = dict.fromkeys(class_id for class_id, _ in known.get(image, ()))
        return [names.get(one) or one for one in ids]

    return [
        {
            "id": seal(key, f"{pair.image}\0{pair.other}"),
            "metric": pair.metric,
            "distance": pair.distance,
            "reference": pair.reference,
            "classes": [classes(pair.image), classes(pair.other)],
            **more,
        }
        for pair, more in given
    ]


ROUTES = (
    Route("GET", "/pairs", reviewing, REVIEWERS),
    Route("GET", "/pairs/{pair}/{side}/{size}", picture, REVIEWERS, gives=(IMAGE,)),
    Route("POST", "/pairs/next", next_pairs, REVIEWERS, NextSent, (Pairs,), (404,)),
    Route("POST", "/pairs/verdicts", verdicts, REVIEWERS, VerdictsSent, (SavedNew,), (404,)),
)
