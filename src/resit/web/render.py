"""Pages from templates."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, Response

from resit.web.office import office

if TYPE_CHECKING:
    import jinja2
    from starlette.requests import Request

STATIC = Path(__file__).parent / "static"


@cache
def templates() -> jinja2.Environment:
    """The templates of the package; all that they are given is escaped."""
    import jinja2

    kit = jinja2.Environment(
        loader=jinja2.PackageLoader("resit.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    kit.globals["asset"] = asset
    return kit


@cache
def asset(name: str) -> str:
    """Address of a file of the package; it changes with what is in it, so that browsers may keep it."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?{digest}"


def shown(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """A page.

    Parameters
    ----------
    request : Request
    template : str
        Name of its file, without its ending.
    status : int, optional
    **values
        What the template is given; ``visitor`` is who asks, or None, and ``has_exam`` whether the build has an exam.
    """
    seen = getattr(request.state, "visitor", None)
    exam = seen is not None and office(request).papers.some()
    page = templates().get_template(f"{template}.html").render(visitor=seen, has_exam=exam, **values)
    return HTMLResponse(page, status)
