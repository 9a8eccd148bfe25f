"""Ends a request with a status and a sentence for whoever asked."""

from __future__ import annotations


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
    """

    def __init__(self, status: int, message: str, *, wait: int = 0) -> None:
        super().__init__(message)
        self.status, self.message, self.wait = status, message, wait
