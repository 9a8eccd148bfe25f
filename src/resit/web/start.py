"""What waits: for a reviewer, in numbers that are quick to have, and for the build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from resit.build.funnel import REVIEW
from resit.web.review_marks import images_judged, judged_as
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.build.steps.status import Status
    from resit.store.accounts import Account
    from resit.web.office import Office

PATIENCE = 0.5  # seconds that the page waits for the list of pairs
# Where that is done which a build needs next, by how the sentence on it begins; the first that fits holds.
NEXT = {
    "Get votes": "/admin#invite",
    "Find near-duplicates": "/build#dedupe",
    REVIEW: "/pairs",
    "Make": "/build#revision",
    "Look at": "/review",
    "Nothing is short": "/review",
    "Release it": "/build#release",
}


def next_place(state: Status) -> str:
    """Where that is done which a build needs next; empty where no page does it."""
    if state.next.startswith("Look at") and "image" not in state.next:
        return "/pairs"
    return next((place for start, place in NEXT.items() if state.next.startswith(start)), "")


def told(desk: Office, account: Account) -> dict[str, Any]:
    """What the first page of a reviewer is given.

    Returns
    -------
    dict
        ``pairs``: how many wait for them, None while they are being counted; ``elsewhere``: how many others have now;
        ``fault``: why they cannot be counted; ``revision``: the last one, None where there is no selection;
        ``images``: images of it that were not looked at, in ``classes`` of ``all_classes``.
    """
    found: dict[str, Any] = {"pairs": None, "elsewhere": 0, "fault": "", "revision": desk.reviews.last()}
    found |= {"images": 0, "classes": 0}
    try:
        if given := desk.pairs.give(account, 0, patience=PATIENCE):
            found |= {"pairs": given.left - given.elsewhere, "elsewhere": given.elsewhere}
    except Stop as stop:
        found["fault"] = stop.message
    chosen = {} if found["revision"] is None else desk.reviews.revision(found["revision"]).chosen
    held = images_judged(desk.build.store.verdicts()) if chosen else {}
    left = [sum(not judged_as(held, one.image, key) for one in images) for key, images in chosen.items()]
    return found | {"images": sum(left), "classes": sum(map(bool, left)), "all_classes": len(left), "build": desk.build}
