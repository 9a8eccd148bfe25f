"""What holds for every request and every answer: no large bodies, and headers that tell browsers what a page may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from resit.web.stop import Stop

LARGEST = 64 * 1024  # bytes of a request
POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
PRIVATE = "no-store"
NOWHERE = "/nowhere"

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class Guard:
    """An ASGI application around another.

    Parameters
    ----------
    app : callable
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if "\0" in scope["path"]:  # PostgreSQL takes none, so it can be in no name
            scope = {**scope, "path": NOWHERE}
        size = 0

        async def bounded() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > LARGEST:
                raise Stop(413, "What was sent is too large.")
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _headers(message.get("headers", ()))
            await send(message)

        await self._app(scope, bounded, with_headers)


def _headers(given: Any) -> list[tuple[bytes, bytes]]:
    found = list(given)
    names = {name.lower() for name, _ in found}
    more = {**HEADERS, "cache-control": PRIVATE}
    return found + [(name.encode(), value.encode()) for name, value in more.items() if name.encode() not in names]
