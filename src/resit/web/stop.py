"""Ends a request with a status and a sentence for whoever asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Stop(Exception):  # noqa: N818
    """What a request ends with where it is not done.

    Parameters
    ----------
    status : int
        Of HTTP.
    message : str
        A sentence, or two.
    wait : int, optional
        Seconds after which to try again.
    page : str, optional
        The template that shows the message to whoever takes pages.
    values : mapping of str to object, optional
        What it is given besides.
    """

    def __init__(
        self, status: int, message: str, *, wait: int = 0, page: str = "error", values: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.wait = status, message, wait
        self.page, self.values = page, values or {}
