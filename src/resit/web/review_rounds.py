"""Rounds of review: making the next revision, and what changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from resit.build.steps.changes import changes
from resit.build.steps.sample import draw_revision
from resit.web.identity import visitor
from resit.web.jobs import Ended
from resit.web.office import Office, office
from resit.web.render import shown
from resit.web.review import image_key
from resit.web.routing import REDIRECT, REVIEWERS, Route
from resit.web.sent import RevisionStepSent, sent
from resit.web.stop import Stop

if TYPE_CHECKING:
    import pyarrow as pa

    from resit.build.diff import Diff
    from resit.build.steps.opened import Tell

SAMPLE = "sample"
WHY = {
    "blacklisted": "judged wrong",
    "too-few-votes": "too few votes",
    "near-duplicate": "near-duplicate of another image",
    "unreviewed": "its pairs are not reviewed",
    "other-class": "chosen for another class",
    "not-drawn": "not drawn this time",
    "drawn": "drawn",
    "upward": "drawn for a bin below that had too few",
    "kept": "kept",
}


@dataclass(frozen=True, slots=True)
class Moved:
    """An image that came or went."""

    key: str
    why: str


@dataclass(frozen=True)
class Changed:
    """What changed in one class."""

    place: int
    name: str
    went: tuple[Moved, ...]
    came: tuple[Moved, ...]


def begin(request: Request) -> Response:
    """Make the next revision in the background."""
    desk = office(request)
    body: RevisionStepSent = sent(request)
    if body.revision != str(desk.reviews.last() or ""):
        raise Stop(409, "Somebody has made another revision since this page was opened. Look at it first.")
    desk.jobs.start(SAMPLE, visitor(request).account, body.event, lambda tell: sampled(desk, tell))
    return RedirectResponse("/review", 303)


def sampled(desk: Office, tell: Tell) -> Ended:
    """Make the next revision as the build's configuration says."""
    try:
        made = draw_revision(desk.build, tell=tell)
    finally:
        desk.forget()
    if made.change is None:
        return Ended(f"Revision {made.revision} is made: {len(made.drawn.selected):,} images.", made.revision)
    came, went = len(made.change.came), len(made.change.went)
    told = f"{came:,} came, {went:,} went" if made.change.changed else "nothing changed"
    return Ended(f"Revision {made.revision} is made: {told}.", made.revision)


def changed(request: Request, revision: str) -> Response:
    """What changed from one revision to the next, and why."""
    desk = office(request)
    number = int(revision) if revision.isascii() and revision.isdecimal() and len(revision) < 10 else 0
    revised = desk.reviews.revision(number)
    if revised.parent is None:
        raise Stop(404, "The first revision came from none: there is nothing that it could have changed.")
    diff = changes(desk.build, revised.parent, number)
    is_last = number == desk.reviews.last()
    return shown(
        request,
        "review_changes",
        revision=number,
        parent=revised.parent,
        diff=diff,
        classes=_classes(desk, request, diff),
        is_last=is_last,
        review=desk.state.get().review if is_last else None,
    )


def _classes(desk: Office, request: Request, diff: Diff) -> list[Changed]:
    went, came = _by_class(desk, request, diff.went, "reason"), _by_class(desk, request, diff.came, "fate")
    return [
        Changed(place, info.name, tuple(went.get(info.id, ())), tuple(came.get(info.id, ())))
        for place, info in enumerate(desk.build.classes, 1)
        if info.id in went or info.id in came
    ]


def _by_class(desk: Office, request: Request, rows: pa.Table, why: str) -> dict[str, list[Moved]]:
    found: dict[str, list[Moved]] = {}
    for row in rows.to_pylist():
        found.setdefault(row["class_id"], []).append(Moved(image_key(desk, request, row["image"]), WHY.get(row[why], row[why])))
    return found


ROUTES = (
    Route("POST", "/review/sample", begin, REVIEWERS, RevisionStepSent, (REDIRECT,), (409,)),
    Route("GET", "/review/changes/{revision}", changed, REVIEWERS),
)
