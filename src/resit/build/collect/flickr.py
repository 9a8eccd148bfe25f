"""Candidates by Flickr's search, ``flickr.photos.search``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from resit.build.collect.download import Again, Downloader
from resit.build.collect.found import Dates, Found, Lost, Query
from resit.build.collect.widening import STAGES
from resit.errors import InputError, Notice, UsageError

API = "https://api.flickr.com/services/rest/"
KEY = "FLICKR_API_KEY"
PER_PAGE = 500  # at most
MOST = 4000  # results of a query that Flickr gives out; pages after them repeat
RATE = 1.0  # requests a second: 3,600 an hour are allowed
EXTRAS = "url_o,url_l,license,owner_name,date_upload,date_taken"
SIZES = ("url_o", "url_l")  # the first that a photo has
# Of the documented codes of errors: those that pass, and those that every query would meet.
PASSING = {10, 105, 106}
FATAL = {96, 97, 98, 99, 100, 111, 112}
# flickr.photos.licenses.getInfo
LICENCES = (
    *("All Rights Reserved", "CC BY-NC-SA 2.0", "CC BY-NC 2.0", "CC BY-NC-ND 2.0", "CC BY 2.0", "CC BY-SA 2.0", "CC BY-ND 2.0"),
    *("No known copyright restrictions", "United States Government Work", "CC0 1.0", "Public Domain Mark 1.0"),
    *("CC BY 4.0", "CC BY-SA 4.0", "CC BY-ND 4.0", "CC BY-NC 4.0", "CC BY-NC-SA 4.0", "CC BY-NC-ND 4.0"),
)


class FlickrSource:
    """Photos that a text search finds, in the order of their upload, so that no ranker chooses among them.

    Parameters
    ----------
    downloader : Downloader
        Asks politely.
    key : str, optional
        API key. Default: ``$FLICKR_API_KEY``. It is in no message.
    licences : str, optional
        Ids of licences that are wanted, separated by commas, as Flickr numbers them. Default: all.
    api : str, optional
        Address of the API.

    Raises
    ------
    UsageError
        If there is no key.

    Notes
    -----
    Flickr gives out the first 4,000 results of a query. Where more are wanted and there are that many, the time of upload is
    halved until each part has fewer.

    References
    ----------
    https://www.flickr.com/services/api/flickr.photos.search.html
    """

    name = "flickr:"
    stages = STAGES

    def __init__(self, downloader: Downloader, key: str | None = None, *, licences: str = "", api: str = API) -> None:
        self._key = key or os.environ.get(KEY, "")
        if not self._key:
            fix = f"Get one at https://www.flickr.com/services/api/keys/ and set the environment variable {KEY}."
            raise UsageError("Flickr's search needs an API key", where="flickr", fix=fix)
        self._downloader, self._licences, self._api = downloader, licences, api
        self.notices: list[Notice] = []

    def found(self, queries: Sequence[Query]) -> Iterator[Found | Lost]:
        """Photos, query by query, oldest upload first.

        Raises
        ------
        UsageError
            If the key is not valid, or a query has no dates of upload.
        """
        for query in queries:
            if not all(query.uploaded):
                fix = "Give the first and last day of upload: the order by upload needs both, and later searches find more."
                raise UsageError("a search without dates of upload", where=f"flickr ({query.text})", fix=fix)
            try:
                yield from self._photos(query)
            except InputError as error:
                yield Lost(query.class_id, f"{self._api} ({query.text})", error.what)

    def _photos(self, query: Query) -> Iterator[Found | Lost]:
        """All photos of a query, part by part of the time of upload."""
        left = query.limit if query.limit is not None else 10**12
        parts = [_seconds(query.uploaded)]
        while parts and left > 0:
            low, high = parts.pop()
            page = self._page(query, low, high, 1, left)
            if int(page["total"]) >= MOST and left > MOST and high > low:
                middle = (low + high) // 2
                parts += [(middle + 1, high), (low, middle)]
                continue
            if int(page["total"]) > MOST and left > MOST:
                message = f"{int(page['total']) - MOST:,} of {query.text!r} were uploaded in one second and are out of reach."
                self.notices.append(Notice("results-out-of-reach", "flickr", message))
            for photo in self._of_pages(query, low, high, page, min(left, MOST)):
                left -= 1
                yield _candidate(photo, query)

    def _of_pages(self, query: Query, low: int, high: int, page: Mapping[str, Any], most: int) -> Iterator[Mapping[str, Any]]:
        given, number = 0, 1
        while page["photo"]:
            for photo in page["photo"][: most - given]:
                given += 1
                yield photo
            if given >= most or number >= int(page["pages"]):
                return
            number += 1
            page = self._page(query, low, high, number, most)

    def _page(self, query: Query, low: int, high: int, number: int, wanted: int) -> Mapping[str, Any]:
        fields = {
            "method": "flickr.photos.search",
            "api_key": self._key,
            "format": "json",
            "nojsoncallback": "1",
            "text": query.text,
            "min_upload_date": str(low),
            "max_upload_date": str(high),
            "sort": "date-posted-asc",
            "media": "photos",
            "extras": EXTRAS,
            "per_page": str(min(PER_PAGE, wanted)),
            "page": str(number),
        }
        fields |= {f"{which}_taken_date": day for which, day in zip(("min", "max"), _days(query.taken), strict=True) if day}
        fields |= {"license": self._licences} if self._licences else {}
        data = self._downloader.get(f"{self._api}?{urlencode(fields)}", rate=RATE, keep=False, accept=_refuse_passing)
        answer = _read(data)
        if answer["stat"] == "ok":
            photos: Mapping[str, Any] = answer["photos"]
            return photos
        code = int(answer["code"])
        if code in FATAL:
            fix = f"Check the environment variable {KEY}." if code == 100 else "It may have changed its API."
            raise UsageError(f"Flickr refuses every search: {answer['message']} (code {code})", where="flickr", fix=fix)
        raise InputError(_said(answer))


def _read(data: bytes) -> dict[str, Any]:
    """An answer, once it is sure that it has what is documented."""
    try:
        answer = json.loads(data)
        if answer["stat"] == "ok":
            _ = int(answer["photos"]["total"]), int(answer["photos"]["pages"]), [*answer["photos"]["photo"]]
        else:
            _ = int(answer["code"]), str(answer["message"])
        return dict(answer)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError("Flickr's answer is not what its documentation says") from error


def _said(answer: Mapping[str, Any]) -> str:
    return f"Flickr says: {answer['message']} (code {answer['code']})"


def _refuse_passing(data: bytes) -> None:
    answer = _read(data)
    if answer["stat"] != "ok" and int(answer["code"]) in PASSING:
        raise Again(_said(answer))


def _candidate(photo: Mapping[str, Any], query: Query) -> Found | Lost:
    page = f"https://www.flickr.com/photos/{photo.get('owner', '')}/{photo.get('id', '')}"
    url = next((str(photo[size]) for size in SIZES if photo.get(size)), "")
    if not url:
        return Lost(query.class_id, page, f"no address of the sizes {', '.join(SIZES)}")
    uploaded = str(photo.get("dateupload", ""))
    attributes = {
        "keyword": query.text,
        "stage": query.stage,
        "id": str(photo.get("id", "")),
        "page": page,
        "uploaded": datetime.fromtimestamp(int(uploaded), UTC).isoformat() if uploaded.isdecimal() else uploaded,
        "taken": str(photo.get("datetaken", "")),
    }
    return Found(
        query.class_id,
        f"{FlickrSource.name}{query.text}",
        url=url,
        attributes=attributes,
        licence=_licence(str(photo.get("license", ""))),
        author=str(photo.get("ownername", "") or photo.get("owner", "")),
    )


def _licence(number: str) -> str:
    known = number.isdecimal() and int(number) < len(LICENCES)
    return LICENCES[int(number)] if known else f"flickr licence {number}" if number else ""


def _seconds(dates: Dates) -> tuple[int, int]:
    """First second of the first day and last of the last, in UTC."""
    first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in dates)
    return int(first.timestamp()), int((last + timedelta(days=1)).timestamp()) - 1


def _days(dates: Dates) -> tuple[str, str]:
    first, last = dates
    return (f"{first} 00:00:00" if first else "", f"{last} 23:59:59" if last else "")
