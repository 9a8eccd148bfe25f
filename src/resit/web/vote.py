"""The voting page: one class, a grid of images, every click saved."""

from __future__ import annotations

import asyncio
import statistics

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from resit.store.work import Click, finished, lease, marks
from resit.web.answers import finish
from resit.web.assign import give, give_ahead
from resit.web.class_texts import ClassText
from resit.web.identity import visitor
from resit.web.office import Office, office
from resit.web.pictures import SIZES
from resit.web.render import shown
from resit.web.replies import Ahead, Finished, Saved
from resit.web.routing import IMAGE, VOTERS, Route
from resit.web.saver import Clicks
from resit.web.sent import EVENT, Sent, sent
from resit.web.stop import Stop
from resit.web.times import moment, seconds_between

RECENT = 10  # pages from which the time left is told


class ClickSent(Sent):
    """One click, as the page sends it."""

    event: str = Field(pattern=EVENT)
    position: int = Field(ge=0)
    selected: bool


class ClicksSent(Sent):
    """Clicks that wait to be saved, in order."""

    clicks: list[ClickSent] = Field(min_length=1, max_length=200)


class FinishSent(Sent):
    """Positions that are selected on a page that is done."""

    selected: list[int] = Field(max_length=10_000)


def voting(request: Request) -> Response:
    """The page that somebody has begun, or the next one."""
    desk, account = office(request), visitor(request).account
    store, demand = desk.build.store, desk.demands.get()
    given = give(store, desk.writer, account, demand, moment(), moment(desk.settings.lease * 60))
    if given.task_id is None:
        with store.reading() as connection:
            return shown(request, "done", pages=len(finished(connection, account.id)))
    task = desk.tasks.get(given.task_id)
    with store.reading() as connection:
        last, done = marks(connection, account.id, task.number), finished(connection, account.id)
    ids = [image_id(desk, request, one.image) for one in task.shown]
    images = [
        {"position": one.position, "id": key, "selected": one.position in last and last[one.position].selected}
        for one, key in zip(task.shown, ids, strict=True)
    ]
    pace = statistics.median(seconds_between(one.begun, one.time) for one in done[-RECENT:]) if done else None
    return shown(
        request,
        "vote",
        task=task.name,
        text=desk.texts.get(task.class_id, ClassText(task.class_id)),
        images=images,
        guidance=desk.build.config.votes.guidance,
        pages=len(done),
        left=given.left,
        minutes=None if pace is None else max(1, round((given.left + 1) * pace / 60)),
    )


def ahead(request: Request) -> Response:
    """Keep the next page for who is at one, and tell the addresses of its images, so that they can be loaded meanwhile."""
    desk, account = office(request), visitor(request).account
    store, demand = desk.build.store, desk.demands.get()
    kept = give_ahead(store, desk.writer, account, demand, moment(), moment(desk.settings.lease * 60))
    if kept is None:
        return JSONResponse({"images": []})
    task = desk.tasks.get(kept)
    return JSONResponse({"images": [f"/vote/{task.name}/{image_id(desk, request, one.image)}/small" for one in task.shown]})


def image_id(desk: Office, request: Request, image: str) -> str:
    """Name of an image in one session: it tells nothing, and is of no use to anybody else."""
    return desk.derived("image", f"{visitor(request).session}\0{image}")


def picture(request: Request, task: str, image: str, size: str) -> Response:
    """An image of a page that was given to who asks."""
    desk, account = office(request), visitor(request).account
    if size not in SIZES:
        raise Stop(404, "There is no such size.")
    known = desk.tasks.get(task)
    with desk.build.store.reading() as connection:
        if lease(connection, account.id, known.number) is None:
            raise Stop(404, "There is no such image.")
    found = next((one.image for one in known.shown if image_id(desk, request, one.image) == image), None)
    if found is None:
        raise Stop(404, "There is no such image.")
    return desk.pictures.answer(found, size)


async def clicks(request: Request, task: str) -> Response:
    """Save clicks. When this is answered they are on the disk."""
    desk, account = office(request), visitor(request).account
    body: ClicksSent = sent(request)
    known = desk.tasks.kept(task) or await run_in_threadpool(desk.tasks.get, task)
    if any(click.position >= len(known.shown) for click in body.clicks):
        raise Stop(422, "A click on an image that the page does not have.")
    found = tuple(Click(account.id, known.number, click.event, click.position, click.selected) for click in body.clicks)
    await asyncio.wrap_future(desk.saver.save(Clicks(account.id, known.number, found)))
    return JSONResponse({"saved": len(found)})


def done(request: Request, task: str) -> Response:
    """Turn a page into votes. Asked again, it changes nothing."""
    desk, account = office(request), visitor(request).account
    body: FinishSent = sent(request)
    known = desk.tasks.get(task)
    with desk.writer.writing() as connection:
        where = desk.build.store.where
        new = finish(connection, account, known, set(body.selected), time=moment(), where=where)
    return JSONResponse({"finished": True, "new": new})


ROUTES = (
    Route("GET", "/vote", voting, VOTERS),
    Route("GET", "/vote/ahead", ahead, VOTERS, gives=(Ahead,)),
    Route("GET", "/vote/{task}/{image}/{size}", picture, VOTERS, gives=(IMAGE,)),
    Route("POST", "/vote/{task}/clicks", clicks, VOTERS, ClicksSent, (Saved,), (409,)),
    Route("POST", "/vote/{task}/finish", done, VOTERS, FinishSent, (Finished,), (412,)),
)
