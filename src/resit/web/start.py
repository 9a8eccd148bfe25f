"""What waits for a reviewer, in numbers that are quick to have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from resit.web.review_marks import images_judged, judged_as
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.web.office import Office

PATIENCE = 0.5  # seconds that the page waits for the list of pairs


def told(desk: Office) -> dict[str, Any]:
    """What the first page of a reviewer is given.

    Returns
    -------
    dict
        ``pairs``: how many wait, None while they are being counted; ``fault``: why they cannot be; ``revision``: the last one,
        None where there is no selection; ``images``: images of it that were not looked at, in ``classes`` of ``all_classes``.
    """
    found: dict[str, Any] = {"pairs": None, "fault": "", "revision": desk.reviews.last(), "images": 0, "classes": 0}
    try:
        found["pairs"] = desk.pairs.left(PATIENCE)
    except Stop as stop:
        found["fault"] = stop.message
    chosen = {} if found["revision"] is None else desk.reviews.revision(found["revision"]).chosen
    held = images_judged(desk.build.store.verdicts()) if chosen else {}
    left = [sum(not judged_as(held, one.image, key) for one in images) for key, images in chosen.items()]
    return found | {"images": sum(left), "classes": sum(map(bool, left)), "all_classes": len(left), "build": desk.build}
