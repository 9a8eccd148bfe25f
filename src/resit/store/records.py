"""What a store answers that is no table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the rows that were given.

    Parameters
    ----------
    new : int
        Rows that were not there before.
    known : int
        Rows that were there already, or stood twice in what was given.
    changed : int
        Of the known, those whose computed figures were replaced: distance and rank of a pair.
    """

    new: int
    known: int
    changed: int = 0


class Revision(NamedTuple):
    """One selection without its images.

    Parameters
    ----------
    revision : int
        Its number, from 1.
    parent : int or None
        The revision that it went on from.
    record : dict
        What the sampling step told of itself.
    """

    revision: int
    parent: int | None
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """One selection.

    Parameters
    ----------
    revision : int
        Its number, from 1.
    parent : int or None
        The revision that it went on from.
    record : dict
        What the sampling step told of itself.
    selected, excluded : pyarrow.Table
        Of the schemas SELECTED and EXCLUDED, in the order in which they were given.
    """

    revision: int
    parent: int | None
    record: dict[str, Any]
    selected: pa.Table
    excluded: pa.Table


class Note(NamedTuple):
    """A step that was done.

    Parameters
    ----------
    step : str
        Its name, such as ``dedupe``.
    record : dict
        What it told of itself.
    time : str
        ISO 8601, UTC.
    """

    step: str
    record: dict[str, Any]
    time: str
