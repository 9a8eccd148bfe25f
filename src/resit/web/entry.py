"""In and out: invite links, the first page, and signing out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from resit.store.accounts import begin_session, end_session
from resit.web.identity import visitor
from resit.web.office import office
from resit.web.render import shown
from resit.web.replies import Me
from resit.web.routing import EVERYBODY, PAGE, REDIRECT, TEXT, Route
from resit.web.sent import NothingSent
from resit.web.start import own_exams, told
from resit.web.stop import Stop
from resit.web.times import moment

if TYPE_CHECKING:
    from resit.web.office import Office

DAY = 24 * 60 * 60


def open_invite(request: Request, secret: str) -> Response:
    """Begin a session for who opens an invite link."""
    desk = office(request)
    address = request.client.host if request.client else ""
    if wait := desk.tries.wait(address):
        raise Stop(429, "Too many links that are none were tried from here. Wait a minute.", wait=wait)
    with desk.writer.writing() as connection:
        session = begin_session(connection, secret, moment(), moment(desk.settings.session * DAY))
    if session is None:
        desk.tries.failed(address)
        raise Stop(404, "This link is not good, or not any more. Ask whoever gave it to you for a new one.")
    answer = RedirectResponse("/", 303)
    answer.set_cookie(desk.cookie, session, max_age=int(desk.settings.session * DAY), path="/", **_safely(desk, request))
    return answer


def _safely(desk: Office, request: Request) -> dict[str, object]:
    secure = desk.settings.behind_proxy is not None or request.url.scheme == "https"
    return {"httponly": True, "samesite": "lax", "secure": secure}


def home(request: Request) -> Response:
    """The page for which somebody was invited; where it is not known which, a choice."""
    desk, account = office(request), visitor(request).account
    if account.role == "admin":
        return RedirectResponse("/admin", 303)
    if account.role == "reviewer":
        return shown(request, "home", **told(desk, account))
    if left := [one for one in own_exams(desk, account) if not one.handed_in]:
        return shown(request, "choice", build=desk.build, exams=left)
    return RedirectResponse("/vote", 303)


def me(request: Request) -> Response:
    """Tell a program who is signed in, and the token that it needs to write."""
    seen = visitor(request)
    return JSONResponse({"name": seen.account.name, "role": seen.account.role, "csrf": seen.csrf})


def leave(request: Request) -> Response:
    """Sign out."""
    desk = office(request)
    with desk.writer.writing() as connection:
        end_session(connection, visitor(request).session)
    desk.sessions.forget()
    answer = shown(request, "left")
    answer.delete_cookie(desk.cookie, path="/", **_safely(desk, request))
    return answer


async def health() -> Response:
    """Tell whoever watches the server that it answers."""
    return PlainTextResponse("ok")


ROUTES = (
    Route("GET", "/health", health, None, gives=(TEXT,)),
    Route("GET", "/invite/{secret}", open_invite, None, gives=(REDIRECT,), stops=(429,)),
    Route("GET", "/", home, EVERYBODY, gives=(PAGE, REDIRECT)),
    Route("GET", "/session", me, EVERYBODY, gives=(Me,)),
    Route("POST", "/leave", leave, EVERYBODY, NothingSent),
)
