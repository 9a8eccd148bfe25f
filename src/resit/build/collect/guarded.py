"""The one door to the network: httpx connects only to addresses that were checked, and no try outlasts its time."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

from resit.errors import InputError

# Addresses that count as global and lead to a cloud's own services, or into a translator of one's own.
INSIDE = tuple(map(ipaddress.ip_network, ("168.63.129.16/32", "192.0.0.0/24", "64:ff9b:1::/48")))
# IPv6 that carries IPv4: its last 32 bits.
NAT64 = ipaddress.ip_network("64:ff9b::/96")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
FIX = "If it is your own server, allow private addresses (--allow-private)."


class Deadline(threading.local):
    """Until when the thread's try may last, on the clock of the downloads."""

    at: float = float("inf")


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet.

    Private, loopback, link-local (where clouds keep their metadata), shared, multicast and reserved addresses are not, nor
    are IPv6 addresses that carry such an IPv4 address.

    Parameters
    ----------
    address : str
        An IPv4 or IPv6 address; a zone is ignored.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    carried = _carried(found)
    if carried is not None:
        return is_public(str(carried))
    inside = found.is_multicast or found.is_reserved or any(found in network for network in INSIDE)
    return found.is_global and not inside


def _carried(address: Address) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of a host, in the order of the resolver.

    Raises
    ------
    httpcore.ConnectError
        If the resolver does not answer now.
    InputError
        If there is no such host.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise httpcore.ConnectError(f"the name {host} cannot be resolved now") from error
        raise InputError(f"there is no host {host}") from error
    except UnicodeError as error:
        raise InputError(f"{host!r} is no name of a host") from error
    return list(dict.fromkeys(str(item[4][0]) for item in found))


def checked(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The IP addresses of a host that may be connected to.

    Raises
    ------
    httpcore.ConnectError
        If the resolver does not answer now.
    InputError
        If one of them is not public, or there is no such host.
    """
    addresses = resolve(host, port)
    inner = [] if allow_private else [address for address in addresses if not is_public(address)]
    if inner:
        raise InputError(f"{host} is at the private address {inner[0]}, which is refused", fix=FIX)
    return addresses


class _Stream(httpcore.NetworkStream):
    """A connection whose every step ends with the try."""

    def __init__(self, stream: httpcore.NetworkStream, left: Callable[[float | None], float | None]) -> None:
        self._stream, self._left = stream, left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, self._left(timeout)), self._left)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Resolves a name once, checks what it found, and connects to just that: a second answer of the resolver is never used."""

    def __init__(self, deadline: Deadline, clock: Callable[[], float], *, allow_private: bool) -> None:
        self._plain = httpcore.SyncBackend()
        self._deadline, self._clock, self._allow_private = deadline, clock, allow_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in checked(host, port, allow_private=self._allow_private):
            try:
                stream = self._plain.connect_tcp(address, port, self._left(timeout), local_address, socket_options)
                return _Stream(stream, self._left)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def _left(self, timeout: float | None) -> float | None:
        left = self._deadline.at - self._clock()
        if left <= 0:
            raise httpcore.ReadTimeout("the time is up")
        return left if timeout is None else min(timeout, left)


class _Body(httpx.SyncByteStream):  # type: ignore[misc]
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._stream

    def close(self) -> None:
        if hasattr(self._stream, "close"):
            self._stream.close()


@contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise httpx.TimeoutException(str(error) or "no answer in time") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
        raise httpx.TransportError(str(error) or type(error).__name__) from error


class GuardedTransport(httpx.BaseTransport):  # type: ignore[misc]
    """A transport of httpx that refuses addresses that are not public.

    Names are checked where the connection is made, so that neither a redirect nor a name that changes its address (DNS
    rebinding) leads inside. Certificates are still checked by name. Proxies of the environment are not used: they would resolve
    names themselves.

    Parameters
    ----------
    deadline : Deadline, optional
        Ends what a thread does, be it a server that sends one byte a minute.
    clock : callable, optional
        Clock of the deadline.
    allow_private : bool, optional
        For one's own servers and for tests.
    """

    def __init__(
        self,
        deadline: Deadline | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        allow_private: bool = False,
    ) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=None,
            max_keepalive_connections=32,
            keepalive_expiry=10.0,
            network_backend=_Backend(deadline or Deadline(), clock, allow_private=allow_private),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        url = request.url
        inner = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_httpx():
            reply = self._pool.handle_request(inner)
        return httpx.Response(reply.status, headers=reply.headers, stream=_Body(reply.stream), extensions=reply.extensions)

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()
