"""`resit serve` with 200,000 candidates and 200 people who vote at once over loopback, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
from bench_store import CANDIDATES, images

from resit.build.steps.init import init_build, new_config
from resit.build.steps.opened import open_build
from resit.web.run import invite_to
from resit.web.settings import Settings

CLASSES, ORIGINALS, PEOPLE, SECONDS = 1000, 20, 200, 60.0
SERVER = "RESIT_BENCH_POSTGRESQL"


def made(path: Path, database: str | None) -> None:
    """A build of all candidates, and 20 small originals in each of 1,000 classes; nobody has voted."""
    known, rng = ORIGINALS * CLASSES, np.random.default_rng(0)
    original = path.with_name("original")
    original.mkdir()
    np.save(original / "images.npy", rng.integers(0, 256, (known, 8, 8, 3), dtype=np.uint8))
    np.save(original / "labels.npy", np.arange(known) % CLASSES)
    init_build(path, new_config(name="large", per_class=10, original={"source": str(original)}, database=database))
    with open_build(path) as build:
        found = images(CANDIDATES)
        places = [f"images/{name[:2]}/{name}.png" for name in found["image"].to_pylist()]
        build.store.add_images(found.set_column(found.column_names.index("path"), "path", pa.array(places)))
    (path / "images" / "00").mkdir(parents=True, exist_ok=True)
    for place in places:  # only pages are measured: nobody opens these
        (path / place).touch()
    rows = [f"{number},{(number + 1) % CLASSES}\n" for number in range(CLASSES)]
    (path / "similar.csv").write_text("".join(["class_id,similar\n", *rows]))


def load(folder: Path) -> dict[str, float]:
    """What 200 people see of a server on a build, what it stored, and its memory."""
    settings = Settings(port=18321)
    words = ("serve", str(folder), "--port", str(settings.port), "--similar", str(folder / "similar.csv"))
    server = subprocess.Popen([sys.executable, "-m", "resit", *words], stdout=subprocess.DEVNULL)
    try:
        _wait(settings.address, server)
        links = [invite_to(folder, "annotator", f"person {at}", settings)[1] for at in range(PEOPLE + 1)]
        with httpx.Client(base_url=settings.address, follow_redirects=True, timeout=60) as client:
            client.get(links.pop())
            start = time.monotonic()
            client.get("/vote").raise_for_status()
            first = time.monotonic() - start
        call = [sys.executable, str(Path(__file__).with_name("serve_load.py")), str(SECONDS)]
        told = json.loads(subprocess.run(call, input="\n".join(links), capture_output=True, text=True, check=True).stdout)
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())
        assert peak
        memory = int(peak[1]) / 1024
    finally:
        server.terminate()
        server.wait()
    with open_build(folder) as build, build.store.reading() as connection:
        stored = connection.exec_driver_sql("SELECT count(*) FROM click").scalar_one()
        votes = connection.exec_driver_sql("SELECT count(*) FROM vote").scalar_one()
    lost = abs(told["clicks"] - stored) + abs(told["finished"] * 48 - votes)
    return {
        "save": 1e3 * float(np.quantile(told["saves"], 0.99)),
        "page": 1e3 * float(np.quantile(told["pages"], 0.99)),
        "first": first,
        "memory": memory,
        "clicks": told["clicks"],
        "wrong": lost + len(told["problems"]),
    }


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end and server.poll() is None:
        try:
            if httpx.get(f"{address}/health").text == "ok":
                return
        except httpx.TransportError:
            time.sleep(0.2)
    sys.exit("the server did not start")


def rows() -> Iterator[tuple[str, str, str | None]]:
    """The 99th percentile of a click's save and of a page, and what was lost: nothing."""
    for name, database in (("SQLite", None), ("PostgreSQL", os.environ.get(SERVER))):
        if name == "PostgreSQL" and not database:
            yield f"{PEOPLE} people, PostgreSQL", f"skipped: no address of an empty database in {SERVER}", None
            return
        with tempfile.TemporaryDirectory() as folder:
            made(Path(folder) / "large", database)
            seen = load(Path(folder) / "large")
        start = f"200 people, {CANDIDATES:,} candidates, {name}"
        yield f"{start}: p99 of a click's save, of {seen['clicks']:,.0f}", f"{seen['save']:.0f} ms", "150 ms"
        yield f"{start}: p99 of a page", f"{seen['page']:.0f} ms", "300 ms"
        yield f"{start}: first page", f"{seen['first']:.2f} s", "1 s"
        yield f"{start}: memory of the server", f"{seen['memory']:.0f} MB", "500 MB"
        yield f"{start}: errors, lost and doubled votes", f"{seen['wrong']:.0f}", "0"
