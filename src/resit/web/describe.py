"""The OpenAPI description of the pages, for those who automate: made from the tables of routes by which they are served."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from resit import __version__
from resit.web.identity import FIELD, HEADER
from resit.web.office import office
from resit.web.pictures import SIZES
from resit.web.replies import Failed
from resit.web.routing import ADMINS, ANY_JSON, FILE, IMAGE, PAGE, REDIRECT, TEXT, Route

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel

ABOUT = """\
What the pages of a build are made of. Open an invite link with `GET /invite/{secret}`: the answer sets the cookie of a session.
`GET /session` tells the token that requests which write must bring, in the header `x-csrf-token` or in a form's field `csrf`.
Errors are told as JSON, and as a page to whoever takes `text/html`. Any request may get 503 while the database cannot be used:
nothing was done then, and the same request may be sent again. What has an `event` counts once, however often it is sent.
"""
STATUS = {
    200: "It is done.",
    303: "It is done; go on at another address.",
    400: "What was sent cannot be read.",
    401: "Nobody is signed in.",
    403: "Not for this role, or the token is missing or wrong.",
    404: "There is no such thing, or it was not given to who asks.",
    409: "It is over, or something else is being done.",
    412: "It was changed elsewhere since it was read.",
    413: "More than 64 KiB were sent.",
    415: "Neither a form nor an object of JSON was sent.",
    422: "What was sent does not fit.",
    429: "Too many were tried; the header `retry-after` tells how many seconds to wait.",
    503: "The database or a file cannot be written or read now. Nothing was done.",
}
NUMBER = {"type": "integer", "minimum": 0}
# What may stand in a place of a path.
PLACES: dict[str, dict[str, Any]] = {
    "secret": {"type": "string", "description": "Of an invite link."},
    "task": {"type": "string", "description": "Name of a page to vote on."},
    "answer": {"type": "string", "description": "One person's answer to a page, as the list of their answers names it."},
    "image": {
        "type": "string",
        "description": "Name of an image: it differs between people, and in votes and exams between sessions.",
    },
    "size": {"type": "string", "enum": list(SIZES)},
    "exam": NUMBER | {"description": "Number of an exam."},
    "place": NUMBER | {"description": "Number of a class in the list of classes, or of an example."},
    "revision": NUMBER | {"description": "Number of a revision of the set."},
    "pair": {"type": "string", "description": "Name of a pair: it differs between people."},
    "side": {"type": "string", "enum": ["one", "two"]},
}
QUERY = {
    "name": "Whose answers.",
    "after": "Number of a class in the list; what is no number counts as 0.",
    "page": "Number of a page, from 1; what is no number counts as 1.",
}
MEDIA: dict[str, tuple[str, dict[str, Any]]] = {
    PAGE: ("text/html", {"type": "string"}),
    TEXT: ("text/plain", {"type": "string"}),
    IMAGE: ("image/webp", {"type": "string", "contentMediaType": "image/webp"}),
    FILE: ("application/zip", {"type": "string", "contentMediaType": "application/zip"}),
    ANY_JSON: ("application/json", {"type": "object"}),
}
SESSION, TOKEN = "session", "token"


@cache
def description(routes: tuple[Route, ...], cookie: str) -> dict[str, Any]:
    """Some routes as OpenAPI 3.1.

    Parameters
    ----------
    routes : tuple of Route
    cookie : str
        Name of the cookie of a session.
    """
    models = {model for route in routes for model in (*route.gives, route.body) if inspect.isclass(model)} | {Failed}
    ordered: list[type[BaseModel]] = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in ordered], ref_template="#/components/schemas/{model}", by_alias=True
    )
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    schemes = {
        SESSION: {"type": "apiKey", "in": "cookie", "name": cookie},
        TOKEN: {"type": "apiKey", "in": "header", "name": HEADER},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "resit serve", "version": __version__, "description": ABOUT},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "responses": {str(status): _failure(status) for status in STATUS if status >= 400},
            "securitySchemes": schemes,
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    module = route.does.__module__.rsplit(".", 1)[-1]
    first, _, rest = inspect.cleandoc(route.does.__doc__ or "").partition("\n")
    roles = "Nobody need be signed in." if route.roles is None else f"For the role {' or '.join(route.roles)}."
    found: dict[str, Any] = {
        "operationId": f"{module}_{route.does.__name__}",
        "tags": [module],
        "summary": first,
        "description": " ".join([*rest.split(), roles]),
        "security": _security(route),
        "responses": {str(status): _answer(route, status) for status in sorted(_statuses(route))},
    }
    if parameters := [*_parameters(route)]:
        found["parameters"] = parameters
    if route.body is not None:
        found["requestBody"] = {"required": True, "content": _bodies(route.body)}
    return found


def _security(route: Route) -> list[dict[str, list[str]]]:
    if route.roles is None:
        return []
    return [{SESSION: []}] if route.method == "GET" else [{SESSION: [], TOKEN: []}]


def _places(route: Route) -> list[str]:
    return re.findall(r"{(\w+)}", route.path)


def _parameters(route: Route) -> Iterable[dict[str, Any]]:
    for name in _places(route):
        schema = dict(PLACES[name])
        told = {"description": schema.pop("description")} if "description" in schema else {}
        yield {"name": name, "in": "path", "required": True, "schema": schema, **told}
    for name in route.query:
        yield {"name": name, "in": "query", "required": False, "schema": {"type": "string"}, "description": QUERY[name]}


def _bodies(body: type[BaseModel]) -> dict[str, Any]:
    """A record as JSON; one of texts alone is also taken as a form, in which the token may stand too."""
    schema = _ref(body)
    found: dict[str, Any] = {"application/json": {"schema": schema}}
    if all(field.annotation is str or "Literal" in str(field.annotation) for field in body.model_fields.values()):
        form = {"allOf": [schema, {"type": "object", "properties": {FIELD: {"type": "string"}}}]}
        found["application/x-www-form-urlencoded"] = {"schema": form}
    return found


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _statuses(route: Route) -> set[int]:
    found = {303 if kind == REDIRECT else 200 for kind in route.gives} | set(route.stops) | {503}
    if route.roles is not None:
        found |= {401, 403}
    if _places(route):
        found.add(404)
    if route.method != "GET":
        found |= {400, 413, 415}
    if route.body is not None and route.body.model_fields:
        found.add(422)
    return found


def _answer(route: Route, status: int) -> dict[str, Any]:
    if status >= 400:
        return {"$ref": f"#/components/responses/{status}"}
    told: dict[str, Any] = {"description": STATUS[status]}
    if status == 303:
        return told | {"headers": {"location": {"required": True, "schema": {"type": "string"}}}}
    return told | {"content": dict(_content(kind) for kind in route.gives if kind != REDIRECT)}


def _failure(status: int) -> dict[str, Any]:
    content = {"application/json": {"schema": _ref(Failed)}, "text/html": {"schema": {"type": "string"}}}
    wait = {"headers": {"retry-after": {"required": True, "schema": {"type": "integer"}}}} if status == 429 else {}
    return {"description": STATUS[status], "content": content, **wait}


def _content(kind: Any) -> tuple[str, dict[str, Any]]:
    if kind in MEDIA:
        media, schema = MEDIA[kind]
        return media, {"schema": schema}
    return "application/json", {"schema": _ref(kind)}


def openapi(request: Request) -> Response:
    """Tell programs of all routes: this description."""
    return JSONResponse(description(request.app.state.routes, office(request).cookie))


ROUTES = (Route("GET", "/openapi.json", openapi, ADMINS, gives=(ANY_JSON,)),)
