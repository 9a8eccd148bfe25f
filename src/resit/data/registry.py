"""The test sets that are known by name: cards that ship with resit, the user's own, and those registered in Python."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from resit.data.card import Card
from resit.data.guard import reading
from resit.data.paths import short_list
from resit.data.read_card import make_card, parse_yaml, read_card
from resit.errors import InputError, UsageError

CARD_SUFFIXES = (".yaml", ".yml")
_REGISTERED: dict[str, Card] = {}


def home() -> Path:
    """Folder of what belongs to the user: ``$RESIT_HOME``, else ``.resit`` in the home folder."""
    return Path(os.environ.get("RESIT_HOME") or Path.home() / ".resit")


def data_folder(data: str | Path | None = None) -> Path:
    """Folder of the test sets, one folder each: ``data``, else ``$RESIT_DATA``, else ``data`` in :func:`home`."""
    return Path(data or os.environ.get("RESIT_DATA") or home() / "data")


def register(card: Card | Mapping[str, Any]) -> Card:
    """Make a test set known by its name in this process. It goes before a card of the same name.

    Parameters
    ----------
    card : Card or mapping
        A card, or its keys and values as in a YAML file.

    Returns
    -------
    Card

    Raises
    ------
    InputError
        If it is no card.
    """
    made = card if isinstance(card, Card) else make_card(card, "register")
    _REGISTERED[made.name] = made
    return made


def known_benchmarks() -> dict[str, Card]:
    """All cards by name. What was registered in Python goes before the user's files, and these before those that ship.

    Raises
    ------
    InputError
        If a file in ``benchmarks`` in :func:`home` is no card.
    """
    return {card.name: card for card in (*_shipped(), *_own(), *_REGISTERED.values())}


def find_card(name: str) -> Card | None:
    """The card of a name, an alias or a variant such as ``imagenet-c/fog/3``; None where nothing is known of it.

    Raises
    ------
    UsageError
        If the test set is known and has no such variant.
    """
    cards = known_benchmarks()
    by_alias = {alias: card for card in cards.values() for alias in card.aliases} | cards
    if name in by_alias:
        return by_alias[name]
    start, *values = name.split("/")
    if values and start in by_alias:
        return by_alias[start].choose(tuple(values))
    return None


def get_card(name: str) -> Card:
    """The card of a name, an alias or a variant.

    Raises
    ------
    UsageError
        If nothing is known of it.
    """
    card = find_card(name)
    if card is None:
        raise UsageError(f"no known test set {name!r}", fix=suggestion(name))
    return card


def suggestion(name: str) -> str:
    """What to do about a name that is not known."""
    names = sorted(known_benchmarks())
    close = difflib.get_close_matches(name.split("/")[0].lower(), names, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"Known are {short_list(names, 30)}."


def folder_of(card: Card, data: str | Path | None = None) -> Path:
    """Folder of a test set's files in the data folder; all variants share one."""
    return data_folder(data) / card.name.split("/")[0]


@cache
def _shipped() -> tuple[Card, ...]:
    folder = resources.files("resit.data") / "cards"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    return tuple(make_card(parse_yaml(file.read_text(encoding="utf-8"), file.name), file.name) for file in files)


def _own() -> list[Card]:
    folder = home() / "benchmarks"
    with reading(folder):
        if not folder.is_dir():
            return []
        files = sorted(file for file in folder.iterdir() if file.suffix.lower() in CARD_SUFFIXES)
    cards = [read_card(file) for file in files]
    for place, card in enumerate(cards):
        if card.name in {other.name for other in cards[:place]}:
            raise InputError(f"two cards are called {card.name!r}", where=files[place], fix="Remove or rename one.")
    return cards
