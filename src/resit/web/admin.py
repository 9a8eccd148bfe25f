"""The admin page: people and how well they answer, invites, decisions on answers, and how far the build is."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from resit.build.steps.label import decide
from resit.errors import UsageError
from resit.store.accounts import ROLES, everybody, invite, revoke
from resit.web.figures import LOOK_BELOW
from resit.web.identity import visitor
from resit.web.office import office
from resit.web.render import shown
from resit.web.routing import ADMINS, Route
from resit.web.stop import Stop
from resit.web.times import moment


def overview(request: Request) -> Response:
    """People, answers and funnel."""
    desk = office(request)
    return shown(request, "admin", **_values(request), link=None, build=desk.build)


def _values(request: Request) -> dict[str, Any]:
    desk = office(request)
    found = desk.figures.get()
    head, *rows = found.status.funnel.to_rows()
    with desk.build.store.reading() as connection:
        invited = everybody(connection)
    return {"figures": found, "head": head, "rows": rows, "invited": invited, "roles": ROLES, "look_below": LOOK_BELOW}


def make_invite(request: Request) -> Response:
    """Invite somebody; the link is shown this once."""
    desk, sent = office(request), request.state.fields
    try:
        with desk.writer.writing() as connection:
            account, secret = invite(connection, str(sent.get("role", "")), str(sent.get("name", "")).strip() or None, moment())
    except UsageError as error:
        raise Stop(422, str(error)) from error
    desk.figures.forget()
    link = {"name": account.name, "role": account.role, "address": f"{desk.settings.address}/invite/{secret}"}
    return shown(request, "admin", **_values(request), link=link, build=desk.build)


def take_back(request: Request) -> Response:
    """Revoke the invites of somebody; the pages that they hold become free."""
    desk, name = office(request), str(request.state.fields.get("name", ""))
    if name == visitor(request).account.name:
        raise Stop(422, "You cannot revoke yourself here. Another admin can, or `resit serve BUILD --revoke NAME`.")
    try:
        with desk.writer.writing() as connection:
            revoke(connection, name, moment())
    except UsageError as error:
        raise Stop(422, str(error)) from error
    desk.figures.forget()
    return _back()


def decision(request: Request) -> Response:
    """Take the votes of an answer out, or back in."""
    desk, sent = office(request), request.state.fields
    if sent.get("status") not in ("accepted", "rejected"):
        raise Stop(422, "An answer is accepted or rejected.")
    by = visitor(request).account.name
    try:
        decide(desk.build, [str(sent.get("assignment", ""))], sent["status"], by=by, reason=str(sent.get("reason", ""))[:500])
    except UsageError as error:
        raise Stop(422, str(error)) from error
    desk.demands.forget()
    desk.figures.forget()
    return _back()


def _back() -> Response:
    return RedirectResponse("/admin", 303)


ROUTES = (
    Route("GET", "/admin", overview, ADMINS),
    Route("POST", "/admin/invites", make_invite, ADMINS),
    Route("POST", "/admin/revoke", take_back, ADMINS),
    Route("POST", "/admin/answers", decision, ADMINS),
)
