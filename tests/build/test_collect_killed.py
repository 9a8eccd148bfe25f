"""A collection that is killed at random moments and repeated ends like one that was not."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from collect_job import CLASSES, Keep, work
from collect_servers import PAGE, FakeFlickr, Site, picture, serving

from extras import needs

needs("httpx")
START = 1341964800  # 2012-07-11


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as one:
        yield one


def slowly(content: bytes, *_: Any) -> tuple[int, bytes, dict[str, str]]:
    time.sleep(0.01)
    return 200, content, {}


def flickr_site(site: Site) -> str:
    """A search that finds some images, with some that are gone, not images, or in two classes."""
    site.pages["/services/rest/"] = service = FakeFlickr()
    rng = np.random.default_rng(3)
    for number in range(200):
        text = ("cat", "dog", "cat pet", "feline")[int(rng.integers(4))]
        content = PAGE if number % 11 == 0 else picture(number // 2 if number % 7 == 0 else number + 1000)
        if number % 13:  # else it is gone
            site.pages[f"/{number}.png"] = partial(slowly, content)
        service.add(number, text, START + int(rng.integers(10**6)), f"{site.url}/{number}.png")
    return f"{site.url}/services/rest/"


def killed_and_repeated(folder: Path, api: str, waits: Sequence[float]) -> Keep:
    """Kill the job after some seconds each time, then let it end."""
    command = [sys.executable, str(Path(__file__).with_name("collect_job.py")), str(folder), api]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for wait in waits:
        job = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            job.wait(wait)
        except subprocess.TimeoutExpired:
            job.send_signal(signal.SIGKILL)
        job.wait()
    work(folder, api)
    return Keep(folder)


def check_kills(site: Site, tmp_path: Path, kills: int, seed: int) -> None:
    api = flickr_site(site)
    done = work(tmp_path / "whole", api)
    expected = Keep(tmp_path / "whole").rows()
    assert done.new == len(expected) > 60
    assert {row[1] for row in expected} == {terms.class_id for terms in CLASSES}
    assert {row[4] for row in expected} >= {"flickr:cat", "flickr:dog", "flickr:feline"}  # it was widened
    fast = killed_and_repeated(tmp_path / "killed", api, np.random.default_rng(seed).uniform(0.3, 1.6, kills).tolist())
    assert fast.rows() == expected
    for row in expected:
        assert digest((tmp_path / "killed" / "images" / row[0]).read_bytes()) == row[0]
    assert list((tmp_path / "killed" / "parts").iterdir()) == []
    asked = len(site.asked)
    again = work(tmp_path / "killed", api)
    assert (again.new, again.known) == (0, len(expected))
    images = [path for path in site.asked[asked:] if path.endswith(".png")]
    assert len(images) <= len(again.failed)  # only what failed is tried again


def test_killed_at_random_moments_and_repeated_gives_the_same(site: Site, tmp_path: Path):
    check_kills(site, tmp_path, kills=3, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_killed_at_many_random_moments_and_repeated_gives_the_same(site: Site, tmp_path: Path, seed: int):
    check_kills(site, tmp_path, kills=8, seed=seed + 1)
