"""Candidates by Openverse, the search of openly licensed images."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from resit.build.collect.download import Downloader, Rejected
from resit.build.collect.found import Found, Lost, Query
from resit.build.collect.widening import STAGES
from resit.errors import InputError, Notice, UsageError

API = "https://api.openverse.org/v1/images/"
TOKEN = "OPENVERSE_TOKEN"
PAGES = 20  # the deepest page that is given out
PER_PAGE, PER_PAGE_WITH_TOKEN = 20, 500  # at most
RATE, RATE_WITH_TOKEN = 1 / 3, 1.5  # requests a second: 20 and 100 a minute are allowed
LONGEST_TEXT = 200  # what is longer is cut off by the server


class OpenverseSource:
    """Openly licensed images that a text search finds.

    Parameters
    ----------
    downloader : Downloader
        Asks politely.
    token : str, optional
        Access token. Default: ``$OPENVERSE_TOKEN``; without one fewer results are given out. It is in no message.
    licences : str, optional
        Licences that are wanted, separated by commas, such as ``by,cc0``. Default: all.
    api : str, optional
        Address of the API.

    Notes
    -----
    Openverse gives out 20 pages of a query: 400 results, or 10,000 with a token. It cannot search by date. Only with a token it
    orders by when it met an image; else a ranker orders by relevance, and decides which images are among the first 400.

    References
    ----------
    https://api.openverse.org/v1/
    """

    name = "openverse:"
    stages = STAGES

    def __init__(self, downloader: Downloader, token: str | None = None, *, licences: str = "", api: str = API) -> None:
        self._token = token or os.environ.get(TOKEN, "")
        self._downloader, self._licences, self._api = downloader, licences, api
        self._per_page = PER_PAGE_WITH_TOKEN if self._token else PER_PAGE
        self.notices: list[Notice] = []
        if not self._token:
            message = f"Without {TOKEN} results are ordered by relevance: a ranker decides which come first."
            self.notices.append(Notice("ordered-by-relevance", "openverse", message))

    def found(self, queries: Sequence[Query]) -> Iterator[Found | Lost]:
        """Images, query by query.

        Raises
        ------
        UsageError
            If the token is not valid.
        """
        if any(any((*query.uploaded, *query.taken)) for query in queries) and "dates-not-searched" not in {
            notice.code for notice in self.notices
        }:
            message = "It cannot search by date: images of all dates were taken."
            self.notices.append(Notice("dates-not-searched", "openverse", message))
        for query in queries:
            try:
                yield from self._images(query)
            except InputError as error:
                yield Lost(query.class_id, f"{self._api} ({query.text})", error.what)

    def _images(self, query: Query) -> Iterator[Found | Lost]:
        if len(query.text) > LONGEST_TEXT:
            raise InputError(f"a query of {len(query.text)} characters, more than {LONGEST_TEXT}")
        left = query.limit if query.limit is not None else 10**12
        for number in range(1, PAGES + 1):
            page = self._page(query, number)
            for image in page["results"][:left]:
                left -= 1
                yield _candidate(image, query)
            if left <= 0 or not page["results"] or number >= int(page["page_count"]):
                break
        beyond = int(page["result_count"]) - PAGES * self._per_page
        if left > 0 and number == PAGES and beyond > 0:
            message = f"{beyond:,} of {int(page['result_count']):,} results of {query.text!r} are out of reach."
            self.notices.append(Notice("results-out-of-reach", "openverse", message))

    def _page(self, query: Query, number: int) -> Mapping[str, Any]:
        fields = {"q": query.text, "page": str(number), "page_size": str(self._per_page)}
        fields |= {"license": self._licences} if self._licences else {}
        headers = {}
        if self._token:
            fields |= {"unstable__sort_by": "indexed_on", "unstable__sort_dir": "asc"}
            headers = {"Authorization": f"Bearer {self._token}"}
        rate = RATE_WITH_TOKEN if self._token else RATE
        try:
            data = self._downloader.get(f"{self._api}?{urlencode(fields)}", headers=headers, rate=rate, keep=False)
        except Rejected as error:
            if error.status == 401:
                fix = f"Check the environment variable {TOKEN}; tokens expire."
                raise UsageError(f"Openverse refuses every search: {_detail(error)}", where="openverse", fix=fix) from error
            raise InputError(f"{error.what}: {_detail(error)}") from error
        try:
            answer = json.loads(data)
            _ = int(answer["result_count"]), int(answer["page_count"]), [*answer["results"]]
            return dict(answer)
        except (ValueError, TypeError, KeyError) as error:
            raise InputError("Openverse's answer is not what its documentation says") from error


def _detail(error: Rejected) -> str:
    """What the server says in words: ``detail``, or all of a short answer."""
    try:
        answer = json.loads(error.body)
    except ValueError:
        return error.what
    return str(answer.get("detail", answer) if isinstance(answer, dict) else answer)[:500]


def _candidate(image: Mapping[str, Any], query: Query) -> Found | Lost:
    def text(name: str) -> str:
        value = image.get(name)
        return "" if value is None else str(value)

    if not text("url"):
        return Lost(query.class_id, text("foreign_landing_url") or text("id"), "no address of the image")
    return Found(
        query.class_id,
        f"{OpenverseSource.name}{query.text}",
        url=text("url"),
        attributes={
            "keyword": query.text,
            "stage": query.stage,
            "id": text("id"),
            "page": text("foreign_landing_url"),
            "provider": text("source") or text("provider"),
        },
        licence=_licence(text("license"), text("license_version")),
        author=text("creator"),
    )


def _licence(code: str, version: str) -> str:
    """A licence by its usual name: ``by-sa`` 2.0 is CC BY-SA 2.0."""
    names = {"cc0": "CC0", "pdm": "Public Domain Mark"}
    name = names.get(code.lower(), f"CC {code.upper()}" if code else "")
    return f"{name} {version}".strip()
