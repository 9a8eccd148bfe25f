"""The steps of a build that an admin starts: pages for new candidates, near-duplicates, the next revision, the release."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from string import digits
from typing import TYPE_CHECKING, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from resit.build.steps.dedupe import find_duplicates
from resit.build.steps.exam import list_exams
from resit.build.steps.export import export_everything
from resit.build.steps.label import EXPORTS, pages_of, planned_tasks
from resit.build.steps.publish import release_build
from resit.data.paths import counted
from resit.web.identity import visitor
from resit.web.jobs import Ended
from resit.web.office import Office, office
from resit.web.render import shown
from resit.web.replies import Jobs
from resit.web.review_rounds import SAMPLE
from resit.web.routing import ADMINS, FILE, REDIRECT, REVIEWERS, Route
from resit.web.sent import RevisionStepSent, StepSent, sent
from resit.web.start import judgements, next_place
from resit.web.stop import Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from resit.build.steps.opened import Tell

PLAN, DEDUPE, RELEASE, EXPORT = "plan", "dedupe", "release", "export"
RELEASES = "releases"
# The version names a folder.
VERSION = re.compile(r"^[0-9A-Za-z][0-9A-Za-z._+-]{0,39}$")
ABOUT = ("title", "licence", "contact")
LONGEST = 300


class ReleaseSent(RevisionStepSent):
    """What a release is called."""

    version: str = Field(
        pattern=VERSION.pattern, description="A version is made of letters, digits, points and hyphens, such as 1.0.0."
    )
    title: str = Field(default="", max_length=LONGEST)
    licence: str = Field(default="", max_length=LONGEST)
    contact: str = Field(default="", max_length=LONGEST)
    unseen: Literal["", "yes"] = Field(default="", description="Whether images that nobody has looked at may be in it.")


@dataclass(frozen=True, slots=True)
class Found:
    """A release in the build's folder."""

    version: str
    path: str


def overview(request: Request) -> Response:
    """How far the build is, and the steps to start."""
    desk = office(request)
    found = desk.state.get()
    head, *rows = found.funnel.to_rows()
    return shown(
        request,
        "steps",
        build=desk.build,
        found=found,
        next_place=next_place(found),
        head=head,
        rows=rows,
        jobs=desk.jobs.all(),
        busy=desk.jobs.running(),
        releases=_releases(desk),
        unseen=sum(marks.count("") for marks in judgements(desk, desk.reviews.last())),
        form=_form(desk),
        exams=list_exams(desk.build),
        exported=_exported(desk).is_file(),
        revision=desk.reviews.last(),
        event=secrets.token_hex(16),
        sample=SAMPLE,
    )


def _releases(desk: Office) -> list[Found]:
    folder = desk.build.path.absolute() / RELEASES
    if not folder.is_dir():
        return []
    return [Found(path.name, str(path)) for path in sorted(folder.iterdir()) if VERSION.fullmatch(path.name) and path.is_dir()]


def _form(desk: Office) -> dict[str, str]:
    """What the form of the release begins with: what was filled in last, and a version that is not taken."""
    last = desk.jobs.last(RELEASE)
    filled = dict.fromkeys(ABOUT, "") | dict(last.form if last else {})
    taken = {one.version for one in _releases(desk)}
    version = filled.get("version", desk.build.config.version)
    while version in taken:
        start = version.rstrip(digits)
        number = version[len(start) :]
        version = f"{start}{int(number) + 1}" if number else f"{start}.1"
    return filled | {"version": version}


def job_states(request: Request) -> Response:
    """What runs in the background, for pages that wait for its end."""
    running = office(request).jobs.running()
    return JSONResponse({"running": None if running is None else {"name": running.name, "message": running.message}})


def _started(request: Request, name: str, work: Callable[[Tell], Ended], form: Mapping[str, str] | None = None) -> Response:
    body: StepSent = sent(request)
    office(request).jobs.start(name, visitor(request).account, body.event, work, form)
    return RedirectResponse("/build", 303)


def plan(request: Request) -> Response:
    """Plan pages for candidates that are in none."""
    desk = office(request)

    def work(tell: Tell) -> Ended:
        try:
            found, people = planned_tasks(desk.build, desk.similar, tell=tell)
            pages_of(desk.build, desk.build.store.tasks(), people, tell=tell)
        finally:
            desk.forget()
        return Ended(str(found))

    return _started(request, PLAN, work)


def dedupe(request: Request) -> Response:
    """Find near-duplicates of all candidates."""
    desk = office(request)

    def work(tell: Tell) -> Ended:
        try:
            found = find_duplicates(desk.build, tell=tell)
        finally:
            desk.forget()
        return Ended(str(found))

    return _started(request, DEDUPE, work)


def release(request: Request) -> Response:
    """Write the last revision as a test set that others can use."""
    desk = office(request)
    body: ReleaseSent = sent(request)
    if body.revision != str(desk.reviews.last() or ""):
        raise Stop(409, "Somebody has made another revision since this page was opened. Look at it first.")
    about = {name: getattr(body, name).strip() for name in ABOUT}
    revision = desk.reviews.last()
    left = sum(marks.count("") for marks in judgements(desk, revision))
    if left and not body.unseen:
        what = f"{counted(left, 'image of this revision was', 'images of this revision were')} not looked at by anybody."
        raise Stop(422, f"{what} Say on the form that they may be in the release, or look at them first.")

    def work(tell: Tell) -> Ended:
        tell("Writing the release")
        folder = desk.build.path.absolute() / RELEASES / body.version
        return Ended(str(release_build(desk.build, folder, revision=revision, version=body.version, **about)), revision)

    return _started(request, RELEASE, work, {"version": body.version, **about})


def export(request: Request) -> Response:
    """Write all that is known of the build, but the images, into one file."""
    desk = office(request)

    def work(tell: Tell) -> Ended:
        return Ended(str(export_everything(desk.build, _exported(desk), tell=tell)))

    return _started(request, EXPORT, work)


def exported(request: Request) -> Response:
    """The file that was written last; where there is none, the page on which it is made."""
    desk = office(request)
    path = _exported(desk)
    if not path.is_file():
        return RedirectResponse("/build", 303)
    return FileResponse(path, media_type="application/zip", filename=f"{desk.build.path.absolute().name}-{path.name}")


def _exported(desk: Office) -> Path:
    return desk.build.path.absolute() / EXPORTS / "everything.zip"


ROUTES = (
    Route("GET", "/build", overview, ADMINS),
    Route("GET", "/build/export", exported, ADMINS, gives=(FILE, REDIRECT)),
    Route("GET", "/jobs", job_states, REVIEWERS, gives=(Jobs,)),
    Route("POST", "/build/plan", plan, ADMINS, StepSent, (REDIRECT,), (409,)),
    Route("POST", "/build/dedupe", dedupe, ADMINS, StepSent, (REDIRECT,), (409,)),
    Route("POST", "/build/export", export, ADMINS, StepSent, (REDIRECT,), (409,)),
    Route("POST", "/build/release", release, ADMINS, ReleaseSent, (REDIRECT,), (409,)),
)
