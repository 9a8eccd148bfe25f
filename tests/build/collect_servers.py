"""A server on this machine that answers as planned, and the two search services in the shapes that they document."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image

PAGE = b"<!DOCTYPE html><html><body>Please log in</body></html>"


def picture(index: int, kind: str = "PNG", size: tuple[int, int] = (6, 5)) -> bytes:
    """A small image that differs from those of other numbers."""
    pixels = np.random.default_rng(index).integers(0, 256, (*size, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


@dataclass
class Page:
    """What one address answers: to its first requests what fails, then its content.

    A failure is a status, a status with headers, or a function of the handler that answers by itself.
    """

    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    failures: list[Any] = field(default_factory=list)
    status: int = 200


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        with self.site.lock:
            self.site.asked.append(self.path)
            self.site.headers.append({key.lower(): value for key, value in self.headers.items()})
            answer = self.site.pages.get(place.path)
            failure = answer.failures.pop(0) if isinstance(answer, Page) and answer.failures else None
        if answer is None:
            self.reply(404, b"nothing here")
        elif callable(failure):
            failure(self)
        elif failure is not None:
            status, headers = failure if isinstance(failure, tuple) else (failure, {})
            self.reply(status, b"", headers)
        elif callable(answer):
            status, body, headers = answer({key: values[0] for key, values in parse_qs(place.query).items()}, self.headers)
            self.reply(status, body, headers)
        else:
            self.page(answer)

    def page(self, page: Page) -> None:
        wanted, tag = self.headers.get("Range"), page.headers.get("ETag")
        if wanted and tag and self.headers.get("If-Range") == tag:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(page.content):
                self.reply(416, b"")
                return
            rest = {**page.headers, "Content-Range": f"bytes {start}-{len(page.content) - 1}/{len(page.content)}"}
            self.reply(206, page.content[start:], rest)
            return
        self.reply(page.status, page.content, page.headers)

    def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None, length: int | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def half(self, page: Page) -> None:
        """Promise all of a page, and send half."""
        self.reply(200, page.content[: len(page.content) // 2], page.headers, length=len(page.content))
        self.close_connection = True

    def endless(self, block: bytes, pause: Callable[[], object] = lambda: None) -> None:
        """Send blocks until the other side goes."""
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while not self.site.closing.is_set():
                self.wfile.write(block)
                self.wfile.flush()
                pause()
        except OSError:
            return


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # one that went away is what some tests are about
            super().handle_error(request, client_address)


@dataclass
class Site:
    """A server of pages; each is a Page, or a function of the query and headers to status, body and headers."""

    url: str = ""
    port: int = 0
    pages: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)

    def add(self, name: str, content: bytes = b"", **how: Any) -> str:
        """Add a page, and return its address."""
        self.pages[f"/{name}"] = Page(content, **how)
        return f"{self.url}/{name}"


@contextmanager
def serving(address: str = "127.0.0.1") -> Iterator[Site]:
    """A server that runs for some time."""
    site = Site()
    handler = type("OneHandler", (Handler,), {"site": site})
    server = Server((address, 0), handler)
    site.port = server.server_port
    site.url = f"http://127.0.0.1:{site.port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def as_json(value: object, status: int = 200, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    return status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers}


@dataclass
class FakeFlickr:
    """flickr.photos.search as documented: its arguments, its JSON, its errors, and no more than 4,000 results of a query.

    Pages after the last that is given out repeat it, as the service does.
    """

    photos: list[dict[str, Any]] = field(default_factory=list)
    key: str = "right-key"
    most: int = 4000
    fail: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, str]] = field(default_factory=list)

    def add(self, number: int, text: str, uploaded: int, url: str | None, **more: Any) -> None:
        photo = {
            "id": str(number),
            "owner": f"{number}@N00",
            "secret": "s",
            "server": "1",
            "farm": 1,
            "title": text,
            "ispublic": 1,
            "isfriend": 0,
            "isfamily": 0,
            "license": "4",
            "ownername": f"person {number}",
            "dateupload": str(uploaded),
            "datetaken": "2012-08-01 10:11:12",
            "datetakengranularity": 0,
        }
        if url is not None:
            photo |= {"url_l": url, "height_l": 768, "width_l": 1024}
        self.photos.append({**photo, **more})

    def __call__(self, query: dict[str, str], _: Any) -> tuple[int, bytes, dict[str, str]]:
        self.calls.append(query)
        if self.fail:
            return as_json({"stat": "fail", **self.fail.pop(0)})
        if query["api_key"] != self.key:
            return as_json({"stat": "fail", "code": 100, "message": "Invalid API Key (Key has invalid format)"})
        assert (query["method"], query["format"], query["nojsoncallback"]) == ("flickr.photos.search", "json", "1")
        assert query["sort"] == "date-posted-asc"
        if not query.get("text"):
            return as_json({"stat": "fail", "code": 3, "message": "Parameterless searches have been disabled."})
        low, high = int(query["min_upload_date"]), int(query["max_upload_date"])
        found = [photo for photo in self.photos if query["text"] in photo["title"] and low <= int(photo["dateupload"]) <= high]
        found.sort(key=lambda photo: (int(photo["dateupload"]), int(photo["id"])))
        per_page = min(int(query["per_page"]), 500)
        pages = -(-len(found) // per_page)
        reachable = -(-min(len(found), self.most) // per_page)
        number = max(1, min(int(query["page"]), reachable))
        shown = found[(number - 1) * per_page : min(number * per_page, self.most)]
        photos = {"page": number, "pages": pages, "perpage": per_page, "total": str(len(found)), "photo": shown}
        return as_json({"photos": photos, "stat": "ok"})


@dataclass
class FakeOpenverse:
    """The image search of Openverse: 20 pages, of 20 results at most, or 500 with a token."""

    images: list[dict[str, Any]] = field(default_factory=list)
    token: str = "right-token"
    calls: list[dict[str, str]] = field(default_factory=list)

    def add(self, number: int, text: str, url: str | None, **more: Any) -> None:
        image = {
            "id": f"uuid-{number:06}",
            "title": text,
            "indexed_on": "2020-02-02T00:00:00Z",
            "foreign_landing_url": f"https://example.org/{number}",
            "url": url,
            "creator": f"person {number}",
            "license": "by-sa",
            "license_version": "2.0",
            "provider": "flickr",
            "source": "flickr",
            "mature": False,
        }
        self.images.append({**image, **more})

    def __call__(self, query: dict[str, str], headers: Any) -> tuple[int, bytes, dict[str, str]]:
        self.calls.append(query)
        given = headers.get("Authorization")
        if given is not None and given != f"Bearer {self.token}":
            return as_json({"detail": "Authentication credentials were not provided."}, 401)
        size, number = int(query["page_size"]), int(query["page"])
        if given is None and size > 20:
            return as_json({"detail": "Ensure this value is less than or equal to 20."}, 401)
        if size > 500 or number > 20:
            return as_json({"page": ["Ensure this value is less than or equal to 20."]}, 400)
        found = [image for image in self.images if query["q"] in image["title"]]
        pages = min(20, -(-len(found) // size))
        results = found[(number - 1) * size : number * size]
        whole = {"result_count": len(found), "page_count": pages, "page_size": size, "page": number, "results": results}
        return as_json(whole)
