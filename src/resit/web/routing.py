"""Routes as a table: each says who may use it, and a route that writes always checks where the request comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi import Depends

from resit.web.identity import Allowed, fields

if TYPE_CHECKING:
    from fastapi import FastAPI

VOTERS = ("annotator", "admin")
ADMINS = ("admin",)
EVERYBODY = ("annotator", "reviewer", "admin")


class Route(NamedTuple):
    """One route.

    Parameters
    ----------
    method : {'GET', 'POST'}
    path : str
    does : callable
    roles : tuple of str or None
        Who may use it; None where nobody need be signed in.
    """

    method: str
    path: str
    does: Callable[..., Any]
    roles: tuple[str, ...] | None


def add_routes(app: FastAPI, routes: tuple[Route, ...]) -> None:
    """Add routes to an application."""
    for route in routes:
        guards = [] if route.roles is None else [Depends(Allowed(*route.roles))]
        if route.method != "GET":
            guards.append(Depends(fields))
        app.add_api_route(route.path, route.does, methods=[route.method], dependencies=guards, response_model=None)
