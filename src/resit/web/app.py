"""The application: its routes, and how every ending is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from resit import __version__
from resit.errors import ResitError
from resit.web import admin, describe, entry, exam, pairs, person, review, review_rounds, steps, vote
from resit.web.render import STATIC, shown
from resit.web.routing import add_routes
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.web.office import Office

NOT_NOW = "The server could not write or read what it needed. What was shown as saved is safe; try again in a moment."

PARTS = (entry, describe, vote, exam, pairs, review_rounds, review, steps, admin, person)

# A pool of SQLAlchemy has 15 connections, one of which saves clicks.
THREADS = 12


def make_app(desk: Office) -> FastAPI:
    """The application of a build.

    Parameters
    ----------
    desk : Office

    Returns
    -------
    FastAPI
        To be put behind :class:`resit.web.guard.Guard`.
    """
    app = FastAPI(title="resit", version=__version__, openapi_url=None, redirect_slashes=False, lifespan=_with_few_threads)
    app.state.office = desk
    app.state.routes = tuple(route for part in PARTS for route in part.ROUTES)
    add_routes(app, app.state.routes)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(Stop, _stopped)
    app.add_exception_handler(HTTPException, _no_route)
    app.add_exception_handler(ResitError, _failed)
    return app


@asynccontextmanager
async def _with_few_threads(_: FastAPI) -> AsyncIterator[None]:
    """Bound the requests that are worked on at once: each needs a connection to the database, and these are bounded."""
    current_default_thread_limiter().total_tokens = THREADS
    yield


def _told(request: Request, stop: Stop) -> Response:
    """An error in words: as a page for a browser that wants one, else as JSON."""
    if "text/html" in request.headers.get("accept", ""):
        return shown(request, stop.page, status=stop.status, message=stop.message, **stop.values)
    return JSONResponse({"error": stop.message}, stop.status)


def _stopped(request: Request, error: Stop) -> Response:
    answer = _told(request, error)
    if error.wait:
        answer.headers["retry-after"] = str(error.wait)
    return answer


def _no_route(request: Request, error: HTTPException) -> Response:
    message = "There is no such page." if error.status_code == 404 else str(error.detail)
    answer = _told(request, Stop(error.status_code, message))
    answer.headers.update(error.headers or {})
    return answer


def _failed(request: Request, error: ResitError) -> Response:
    import logging

    logging.getLogger("resit.web").error("%s %s: %s", request.method, request.url.path.split("/")[1], error)
    return _told(request, Stop(503, NOT_NOW))
