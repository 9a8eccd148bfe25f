"""What a source of candidates is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from resit.errors import Notice

Dates = tuple[str, str]  # first and last day, ISO 8601; empty where open


@dataclass(frozen=True, slots=True)
class Query:
    """One question to a source: candidates of one class.

    Parameters
    ----------
    class_id : str
    text : str
        What is searched for; sources that are no searches do not look at it.
    stage : str
        Of the widening, see :mod:`resit.build.collect.widening`.
    limit : int, optional
        Results wanted at most. Default: all.
    uploaded, taken : tuple of str
        First and last day.
    """

    class_id: str
    text: str = ""
    stage: str = ""
    limit: int | None = None
    uploaded: Dates = ("", "")
    taken: Dates = ("", "")


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate: its bytes, or the path or address that has them.

    Parameters
    ----------
    class_id : str
    source : str
        Where it was found; begins with the name of the source.
    url : str
        Address: of the image where neither path nor bytes are there, else of where it came from.
    path : str
        A path, or an address that fsspec reads, such as ``s3://…``.
    data : bytes, optional
    place : str
        Where it lies, for messages. Default: path or address.
    attributes : mapping of str to str
        What else is known of it.
    licence, author : str
    """

    class_id: str
    source: str
    url: str = ""
    path: str = ""
    data: bytes | None = field(default=None, repr=False)
    place: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    licence: str = ""
    author: str = ""

    @property
    def where(self) -> str:
        """Where it lies, for messages."""
        return self.place or self.path or self.url


@dataclass(frozen=True, slots=True)
class Lost:
    """A candidate, or a whole page of results, that the source could not give.

    Parameters
    ----------
    class_id : str
    where : str
        Path or address, without anything secret.
    reason : str
    """

    class_id: str
    where: str
    reason: str


class Source(Protocol):
    """Where candidates come from."""

    @property
    def name(self) -> str:
        """Name that the ``source`` of each of its candidates begins with, such as ``flickr:``."""

    @property
    def stages(self) -> tuple[str, ...]:
        """Stages of the widening that it can be asked for, in order; one where it has no searches."""

    @property
    def notices(self) -> Sequence[Notice]:
        """What was seen so far."""

    def found(self, queries: Sequence[Query]) -> Iterator[Found | Lost]:
        """Candidates in an order that is the same each time.

        Raises
        ------
        UsageError
            If no question at all can be answered, as for a wrong key.
        """
