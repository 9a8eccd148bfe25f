"""Which addresses are the open internet's, and that only those which were checked are connected to."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import Any

import pytest
from collect_servers import picture, serving
from hypothesis import given
from hypothesis import strategies as st

from extras import needs
from resit.build.collect.download import Downloader
from resit.build.collect.polite import Manners
from resit.errors import InputError

httpcore = needs("httpcore")
guarded = needs("resit.build.collect.guarded")

PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
PRIVATE = [
    *("127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "0.0.0.0", "255.255.255.255"),
    *("169.254.169.254", "169.254.0.1", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1"),
    *("240.0.0.1", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2001:db8::1"),
    *("::127.0.0.1", "2002:a9fe:a9fe::1"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_open_internet(address: str):
    assert guarded.is_public(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_lead_inside(address: str):
    assert not guarded.is_public(address)


@given(st.ip_addresses(v=4))
def test_ipv6_that_carries_ipv4_is_as_public_as_that(inner: ipaddress.IPv4Address):
    number = int(inner)
    carriers = [(0xFFFF << 32) | number, (0x0064FF9B << 96) | number, (0x2002 << 112) | (number << 80)]
    for carrier in carriers:
        assert guarded.is_public(str(ipaddress.IPv6Address(carrier))) == guarded.is_public(str(inner))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f000001", "2130706433", "127.1", "[::1]", "169.254.169.254"])
def test_private_addresses_are_refused_however_they_are_written(tmp_path: Path, host: str):
    with serving() as site, Downloader(tmp_path, Manners(attempts=1)) as downloader:
        site.add("a.png", picture(1))
        with pytest.raises(InputError, match=r"private address|no host|no name|cannot be resolved"):
            downloader.get(f"http://{host}:{site.port}/a.png")
        assert site.asked == []


def test_private_addresses_are_allowed_to_those_who_say_so(tmp_path: Path):
    with serving() as site, Downloader(tmp_path, Manners(allow_private=True)) as downloader:
        assert downloader.get(site.add("a.png", picture(1))) == picture(1)


def answers(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Let the resolver give one address after another, and note whom is connected to."""
    given, connected = list(addresses), []

    def resolver(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (given.pop(0), port))]

    def connect(self: Any, host: str, *_: Any) -> Any:
        connected.append(host)
        raise httpcore.ConnectError("no network in this test")

    monkeypatch.setattr(guarded.socket, "getaddrinfo", resolver)
    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", connect)
    return connected


def test_only_the_address_that_was_checked_is_connected_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    connected = answers(monkeypatch, "93.184.216.34", "127.0.0.1")
    manners = Manners(attempts=3, wait=0.0, rate=1000)
    refused = pytest.raises(InputError, match=r"private address 127\.0\.0\.1")
    with Downloader(tmp_path, manners) as downloader, refused:
        downloader.get("http://rebinding.example/a.png")
    assert connected == ["93.184.216.34"]  # the second try met the other answer, and was refused before it connected


def test_one_private_address_among_several_is_enough(monkeypatch: pytest.MonkeyPatch):
    several = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in ("93.184.216.34", "10.1.1.1")]
    monkeypatch.setattr(guarded.socket, "getaddrinfo", lambda *_, **__: several)
    with pytest.raises(InputError, match=r"mixed\.example is at the private address 10\.1\.1\.1"):
        guarded.checked("mixed.example", 80, allow_private=False)
    assert guarded.checked("mixed.example", 80, allow_private=True) == ["93.184.216.34", "10.1.1.1"]


def test_a_redirect_to_a_private_address_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guarded, "is_public", lambda address: address == "127.0.0.1")
    with serving("0.0.0.0") as site, Downloader(tmp_path, Manners(attempts=1)) as downloader:
        site.add("inside.png", picture(1))
        assert downloader.get(site.add("outside.png", picture(2))) == picture(2)
        target = {"Location": f"http://127.0.0.2:{site.port}/inside.png"}
        url = site.add("hop.png", status=302, headers=target)
        with pytest.raises(InputError, match=r"private address 127\.0\.0\.2"):
            downloader.get(url)
        assert site.asked == ["/outside.png", "/hop.png"]


def test_a_host_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def resolver(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(guarded.socket, "getaddrinfo", resolver)
    with Downloader(tmp_path, Manners()) as downloader, pytest.raises(InputError, match=r"no host nowhere\.invalid"):
        downloader.get("http://nowhere.invalid/a.png")


def test_a_resolver_that_does_not_answer_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked = []

    def resolver(*_: Any, **__: Any) -> Any:
        asked.append(1)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(guarded.socket, "getaddrinfo", resolver)
    manners = Manners(attempts=3, wait=0.0, rate=1000)
    given_up = pytest.raises(InputError, match=r"cannot be resolved now.*, 3 times")
    with Downloader(tmp_path, manners) as downloader, given_up:
        downloader.get("http://slow.example/a.png")
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.org/a.png", "of the kind 'ftp'"),
        ("file:///etc/passwd", "of the kind 'file'"),
        ("a.png", "of the kind ''"),
        ("http:///a.png", "without a host"),
        ("http://me:secret@example.org/a.png", "user or password"),
        ("http://example.org:99999999/a.png", "no valid address"),
        ("http://[::1/a.png", "no valid address"),
        ("http://a\x00b/a.png", "no valid address|no host|no name"),
    ],
)
def test_addresses_that_are_not_asked(tmp_path: Path, url: str, reason: str):
    with Downloader(tmp_path) as downloader, pytest.raises(InputError, match=reason) as caught:
        downloader.get(url)
    assert "secret" not in str(caught.value)
