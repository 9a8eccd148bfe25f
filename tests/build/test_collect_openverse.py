"""Openverse's search against a server that answers as it documents, with its errors and the end of its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from collect_servers import FakeOpenverse, Page, Site, as_json, serving

from extras import needs
from resit.build.collect import openverse as module
from resit.build.collect.download import Downloader
from resit.build.collect.found import Found, Lost, Query
from resit.build.collect.openverse import OpenverseSource
from resit.build.collect.polite import Manners
from resit.errors import UsageError

needs("httpx")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RATE", 10_000.0)
    monkeypatch.setattr(module, "RATE_WITH_TOKEN", 10_000.0)
    monkeypatch.delenv("OPENVERSE_TOKEN", raising=False)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as one:
        one.pages["/v1/images/"] = FakeOpenverse()
        yield one


def service(site: Site) -> FakeOpenverse:
    found: FakeOpenverse = site.pages["/v1/images/"]
    return found


def ask(site: Site, folder: Path, *queries: Query, **how: Any) -> tuple[OpenverseSource, list[Any]]:
    with Downloader(folder, Manners(allow_private=True, wait=0.0, rate=10_000.0)) as downloader:
        source = OpenverseSource(downloader, api=f"{site.url}/v1/images/", **how)
        return source, list(source.found(queries))


def test_an_image_with_all_that_openverse_tells_of_it(site: Site, tmp_path: Path):
    service(site).add(7, "a tabby cat", "https://live.staticflickr.com/7_b.jpg")
    _, found = ask(site, tmp_path, Query("cat", "tabby cat", "synonyms", 200))
    assert found == [
        Found(
            "cat",
            "openverse:tabby cat",
            url="https://live.staticflickr.com/7_b.jpg",
            attributes={
                "keyword": "tabby cat",
                "stage": "synonyms",
                "id": "uuid-000007",
                "page": "https://example.org/7",
                "provider": "flickr",
            },
            licence="CC BY-SA 2.0",
            author="person 7",
        )
    ]


@pytest.mark.parametrize(
    ("code", "version", "name"),
    [("cc0", "1.0", "CC0 1.0"), ("pdm", "1.0", "Public Domain Mark 1.0"), ("by-nc-nd", None, "CC BY-NC-ND"), (None, None, "")],
)
def test_licences_by_their_usual_names(site: Site, tmp_path: Path, code: str | None, version: str | None, name: str):
    service(site).add(1, "cat", "https://e.org/1.jpg", license=code, license_version=version, creator=None)
    _, found = ask(site, tmp_path, Query("cat", "cat"))
    assert (found[0].licence, found[0].author) == (name, "")


def test_an_image_without_an_address_is_a_row(site: Site, tmp_path: Path):
    service(site).add(1, "cat", None)
    _, found = ask(site, tmp_path, Query("cat", "cat"))
    assert found == [Lost("cat", "https://example.org/1", "no address of the image")]


@pytest.mark.parametrize(("token", "size"), [(None, 20), ("right-token", 500)])
def test_pages_end_with_the_twentieth_and_what_is_out_of_reach_is_told(
    site: Site, tmp_path: Path, token: str | None, size: int
):
    for number in range(20 * size + 7):
        service(site).add(number, "cat", f"https://e.org/{number}.jpg")
    source, found = ask(site, tmp_path, Query("cat", "cat"), token=token)
    assert [item.attributes["id"] for item in found] == [f"uuid-{number:06}" for number in range(20 * size)]
    assert [(call["page"], call["page_size"]) for call in service(site).calls] == [(str(n), str(size)) for n in range(1, 21)]
    notice = next(notice for notice in source.notices if notice.code == "results-out-of-reach")
    assert notice.message.startswith(f"7 of {20 * size + 7:,} results of 'cat'")


def test_no_more_pages_than_the_limit_needs(site: Site, tmp_path: Path):
    for number in range(100):
        service(site).add(number, "cat", f"https://e.org/{number}.jpg")
    source, found = ask(site, tmp_path, Query("cat", "cat", "", 30))
    assert len(found) == 30
    assert len(service(site).calls) == 2
    assert not [notice for notice in source.notices if notice.code == "results-out-of-reach"]


def test_what_it_cannot_do_is_told(site: Site, tmp_path: Path):
    source, _ = ask(site, tmp_path, Query("cat", "cat", uploaded=("2012-01-01", "")), Query("dog", "dog"))
    assert [notice.code for notice in source.notices] == ["ordered-by-relevance", "dates-not-searched"]
    source, _ = ask(site, tmp_path, Query("cat", "cat"), token="right-token")
    assert source.notices == []
    assert service(site).calls[-1]["unstable__sort_by"] == "indexed_on"


def test_the_token_comes_from_the_environment(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENVERSE_TOKEN", "right-token")
    ask(site, tmp_path, Query("cat", "cat"))
    assert site.headers[0]["authorization"] == "Bearer right-token"


def test_a_wrong_token_stops_at_once_and_is_in_no_message(site: Site, tmp_path: Path):
    with pytest.raises(UsageError, match=r"credentials were not provided.*OPENVERSE_TOKEN") as caught:
        ask(site, tmp_path, Query("cat", "cat"), token="wrong-secret")
    assert "wrong-secret" not in str(caught.value)
    assert len(service(site).calls) == 1


def test_a_throttled_request_waits_as_it_is_told(site: Site, tmp_path: Path):
    told = (429, {"Retry-After": "0"})
    answer = as_json({"result_count": 0, "page_count": 0, "page_size": 20, "page": 1, "results": []})
    site.pages["/v1/images/"] = Page(answer[1], failures=[told, told])
    assert ask(site, tmp_path, Query("cat", "cat"))[1] == []
    assert len(site.asked) == 3


def test_a_day_that_is_used_up_fails_each_query_without_asking_again(site: Site, tmp_path: Path):
    site.pages["/v1/images/"] = Page(b"", failures=[(429, {"Retry-After": "80000"})] * 9)
    _, found = ask(site, tmp_path, Query("cat", "cat"), Query("dog", "dog"))
    assert [item.class_id for item in found] == ["cat", "dog"]
    assert all("asks to wait" in item.reason for item in found)
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (as_json({"q": ["Too odd."]}, 400), "Too odd"),
        (as_json({"detail": "Not found."}, 404), "Not found"),
        ((403, b"<html>blocked</html>", {}), "the server said 403"),
        ((200, b"<html></html>", {}), "not what its documentation says"),
        (as_json({"results": []}), "not what its documentation says"),
    ],
)
def test_errors_of_one_query_are_a_row(site: Site, tmp_path: Path, answer: Any, reason: str):
    site.pages["/v1/images/"] = lambda *_: answer
    _, found = ask(site, tmp_path, Query("cat", "cat"))
    assert len(found) == 1
    assert isinstance(found[0], Lost)
    assert reason in found[0].reason


def test_a_query_that_would_be_cut_off_is_a_row(site: Site, tmp_path: Path):
    _, found = ask(site, tmp_path, Query("cat", "c" * 201))
    assert found[0].reason == "a query of 201 characters, more than 200"
    assert service(site).calls == []
