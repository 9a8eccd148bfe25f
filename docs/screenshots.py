"""Takes the pictures of the web pages that the documentation shows: python docs/screenshots.py [FOLDER].

A small build of the handwritten digits of scikit-learn is made, served, and worked on by people who are made up. The pictures
are of a desktop in light colours and of a phone in dark ones.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image, ImageFilter
from sklearn.datasets import load_digits

from resit.build.steps.dedupe import find_duplicates
from resit.build.steps.exam import make_exam
from resit.build.steps.gather import gather
from resit.build.steps.init import init_build, new_config
from resit.build.steps.opened import Build, open_build
from resit.build.steps.sample import draw_revision
from resit.store.schemas import COUNTS, table
from resit.web.run import invite_to
from resit.web.settings import Settings

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ORIGINALS, CANDIDATES = 40, 60  # of each class
SIDE = 128  # pixels of an image
TARGET = 0.25  # distance up to which pairs are reviewed
LARGEST = 80_000  # bytes of a picture
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "dark",
        "device_scale_factor": 1.5,
        "is_mobile": True,
        "has_touch": True,
    },
}
PEOPLE = {
    "Ann": (0.0, 51),
    "Ben": (0.02, 58),
    "Chidi": (0.01, 44),
    "Dunja": (0.35, 17),
}  # share of wrong clicks, seconds a page


def drawn(grey: np.ndarray, rng: np.random.Generator) -> Image.Image:
    """A digit of 8 × 8 greys as if it were written with some pen on some paper."""
    size = int(rng.integers(72, 100))
    large = Image.fromarray((grey * (255 / 16)).astype(np.uint8)).resize((size, size), Image.Resampling.BICUBIC)
    sheet = Image.new("L", (SIDE, SIDE))
    sheet.paste(large, tuple(int(one) for one in rng.integers(8, SIDE - size - 7, 2)))
    sheet = sheet.rotate(float(rng.normal(0, 6)), Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(1.5))
    ink = 1 / (1 + np.exp(-14 * (np.asarray(sheet, float)[:, :, None] / 255 - 0.42)))
    paper = rng.integers([225, 222, 208], [255, 250, 240])
    pen = rng.choice([[24, 36, 92], [20, 20, 24], [112, 24, 32], [20, 82, 60]])
    grain = rng.normal(0, 2.5, (SIDE, SIDE, 1))
    return Image.fromarray(np.clip(paper * (1 - ink) + pen * ink + grain, 0, 255).astype(np.uint8))


def copied(image: Image.Image) -> Image.Image:
    """A near-copy: a little of its border is cut off, and it is darker."""
    return image.crop((3, 2, SIDE - 2, SIDE - 3)).resize((SIDE, SIDE)).point(lambda value: value * 0.93)


def png(image: Image.Image) -> bytes:
    """An image as a file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def write(root: Path) -> tuple[Path, dict[str, str]]:
    """The original with its votes, and candidates; and what the images really show, by digest."""
    bunch, rng = load_digits(), np.random.default_rng(20)
    truth: dict[str, str] = {}
    lines = []
    for number, word in enumerate(WORDS):
        greys = bunch.images[bunch.target == number]
        first = drawn(greys[0], rng)
        for place, grey in enumerate(greys[: ORIGINALS + CANDIDATES]):
            part = "original" if place < ORIGINALS else "web"
            image = first if place == 0 else copied(first) if place == ORIGINALS else drawn(grey, rng)
            data = png(image)
            target = root / part / word / f"{place:03}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            # Every twelfth candidate was found under the name of another digit.
            found = WORDS[(number + 1) % 10] if part == "web" and place % 12 == 5 else word
            if found != word:
                (root / part / found).mkdir(exist_ok=True)
                target.rename(root / part / found / f"{word}{place}.png")
            truth[hashlib.sha256(data).hexdigest()] = word
            if part == "original":
                lines.append(f"{word}/{place:03}.png,{20 - place % 5},20")
    (root / "counts.csv").write_text("\n".join(["id,selected,shown", *lines, ""]))
    with (root / "texts.csv").open("w", newline="") as file:
        rows = ([word, f"The digit {at}, written by hand.", str(at)] for at, word in enumerate(WORDS))
        csv.writer(file).writerows([["class_id", "text", "synonyms"], *rows])
    return root, truth


def built(root: Path, truth: dict[str, str]) -> Path:
    """A build with candidates, votes from elsewhere, a revision and an exam."""
    source = {"source": str(root / "original"), "counts": str(root / "counts.csv")}
    settings = {
        "sampling": {"strategy": "top-images", "minimum_votes": 4},
        "votes": {"people": 4},
        "duplicates": {"metrics": {"relative": {"target": TARGET}}},
    }
    config = new_config(name="digits-again", per_class=10, original=source, **settings)
    folder = init_build(root / "build", config).folder.path
    with open_build(folder) as build:
        gather(build, f"folder:{root / 'web'}")
        find_duplicates(build)
        build.store.add_counts(_counts(build, truth))
        draw_revision(build)
        make_exam(build, n=12, seed=0)
    return folder


def _counts(build: Build, truth: dict[str, str]) -> Any:
    rng = np.random.default_rng(21)
    candidates = [row for row in build.store.images().to_pylist() if row["role"] == "candidate"]
    rows = [row for place, row in enumerate(candidates) if place % 2]  # the others wait for people here
    right = [truth[row["image"]] == row["class_id"] for row in rows]
    return table(
        COUNTS,
        {
            "image": [row["image"] for row in rows],
            "class_id": [row["class_id"] for row in rows],
            "selected": [int(rng.binomial(20, 0.9 if one else 0.4)) for one in right],
            "shown": [20] * len(rows),
        },
    )


@contextmanager
def served(folder: Path, texts: Path) -> Iterator[Settings]:
    """The build, served by a process of its own."""
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        settings = Settings(port=some.getsockname()[1])
    command = [sys.executable, "-m", "resit", "serve", str(folder), "--port", str(settings.port), "--texts", str(texts)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                httpx.get(f"{settings.address}/health").raise_for_status()
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield settings
    finally:
        process.terminate()
        process.wait()


def vote(folder: Path, settings: Settings, truth: dict[str, str], name: str, pages: int, *, wrong: float) -> None:
    """Let somebody who is made up answer some pages."""
    rng = np.random.default_rng(len(name))
    with open_build(folder) as build:
        tasks = build.store.tasks().to_pylist()
    with httpx.Client(base_url=settings.address, follow_redirects=True) as client:
        client.get(invite_to(folder, "annotator", name, settings)[1])
        token = {"x-csrf-token": client.get("/session").json()["csrf"]}
        for page in range(pages):
            task = re.search(r'data-task="(\w+)"', client.get("/vote").text)
            if task is None:
                return
            rows = [row for row in tasks if row["task"] == task[1]]
            said = [(truth[row["image"]] == row["class_id"]) != (rng.random() < wrong) for row in rows]
            places = [row["position"] for row, yes in zip(rows, said, strict=True) if yes]
            clicks = [{"event": f"{name}-page-{page}-{at}", "position": at, "selected": True} for at in places]
            client.post(f"/vote/{task[1]}/clicks", json={"clicks": clicks}, headers=token).raise_for_status()
            client.post(f"/vote/{task[1]}/finish", json={"selected": places}, headers=token).raise_for_status()


def slow_down(folder: Path) -> None:
    """Let pages have begun as long before their end as people need."""
    with sqlite3.connect(folder / "build.sqlite") as base:
        names = dict(base.execute("SELECT id, name FROM account"))
        for number, account, end in base.execute("SELECT id, account_id, time FROM finish").fetchall():
            seconds = PEOPLE[names[account]][1] * (0.9 + number % 5 / 20)
            begun = datetime.fromisoformat(end) - timedelta(seconds=seconds)
            form = begun.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            base.execute("UPDATE finish SET begun = ? WHERE id = ?", (form, number))
    base.close()


class Camera:
    """Takes pictures of pages as one person sees them, on each screen.

    Parameters
    ----------
    browser : playwright Browser
    link : str
        By which the person signs in.
    into : path
        Folder of the pictures.
    """

    def __init__(self, browser: Any, link: str, into: Path) -> None:
        self.home, self.into = "/".join(link.split("/")[:3]), into
        self.pages = {name: browser.new_context(**screen).new_page() for name, screen in SCREENS.items()}
        for page in self.pages.values():
            page.goto(link)

    def take(self, name: str, path: str, act: Callable[[Any], object] | None = None) -> None:
        """Take a picture of a page, after something was done there."""
        for screen, page in self.pages.items():
            page.goto(self.home + path)
            if act is not None:
                act(page)
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(300)
            save(page.screenshot(), self.into / f"{name}-{screen}.webp")


def save(data: bytes, path: Path) -> None:
    """Keep a picture, in as good a quality as its size allows."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    for quality in (88, 75, 60, 45, 30):
        image.save(path, "WEBP", quality=quality, method=6)
        if path.stat().st_size < LARGEST:
            return
    raise ValueError(f"{path} has more than {LARGEST} bytes")


def take_all(browser: Any, folder: Path, settings: Settings, truth: dict[str, str], into: Path) -> None:
    """Go through all pages."""
    with open_build(folder) as build:
        tasks = build.store.tasks().to_pylist()

    def mark(page: Any) -> None:
        """Mark what shows the class among the first images, on the first screen: the other one sees what was saved."""
        name = page.get_attribute("#grid", "data-task")
        if not page.locator(".cell[aria-pressed=true]").count():
            shows = {row["position"] for row in tasks if row["task"] == name and truth[row["image"]] == row["class_id"]}
            for at in range(21):
                cell = page.locator(".cell").nth(at)
                if int(cell.get_attribute("data-position")) in shows:
                    cell.click()
        page.wait_for_function("() => document.getElementById('state').textContent === 'Saved'")

    def camera(role: str, name: str) -> Camera:
        return Camera(browser, invite_to(folder, role, name, settings)[1], into)

    voter = camera("annotator", "Emil")
    voter.take("choice", "/")
    voter.take("vote", "/vote", mark)
    voter.take("vote-zoom", "/vote", lambda page: (page.locator(".cell").nth(9).focus(), page.keyboard.press("z")))
    voter.take("exam", "/exam/1", lambda page: (close_help(page), page.locator("#find").fill("s")))
    voter.take("refused", "/invite/none")
    voter.take("not-allowed", "/admin")
    reviewer = camera("reviewer", "Rita")
    reviewer.take("pairs", "/pairs", lambda page: page.wait_for_selector("#look:not([hidden])"))
    reviewer.take("pairs-difference", "/pairs", lambda page: page.keyboard.press("f"))
    reviewer.take("home", "/")
    reviewer.take("review", "/review")
    reviewer.take("review-class", "/review/4", judge)
    boss = camera("admin", "Kim")
    boss.take("admin", "/admin")
    dunja = "/admin/person?name=Dunja"
    boss.take("person", dunja)
    boss.take("answer", dunja, lambda page: page.click("main tbody a >> nth=0"))
    boss.take("steps", "/build")
    page = boss.pages["desktop"]
    page.goto(f"{settings.address}/review")
    page.click("main form button")
    page.wait_for_selector(".job.done", timeout=60_000)
    reviewer.take("review-changes", "/review/changes/2")
    hand_in(voter.pages["desktop"], settings.address)
    voter.take("exam-done", "/exam/1")
    boss.take("exam-results", "/exam")


def close_help(page: Any) -> None:
    """Close what is open at somebody's first visit."""
    if page.locator("details.rules[open]").count():
        page.click("details.rules > summary")


def judge(page: Any) -> None:
    """Call one image wrong, and ask for the votes."""
    close_help(page)
    page.wait_for_load_state("networkidle")
    cell = page.locator(".cell[data-kind=new]").nth(3)
    if cell.get_attribute("aria-pressed") == "false":
        cell.click()
    page.wait_for_function("() => document.getElementById('state').textContent === 'Saved'")
    page.click("#votes")
    page.wait_for_selector(".told:not([hidden])")


def hand_in(page: Any, address: str) -> None:
    """Hand an exam in."""
    page.goto(f"{address}/exam/1")
    page.keyboard.type("se")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('state').textContent === 'Saved'")
    page.click("#done")
    with page.expect_navigation():
        page.click("#sure .main")


def main(into: Path) -> None:
    """Make the build, serve it, and take the pictures."""
    from playwright.sync_api import sync_playwright

    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        root, truth = write(Path(place))
        folder = built(root, truth)
        with served(folder, root / "texts.csv") as settings:
            for name, (wrong, _) in PEOPLE.items():
                vote(folder, settings, truth, name, 6, wrong=wrong)
            slow_down(folder)
            with sync_playwright() as playwright:
                path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
                browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
                take_all(browser, folder, settings, truth, into)
                browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "_static" / "serve")
