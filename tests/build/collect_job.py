"""A whole collection in a process of its own, to be killed: ``python collect_job.py FOLDER API``."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from resit.build.collect import flickr
from resit.build.collect.download import Downloader
from resit.build.collect.found import Dates
from resit.build.collect.polite import Manners
from resit.build.collect.record import Collected
from resit.build.collect.run import collect
from resit.build.collect.terms import ClassTerms
from resit.build.collect.widening import Search
from resit.store.schemas import IMAGES, table

DATES: Dates = ("2012-07-11", "2013-07-11")
CLASSES = (ClassTerms("cat", ("cat",), ("pet",), others=("feline",)), ClassTerms("dog", ("dog",), ("pet",)))
SEARCH = Search(DATES, limit=40, more=80, wanted=70)


class Keep:
    """The images and rows of a build, in the simplest way that survives being killed."""

    def __init__(self, folder: Path) -> None:
        self.images = folder / "images"
        self.images.mkdir(parents=True, exist_ok=True)
        self.database = sqlite3.connect(folder / "rows.sqlite", isolation_level=None)
        columns = ", ".join(IMAGES)
        self.database.execute(f"create table if not exists images ({columns}, primary key (image, class_id, role))")

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        half = self.images / f".{digest}.{os.getpid()}"
        half.write_bytes(data)
        half.replace(self.images / digest)
        return digest

    def save(self, batch: pa.Table) -> None:
        rows = [tuple(row.values()) for row in batch.to_pylist()]
        self.database.execute("begin")
        self.database.executemany(f"insert or ignore into images values ({', '.join('?' * len(IMAGES))})", rows)
        self.database.execute("commit")

    def rows(self) -> list[tuple[Any, ...]]:
        return self.database.execute("select * from images order by class_id, image").fetchall()

    def known(self) -> pa.Table:
        rows = self.rows()
        return table(IMAGES, {name: [row[place] for row in rows] for place, name in enumerate(IMAGES)})


def work(folder: Path, api: str) -> Collected:
    """Collect into a folder, going on with what is there."""
    flickr.RATE = 10_000.0
    keep = Keep(folder)
    manners = Manners(allow_private=True, rate=10_000.0, per_host=8, wait=0.0)
    with Downloader(folder / "parts", manners) as downloader:
        source = flickr.FlickrSource(downloader, "right-key", api=api)
        return collect(
            source, CLASSES, keep.put, keep.save, search=SEARCH, downloader=downloader, known=keep.known(), workers=4, batch=7
        )


if __name__ == "__main__":
    work(Path(sys.argv[1]), sys.argv[2])
