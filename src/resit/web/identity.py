"""Who asks, and whether they may: sessions, roles, and the token that proves that a writing request comes from our page."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from resit.web.office import office
from resit.web.stop import Stop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from resit.store.accounts import Account
    from resit.web.office import Office

HEADER, FIELD = "x-csrf-token", "csrf"
SIGN_IN = (
    "You are not signed in. Open the link that you were invited with; if that does not help, it was taken back, "
    "and whoever gave it to you can give you a new one."
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks.

    Parameters
    ----------
    account : Account
    session : str
        The secret of the session.
    csrf : str
        The token that writing requests must bring.
    """

    account: Account
    session: str
    csrf: str


def csrf_of(desk: Office, session: str) -> str:
    """The token of a session."""
    return desk.derived("csrf", session)


class Allowed:
    """A dependency of a route: only people of some roles pass.

    Parameters
    ----------
    roles : str
    """

    def __init__(self, *roles: str) -> None:
        self.roles = frozenset(roles)

    async def __call__(self, request: Request) -> None:
        """Find out who asks, and keep it with the request.

        Raises
        ------
        Stop
            If nobody is signed in, or somebody in another role.
        """
        desk = office(request)
        session = request.cookies.get(desk.cookie, "")
        account = desk.sessions.known(session)
        if account is None and session:
            account = await run_in_threadpool(desk.sessions.look, session)
        if account is None:
            raise Stop(401, SIGN_IN)
        request.state.visitor = Visitor(account, session, csrf_of(desk, session))
        if account.role not in self.roles:
            raise Stop(403, f"This page is not for the role {account.role}.")


def visitor(request: Request) -> Visitor:
    """Who asks; behind :class:`Allowed`."""
    found: Visitor = request.state.visitor
    return found


async def fields(request: Request) -> None:
    """A dependency of a writing route, after :class:`Allowed`: read what was sent; refuse what our pages did not send.

    Raises
    ------
    Stop
        If the token is missing or wrong, or the body is neither a form nor JSON.
    """
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    request.state.fields = _parsed(kind, body)
    token = request.headers.get(HEADER) or str(request.state.fields.get(FIELD, ""))
    if not hmac.compare_digest(token.encode(), visitor(request).csrf.encode()):
        raise Stop(403, "This request does not come from a page of this site. Reload the page and try again.")


def _parsed(kind: str, body: bytes) -> dict[str, Any]:
    try:
        if kind == "application/x-www-form-urlencoded":
            return _storable(dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50)))
        if kind == "application/json":
            found = json.loads(body)
            if isinstance(found, dict):
                return _storable(found)
    except (ValueError, RecursionError) as error:
        raise Stop(400, "What was sent cannot be read.") from error
    raise Stop(415, "Only forms and JSON objects are taken here.")


def _storable(found: dict[str, Any]) -> dict[str, Any]:
    """What was sent, if all its texts can be stored: no database takes half a character, and PostgreSQL no NUL."""
    for text in _texts(found):
        if "\0" in text:
            raise ValueError("a NUL in a text")
        text.encode()
    return found


def _texts(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for one in found if isinstance(found, list) else (*found, *found.values()):
            yield from _texts(one)
