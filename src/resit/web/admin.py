"""The admin page: people and how well they answer, invites, and how far the build is."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from resit.errors import UsageError
from resit.store.accounts import ROLES, invite, revoke
from resit.web.figures import LOOK_BELOW
from resit.web.identity import visitor
from resit.web.office import office
from resit.web.person import answer_place, person_place
from resit.web.render import shown
from resit.web.routing import ADMINS, REDIRECT, Route
from resit.web.sent import Sent, sent
from resit.web.start import next_place
from resit.web.stop import Stop
from resit.web.times import moment


class InviteSent(Sent):
    """Who is invited; without a name they get one."""

    role: Literal["annotator", "reviewer", "admin"] = Field(description="A role is annotator, reviewer or admin.")
    name: str = Field(default="", max_length=80, description="A name has 80 characters at most.")


class RevokeSent(Sent):
    """Whose links and sessions end."""

    name: str


def overview(request: Request) -> Response:
    """People, answers and funnel."""
    return shown(request, "admin", **_values(request))


def _values(request: Request, link: dict[str, str] | None = None, wanted: InviteSent | None = None) -> dict[str, Any]:
    """What the page is given; ``wanted`` is an invite that was refused, and stays in the form."""
    desk = office(request)
    found = desk.figures.get()
    head, *rows = found.status.funnel.to_rows()
    return {
        "build": desk.build,
        "figures": found,
        "next_place": next_place(found.status),
        "head": head,
        "rows": rows,
        "roles": ROLES,
        "look_below": LOOK_BELOW,
        "link": link,
        "opens_here_alone": desk.settings.opens_here_alone,
        "wanted": wanted,
        "person_place": person_place,
        "answer_place": partial(answer_place, desk),
    }


def make_invite(request: Request) -> Response:
    """Invite somebody; the link is shown this once."""
    desk = office(request)
    body: InviteSent = sent(request)
    try:
        with desk.writer.writing() as connection:
            account, secret = invite(connection, body.role, body.name.strip() or None, moment())
    except UsageError as error:
        values = _values(request, wanted=body)
        raise Stop(422, str(error), page="admin", values=values) from error
    desk.figures.forget()
    link = {"name": account.name, "role": account.role, "address": f"{desk.settings.address}/invite/{secret}"}
    return shown(request, "admin", **_values(request, link))


def after_invite() -> Response:
    """The admin page, for whoever asks anew for the address at which somebody was invited."""
    return _back()


def take_back(request: Request) -> Response:
    """Revoke the invites of somebody; the pages that they hold become free."""
    desk = office(request)
    body: RevokeSent = sent(request)
    if body.name == visitor(request).account.name:
        raise Stop(422, "You cannot revoke yourself here. Another admin can, or `resit serve BUILD --revoke NAME`.")
    try:
        with desk.writer.writing() as connection:
            revoke(connection, body.name, moment())
    except UsageError as error:
        raise Stop(422, str(error)) from error
    desk.sessions.forget()
    desk.figures.forget()
    return _back()


def _back() -> Response:
    return RedirectResponse("/admin", 303)


ROUTES = (
    Route("GET", "/admin", overview, ADMINS),
    Route("GET", "/admin/invites", after_invite, ADMINS, gives=(REDIRECT,)),
    Route("POST", "/admin/invites", make_invite, ADMINS, InviteSent),
    Route("POST", "/admin/revoke", take_back, ADMINS, RevokeSent, (REDIRECT,)),
)
