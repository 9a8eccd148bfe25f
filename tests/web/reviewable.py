"""A build whose candidates have votes, so that it can be sampled, reviewed and released."""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from served import Caller, Served

import steps_made as made

VOTES = 40
MARK = "/review/{}/marks"


def candidate(class_id: str, number: int) -> str:
    """Digest of a candidate; those with lower numbers were selected more often."""
    return made.digest(made.picture(f"{class_id}/web {number}"))


def judged(root: Path, *, candidates: int = 8, per_class: int = 4, sample: bool = True, **more: Any) -> Path:
    """A build of cats and dogs by top images: candidate 0 of each class is the best one, and so on."""
    from resit.build.steps.gather import gather
    from resit.build.steps.opened import open_build
    from resit.build.steps.sample import draw_revision
    from resit.store.schemas import COUNTS, table

    names = [(key, number) for key in made.CLASSES for number in range(candidates)]
    folder = made.begin(root, per_class=per_class, **more).folder.path
    made.set_target(folder, "null")
    pictures = {f"{key}/web {number}": made.picture(f"{key}/web {number}") for key, number in names}
    with open_build(folder) as build:
        gather(build, f"folder:{made.write_images(root / 'web', pictures)}")
        counts = {
            "image": [candidate(*one) for one in names],
            "class_id": [key for key, _ in names],
            "selected": [VOTES - number for _, number in names],
            "shown": [VOTES] * len(names),
        }
        build.store.add_counts(table(COUNTS, counts))
        if sample:
            draw_revision(build)
    return folder


@pytest.fixture(scope="session")
def pets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a build that has a first revision, to be copied."""
    root = tmp_path_factory.mktemp("pets")
    judged(root)
    return root


@pytest.fixture
def folder(pets: Path, tmp_path: Path) -> Path:
    """A build of one's own that has a first revision."""
    return copied(pets, tmp_path)


def copied(pets: Path, root: Path) -> Path:
    """A copy of that build."""
    shutil.copytree(pets, root, dirs_exist_ok=True)
    return root / "new"


def selected(served: Served, revision: int | None = None) -> dict[str, set[str]]:
    """Images of a revision by class."""
    from resit.build.steps.opened import open_build

    with open_build(served.folder) as build:
        rows = build.store.selection(revision).selected.to_pylist()
    return {key: {row["image"] for row in rows if row["class_id"] == key} for key in made.CLASSES}


def top(*numbers: int, class_id: str = "cat") -> set[str]:
    return {candidate(class_id, number) for number in numbers}


class Inside(Served):
    """A server in this process, which begins quickly, and plans no pages."""

    def start(self) -> None:
        import uvicorn

        from resit.build.steps.opened import open_build
        from resit.web.app import make_app
        from resit.web.class_texts import class_texts
        from resit.web.guard import Guard
        from resit.web.office import open_office

        self.stack = ExitStack()
        build = self.stack.enter_context(open_build(self.folder))
        desk = open_office(build, self.settings, class_texts(build, None))
        self.stack.callback(desk.saver.close)
        self.server = uvicorn.Server(uvicorn.Config(Guard(make_app(desk)), port=self.port, log_level="warning"))
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def __exit__(self, *_: object) -> None:
        for caller in self.callers:
            caller.http.close()
        self.server.should_exit = True
        self.thread.join()
        self.stack.close()


class Page:
    """The page of a class, as somebody sees it."""

    def __init__(self, caller: Caller, place: int = 1, page: int = 1) -> None:
        self.caller, self.place = caller, place
        self.text = caller.get(f"/review/{place}?page={page}").text
        found = re.findall(r'data-image="(\w+)" data-kind="(\w+)" data-name="([^"]+)"', self.text)
        self.new = [key for key, kind, _ in found if kind == "new"]
        self.old = [key for key, kind, _ in found if kind == "old"]
        self.revision = int(re.search(r'data-revision="(\d+)"', self.text)[1])  # type: ignore[index]

    def mark(self, kind: str, verdict: str = "", *, event: str = "", **more: Any) -> dict[str, Any]:
        return {"event": event or secrets.token_hex(8), "revision": self.revision, "kind": kind, "verdict": verdict, **more}

    def send(self, *marks: dict[str, Any]) -> Any:
        return self.caller.post(MARK.format(self.place), {"marks": list(marks)})

    def image(self, verdict: str, key: str) -> Any:
        return self.send(self.mark("image", verdict, image=key))

    def looked(self) -> Any:
        return self.send(self.mark("looked", images=self.new))

    def state(self) -> dict[str, Any]:
        return dict(self.caller.get(f"/review/{self.place}/{self.revision}/state").json())


def verdicts(served: Served) -> list[tuple[str, ...]]:
    """All verdicts in order, without their times."""
    from resit.build.steps.opened import open_build

    with open_build(served.folder) as build:
        rows = build.store.verdicts().to_pylist()
    names = ("kind", "image", "other", "class_id", "verdict", "person")
    return [tuple(row[name] for name in names) for row in rows]


def submit(caller: Caller, page: str, action: str, **more: str) -> Any:
    """Send the form of a page that leads somewhere."""
    text = caller.get(page).text
    form = re.search(rf'<form method="post" action="{action}".*?</form>', text, re.DOTALL)
    assert form, text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form[0]))
    return caller.http.post(action, data=fields | more, headers={"accept": "text/html"})


def job_done(caller: Caller) -> None:
    """Wait until nothing runs in the background."""
    end = time.monotonic() + 40
    while caller.get("/jobs").json()["running"]:
        assert time.monotonic() < end
        time.sleep(0.05)


def shown_as(page: Page) -> dict[str, str]:
    """Digest of each new image by its key: images of a page stand in the order of their digests."""
    return dict(zip(page.new, sorted(top(0, 1, 2, 3)), strict=True))


def key_of(page: Page, number: int) -> str:
    return {digest: key for key, digest in shown_as(page).items()}[candidate("cat", number)]
