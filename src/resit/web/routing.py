"""Routes as a table: each says who may use it, what it is sent and gives; one that writes checks where a request comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi import Depends

from resit.web.identity import Allowed, fields
from resit.web.sent import Fits, Sent

if TYPE_CHECKING:
    from fastapi import FastAPI

    from resit.web.replies import Reply

VOTERS = ("annotator", "admin")
REVIEWERS = ("reviewer", "admin")
ADMINS = ("admin",)
EVERYBODY = ("annotator", "reviewer", "admin")
PAGE, IMAGE, TEXT, FILE, REDIRECT, ANY_JSON = "page", "image", "text", "file", "redirect", "json"


class Route(NamedTuple):
    """One route.

    Parameters
    ----------
    method : {'GET', 'POST'}
    path : str
    does : callable
        The first line of its docstring is what people who automate are told of it.
    roles : tuple of str or None
        Who may use it; None where nobody need be signed in.
    body : type of Sent or None, optional
        What a route that writes is sent. It is checked before the callable is called, which has it from
        :func:`resit.web.sent.sent`.
    gives : tuple of (str or type of Reply), optional
        What comes where all goes well: PAGE, IMAGE, TEXT, FILE, REDIRECT, or a record of JSON.
    stops : tuple of int, optional
        Other statuses it may end with than those that follow from the rest.
    query : tuple of str, optional
        Names of what may stand after the question mark.
    """

    method: str
    path: str
    does: Callable[..., Any]
    roles: tuple[str, ...] | None
    body: type[Sent] | None = None
    gives: tuple[str | type[Reply], ...] = (PAGE,)
    stops: tuple[int, ...] = ()
    query: tuple[str, ...] = ()


def add_routes(app: FastAPI, routes: tuple[Route, ...]) -> None:
    """Add routes to an application."""
    for route in routes:
        guards = [] if route.roles is None else [Depends(Allowed(*route.roles))]
        if route.method != "GET":
            guards.append(Depends(fields))
        if route.body is not None:
            guards.append(Depends(Fits(route.body)))
        app.add_api_route(route.path, route.does, methods=[route.method], dependencies=guards, response_model=None)
