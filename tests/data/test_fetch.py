"""Fetching against a server that fails as planned: nothing unchecked gets a final name, and what was cut off goes on."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resit.data.fetch import Fetched, fetch
from resit.data.read_card import make_card
from resit.errors import InputError, OutputError, UsageError


@dataclass
class Page:
    """What one address answers: its content, and what goes wrong in which of its first answers."""

    content: bytes
    failures: list[Any] = field(default_factory=list)
    ranges: bool = True
    etag: str | None = '"one"'
    headers: dict[str, str] = field(default_factory=dict)
    length: str | None = None
    requests: list[dict[str, str]] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    pages: dict[str, Page]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        page = self.pages.get(self.path)
        if page is None:
            self.send_error(404)
            return
        page.requests.append(dict(self.headers))
        failure = page.failures.pop(0) if page.failures else None
        if isinstance(failure, int) and failure >= 400:
            self.send_error(failure)
            return
        if callable(failure):
            failure(page)
        body, start = page.content, 0
        wanted = self.headers.get("Range")
        same = self.headers.get("If-Range") in (None, page.etag)
        if wanted and page.ranges and same:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(body):
                self.send_error(416)
                return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", page.length or str(len(body) - start))
        if page.etag:
            self.send_header("ETag", page.etag)
        for key, value in page.headers.items():
            self.send_header(key, value)
        self.end_headers()
        body = body[start:]
        if failure == "cut":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.close_connection = True
            return
        if failure == "stall":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            time.sleep(1.0)
            return
        self.wfile.write(body)


@dataclass
class Site:
    """A server of pages."""

    url: str
    pages: dict[str, Page]

    def add(self, name: str, content: bytes, **how: Any) -> Page:
        self.pages[f"/{name}"] = Page(content, **how)
        return self.pages[f"/{name}"]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    handler = type("OneHandler", (Handler,), {"pages": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield Site(f"http://127.0.0.1:{server.server_port}", handler.pages)
    server.shutdown()
    server.server_close()
    thread.join()


def array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.random.default_rng(0).integers(0, 255, 300_000, np.uint8))
    return file.getvalue()


DATA = array()
SHA = hashlib.sha256(DATA).hexdigest()
MD5 = hashlib.md5(DATA, usedforsecurity=False).hexdigest()


def tarball(names: dict[str, bytes], mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:
        for name, content in names.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zipped(names: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, content in names.items():
            packed.writestr(name, content)
    return buffer.getvalue()


def get(site: Site, folder: Path, *files: dict[str, Any], **options: Any) -> Fetched:
    """Fetch a card of some files; addresses that are not whole are the site's."""
    whole = [
        {**file, "urls": [u if isinstance(u, dict) or "://" in u else f"{site.url}/{u}" for u in file["urls"]]}
        for file in files
    ]
    return fetch(make_card({"name": "mine", "files": whole}), folder, wait=0.0, **{"timeout": 5.0, **options})


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_and_checked(site: Site, tmp_path: Path):
    site.add("a.npy", DATA)
    told: list[tuple[str, int, int | None]] = []
    found = get(
        site,
        tmp_path,
        {"name": "a.npy", "urls": ["a.npy"], "size": len(DATA), "sha256": SHA, "md5": MD5},
        progress=lambda *step: told.append(step),
    )
    assert (tmp_path / "a.npy").read_bytes() == DATA
    assert names_in(tmp_path) == ["a.npy"]
    (file,) = found.files
    assert (file.sha256, file.checks, file.size) == (SHA, ("size", "sha256", "md5"), len(DATA))
    assert told[-1] == ("a.npy", len(DATA), len(DATA))
    assert found.notices == ()
    assert "checked: size, sha256, md5" in str(found)


def test_what_is_there_is_checked_and_not_fetched_again(site: Site, tmp_path: Path):
    page = site.add("a.npy", DATA)
    spec = {"name": "a.npy", "urls": ["a.npy"], "sha256": SHA}
    get(site, tmp_path, spec)
    again = get(site, tmp_path, spec)
    assert len(page.requests) == 1
    assert (again.files[0].url, again.files[0].checks) == ("", ("sha256",))
    (tmp_path / "a.npy").write_bytes(DATA[:-1] + b"x")
    with pytest.raises(InputError, match=r"a\.npy: its sha256 is .*published. Move it away"):
        get(site, tmp_path, spec)


def test_without_a_known_hash_a_notice_says_so(site: Site, tmp_path: Path):
    site.add("a.npy", DATA)
    (notice,) = get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"]}).notices
    assert (notice.code, notice.where) == ("no-hash", "mine")
    assert "only size and type were checked" in notice.message


@pytest.mark.parametrize("code", [500, 503, 429])
def test_a_server_that_fails_is_asked_again(site: Site, tmp_path: Path, code: int):
    page = site.add("a.npy", DATA, failures=[code, code])
    get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], "sha256": SHA})
    assert len(page.requests) == 3


def test_tries_are_bounded_and_the_reasons_are_told(site: Site, tmp_path: Path):
    page = site.add("a.npy", DATA, failures=[500] * 10)
    with pytest.raises(InputError, match=r"could not be fetched .*a\.npy: the server said 500.*, 3 times"):
        get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"]}, attempts=3)
    assert len(page.requests) == 3
    assert not (tmp_path / "a.npy").exists()


def test_a_missing_page_is_not_asked_again_and_the_next_mirror_is(site: Site, tmp_path: Path):
    page = site.add("b.npy", DATA)
    found = get(site, tmp_path, {"name": "a.npy", "urls": ["gone.npy", "b.npy"], "sha256": SHA})
    assert found.files[0].url == f"{site.url}/b.npy"
    assert len(page.requests) == 1


def test_a_cut_connection_goes_on_where_it_stopped(site: Site, tmp_path: Path):
    page = site.add("a.npy", DATA, failures=["cut"])
    get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], "sha256": SHA})
    half = len(DATA) // 2
    assert page.requests[1]["Range"] == f"bytes={half}-"
    assert page.requests[1]["If-Range"] == '"one"'
    assert (tmp_path / "a.npy").read_bytes() == DATA


def test_a_later_call_goes_on_where_the_first_stopped(site: Site, tmp_path: Path):
    page = site.add("a.npy", DATA, failures=["cut"])
    spec = {"name": "a.npy", "urls": ["a.npy"], "sha256": SHA}
    with pytest.raises(InputError, match="the connection ended after"):
        get(site, tmp_path, spec, attempts=1)
    assert names_in(tmp_path) == ["a.npy.part", "a.npy.part.json"]
    get(site, tmp_path, spec, attempts=1)
    assert "Range" in page.requests[1]
    assert names_in(tmp_path) == ["a.npy"]


def test_a_server_without_ranges_starts_again(site: Site, tmp_path: Path):
    page = site.add("a.npy", DATA, failures=["cut"], ranges=False)
    get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], "sha256": SHA})
    assert "Range" in page.requests[1]
    assert (tmp_path / "a.npy").read_bytes() == DATA


def test_a_file_that_changed_on_the_server_starts_again(site: Site, tmp_path: Path):
    """Without If-Range the second half of another file would be appended, and without a hash nobody would see it."""
    other = DATA[:128] + bytes(reversed(DATA[128:]))

    def change(page: Page) -> None:
        page.content, page.etag = other, '"two"'

    site.add("a.npy", DATA, failures=["cut", change])
    get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"]})
    assert (tmp_path / "a.npy").read_bytes() == other


def test_without_tag_and_hash_nothing_is_appended(site: Site, tmp_path: Path):
    page = site.add("a.npy", DATA, failures=["cut"], etag=None)
    get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"]})
    assert "Range" not in page.requests[1]
    assert (tmp_path / "a.npy").read_bytes() == DATA


def test_a_connection_that_stalls_is_given_up(site: Site, tmp_path: Path):
    site.add("a.npy", DATA, failures=["stall"])
    get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], "sha256": SHA}, timeout=0.2)
    assert (tmp_path / "a.npy").read_bytes() == DATA


def test_a_broken_part_is_found_by_its_hash_and_kept_under_no_name(site: Site, tmp_path: Path):
    site.add("a.npy", DATA, failures=["cut"])
    spec = {"name": "a.npy", "urls": ["a.npy"], "sha256": SHA}
    with pytest.raises(InputError):
        get(site, tmp_path, spec, attempts=1)
    part = tmp_path / "a.npy.part"
    part.write_bytes(b"\x93NUMPY" + b"x" * (part.stat().st_size - 6))
    with pytest.raises(InputError, match=f"its sha256 is [0-9a-f]{{64}}, while {SHA} was published"):
        get(site, tmp_path, spec)
    assert names_in(tmp_path) == []
    get(site, tmp_path, spec)
    assert (tmp_path / "a.npy").read_bytes() == DATA


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_a_wrong_hash_keeps_nothing_and_says_expected_and_found(site: Site, tmp_path: Path, kind: str):
    site.add("a.npy", DATA)
    wrong = ("0" * 64) if kind == "sha256" else "0" * 32
    found = SHA if kind == "sha256" else MD5
    with pytest.raises(InputError, match=f"its {kind} is {found}, while {wrong} was published"):
        get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], kind: wrong})
    assert names_in(tmp_path) == []


def test_a_wrong_size_is_refused_before_it_is_fetched(site: Site, tmp_path: Path):
    site.add("a.npy", DATA)
    told: list[object] = []
    with pytest.raises(InputError, match=f"{len(DATA):,} bytes, while 5 were published"):
        get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], "size": 5}, progress=lambda *step: told.append(step))
    assert told == []
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.zip", "a.npy", "a.npz", "a.json"])
def test_a_web_page_instead_of_the_file_is_refused(site: Site, tmp_path: Path, name: str):
    site.add("page", b"\n<!DOCTYPE html><html>Please log in</html>" + b" " * 600)
    with pytest.raises(InputError, match="a web page came instead of the file"):
        get(site, tmp_path, {"name": name, "urls": ["page"]})
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf<!DOCTYPE html>", b"<!-- cached --><html>", b"<?xml version='1.0'?>\n<html>"])
def test_a_web_page_that_begins_otherwise_is_one_too(site: Site, tmp_path: Path, start: bytes):
    site.add("a.csv", start + b"<body>Log in</body></html>")
    with pytest.raises(InputError, match="a web page came instead"):
        get(site, tmp_path, {"name": "a.csv", "urls": ["a.csv"]})
    assert names_in(tmp_path) == []


def test_a_length_that_is_no_number_is_not_believed(site: Site, tmp_path: Path):
    site.add("a.npy", DATA, length="many")
    assert get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], "sha256": SHA}).files[0].checks == ("sha256",)


def test_a_file_of_another_kind_is_refused(site: Site, tmp_path: Path):
    site.add("a", DATA)
    with pytest.raises(InputError, match="what came is no tar file"):
        get(site, tmp_path, {"name": "a.tar.gz", "urls": ["a"]})


def test_a_mirror_of_other_bytes_has_its_own_hash(site: Site, tmp_path: Path):
    other = DATA[:-1] + b"\0"
    site.add("b.npy", other)
    mirror = {"url": f"{site.url}/b.npy", "size": len(other), "sha256": hashlib.sha256(other).hexdigest()}
    spec = {"name": "a.npy", "urls": ["gone.npy", mirror], "sha256": SHA}
    assert get(site, tmp_path, spec).files[0].checks == ("size", "sha256")
    assert get(site, tmp_path, spec).files[0].checks == ("size", "sha256")


def test_content_that_the_server_packed_is_unpacked_before_it_is_checked(site: Site, tmp_path: Path):
    """As S3 does for objects stored with Content-Encoding: the published hash is that of the content."""
    site.add("a.npy", gzip.compress(DATA), failures=["cut"], headers={"Content-Encoding": "gzip"})
    get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], "size": len(DATA), "sha256": SHA})
    assert (tmp_path / "a.npy").read_bytes() == DATA


def test_a_mirror_may_be_a_file(site: Site, tmp_path: Path):
    source = tmp_path / "söurce.npy"
    source.write_bytes(DATA)
    gone = (tmp_path / "gone.npy").as_uri()
    found = get(site, tmp_path / "to", {"name": "a.npy", "urls": [gone, source.as_uri()], "sha256": SHA})
    assert (tmp_path / "to" / "a.npy").read_bytes() == DATA
    assert found.files[0].url == source.as_uri()


def test_an_address_of_another_kind_is_refused(site: Site, tmp_path: Path):
    with pytest.raises(UsageError, match="an address that is not http"):
        get(site, tmp_path, {"name": "a.npy", "urls": ["ftp://example.org/a.npy"]})


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.tar", tarball({"inner/x.txt": b"1", "inner/y.txt": b"2"}), "tar"),
        ("a.tar.gz", tarball({"inner/x.txt": b"1", "inner/y.txt": b"2"}, "w:gz"), "tar"),
        ("a.tar.gz", tarball({"inner/x.txt": b"1", "inner/y.txt": b"2"}), "tar"),
        ("a.zip", zipped({"inner/x.txt": b"1", "inner/y.txt": b"2"}), "zip"),
    ],
)
def test_archives_are_unpacked_once(site: Site, tmp_path: Path, name: str, content: bytes, kind: str):
    page = site.add(name, content)
    spec = {"name": name, "urls": [name], "unpack": kind, "into": "sub"}
    assert get(site, tmp_path, spec).files[0].unpacked
    assert names_in(tmp_path / "sub" / "inner") == ["x.txt", "y.txt"]
    assert names_in(tmp_path) == [".resit-unpacked.json", "sub"]
    assert get(site, tmp_path, spec).files[0].unpacked
    assert len(page.requests) == 1


def test_what_was_unpacked_and_is_gone_is_fetched_again(site: Site, tmp_path: Path):
    page = site.add("a.tar", tarball({"inner/x.txt": b"1"}))
    spec = {"name": "a.tar", "urls": ["a.tar"], "unpack": "tar"}
    get(site, tmp_path, spec)
    shutil.rmtree(tmp_path / "inner")
    get(site, tmp_path, spec)
    assert (tmp_path / "inner" / "x.txt").read_text() == "1"
    assert len(page.requests) == 2


def test_two_calls_do_not_write_one_folder(site: Site, tmp_path: Path):
    site.add("a.npy", DATA)
    spec = {"name": "a.npy", "urls": ["a.npy"]}

    def again(*_: object) -> None:
        get(site, tmp_path, spec)

    with pytest.raises(OutputError, match="another call is fetching into this folder"):
        get(site, tmp_path, spec, progress=again)
    get(site, tmp_path, spec)


def test_archives_can_be_kept_and_those_put_there_by_hand_are(site: Site, tmp_path: Path):
    content = tarball({"x.txt": b"1"})
    site.add("a.tar", content)
    spec = {"name": "a.tar", "urls": ["a.tar"], "unpack": "tar", "sha256": hashlib.sha256(content).hexdigest()}
    get(site, tmp_path / "one", spec, keep=True)
    assert (tmp_path / "one" / "a.tar").exists()
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "a.tar").write_bytes(content)
    get(site, tmp_path / "two", {**spec, "urls": ["gone"]})
    assert names_in(tmp_path / "two") == [".resit-unpacked.json", "a.tar", "x.txt"]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.tar", tarball({"../evil.txt": b"1"}), "tar"),
        ("a.zip", zipped({"../evil.txt": b"1"}), "zip"),
        ("a.zip", zipped({"/evil.txt": b"1"}), "zip"),
        ("a.zip", zipped({"x\\..\\..\\evil.txt": b"1"}), "zip"),
        ("a.zip", zipped({"C:/evil.txt": b"1"}), "zip"),
    ],
)
def test_an_archive_that_would_leave_the_folder_is_refused(site: Site, tmp_path: Path, name: str, content: bytes, kind: str):
    site.add(name, content)
    with pytest.raises(InputError, match="a member that would leave the folder"):
        get(site, tmp_path / "to", {"name": name, "urls": [name], "unpack": kind})
    assert names_in(tmp_path) == ["to"]
    assert names_in(tmp_path / "to") == [name]


def test_a_link_out_of_the_folder_is_refused(site: Site, tmp_path: Path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "../../outside"
        tar.addfile(link)
    site.add("a.tar", buffer.getvalue())
    with pytest.raises(InputError, match="a member that would leave the folder"):
        get(site, tmp_path, {"name": "a.tar", "urls": ["a.tar"], "unpack": "tar"})


def test_an_archive_that_is_cut_off_is_refused_and_leaves_nothing_unpacked(site: Site, tmp_path: Path):
    whole = tarball({"x.bin": bytes(100_000), "y.bin": bytes(100_000)})
    site.add("a.tar", whole[:150_000])
    with pytest.raises(InputError, match="cannot be read as tar"):
        get(site, tmp_path, {"name": "a.tar", "urls": ["a.tar"], "unpack": "tar"})
    assert names_in(tmp_path) == ["a.tar"]


def test_what_is_there_already_is_not_overwritten(site: Site, tmp_path: Path):
    site.add("a.tar", tarball({"inner/x.txt": b"new"}))
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "x.txt").write_text("old")
    with pytest.raises(OutputError, match="inner is there already"):
        get(site, tmp_path, {"name": "a.tar", "urls": ["a.tar"], "unpack": "tar"})
    assert (tmp_path / "inner" / "x.txt").read_text() == "old"


def test_unpacking_that_was_broken_off_is_done_again(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    site.add("a.tar", tarball({"one/x.txt": b"1", "two/y.txt": b"2"}))
    spec = {"name": "a.tar", "urls": ["a.tar"], "unpack": "tar"}
    original, moved = Path.replace, []

    def break_off(self: Path, target: Path) -> Path:
        if self.name == "two":
            raise KeyboardInterrupt
        moved.append(self.name)
        return original(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", break_off)
        with pytest.raises(KeyboardInterrupt):
            get(site, tmp_path, spec)
    assert "one" in moved
    get(site, tmp_path, spec)
    assert (tmp_path / "one" / "x.txt").read_text() == "1"
    assert (tmp_path / "two" / "y.txt").read_text() == "2"


def test_case_36_a_full_disk_is_told_before_anything_is_fetched(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = site.add("a.npy", DATA)
    usage = shutil.disk_usage(tmp_path)._replace(free=2**26 + len(DATA) - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OutputError, match=r"GB are needed and .* GB are free. Make room"):
        get(site, tmp_path, {"name": "a.npy", "urls": ["a.npy"], "size": len(DATA)})
    assert page.requests == []


def test_case_36_a_folder_that_is_a_file_is_told(site: Site, tmp_path: Path):
    site.add("a.npy", DATA)
    (tmp_path / "to").write_text("a file")
    with pytest.raises(OutputError, match="cannot be written"):
        get(site, tmp_path / "to", {"name": "a.npy", "urls": ["a.npy"]})


def test_what_people_must_get_themselves_is_told(tmp_path: Path):
    with pytest.raises(UsageError, match=r"ILSVRC2012_img_val\.tar is not in .*ImageNet needs an account"):
        fetch("imagenet-val", tmp_path)
    with pytest.raises(UsageError, match=r"objectnet: resit cannot fetch it. The archive is encrypted; its password"):
        fetch("objectnet", tmp_path)
    with pytest.raises(UsageError, match="no known test set"):
        fetch("nothing", tmp_path)
