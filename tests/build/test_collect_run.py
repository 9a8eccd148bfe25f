"""A whole collection: in order, once each, widened only where short, and never stopped by one image."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from collect_servers import PAGE, FakeOpenverse, Site, picture, serving
from hypothesis import given, settings
from hypothesis import strategies as st

from extras import needs
from resit.build.collect import openverse
from resit.build.collect.download import Downloader
from resit.build.collect.found import Found, Lost, Query
from resit.build.collect.openverse import OpenverseSource
from resit.build.collect.polite import Manners
from resit.build.collect.record import Collected
from resit.build.collect.run import collect
from resit.build.collect.terms import ClassTerms
from resit.build.collect.widening import Search
from resit.errors import InputError, Notice, OutputError, UsageError
from resit.store.schemas import IMAGES, table

needs("httpx")
START = 1341964800  # 2012-07-11
CAT, DOG = ClassTerms("cat", ("cat",), ("pet",)), ClassTerms("dog", ("dog",))
PICTURES = [picture(index) for index in range(40)]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Listed:
    """A source that gives what a list says; by query, where it has stages."""

    items: list[Found | Lost] | dict[str, list[Found | Lost]]
    stages: tuple[str, ...] = ("all",)
    name: str = "listed:"
    notices: list[Notice] = field(default_factory=list)
    asked: list[Query] = field(default_factory=list)
    fault: Exception | None = None

    def found(self, queries: Sequence[Query]) -> Iterator[Found | Lost]:
        self.asked += queries
        if isinstance(self.items, list):
            yield from self.items
        else:
            for query in queries:
                yield from self.items.get(query.text, [])
        if self.fault is not None:
            raise self.fault


def data(index: int, key: str = "cat", **more: Any) -> Found:
    return Found(key, f"listed:{index}", data=PICTURES[index], **more)


def gather(source: Any, classes: Sequence[ClassTerms] = (CAT, DOG), **how: Any) -> tuple[Collected, list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    done = collect(source, classes, digest, lambda batch: rows.extend(batch.to_pylist()), **how)
    return done, rows


def stored(rows: list[dict[str, Any]]) -> pa.Table:
    return table(IMAGES, {name: [row[name] for row in rows] for name in IMAGES})


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as one:
        yield one


@pytest.fixture
def downloader(tmp_path: Path) -> Iterator[Downloader]:
    manners = Manners(allow_private=True, rate=10_000.0, per_host=8, wait=0.0, timeout=5.0, largest=10**6, longest=2.0)
    with Downloader(tmp_path / "parts", manners) as one:
        yield one


def test_rows_come_in_the_order_of_the_source_whichever_download_is_done_first(site: Site, downloader: Downloader):
    gates = [threading.Event() for _ in range(6)]

    def page(index: int) -> Any:
        def answer(*_: Any) -> Any:
            if index < 5:
                gates[index + 1].wait(5)  # each waits for the one after it
            gates[index].set()
            return 200, PICTURES[index], {}

        return answer

    for index in range(6):
        site.pages[f"/{index}.png"] = page(index)
    items: list[Found | Lost] = [Found("cat", f"listed:{index}", url=f"{site.url}/{index}.png") for index in range(6)]
    _, rows = gather(Listed(items), downloader=downloader, workers=6)
    assert [row["image"] for row in rows] == [digest(PICTURES[index]) for index in range(6)]


def test_everything_that_goes_wrong_is_a_row_and_the_rest_is_collected(site: Site, downloader: Downloader):
    urls = {
        "fine": site.add("fine.png", PICTURES[0], headers={"Content-Type": "text/plain"}),
        "403": site.add("403.png", status=403),
        "404": f"{site.url}/404.png",
        "page": site.add("page.jpg", PAGE, headers={"Content-Type": "image/jpeg"}),
        "cut": site.add("cut.png", picture(1, size=(90, 90))[:5000]),
        "endless": site.add("endless.png", failures=[lambda handler: handler.endless(bytes(2**14))]),
        "slow": site.add("slow.png", failures=[lambda handler: handler.endless(b"a", lambda: time.sleep(0.02))]),
        "busy": site.add("busy.png", failures=[503] * 9),
        "loop": site.add("loop.png", status=302, headers={"Location": "loop.png"}),
        "odd": "gopher://example.org/a.png",
    }
    items: list[Found | Lost] = [Found("cat", "listed:", url=url) for url in urls.values()]
    items += [Lost("dog", "page 7", "the service is down"), Found("dog", "listed:", url=urls["fine"])]
    done, rows = gather(Listed(items), downloader=downloader, workers=8)
    assert [(row["class_id"], row["image"]) for row in rows] == [("cat", digest(PICTURES[0])), ("dog", digest(PICTURES[0]))]
    reasons = {row["url"]: row["reason"] for row in done.failed.to_pylist()}
    expected = {
        "403": "said 403",
        "404": "said 404",
        "page": "a web page",
        "cut": "cannot be decoded",
        "endless": "too large",
        "slow": "too slow",
        "busy": "said 503",
        "loop": "more than 5 redirects",
        "odd": "of the kind 'gopher'",
    }
    assert {name for name, reason in expected.items() if reason in reasons[urls[name]]} == set(expected)
    assert reasons["page 7"] == "the service is down"
    assert (done.found, done.new, len(done.failed)) == (12, 2, 10)
    assert "1 failed: a web page, not an image" in str(done)
    assert site.asked.count("/fine.png") == 1


def test_private_addresses_are_failed_rows_unless_allowed(site: Site, tmp_path: Path):
    url = site.add("a.png", PICTURES[0])
    with Downloader(tmp_path / "parts", Manners(attempts=1)) as careful:
        done, rows = gather(Listed([Found("cat", "listed:", url=url), data(1)]), downloader=careful)
    assert [row["image"] for row in rows] == [digest(PICTURES[1])]
    assert "private address" in done.failed["reason"][0].as_py()
    assert site.asked == []


def test_an_address_is_asked_once_and_what_is_known_never(site: Site, downloader: Downloader):
    url = site.add("a.png", PICTURES[0])
    other = site.add("b.png", PICTURES[0])
    items: list[Found | Lost] = [Found(key, "listed:1", url=place) for key, place in (("cat", url), ("cat", url), ("dog", url))]
    items.append(Found("cat", "listed:1", url=other))
    done, rows = gather(Listed(items), downloader=downloader, workers=1)
    assert [row["class_id"] for row in rows] == ["cat", "dog"]
    assert (done.new, done.repeated) == (2, 2)
    assert site.asked == ["/a.png", "/b.png"]
    again, more = gather(Listed(items), downloader=downloader, known=stored(rows))
    assert (more, again.new, again.known, again.repeated) == ([], 0, 2, 2)
    assert site.asked == ["/a.png", "/b.png", "/b.png"]  # its address is not in the rows: the first one is


def test_a_known_image_of_another_class_is_not_brought_again(site: Site, downloader: Downloader):
    url = site.add("a.png", PICTURES[0])
    _, rows = gather(Listed([Found("cat", "listed:1", url=url)]), downloader=downloader)
    _, more = gather(Listed([Found("dog", "listed:1", url=url)]), downloader=downloader, known=stored(rows))
    assert [(row["image"], row["class_id"], row["path"]) for row in more] == [(rows[0]["image"], "dog", rows[0]["path"])]
    assert len(site.asked) == 1


def test_the_bytes_of_an_original_are_reported_and_kept():
    done, rows = gather(Listed([data(0), data(1), data(1, "dog"), data(1)]), originals={digest(PICTURES[1])})
    assert len(rows) == 3
    assert [(row["image"], row["class_id"]) for row in done.originals.to_pylist()] == [
        (digest(PICTURES[1]), "cat"),
        (digest(PICTURES[1]), "dog"),
    ]
    assert "2 have the very bytes of an original" in str(done)


def test_only_short_classes_are_searched_more_widely():
    items: dict[str, list[Found | Lost]] = {
        "cat": [data(index) for index in range(3)],
        "dog": [data(index, "dog") for index in range(9)],
        "cat pet": [data(index) for index in (2, 3, 4)],
        "kitten": [data(index) for index in range(10, 20)],
    }
    source = Listed(items, stages=("synonyms", "parent", "more", "longer", "compound", "other"))
    cat = ClassTerms("cat", ("cat",), ("pet",), others=("kitten",))
    done, rows = gather(source, (cat, DOG), search=Search(wanted=5, limit=100, more=100))
    assert [(query.class_id, query.stage, query.text) for query in source.asked] == [
        ("cat", "synonyms", "cat"),
        ("dog", "synonyms", "dog"),
        ("cat", "parent", "cat pet"),
    ]
    assert sum(row["class_id"] == "cat" for row in rows) == 5
    assert len(done.shortages) == 0
    source.asked.clear()
    done, _ = gather(source, (cat, DOG), search=Search(wanted=16, limit=100, more=100))
    assert [query.text for query in source.asked] == ["cat", "dog", "cat pet", "kitten"]
    assert done.shortages.to_pylist() == [
        {"class_id": "cat", "candidates": 15, "wanted": 16, "stage": "other"},
        {"class_id": "dog", "candidates": 9, "wanted": 16, "stage": "synonyms"},
    ]
    assert "class dog: 9 of 16 candidates, after the stage synonyms" in str(done)


def test_candidates_of_other_sources_count_and_those_of_a_stage_that_was_cut_off_do_not():
    items: dict[str, list[Found | Lost]] = {"cat": [data(0), data(1)], "cat pet": [data(2), data(3), data(4)]}

    def asked(known: list[dict[str, Any]]) -> list[str]:
        source = Listed(items, stages=("synonyms", "parent"))
        gather(source, (CAT,), search=Search(wanted=4), known=stored(known) if known else None)
        return [query.text for query in source.asked]

    _, rows = gather(Listed(items, stages=("synonyms", "parent")), (CAT,), search=Search(wanted=4))
    assert asked([]) == ["cat", "cat pet"]
    assert asked(rows[:4]) == ["cat", "cat pet"]  # killed in the second stage: it is begun again
    elsewhere = [{**rows[0], "image": digest(PICTURES[index]), "source": "folder:mine/", "url": ""} for index in (8, 9)]
    assert asked(elsewhere) == ["cat"]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["cat", "dog"])), max_size=30),
    st.integers(1, 5),
    st.integers(1, 9),
    st.integers(0, 30),
)
def test_killed_anywhere_and_repeated_gives_the_same(items: list[tuple[int, str]], workers: int, batch: int, cut: int):
    listed: list[Found | Lost] = [data(index, key) for index, key in items]
    first = list(dict.fromkeys((digest(PICTURES[index]), key) for index, key in items))
    _, rows = gather(Listed(listed), workers=workers, batch=batch)
    assert [(row["image"], row["class_id"]) for row in rows] == first
    _, early = gather(Listed(listed[:cut]), workers=workers, batch=batch)
    done, late = gather(Listed(listed), workers=workers, batch=batch, known=stored(early))
    assert early + late == rows
    assert done.new + done.known == len(first)
    assert done.repeated == len(items) - len(first)


def test_batches_are_of_the_size_that_is_asked_for_and_the_source_is_read_as_it_goes():
    sizes, ahead, given_out = [], [], [0]

    class Counted(Listed):
        def found(self, queries: Sequence[Query]) -> Iterator[Found | Lost]:
            for item in super().found(queries):
                given_out[0] += 1
                yield item

    def save(batch: pa.Table) -> None:
        sizes.append(len(batch))
        ahead.append(given_out[0] - sum(sizes))

    collect(Counted([data(index) for index in range(40)]), (CAT,), digest, save, workers=1, batch=10)
    assert sizes == [10, 10, 10, 10]
    assert max(ahead) <= 5  # four in the window of one worker, and one in hand


def test_what_was_brought_is_saved_before_a_source_that_gives_up_is_told():
    rows: list[dict[str, Any]] = []
    source = Listed([data(0), data(1)], fault=UsageError("Flickr refuses every search", where="flickr"))
    with pytest.raises(UsageError, match="refuses every search"):
        collect(source, (CAT,), digest, lambda batch: rows.extend(batch.to_pylist()))
    assert len(rows) == 2


def test_case_36_a_full_disk_stops_with_what_was_saved_intact():
    rows: list[dict[str, Any]] = []

    def put(content: bytes) -> str:
        if content == PICTURES[5]:
            raise OSError(28, "No space left on device")
        return digest(content)

    with pytest.raises(OutputError, match="No space left on device"):
        collect(Listed([data(index) for index in range(9)]), (CAT,), put, lambda batch: rows.extend(batch.to_pylist()), batch=3)
    assert [row["image"] for row in rows] == [digest(PICTURES[index]) for index in range(5)]


def test_case_36_a_store_that_cannot_be_written_stops_it():
    calls = []

    def save(batch: pa.Table) -> None:
        calls.append(len(batch))
        raise OutputError("read-only", where="build.sqlite")

    with pytest.raises(OutputError, match="read-only"):
        collect(Listed([data(index) for index in range(9)]), (CAT,), digest, save, batch=3)
    assert calls == [3]


def test_an_image_that_the_folder_refuses_is_a_failed_row():
    def put(content: bytes) -> str:
        if content == PICTURES[0]:
            raise InputError("no image that is kept")
        return digest(content)

    rows: list[dict[str, Any]] = []
    done = collect(Listed([data(0), data(1)]), (CAT,), put, lambda batch: rows.extend(batch.to_pylist()))
    assert len(rows) == 1
    assert done.failed["reason"].to_pylist() == ["no image that is kept"]


def test_progress_is_told():
    told: list[tuple[str, int, int]] = []
    gather(Listed([data(0), Lost("cat", "x", "gone")]), progress=lambda *what: told.append(what))
    assert told == [("all", 1, 0), ("all", 2, 1)]


def test_attributes_are_json_that_any_language_reads():
    _, rows = gather(Listed([data(0, attributes={"b": "é", "a": 'say "hi"'}, licence="CC0", author="Ada")]))
    assert json.loads(rows[0]["attributes"]) == {"a": 'say "hi"', "b": "é"}
    assert rows[0]["attributes"].index('"a"') < rows[0]["attributes"].index('"b"')
    assert (rows[0]["licence"], rows[0]["author"], rows[0]["source"]) == ("CC0", "Ada", "listed:0")


def test_openverse_from_the_search_to_the_images(site: Site, downloader: Downloader, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openverse, "RATE", 10_000.0)
    monkeypatch.delenv("OPENVERSE_TOKEN", raising=False)
    site.pages["/v1/images/"] = service = FakeOpenverse()
    for index in range(30):
        service.add(index, "cat" if index % 3 else "dog", site.add(f"{index}.jpg", PICTURES[index]))
    source = OpenverseSource(downloader, api=f"{site.url}/v1/images/")
    done, rows = gather(source, downloader=downloader, search=Search(wanted=15, limit=100))
    assert {row["image"] for row in rows if row["class_id"] == "dog"} == {digest(PICTURES[index]) for index in range(0, 30, 3)}
    assert rows[0]["licence"] == "CC BY-SA 2.0"
    assert [row["class_id"] for row in done.shortages.to_pylist()] == ["dog"]
    assert [notice.code for notice in done.notices] == ["ordered-by-relevance"]
