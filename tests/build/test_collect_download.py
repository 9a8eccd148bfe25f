"""Downloads against a server that fails as planned: polite, bounded, resumed, and nothing half-done is taken for whole."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from collect_servers import PAGE, Site, picture, serving

from extras import needs
from resit.build.collect.download import Downloader, Rejected, retry_after
from resit.build.collect.images import check_image
from resit.build.collect.polite import HostGate, Manners
from resit.errors import InputError, OutputError, UsageError

needs("httpx")
WHOLE = picture(0, size=(120, 120))  # some 43 kB
QUICK = {"allow_private": True, "wait": 0.0, "rate": 1000.0, "timeout": 5.0}


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self.lock = threading.Lock()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.slept.append(seconds)
            self.now += seconds


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as one:
        yield one


def downloader(folder: Path, **manners: Any) -> Downloader:
    return Downloader(folder / "parts", Manners(**{**QUICK, **manners}))


def timed(folder: Path, **manners: Any) -> tuple[Downloader, Clock]:
    clock = Clock()
    return Downloader(folder / "parts", Manners(**{**QUICK, **manners}), clock=clock, sleep=clock.sleep), clock


def leftovers(folder: Path) -> list[str]:
    return sorted(path.suffix for path in (folder / "parts").iterdir())


def test_what_comes_is_what_is_there(site: Site, tmp_path: Path):
    with downloader(tmp_path) as one:
        assert one.get(site.add("a.png", WHOLE)) == WHOLE
        assert one.get(site.add("empty", b"")) == b""
    assert leftovers(tmp_path) == []
    assert site.headers[0]["user-agent"].startswith("resit")
    assert site.headers[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_an_answer_that_will_not_change_is_asked_once(site: Site, tmp_path: Path, status: int):
    url = site.add("a.png", b'{"detail": "no"}', status=status)
    with downloader(tmp_path) as one, pytest.raises(Rejected, match=f"the server said {status}") as caught:
        one.get(url)
    assert (caught.value.status, caught.value.body, len(site.asked)) == (status, b'{"detail": "no"}', 1)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_an_answer_that_may_pass_is_asked_again(site: Site, tmp_path: Path, status: int):
    with downloader(tmp_path) as one:
        assert one.get(site.add("a.png", WHOLE, failures=[status, status])) == WHOLE
        with pytest.raises(InputError, match=f"the server said {status}.*, 4 times"):
            one.get(site.add("b.png", WHOLE, failures=[status] * 9))
    assert len(site.asked) == 3 + 4


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_server_that_asks_to_wait_is_not_asked_before(site: Site, tmp_path: Path, form: str):
    base = datetime.now(UTC).replace(microsecond=0)
    date = format_datetime(base + timedelta(seconds=50), usegmt=True)
    failure = (429, {"Retry-After": "50" if form == "seconds" else date})
    one, clock = timed(tmp_path)
    with one:
        assert one.get(site.add("a.png", WHOLE, failures=[failure])) == WHOLE
        assert 48 <= clock.now - 1000 <= 51


def test_the_wait_that_one_address_met_holds_for_its_whole_host(site: Site, tmp_path: Path):
    one, clock = timed(tmp_path, attempts=1)
    with one:
        with pytest.raises(InputError, match="429"):
            one.get(site.add("a.png", WHOLE, failures=[(429, {"Retry-After": "60"})]))
        one.get(site.add("b.png", WHOLE))
        assert clock.now == pytest.approx(1060, abs=0.1)


def test_a_host_that_asks_for_too_long_a_wait_is_left_alone(site: Site, tmp_path: Path):
    one, clock = timed(tmp_path, longest_wait=100)
    with one:
        with pytest.raises(InputError, match="asks to wait 3,600 seconds"):
            one.get(site.add("a.png", WHOLE, failures=[(429, {"Retry-After": "3600"})]))
        with pytest.raises(InputError, match="asks to wait"):
            one.get(site.add("b.png", WHOLE))
        assert len(site.asked) == 1
        clock.sleep(3600)
        assert one.get(f"{site.url}/b.png") == WHOLE


def test_who_waits_for_a_host_can_be_stopped(site: Site, tmp_path: Path):
    url = site.add("a.png", WHOLE, failures=[(429, {"Retry-After": "100"})] * 9)
    said: list[str] = []

    def ask(one: Downloader) -> None:
        with pytest.raises(InputError) as caught:
            one.get(url)
        said.append(caught.value.what)

    with downloader(tmp_path) as one:
        thread = threading.Thread(target=ask, args=(one,))
        thread.start()
        while not site.asked:
            time.sleep(0.01)
        one.stop()
        thread.join(10)
    assert said == ["stopped"]


def test_retry_after_in_all_its_forms():
    date = {"date": "Wed, 21 Oct 2015 07:28:00 GMT"}
    assert retry_after({"retry-after": "120"}) == 120
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:30:00 GMT", **date}) == 120
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:20:00 GMT", **date}) == 0
    assert retry_after({"retry-after": "soon"}) == retry_after({}) == retry_after({"retry-after": "-5"}) == 0


def test_waits_between_tries_are_drawn_from_0_up_to_a_doubling_bound(site: Site, tmp_path: Path):
    waits = []
    for seed in (0, 0, 1):
        one, clock = timed(tmp_path, wait=4.0, attempts=6, longest_wait=20, seed=seed)
        with one, pytest.raises(InputError, match="503"):
            one.get(site.add("a.png", failures=[503] * 6))
        waits.append([wait for wait in clock.slept if wait > 0.01])
        assert all(0 <= wait <= bound for wait, bound in zip(waits[-1], (4, 8, 16, 20, 20), strict=True))
    assert waits[0] == waits[1] != waits[2]


def test_requests_to_a_host_keep_its_pace(tmp_path: Path):
    clock = Clock()
    gate = HostGate(Manners(rate=4.0), clock, clock.sleep)
    starts = []
    for host in ("a", "a", "b", "a"):
        with gate.turn(host):
            starts.append(clock.now - 1000)
    assert starts == [0, 0.25, 0.25, 0.5]


def test_no_more_requests_at_once_to_a_host_than_allowed():
    gate = HostGate(Manners(per_host=2, rate=1e6))
    inside, most, lock, free = [0], [0], threading.Lock(), threading.Event()

    def ask() -> None:
        with gate.turn("a"):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            free.wait(5)
            with lock:
                inside[0] -= 1

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    with gate.turn("b"):  # another host is not held up
        free.set()
    for thread in threads:
        thread.join()
    assert most[0] <= 2


def test_a_body_that_is_cut_off_goes_on_where_it_stopped(site: Site, tmp_path: Path):
    page = {"headers": {"ETag": '"one"'}}
    url = site.add("a.png", WHOLE, **page)
    site.pages["/a.png"].failures.append(lambda handler: handler.half(site.pages["/a.png"]))
    with downloader(tmp_path) as one:
        assert one.get(url) == WHOLE
    assert site.headers[1]["range"] == f"bytes={len(WHOLE) // 2}-"
    assert site.headers[1]["if-range"] == '"one"'


def test_without_a_validator_it_begins_anew(site: Site, tmp_path: Path):
    url = site.add("a.png", WHOLE, headers={"ETag": 'W/"weak"'})
    site.pages["/a.png"].failures.append(lambda handler: handler.half(site.pages["/a.png"]))
    with downloader(tmp_path) as one:
        assert one.get(url) == WHOLE
    assert "range" not in site.headers[1]


def test_a_later_call_goes_on_too_unless_the_file_has_changed(site: Site, tmp_path: Path):
    for tag, ranges in (('"one"', True), ('"two"', False)):
        url = site.add("a.png", WHOLE, headers={"ETag": '"one"'})
        page = site.pages["/a.png"]
        page.failures.append(lambda handler: handler.half(handler.site.pages["/a.png"]))
        with downloader(tmp_path, attempts=1) as one, pytest.raises(InputError, match="connection failed"):
            one.get(url)
        assert leftovers(tmp_path) == [".json", ".part"]
        changed = WHOLE if ranges else picture(1, size=(120, 120))
        site.add("a.png", changed, headers={"ETag": tag})
        with downloader(tmp_path) as one:
            assert one.get(url) == changed
        assert site.headers[-1]["range"] == f"bytes={len(WHOLE) // 2}-"
        assert leftovers(tmp_path) == []


def test_a_damaged_beginning_is_not_gone_on_with(site: Site, tmp_path: Path):
    url = site.add("a.png", WHOLE, headers={"ETag": '"one"'})
    page = site.pages["/a.png"]
    page.failures.append(lambda handler: handler.half(page))
    with downloader(tmp_path, attempts=1) as one, pytest.raises(InputError, match="connection failed"):
        one.get(url)
    next((tmp_path / "parts").glob("*.json")).write_text('{"url": ')
    with downloader(tmp_path) as one:
        assert one.get(url) == WHOLE
    assert "range" not in site.headers[-1]


@pytest.mark.parametrize("status", [416, 206])
def test_another_range_than_was_asked_for_begins_anew(site: Site, tmp_path: Path, status: int):
    url = site.add("a.png", WHOLE, headers={"ETag": '"one"'})
    page = site.pages["/a.png"]
    odd = (status, {"Content-Range": "bytes 7-9/10"} if status == 206 else {})
    page.failures += [lambda handler: handler.half(page), odd]
    with downloader(tmp_path) as one:
        assert one.get(url) == WHOLE
    assert "range" not in site.headers[2]


def test_an_endless_body_is_cut_off_at_the_size_cap(site: Site, tmp_path: Path):
    url = site.add("a.png", failures=[lambda handler: handler.endless(bytes(2**14))])
    with downloader(tmp_path, largest=10**6) as one, pytest.raises(InputError, match="too large: a body without an end"):
        one.get(url)
    assert leftovers(tmp_path) == []
    assert len(site.asked) == 1


def test_a_body_that_says_it_is_too_large_is_not_read(site: Site, tmp_path: Path):
    with downloader(tmp_path, largest=len(WHOLE) - 1) as one, pytest.raises(InputError, match="too large"):
        one.get(site.add("a.png", WHOLE))
    with downloader(tmp_path, largest=len(WHOLE)) as one:
        assert one.get(f"{site.url}/a.png") == WHOLE


def test_a_body_that_drips_ends_with_its_time(site: Site, tmp_path: Path):
    url = site.add("a.png", failures=[lambda handler: handler.endless(b"a", lambda: time.sleep(0.02))])
    with downloader(tmp_path, longest=0.3) as one, pytest.raises(InputError, match=r"too slow: not done after 0\.3 seconds"):
        one.get(url)
    assert len(site.asked) == 1


def test_headers_that_drip_end_with_their_time(site: Site, tmp_path: Path):
    def drip(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        try:
            while not site.closing.is_set():
                handler.wfile.write(b"a")
                time.sleep(0.02)
        except OSError:
            handler.close_connection = True

    url = site.add("a.png", failures=[drip])
    with downloader(tmp_path, longest=0.3) as one, pytest.raises(InputError, match="too slow"):
        one.get(url)


def test_a_server_that_says_nothing_is_given_up(site: Site, tmp_path: Path):
    def silent(handler: Any) -> None:
        site.closing.wait(3)
        handler.close_connection = True

    url = site.add("a.png", failures=[silent, silent])
    with downloader(tmp_path, timeout=0.1, attempts=2) as one, pytest.raises(InputError, match=r"connection failed.*, 2 times"):
        one.get(url)


def test_no_server(tmp_path: Path):
    with serving() as site:
        url = f"{site.url}/a.png"
    with downloader(tmp_path, attempts=2) as one, pytest.raises(InputError, match=r"connection failed.*, 2 times"):
        one.get(url)


def test_redirects_are_followed_and_bounded(site: Site, tmp_path: Path):
    site.add("a.png", WHOLE)
    site.add("one", status=301, headers={"Location": "/two"})
    site.add("two", status=307, headers={"Location": f"{site.url}/a.png"})
    site.add("loop", status=302, headers={"Location": "loop"})
    with downloader(tmp_path) as one:
        assert one.get(f"{site.url}/one") == WHOLE
        with pytest.raises(InputError, match="more than 5 redirects"):
            one.get(f"{site.url}/loop")
        with pytest.raises(InputError, match="of the kind 'file'"):
            one.get(site.add("file", status=302, headers={"Location": "file:///etc/passwd"}))


def test_a_token_does_not_go_to_where_a_server_redirects(site: Site, tmp_path: Path):
    with serving() as other, downloader(tmp_path) as one:
        other.add("a.png", WHOLE)
        site.add("near", status=302, headers={"Location": "/far"})
        site.add("far", status=302, headers={"Location": f"{other.url}/a.png"})
        one.get(f"{site.url}/near", headers={"Authorization": "Bearer secret"})
        assert [headers.get("authorization") for headers in site.headers] == ["Bearer secret"] * 2
        assert "authorization" not in other.headers[0]


def test_cookies_of_a_server_are_not_sent_on(site: Site, tmp_path: Path):
    with downloader(tmp_path) as one:
        one.get(site.add("a.png", WHOLE, headers={"Set-Cookie": "who=me; Path=/"}))
        one.get(f"{site.url}/a.png")
    assert "cookie" not in site.headers[1]


def test_a_photo_that_flickr_took_away_is_not_taken_for_one(site: Site, tmp_path: Path):
    site.add("images/photo_unavailable.png", WHOLE)
    url = site.add("1.jpg", status=302, headers={"Location": "/images/photo_unavailable.png"})
    with downloader(tmp_path) as one, pytest.raises(InputError, match="the photo was taken away"):
        one.get(url)


def test_an_encoding_that_was_not_asked_for_is_refused(site: Site, tmp_path: Path):
    with downloader(tmp_path) as one, pytest.raises(InputError, match="encoding 'gzip'"):
        one.get(site.add("a.png", WHOLE, headers={"Content-Encoding": "gzip"}))


def test_the_environments_proxies_and_passwords_are_not_used(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with downloader(tmp_path) as one:
        assert one.get(site.add("a.png", WHOLE)) == WHOLE
    assert "authorization" not in site.headers[0]


def test_a_second_call_waits_for_its_turn(tmp_path: Path):
    with downloader(tmp_path), pytest.raises(OutputError, match="another call is collecting"):
        downloader(tmp_path)
    downloader(tmp_path).close()


def test_case_36_a_full_disk_is_told(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = Path.open

    def full(path: Path, *args: Any, **more: Any) -> Any:
        return real(Path("/dev/full") if path.suffix == ".part" else path, *args, **more)

    with downloader(tmp_path) as one:
        monkeypatch.setattr(Path, "open", full)
        with pytest.raises(OutputError, match=r"cannot be written \(No space left on device\)"):
            one.get(site.add("a.png", WHOLE))


def test_case_36_a_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "parts").write_text("a file")
    with pytest.raises(OutputError, match="cannot be written"):
        downloader(tmp_path)


@pytest.mark.parametrize("name", ["per_host", "rate", "attempts", "largest", "timeout", "longest", "wait"])
def test_manners_that_make_no_sense(name: str):
    with pytest.raises(UsageError, match=name):
        Manners(**{name: -1})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "an empty file"),
        (PAGE, "a web page"),
        (b"  \n<html>", "a web page"),
        (b"not an image", "no image"),
        (WHOLE[: len(WHOLE) // 2], "cannot be decoded"),
    ],
)
def test_what_is_no_image_is_told_by_its_content(data: bytes, reason: str):
    with pytest.raises(InputError, match=reason):
        check_image(data)
