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

from resit.build.folder import BuildFolder
from resit.build.steps.init import new_config
from resit.build.steps.opened import INIT, open_build
from resit.store.schemas import IMAGES, table
from resit.web.run import invite_to
from resit.web.settings import Settings

CLASSES, ORIGINALS, PEOPLE, SECONDS = 1000, 20, 200, 60.0
SERVER = "RESIT_BENCH_POSTGRESQL"
TIME = "2026-01-31T12:00:00.000Z"


def made(path: Path, database: str | None) -> None:
    """A build of all candidates, and 20 originals in each of 1,000 classes; nobody has voted."""
    config = new_config(name="large", per_class=10, original={"source": "elsewhere"}, database=database)
    folder = BuildFolder.create(path, config)
    known = ORIGINALS * CLASSES
    columns: dict[str, object] = {name: [""] * known for name in IMAGES}
    columns |= {
        "image": [f"original-{row}" for row in range(known)],
        "class_id": [str(row % CLASSES) for row in range(known)],
        "role": ["original"] * known,
    }
    with folder.store() as store:
        store.add_images(pa.concat_tables([images(CANDIDATES), table(IMAGES, columns)]))
        ids = [[str(number), f"class {number}"] for number in range(CLASSES)]
        store.note(INIT, {"name": "old", "n": known, "label_space": "", "classes": ids, "fingerprint": ""}, TIME)
    (path / "similar.csv").write_text(
        "class_id,similar\n" + "".join(f"{number},{(number + 1) % CLASSES}\n" for number in range(CLASSES))
    )


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
