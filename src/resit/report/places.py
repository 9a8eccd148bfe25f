"""Which country a name or a code means: one table of names, for the map of groups."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

SAYS_COUNTRY = re.compile("countr|(?<![a-z])(nation|territor|iso[23]?(?![a-z]))", re.IGNORECASE)
MOST = 0.5
CODES_ALONE, ENOUGH_CODES = 0.9, 5  # without a word in the column's name: AM and PM are codes too, as are many US states


@dataclass(frozen=True, slots=True)
class Place:
    """A country: its key in the outline, its name, and where it is a dot its longitude and latitude."""

    key: str
    name: str
    dot: tuple[float, float] | None


@functools.cache
def outline() -> dict[str, Any]:
    """Borders of the countries as TopoJSON (Natural Earth 1:110m); the object is called ``countries``."""
    found: dict[str, Any] = json.loads(_text("countries.json"))
    return found


@functools.cache
def _table() -> tuple[dict[str, Place], dict[str, Place]]:
    """Places by simplified name, and by code."""
    names: dict[str, Place] = {}
    codes: dict[str, Place] = {}
    for row in csv.DictReader(io.StringIO(_text("names.csv"))):
        dot = (float(row["lon"]), float(row["lat"])) if row["lon"] else None
        place = Place(row["iso3"], row["name"], dot)
        names |= {_simple(name): place for name in (row["name"], *filter(None, row["other_names"].split("; ")))}
        if row["iso2"]:
            codes |= {row["iso2"]: place, row["iso3"]: place}
    return names, codes


def _text(name: str) -> str:
    return (resources.files("resit.report") / "outline" / name).read_text(encoding="utf-8")


def _simple(name: str) -> str:
    """A name without case, accents, spaces, signs and a leading "the"; "and" stands for "&"."""
    plain = unicodedata.normalize("NFKD", name.replace("&", " and ")).casefold()
    words = re.sub(r"[\W_]+", " ", "".join(sign for sign in plain if not unicodedata.combining(sign))).split()
    return "".join(words[1:] if words[:1] == ["the"] else words)


def every_place() -> list[Place]:
    """All places of the table, each once, by key."""
    return sorted(set(_table()[0].values()), key=lambda place: place.key)


def find_place(name: str, *, codes: bool = True) -> Place | None:
    """The country of a name, in any of its spellings, or of an ISO code in capitals.

    Parameters
    ----------
    name : str
        ``Cote d'Ivoire``, ``South_Korea``, ``USA``, ``NA`` or ``NAM``.
    codes : bool
        Whether ISO codes are read.

    Returns
    -------
    Place or None
        None where it is no country, or could be two (``Congo``, ``Korea``).
    """
    by_name, by_code = _table()
    return (by_code.get(name.strip()) if codes else None) or by_name.get(_simple(name))


def countries(names: Sequence[str], column: str) -> dict[str, Place]:
    """The countries that groups mean, if most of them mean one.

    Parameters
    ----------
    names : sequence of str
        Names of all groups.
    column : str
        The column that they come from. Codes are read if it says that it is of countries, or if there are at least five groups
        and nine in ten are countries.

    Returns
    -------
    dict of Place
        By group; empty where no more than half of the groups, or fewer than two, are countries.
    """
    found = {name: place for name in names if (place := find_place(name)) is not None}
    if not SAYS_COUNTRY.search(column) and (len(names) < ENOUGH_CODES or len(found) < CODES_ALONE * len(names)):
        found = {name: place for name in names if (place := find_place(name, codes=False)) is not None}
    return found if len(found) > max(1, MOST * len(names)) else {}
