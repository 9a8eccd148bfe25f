"""A thousand real images from collected to released by the pages alone: an admin, an annotator and a reviewer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from served import Served

from extras import needs

needs("fastapi", "uvicorn", "sqlalchemy")

NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
A_CLASS, WRONG, PER_CLASS, ORIGINALS = 100, 20, 12, 80


def rows(path: Path, a_class: int) -> dict[int, list[bytes]]:
    """The first images of each class."""
    table = pq.read_table(path)
    labels = table["label"].to_numpy()
    data = table["image"].combine_chunks().field("bytes")
    return {label: [data[at].as_py() for at in np.flatnonzero(labels == label)[:a_class]] for label in range(len(NAMES))}


def write(folder: Path, images: dict[int, list[bytes]], *, wrong: int = 0) -> None:
    """Images in a folder a class; the last ones of each class lie in the folder of the next one."""
    for label, found in images.items():
        for at, data in enumerate(found):
            place = label if at < len(found) - wrong else (label + 1) % len(NAMES)
            path = folder / NAMES[place] / f"{NAMES[label]}-{at}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


@pytest.fixture
def served(tmp_path: Path, shared_data: Path) -> Iterator[Served]:
    """A build that has collected a thousand images, a fifth of them of another class."""
    from resit.build.steps.gather import gather
    from resit.build.steps.init import init_build, new_config
    from resit.build.steps.opened import open_build

    cifar = shared_data / "cifar10"
    write(tmp_path / "original", rows(cifar / "test.parquet", ORIGINALS))
    write(tmp_path / "found", rows(cifar / "train-1-of-5.parquet", A_CLASS), wrong=WRONG)
    how: dict[str, Any] = {
        "original": {"source": str(tmp_path / "original")},
        "sampling": {"strategy": "top-images", "minimum_votes": 1},
        "votes": {"people": 1},
    }
    folder = init_build(tmp_path / "cifar", new_config(name="cifar-again", per_class=PER_CLASS, **how)).folder.path
    with open_build(folder) as build:
        gather(build, f"folder:{tmp_path / 'found'}")
    with Served(folder) as server:
        yield server


def truths(folder: Path) -> dict[str, str]:
    """The class of each image by its digest."""
    from hashlib import sha256

    found = [*(folder / "found").rglob("*.jpg")]
    truth = {sha256(path.read_bytes()).hexdigest(): path.name.split("-")[0] for path in found}
    originals = {sha256(path.read_bytes()).hexdigest(): path.parent.name for path in (folder / "original").rglob("*.jpg")}
    return truth | originals


def invited(boss: Any, name: str, role: str) -> str:
    """The link that the admin's page gives for somebody."""
    boss.click("nav >> text=Admin")
    boss.fill("form[action='/admin/invites'] [name=name]", name)
    boss.select_option("[name=role]", role)
    boss.click("form[action='/admin/invites'] button")
    return str(boss.input_value("input.link"))


def vote_on_all(page: Any, shows: Callable[[str, int], bool]) -> int:
    """Mark what shows the class, page after page; how many there were."""
    pages = 0
    while page.locator("#grid").count():
        task = page.get_attribute("#grid", "data-task")
        cells = page.locator(".cell")
        for at in range(cells.count()):
            if shows(task, at):
                cells.nth(at).click()
        with page.expect_navigation():
            page.click("#done")
        pages += 1
    return pages


def judge_all(page: Any) -> int:
    """Say of all pairs that they differ."""
    page.wait_for_selector("#look:not([hidden]), #none:not([hidden])")
    said = 0
    while page.locator("#look:not([hidden])").count():
        page.keyboard.press("d")
        said += 1
        page.wait_for_function("() => document.getElementById('state').textContent === 'Saved'")
    return said


def look_at_all(page: Any) -> int:
    """Look at all that waits, class after class."""
    looked = 0
    while page.locator("text=Look at them").count():
        page.click("text=Look at them")
        while page.locator("#done").count():
            with page.expect_navigation():
                page.click("#done")
            looked += 1
        page.click("a[href='/review'] >> visible=true >> nth=0")
    return looked


def test_from_collected_to_released_by_three_people(served: Served, opened: Callable[..., Any], tmp_path: Path):
    import resit
    from resit.build.steps.opened import open_build

    boss = opened(served.link("admin", "Al"))
    ann = opened(invited(boss, "Ann", "annotator"))
    rita = opened(invited(boss, "Rita", "reviewer"))
    truth = truths(tmp_path)
    with open_build(served.folder) as build:
        tasks = {(row["task"], row["position"]): row for row in build.store.tasks().to_pylist()}
        candidates = build.store.images("candidate").num_rows
    assert candidates == A_CLASS * len(NAMES)
    boss.click("nav >> text=Steps")
    boss.click("button >> text=Find near-duplicates")
    boss.wait_for_selector("text=Finding near-duplicates: done", timeout=120_000)

    def shows(task: str, at: int) -> bool:
        row = tasks[task, at]
        return truth[row["image"]] == row["class_id"]

    assert vote_on_all(ann, shows) == len({task for task, _ in tasks})
    assert "Thank you" in ann.inner_text("main")
    boss.reload()
    boss.click("text=Make the first revision")
    boss.wait_for_selector("text=Revision 1 is made", timeout=60_000)
    rita.click("nav >> text=Near-duplicates")
    judge_all(rita)
    for _ in range(5):
        rita.click("a[href='/review'] >> visible=true >> nth=0")
        look_at_all(rita)
        if rita.locator("text=The set has converged").count():
            break
        rita.click("button:text('Make the next revision')")
        rita.wait_for_selector(".job.done", timeout=60_000)
        rita.wait_for_selector("text=running", state="detached")
    boss.click("nav >> text=Steps")
    boss.fill("[name=version]", "1.0.0")
    boss.click("text=/Release revision \\d+/")
    boss.wait_for_selector("text=The release: done", timeout=60_000)
    benchmark = resit.load_benchmark(boss.locator(".steps code").inner_text())
    assert benchmark.n == PER_CLASS * len(NAMES)
    classes = [info.id for info in benchmark.classes]
    labels = benchmark.labels[:, 0].tolist()
    given = {one: classes[label] for one, label in zip(benchmark.ids.tolist(), labels, strict=True)}
    assert given == {one: truth[one] for one in given}
