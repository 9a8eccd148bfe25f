"""Downloads images and answers of search services: politely, bounded in size and time, and going on where it stopped."""

from __future__ import annotations

import email.utils
import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urljoin, urlsplit

import numpy as np

from resit.build.collect.alone import alone
from resit.build.collect.partial import Partial
from resit.build.collect.polite import HostGate, Manners
from resit.data.download import AGAIN
from resit.errors import InputError

if TYPE_CHECKING:
    import httpx

REDIRECTS = (301, 302, 303, 307, 308)
# Where Flickr sends those who ask for a photo that was taken away.
PLACEHOLDER = "photo_unavailable"
TOLD = 2**12  # bytes of an error's text that are read


class Rejected(InputError):  # noqa: N818
    """An answer that another try would not change.

    Parameters
    ----------
    what : str
    status : int
        Of the answer.
    body : bytes
        Its first bytes.
    """

    def __init__(self, what: str, status: int, body: bytes = b"") -> None:
        super().__init__(what)
        self.status, self.body = status, body


class Again(Exception):  # noqa: N818
    """A try that failed for a reason that may pass."""


class Downloader:
    """Gets what lies at addresses. Safe in threads, if these have different addresses; to be closed.

    Parameters
    ----------
    parts : path
        Folder of downloads that are half done, which the next call goes on with; one call uses it at a time.
    manners : Manners, optional
    transport : httpx.BaseTransport, optional
        Default: one that refuses private addresses, see :class:`resit.build.collect.guarded.GuardedTransport`.
    clock, sleep : callable, optional
        Seconds now, and a pause of some seconds.

    Raises
    ------
    InputError
        If the library httpx is missing.
    OutputError
        If the folder cannot be made, or another call uses it.
    """

    def __init__(
        self,
        parts: str | Path,
        manners: Manners | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        try:
            import httpx

            from resit.build.collect.guarded import Deadline, GuardedTransport
        except ImportError as error:
            fix = "Install it, for example with `pip install httpx`."
            raise InputError("the library httpx is missing", where="download", fix=fix) from error
        manners = manners or Manners()
        self.manners = manners
        self._parts = Path(parts)
        self._lock: AbstractContextManager[None] = alone(self._parts)
        self._lock.__enter__()
        self._closed = threading.Event()
        self._clock, self._sleep = clock, sleep or self._pause
        self._gate = HostGate(manners, clock, self._sleep)
        self._deadline = Deadline()
        self._client = httpx.Client(
            transport=transport or GuardedTransport(self._deadline, clock, allow_private=manners.allow_private),
            headers={"User-Agent": manners.agent, "Accept-Encoding": "identity"},
            timeout=manners.timeout,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            trust_env=False,
        )
        self._failures = (httpx.TransportError, httpx.StreamError)
        self._invalid = (httpx.InvalidURL, httpx.UnsupportedProtocol)

    def __enter__(self) -> Downloader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stop(self) -> None:
        """End what is under way in other threads, as soon as they look."""
        self._closed.set()

    def _pause(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise InputError("stopped")

    def close(self) -> None:
        """End what is under way, and close all connections."""
        self.stop()
        self._client.close()
        self._lock.__exit__(None, None, None)

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        rate: float | None = None,
        keep: bool = True,
        accept: Callable[[bytes], object] | None = None,
    ) -> bytes:
        """What lies at an address.

        Parameters
        ----------
        url : str
            ``http`` or ``https``.
        headers : mapping of str to str, optional
            Sent to this host only, not to where it redirects.
        rate : float, optional
            Requests a second to the host. Default: as the manners say.
        keep : bool, optional
            Whether what is half done is kept, to go on with it.
        accept : callable, optional
            Looks at what came, and raises :class:`Again` where another try may bring something else.

        Returns
        -------
        bytes

        Raises
        ------
        InputError
            If it cannot be had; a :class:`Rejected` where the server said so. The address is not in the message, as it may have
            a key in it.
        OutputError
            If the disk is full or cannot be written.
        """
        digest = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
        part = Partial(self._parts / digest[:32] if keep else None, url)
        draws = np.random.default_rng([self.manners.seed, int(digest[:12], 16)])  # whichever thread comes first
        reason = ""
        for attempt in range(self.manners.attempts):
            if attempt:
                longest = min(self.manners.longest_wait, self.manners.wait * 2 ** (attempt - 1))
                self._sleep(float(draws.uniform(0, longest)))
            try:
                self._one_try(url, dict(headers or {}), part, rate)
                data = part.take()
                if accept is not None:
                    accept(data)
                return data
            except Again as again:
                reason = str(again)
        raise InputError(f"{reason}, {self.manners.attempts} times")

    def _one_try(self, url: str, headers: dict[str, str], part: Partial, rate: float | None) -> None:
        """Bring the rest into ``part``, over all redirects."""
        target, until = url, 0.0
        for _ in range(self.manners.redirects + 1):
            place = _checked(target)
            with self._gate.turn(place.netloc, rate):
                until = until or self._clock() + self.manners.longest
                self._deadline.at = until
                try:
                    following = self._ask(target, headers, part, until)
                finally:
                    self._deadline.at = float("inf")
            if following is None:
                return
            target = urljoin(target, following)
            if PLACEHOLDER in target:
                raise Rejected("the photo was taken away", 404)
            if urlsplit(target).netloc != place.netloc:
                headers = {}
        raise InputError(f"more than {self.manners.redirects} redirects")

    def _ask(self, target: str, headers: Mapping[str, str], part: Partial, until: float) -> str | None:
        """Where the server redirects to, or None where the rest has come."""
        try:
            with self._client.stream("GET", target, headers={**headers, **part.headers()}) as reply:
                if reply.status_code in REDIRECTS and "location" in reply.headers:
                    return str(reply.headers["location"])
                self._judge(reply, urlsplit(target).netloc, part)
                self._receive(reply, part, until)
                return None
        except self._invalid as error:
            raise InputError(f"no valid address ({error})") from error
        except self._failures as error:
            if self._clock() >= until:
                raise self._too_slow() from error
            raise Again(f"the connection failed ({error or type(error).__name__})") from error

    def _judge(self, reply: httpx.Response, host: str, part: Partial) -> None:
        """Go on only with an answer that has the bytes."""
        status = reply.status_code
        said = f"the server said {status} {reply.reason_phrase}".rstrip()
        if status == 416 or (status == 206 and _range_start(reply) != part.size):
            part.forget()
            raise Again(said)
        if status in AGAIN:
            self._gate.pause(host, retry_after(reply.headers))
            raise Again(said)
        if status not in (200, 206):
            raise Rejected(said, status, self._told(reply))
        encoding = reply.headers.get("content-encoding", "identity").lower()
        if encoding not in ("identity", ""):
            raise InputError(f"the server sent the encoding {encoding!r}, which was not asked for")

    def _told(self, reply: httpx.Response) -> bytes:
        told = b""
        try:
            for block in reply.iter_raw():
                told += block
                if len(told) >= TOLD:
                    break
        except self._failures:  # the status says enough
            return told
        return told[:TOLD]

    def _receive(self, reply: httpx.Response, part: Partial, until: float) -> None:
        start = part.size if reply.status_code == 206 else 0
        length = reply.headers.get("content-length", "")
        if length.isdecimal() and start + int(length) > self.manners.largest:
            self._refuse_size(part, f"{start + int(length):,} bytes")
        part.begin(start, _validator(reply))
        with part:
            for block in reply.iter_raw():
                part.write(block)
                if part.size > self.manners.largest:
                    break
                if self._closed.is_set():
                    raise InputError("stopped")
                if self._clock() >= until:
                    raise self._too_slow()
        if part.size > self.manners.largest:
            self._refuse_size(part, "a body without an end in sight")

    def _refuse_size(self, part: Partial, seen: str) -> None:
        part.forget()
        raise InputError(f"too large: {seen}, more than {self.manners.largest:,}")

    def _too_slow(self) -> InputError:
        return InputError(f"too slow: not done after {self.manners.longest:g} seconds")


def _checked(url: str) -> SplitResult:
    """The parts of an address that may be asked."""
    try:
        place = urlsplit(url)
        host = place.hostname
        _ = place.port
    except ValueError as error:
        raise InputError(f"no valid address ({error})") from error
    if place.scheme not in ("http", "https"):
        raise InputError(f"an address of the kind {place.scheme!r}, not http or https")
    if not host:
        raise InputError("an address without a host")
    if place.username or place.password:
        raise InputError("an address with a user or password in it")
    return place


def retry_after(headers: Mapping[str, Any]) -> float:
    """Seconds that a server asks to wait, as a number or as a date; 0 where it does not.

    Parameters
    ----------
    headers : mapping
        Of its answer, by names in lower case.

    References
    ----------
    RFC 9110, section 10.2.3.
    """
    text = str(headers.get("retry-after", "")).strip()
    if text.isdecimal():
        return float(text[:9])
    try:
        until = email.utils.parsedate_to_datetime(text).timestamp()
    except ValueError:
        return 0.0
    try:
        now = email.utils.parsedate_to_datetime(str(headers.get("date", ""))).timestamp()
    except ValueError:
        now = time.time()
    return max(0.0, until - now)


def _range_start(reply: httpx.Response) -> int:
    words = reply.headers.get("content-range", "").removeprefix("bytes").strip().split("-")
    return int(words[0]) if words[0].isdecimal() else -1


def _validator(reply: httpx.Response) -> str:
    """What says whether the file on the server is still the same; a weak tag does not."""
    tag = reply.headers.get("etag", "")
    return str(tag) if tag and not tag.startswith("W/") else str(reply.headers.get("last-modified", ""))
