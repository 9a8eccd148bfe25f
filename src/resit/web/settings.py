"""How the pages are served."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from resit.errors import UsageError

HOST, PORT = "127.0.0.1", 8321


@dataclass(frozen=True)
class Settings:
    """How the pages are served.

    Parameters
    ----------
    host : str, optional
        Address to listen on. Default: only this machine.
    port : int, optional
    behind_proxy : str, optional
        Address, with https, under which a reverse proxy shows the pages to people.
    lease : float, optional
        Minutes without a click after which a page is given to somebody else.
    session : float, optional
        Days after which people open their link again.
    """

    host: str = HOST
    port: int = PORT
    behind_proxy: str | None = None
    lease: float = 20.0
    session: float = 30.0

    @property
    def address(self) -> str:
        """Where people find the pages, without a slash at its end; by the name of this machine where it listens to all."""
        if self.behind_proxy:
            return self.behind_proxy.rstrip("/")
        host = socket.gethostname() if self._listens_everywhere else self.host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def _listens_everywhere(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def opens_here_alone(self) -> bool:
        """Whether links open on this machine alone: the server listens to no other, and no proxy shows its pages."""
        return self.is_local and self.behind_proxy is None


def check_settings(settings: Settings) -> None:
    """Refuse what would not be safe or cannot be.

    Raises
    ------
    UsageError
        If the address of the proxy is not one of https without a path.
    """
    if settings.behind_proxy is None:
        return
    parts = urlsplit(settings.behind_proxy)
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        fix = "Write it like https://votes.example.org, without a path."
        raise UsageError(f"no address of https: {settings.behind_proxy}", where="--behind-proxy", fix=fix)
