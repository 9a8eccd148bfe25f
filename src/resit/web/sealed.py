"""Texts that people carry around without being able to read or to make them: they hold when the server was started again."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

TAG = 16  # bytes


def seal(key: bytes, text: str) -> str:
    """A text as letters that tell nothing but its length; the same text gives the same letters.

    Parameters
    ----------
    key : bytes
        Whoever has it can read and make them.
    text : str

    References
    ----------
    Rogaway, P., Shrimpton, T. (2006). A provable-security treatment of the key-wrap problem. EUROCRYPT, section 4 (SIV): the
    tag of the text starts the stream that hides it.
    """
    plain = text.encode()
    tag = _tag(key, plain)
    return base64.urlsafe_b64encode(tag + _hidden(key, tag, plain)).decode().rstrip("=")


def unseal(key: bytes, sealed: str) -> str | None:
    """The text, or None where it was not sealed with this key."""
    try:
        whole = base64.b64decode(sealed + "=" * (-len(sealed) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    tag, hidden = whole[:TAG], whole[TAG:]
    plain = _hidden(key, tag, hidden)
    return plain.decode() if hmac.compare_digest(tag, _tag(key, plain)) else None


def _tag(key: bytes, plain: bytes) -> bytes:
    return hmac.new(key, b"tag\0" + plain, hashlib.sha256).digest()[:TAG]


def _hidden(key: bytes, tag: bytes, text: bytes) -> bytes:
    """The text with a stream of bytes added, or taken off again."""
    start = hmac.new(key, b"stream\0" + tag, hashlib.sha256).digest()
    stream = hashlib.shake_256(start).digest(len(text))
    return bytes(one ^ two for one, two in zip(text, stream, strict=True))
