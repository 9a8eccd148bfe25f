"""Flickr's search against a server that answers as it documents, with its errors and its limit of 4,000 results."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from collect_servers import FakeFlickr, Site, as_json, serving

from extras import needs
from resit.build.collect import flickr as module
from resit.build.collect.download import Downloader
from resit.build.collect.flickr import FlickrSource
from resit.build.collect.found import Found, Lost, Query
from resit.build.collect.polite import Manners
from resit.errors import UsageError

needs("httpx")
DAYS = ("2012-07-11", "2013-07-11")
START = int(datetime(2012, 7, 11, tzinfo=UTC).timestamp())
END = int(datetime(2013, 7, 11, 23, 59, 59, tzinfo=UTC).timestamp())


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RATE", 10_000.0)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as one:
        one.pages["/services/rest/"] = FakeFlickr()
        yield one


def service(site: Site) -> FakeFlickr:
    found: FakeFlickr = site.pages["/services/rest/"]
    return found


def ask(site: Site, folder: Path, *queries: Query, key: str = "right-key", **how: Any) -> tuple[FlickrSource, list[Any]]:
    with Downloader(folder, Manners(allow_private=True, wait=0.0, rate=10_000.0)) as downloader:
        source = FlickrSource(downloader, key, api=f"{site.url}/services/rest/", **how)
        return source, list(source.found(queries))


def numbers(found: list[Any]) -> list[int]:
    return [int(item.attributes["id"]) for item in found if isinstance(item, Found)]


def test_a_photo_with_all_that_flickr_tells_of_it(site: Site, tmp_path: Path):
    service(site).add(7, "a tabby cat", START + 60, "https://live.staticflickr.com/7_b.jpg", license="9")
    _, found = ask(site, tmp_path, Query("cat", "tabby cat", "synonyms", 200, DAYS, ("2012-01-01", "2013-12-31")))
    assert found == [
        Found(
            "cat",
            "flickr:tabby cat",
            url="https://live.staticflickr.com/7_b.jpg",
            attributes={
                "keyword": "tabby cat",
                "stage": "synonyms",
                "id": "7",
                "page": "https://www.flickr.com/photos/7@N00/7",
                "uploaded": "2012-07-11T00:01:00+00:00",
                "taken": "2012-08-01 10:11:12",
            },
            licence="CC0 1.0",
            author="person 7",
        )
    ]
    call = service(site).calls[0]
    assert (call["min_upload_date"], call["max_upload_date"]) == (str(START), str(END))
    assert (call["min_taken_date"], call["max_taken_date"]) == ("2012-01-01 00:00:00", "2013-12-31 23:59:59")
    assert call["extras"] == "url_o,url_l,license,owner_name,date_upload,date_taken"
    assert call["media"] == "photos"


def test_the_original_is_taken_before_the_large_size_and_none_is_a_row(site: Site, tmp_path: Path):
    service(site).add(1, "cat", START, "https://e.org/large.jpg", url_o="https://e.org/original.jpg")
    service(site).add(2, "cat", START, None)
    _, found = ask(site, tmp_path, Query("cat", "cat", "", None, DAYS))
    assert found[0].url == "https://e.org/original.jpg"
    assert found[1] == Lost("cat", "https://www.flickr.com/photos/2@N00/2", "no address of the sizes url_o, url_l")


@pytest.mark.parametrize(
    ("number", "name"),
    [
        *[("0", "All Rights Reserved"), ("4", "CC BY 2.0"), ("7", "No known copyright restrictions")],
        *[("10", "Public Domain Mark 1.0"), ("11", "CC BY 4.0"), ("16", "CC BY-NC-ND 4.0")],
        *[("99", "flickr licence 99"), ("", "")],
    ],
)
def test_licences_by_their_number(site: Site, tmp_path: Path, number: str, name: str):
    service(site).add(1, "cat", START, "https://e.org/1.jpg", license=number)
    _, found = ask(site, tmp_path, Query("cat", "cat", "", None, DAYS))
    assert found[0].licence == name


def test_pages_are_turned_up_to_the_limit_in_the_order_of_upload(site: Site, tmp_path: Path):
    for number in range(1200):
        service(site).add(number, "cat", END - number, f"https://e.org/{number}.jpg")
    _, found = ask(site, tmp_path, Query("cat", "cat", "", 1100, DAYS))
    assert numbers(found) == list(range(1199, 99, -1))
    assert [(call["page"], call["per_page"]) for call in service(site).calls] == [("1", "500"), ("2", "500"), ("3", "500")]
    _, found = ask(site, tmp_path, Query("cat", "cat", "", 30, DAYS))
    assert numbers(found) == list(range(1199, 1169, -1))
    assert service(site).calls[-1]["per_page"] == "30"


def test_a_query_with_more_than_4000_results_is_split_by_the_date_of_upload(site: Site, tmp_path: Path):
    total = 9500
    for number in range(total):  # most of them in the first days
        moment = START + (number * 20 if number < 9000 else (END - START) // 2 + number)
        service(site).add(number, "cat", moment, f"https://e.org/{number}.jpg")
    source, found = ask(site, tmp_path, Query("cat", "cat", "", None, DAYS))
    assert numbers(found) == list(range(total))
    assert source.notices == []
    assert all(int(call["page"]) * int(call["per_page"]) <= 4000 for call in service(site).calls)


def test_4000_of_more_are_had_without_splitting(site: Site, tmp_path: Path):
    for number in range(4500):
        service(site).add(number, "cat", START + number, f"https://e.org/{number}.jpg")
    _, found = ask(site, tmp_path, Query("cat", "cat", "", 4000, DAYS))
    assert numbers(found) == list(range(4000))
    assert len(service(site).calls) == 8


def test_more_than_4000_in_one_second_are_told(site: Site, tmp_path: Path):
    for number in range(4010):
        service(site).add(number, "cat", START + 5, f"https://e.org/{number}.jpg")
    source, found = ask(site, tmp_path, Query("cat", "cat", "", None, DAYS))
    assert len(found) == 4000
    assert [notice.code for notice in source.notices] == ["results-out-of-reach"]
    assert "10 of 'cat'" in source.notices[0].message


def test_nothing_found_is_no_error(site: Site, tmp_path: Path):
    assert ask(site, tmp_path, Query("cat", "cat", "", None, DAYS))[1] == []


def test_no_key(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("FLICKR_API_KEY", raising=False)
    with pytest.raises(UsageError, match="FLICKR_API_KEY"):
        ask(site, tmp_path, key="")
    monkeypatch.setenv("FLICKR_API_KEY", "right-key")
    service(site).add(1, "cat", START, "https://e.org/1.jpg")
    assert numbers(ask(site, tmp_path, Query("cat", "cat", "", None, DAYS), key="")[1]) == [1]


def test_a_wrong_key_stops_at_once_and_is_in_no_message(site: Site, tmp_path: Path):
    with pytest.raises(UsageError, match=r"Invalid API Key.*\(code 100\).*FLICKR_API_KEY") as caught:
        ask(site, tmp_path, Query("cat", "cat", "", None, DAYS), key="wrong-secret")
    assert "wrong-secret" not in str(caught.value)
    assert len(service(site).calls) == 1


@pytest.mark.parametrize("code", [10, 105, 106])
def test_an_error_that_passes_is_asked_again(site: Site, tmp_path: Path, code: int):
    service(site).add(1, "cat", START, "https://e.org/1.jpg")
    service(site).fail += [{"code": code, "message": "later"}] * 2
    assert numbers(ask(site, tmp_path, Query("cat", "cat", "", None, DAYS))[1]) == [1]
    service(site).fail += [{"code": code, "message": "later"}] * 4
    _, found = ask(site, tmp_path, Query("cat", "cat", "", None, DAYS), Query("dog", "cat", "", None, DAYS))
    assert [type(item) for item in found] == [Lost, Found]
    assert found[0].reason == f"Flickr says: later (code {code}), 4 times"


@pytest.mark.parametrize("code", [1, 3, 18, 116])
def test_an_error_of_one_query_stops_only_that(site: Site, tmp_path: Path, code: int):
    service(site).add(1, "cat", START, "https://e.org/1.jpg")
    service(site).fail += [{"code": code, "message": "Illogical arguments"}]
    _, found = ask(site, tmp_path, Query("cat", "a&b=c", "", None, DAYS), Query("dog", "cat", "", None, DAYS))
    assert found[0] == Lost("cat", f"{site.url}/services/rest/ (a&b=c)", f"Flickr says: Illogical arguments (code {code})")
    assert numbers(found) == [1]
    assert "right-key" not in repr(found)


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"<html>maintenance</html>", {}),
        (200, b"jsonFlickrApi({})", {}),
        (200, b"\xff\xfe", {}),
        as_json([]),
        as_json({"stat": "ok"}),
        as_json({"stat": "ok", "photos": {"total": "many", "pages": 1, "photo": []}}),
        as_json({"stat": "fail"}),
        as_json({"stat": "ok"}, 404),
        as_json({"stat": "ok"}, 403),
    ],
)
def test_answers_of_another_shape_are_a_row(site: Site, tmp_path: Path, answer: Any):
    site.pages["/services/rest/"] = lambda *_: answer
    _, found = ask(site, tmp_path, Query("cat", "cat", "", None, DAYS))
    assert len(found) == 1
    assert isinstance(found[0], Lost)
    assert found[0].class_id == "cat"
    assert "right-key" not in repr(found)


def test_a_server_that_is_gone_does_not_tell_the_key(tmp_path: Path):
    with serving() as site:
        pass
    _, found = ask(site, tmp_path, Query("cat", "cat", "", None, DAYS))
    assert "connection failed" in found[0].reason
    assert "right-key" not in repr(found)


def test_dates_of_upload_are_needed(site: Site, tmp_path: Path):
    with pytest.raises(UsageError, match="without dates of upload"):
        ask(site, tmp_path, Query("cat", "cat", "", None, ("2012-07-11", "")))


def test_licences_can_be_asked_for(site: Site, tmp_path: Path):
    ask(site, tmp_path, Query("cat", "cat", "", None, DAYS), licences="4,5,9,10")
    assert service(site).calls[0]["license"] == "4,5,9,10"
