"""A build with near-duplicates to look at, and what is known of them that the pages do not tell."""

from __future__ import annotations

import json
import re
import time
from html import unescape
from pathlib import Path
from typing import Any

from served import Caller, Served

import steps_made as made

PEOPLE = {"votes": {"task": 6, "positive": 1, "negative": 1, "people": 2}}
CANDIDATES = tuple(f"{key}/web {number}" for key in made.CLASSES for number in range(8))
# What candidates are near-copies of: an original, an image of another reference set, and another candidate.
LIKE = {"cat/web 0": "original cat/000", "cat/web 1": "train 3", "dog/web 0": "cat/web 2"}
TARGET = 0.85


def near(root: Path, *, target: float | str = TARGET, search: bool = True, **more: Any) -> Path:
    """A build that was compared with its original and with the reference set ``train``."""
    from resit.build.steps.dedupe import find_duplicates
    from resit.build.steps.gather import gather
    from resit.build.steps.opened import open_build

    folder = made.begin(root, **(PEOPLE | more)).folder.path
    made.set_target(folder, target)
    made.write_images(root / "train", {f"some/{number}": made.picture(f"train {number}") for number in range(6)})
    images = {name: made.picture(name, like=LIKE.get(name)) for name in CANDIDATES}
    with open_build(folder) as build:
        gather(build, f"folder:{made.write_images(root / 'web', images)}")
        if search:
            find_duplicates(build, against=[str(root / "train")])
    return folder


def digest(name: str) -> str:
    """Of a candidate, an original or an image of the other reference set."""
    return made.digest(made.picture(name, like=LIKE.get(name)))


def key(one: str, two: str) -> tuple[str, str]:
    """A pair by the names of its images."""
    return tuple(sorted((digest(one), digest(two))))  # type: ignore[return-value]


def queue(served: Served) -> list[tuple[str, str]]:
    """What `resit build review` has left to look at, in its order."""
    from resit.build.steps.opened import open_build
    from resit.build.steps.pool import read_pool

    with open_build(served.folder) as build:
        rows = read_pool(build).queue.to_pylist()
    return [tuple(sorted((row["image"], row["other"]))) for row in rows]  # type: ignore[misc]


def said(served: Served) -> list[dict[str, Any]]:
    """Verdicts on pairs, in order."""
    rows = sorted(served.rows("verdict"), key=lambda row: row["id"])
    return [row | {"key": tuple(sorted((row["image"], row["other"])))} for row in rows if row["kind"] == "pair"]


class Reviewer:
    """Somebody who looks at pairs without a browser, and can tell which images they are shown."""

    def __init__(self, served: Served, name: str) -> None:
        from resit.build.folder import BuildFolder
        from resit.build.steps.salt import read_salt
        from resit.web.pairs import AHEAD
        from resit.web.sealed import unseal

        self.caller: Caller = served.client("reviewer", name)
        self.most, self._unseal = AHEAD, unseal
        self._salt = read_salt(BuildFolder.open(served.folder)).encode()
        self._id = next(row["id"] for row in served.rows("account") if row["name"] == name)

    def first(self) -> dict[str, Any]:
        """What the page begins with, once the list is there."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            text = self.caller.get("/pairs").text
            found = json.loads(unescape(re.search(r"data-first='([^']*)'", text)[1]))  # type: ignore[index]
            if found["ready"]:
                return dict(found)
            time.sleep(0.1)
        raise AssertionError("the list of pairs is not made")

    def next(self, *, held: tuple[str, ...] = (), skip: tuple[str, ...] = (), again: bool = False) -> dict[str, Any]:
        answer = self.caller.post("/pairs/next", {"held": list(held), "skip": list(skip), "again": again})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def say(self, *verdicts: tuple[str, str], event: str = "") -> Any:
        name = event or f"event-{time.monotonic_ns()}"
        sent = [{"event": f"{name}-{at}", "pair": pair, "verdict": verdict} for at, (pair, verdict) in enumerate(verdicts)]
        return self.caller.post("/pairs/verdicts", {"verdicts": sent})

    def keys(self, given: dict[str, Any]) -> list[tuple[str, str]]:
        """The images of what was given, opened with the build's own secret."""
        import hashlib
        import hmac

        secret = hmac.new(self._salt, b"web", hashlib.sha256).digest()
        own = hmac.new(secret, f"pairs\0{self._id}".encode(), hashlib.sha256).hexdigest()[:32].encode()
        texts = [self._unseal(own, pair["id"]) for pair in given["pairs"]]
        return [tuple(sorted(text.split("\0"))) for text in texts]  # type: ignore[misc,union-attr]
